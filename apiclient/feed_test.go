package apiclient

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// feedNow is the time of this machine in the tests of feeds.
var feedNow = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// at returns the time some minutes after feedNow, in the form of a service.
func at(minutes float64) string {
	return apitype.NewTime(feedNow.Add(time.Duration(minutes * float64(time.Minute)))).String()
}

// feedRound is one reading: what the service answers, what is asked for, and what is given.
type feedRound struct {
	date    float64 // Of the service, in minutes after feedNow.
	settled string  // Empty for a service that does not send it.
	records string  // One letter each, with its version behind a colon: a:-5 was changed 5 minutes ago.
	asked   string  // The position; all but live feeds ask for two minutes more.
	given   string
}

// A feed gives each change once, even if clocks step and changes become visible late. A record that may have changed
// comes again, so none is lost.
func TestFeed(t *testing.T) {
	t.Parallel()
	const day = 24 * 60
	for name, test := range map[string]struct {
		since  string
		live   bool
		begin  string
		rounds []feedRound
	}{
		"a clock that was set back by a minute": {"updatedAfter", false, "", []feedRound{
			{0, at(0), "", "", ""},
			{-1, at(-1), "a:-0.9", at(0), "a"},
			{0, at(0), "a:-0.9", at(0), ""},
			{1, at(1), "b:-0.5", at(0), "b"},
		}},
		"until the service says that all is settled": {"updatedAfter", false, "", []feedRound{
			{0, at(-10), "", "", ""},
			{0, at(-10), "a:-9", at(-10), "a"},
			{0, at(-10), "a:-9 b:-9", at(-10), "b"},
			{0, at(-60), "", at(-10), ""}, // Another process, with an older transaction: the position never moves back.
			{0, at(-8), "", at(-10), ""},
			{0, at(-8), "", at(-8), ""},
		}},
		"a settled time that is impossible": {"updatedAfter", false, "", []feedRound{
			{0, at(2 * day), "a:-9", "", "a"},
			{0, "", "a:-9", at(-11), ""},
		}},
		"without it, two minutes before the newest record": {"updatedAfter", false, "", []feedRound{
			{0, "", "a:-60", "", "a"},
			{0, "", "a:-60 b:-60 c:-61", at(-62), "bc"}, // Visible only now.
			{0, "", "a:-60 b:-59.999 c:-61", at(-62), "b"},
		}},
		"or two minutes before the service's own time": {"updatedAfter", false, "", []feedRound{
			{-1, "", "a:5", "", "a"},
			{-1, "", "a:5", at(-3), ""},
		}},
		"a clock that is impossible": {"updatedAfter", false, "", []feedRound{
			{3 * day, "", "a:1", "", "a"},
			{3 * day, "", "a:1", at(-2), ""},
		}},
		"two changes within a second": {"updatedAfter", false, at(-60), []feedRound{
			{0, "", "a:-1:1", at(-60), "a"},
			{0, "", "a:-1:2", at(-3), "a"},
			{0, "", "a:-1:2", at(-3), ""},
		}},
		"twice in one round, where pages moved": {
			since:  "updatedAfter",
			rounds: []feedRound{{0, "", "a:-1 b:-2 a:-1", "", "ab"}},
		},
		"a record without a time, each time": {
			since:  "updatedAfter",
			begin:  at(-5),
			rounds: []feedRound{{0, "", "a", at(-5), "a"}, {0, "", "a", at(-5), "a"}},
		},
		"a record without a time, live, once": {
			since:  "updatedAfter",
			live:   true,
			begin:  at(-5),
			rounds: []feedRound{{0, "", "a", at(-5), "a"}, {0, "", "a", at(-5), ""}, {0, "", "a::2", at(-5), "a"}},
		},
		"records without a time alone, once": {"updatedAfter", false, "", []feedRound{
			{0, "", "a b", "", "ab"},
			{0, "", "a b::2", "", "b"},
			{0, "", "a c:-60 b::2", "", "c"},
			{0, "", "c:-60", at(-62), ""},
		}},
		"live, from the service's own now": {"updatedAfter", true, at(0), []feedRound{
			{-10, "", "", at(0), ""},
			{-10, "", "a:-9", at(-10), "a"},
		}},
		"other times": {
			since:  "requestedAfter",
			rounds: []feedRound{{0, "", "r:-60", "", "r"}, {0, "", "r:-60", at(-62), ""}},
		},
		"erasures, the newest first": {"", false, "", []feedRound{
			{0, at(-1), "y:-5 x:-60", "", "yx"},
			{0, at(-1), "z:0 y:-5 x:-60", "", "z"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var round feedRound
			asked := ""
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Query().Get(test.since)
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Date",
					feedNow.Add(time.Duration(round.date*float64(time.Minute))).Format(http.TimeFormat))
				w.Header().Set(apitype.SettledHeader, round.settled)
				fmt.Fprint(w, `{"pageInfo":{"hasNextPage":false},"edges":[`+feedEdges(round.records)+`]}`)
			}))
			defer server.Close()
			client, err := New(Options{BaseURL: server.URL, Now: func() time.Time { return feedNow }})
			if err != nil {
				t.Fatal(err)
			}
			feed := client.Calls.Feed(apitype.CallListOptions{}, test.since)
			feed.Live = test.live
			var position Position
			if test.begin != "" {
				position.After, _ = apitype.ParseTime(test.begin)
			}
			for i, want := range test.rounds {
				round = want
				from := position
				r, given := feed.From(from), ""
				for record, err := range Changes[apitype.Call](t.Context(), client, r, AllOptions{}) {
					if err != nil {
						t.Fatalf("round %d: %v", i, err)
					}
					id, _ := apitype.RecordUUID(record.Raw)
					given += string(rune(id[15]))
				}
				begin := want.asked
				if after, err := apitype.ParseTime(begin); err == nil && !test.live && from.Given != nil {
					begin = apitype.NewTime(after.Add(-feedOverlap)).String()
				}
				if given != want.given || asked != begin {
					t.Errorf("round %d: got %q of what changed after %s, want %q after %s",
						i, given, asked, want.given, begin)
				}
				position = r.Next()
				for id, s := range position.Given {
					if !s.Time.IsZero() && !s.Time.After(position.After.Add(-feedOverlap)) {
						t.Errorf("round %d: %s is kept, want it forgotten: it does not come again", i, id)
					}
				}
			}
		})
	}
}

// feedEdges returns the edges of a list of records.
func feedEdges(records string) string {
	var edges []string
	for text := range strings.FieldsSeq(records) {
		parts := append(strings.Split(text, ":"), "", "")
		node := fmt.Sprintf(`{"uuid":"00000000-0000-4000-8000-0000000000%x","attemptsCount":"%s"`, parts[0], parts[2])
		if minutes := 0.0; parts[1] != "" {
			_, _ = fmt.Sscan(parts[1], &minutes)
			name := "lastUpdatedAt"
			switch {
			case parts[0] == "r":
				name = "requestedAt"
			case parts[0] >= "x":
				name = "erasedAt"
			}
			node += `,"` + name + `":"` + at(minutes) + `"`
		}
		edges = append(edges, `{"cursor":"c","node":`+node+`}}`)
	}
	return strings.Join(edges, ",")
}

// judged describes how a record answers for a change that was sent.
func judged(ch Change, record string) Outcome {
	o, _ := judgeChange(ch, true, &Response{Body: []byte(record)})
	return o
}

// The record decides the outcome of a change whose answer was lost.
func TestJudgeChange(t *testing.T) {
	t.Parallel()
	const (
		attempt = `{"attemptAt":"2026-11-20T09:15:00.000Z","userUuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"}`
		another = `{"attemptAt":"2026-11-20T09:15:00.000Z","userUuid":"00000000-0000-4000-8000-000000000001"}`
		earlier = `{"attemptAt":"2026-11-20T08:15:00.000Z","userUuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"}`
	)
	tests := []struct {
		name, op, sent, seen, record string
		want                         string
	}{
		{"created as it was sent", OpCreatePerson, `{"iban":"A"}`, "", `{"iban":"A"}`, "landed"},
		{"created otherwise", OpCreatePerson, `{"iban":"A"}`, "", `{"iban":"B"}`, "conflict"},
		{"not JSON", OpCreatePerson, `{"iban":"A"}`, "", `{`, "unknown"},
		{"what was sent is not JSON", OpCreatePerson, `{`, "", `{}`, "unknown"},
		{"updated", OpUpdatePerson, `{"iban":"A"}`, "", `{"iban":"A"}`, "landed"},
		{"updated, and not shown", OpUpdatePerson, `{"mandate":{"id":"7"}}`, "", `{"iban":"A"}`, "unknown"},
		{"updated in nothing", OpUpdatePerson, `{}`, "", `{"iban":"A"}`, "landed"},
		{"another value, and nothing was shown", OpUpdatePerson, `{"iban":"A"}`, "", `{"iban":"B"}`, "unknown"},
		{
			name:   "updated in what is shown",
			op:     OpUpdatePerson,
			sent:   `{"email":"e","mandate":{"id":"7"}}`,
			seen:   `{"email":"f"}`,
			record: `{"email":"e"}`,
			want:   "landed",
		},
		{
			name:   "what is shown was so before",
			op:     OpUpdatePerson,
			sent:   `{"email":"e","mandate":{"id":"7"}}`,
			seen:   `{"email":"e"}`,
			record: `{"email":"e"}`,
			want:   "not landed",
		},
		{
			name:   "what is shown may have been so before",
			op:     OpUpdatePerson,
			sent:   `{"email":"e","socialSecurityNumber":"7"}`,
			record: `{"email":"e"}`,
			want:   "unknown",
		},
		{
			name:   "changed, and one of two changed back",
			op:     OpUpdatePerson,
			sent:   `{"iban":"A","email":"e"}`,
			seen:   `{"iban":"B","email":"f"}`,
			record: `{"iban":"A","email":"f"}`,
			want:   "conflict",
		},
		{
			name:   "nothing of a creation is shown",
			op:     OpCreatePerson,
			sent:   `{"mandate":{"id":"7"}}`,
			record: `{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"}`,
			want:   "unknown",
		},
		{"not updated", OpUpdatePerson, `{"iban":"A"}`, `{"iban":"B"}`, `{"iban":"B"}`, "not landed"},
		{"updated by somebody else", OpUpdatePerson, `{"iban":"A"}`, `{"iban":"C"}`, `{"iban":"B"}`, "conflict"},
		{
			name:   "one field updated by somebody else",
			op:     OpUpdatePerson,
			sent:   `{"iban":"A","email":"e"}`,
			seen:   `{"iban":"C","email":"f"}`,
			record: `{"iban":"B","email":"f"}`,
			want:   "conflict",
		},
		{"an attempt", OpAddAttempt, attempt, "", `{"attempts":[` + earlier + `,` + attempt + `]}`, "landed"},
		{
			name:   "an attempt of nobody",
			op:     OpAddAttempt,
			sent:   `{"attemptAt":"2026-11-20T09:15:00.000Z"}`,
			record: `{"attempts":[` + attempt + `]}`,
			want:   "landed",
		},
		{
			name:   "an attempt of somebody else at that time",
			op:     OpAddAttempt,
			sent:   attempt,
			record: `{"attempts":[` + another + `]}`,
			want:   "not landed",
		},
		{"another attempt", OpAddAttempt, attempt, "", `{"attempts":[` + earlier + `,7]}`, "not landed"},
		{"attempts that are not shown", OpAddAttempt, attempt, "", `{"attemptsCount":1}`, "unknown"},
		{"an attempt without a time", OpAddAttempt, `{}`, "", `{"attempts":[]}`, "unknown"},
		{"still open", OpCompleteCall, `{"result":{"resultCode":"ok"}}`, "", `{"status":"requested"}`, "not landed"},
		{"ended otherwise", OpCompleteCall, `{"result":{"resultCode":"ok"}}`, "", `{"status":"expired"}`, "conflict"},
		{
			name:   "completed with another result",
			op:     OpCompleteCall,
			sent:   `{"result":{"resultCode":"ok"}}`,
			record: `{"status":"completed","result":{"resultCode":"no"}}`,
			want:   "conflict",
		},
		{
			name:   "completed by nobody knows whom",
			op:     OpCompleteCall,
			sent:   `{"result":{"resultCode":"ok"}}`,
			record: `{"status":"completed"}`,
			want:   "unknown",
		},
		{
			name:   "completed",
			op:     OpCompleteCall,
			sent:   `{"result":{"resultCode":"ok"}}`,
			record: `{"status":"completed","result":{"resultCode":"ok"}}`,
			want:   "landed",
		},
		{
			name:   "cancelled",
			op:     OpCancelCall,
			sent:   `{"cancelledAt":"2026-11-20T09:15:00.000Z"}`,
			record: `{"status":"cancelled","cancelledAt":"2026-11-20T09:15:00.000Z"}`,
			want:   "landed",
		},
		{
			name:   "expired",
			op:     OpExpireCall,
			sent:   `{"expiredAt":"2026-11-20T09:15:00.000Z"}`,
			record: `{"status":"expired","expiredAt":"2026-11-20T09:15:00.000Z"}`,
			want:   "landed",
		},
	}
	for action, status := range map[apitype.PledgeAction]string{
		"activate": "active", "drop": "dropped", "cancel": "cancelled", "fulfill": "fulfilled",
	} {
		for _, is := range []string{"active", "dropped", "cancelled", "fulfilled", "lead"} {
			want := "not landed"
			if is == status {
				want = "landed"
			}
			got := judged(PledgeActionChange(apitype.UUID{}, action, ""), `{"status":"`+is+`"}`)
			if got.String() != want {
				t.Errorf("%s of a pledge that is %s now: got %s, want %s", action, is, got, want)
			}
		}
	}
	if got := judged(PledgeActionChange(apitype.UUID{}, "revive", ""), `{"status":""}`); got != Unknown {
		t.Errorf("an action that is not known: got %s, want unknown", got)
	}
	for _, test := range tests {
		change := Change{Op: test.op, Body: []byte(test.sent)}
		if test.seen != "" {
			change.Seen = SeenOf(change, json.RawMessage(test.seen))
		}
		if got := judged(change, test.record); got.String() != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// A value equals its normalised form from a service, and nothing else.
func TestIsSame(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path, sent, shown string // JSON.
		want              bool
	}{
		{"email", `"a"`, `"a"`, true},
		{"email", `"a"`, `"A"`, false},
		{"email", `"a"`, `null`, false},
		{"email", `null`, `null`, true},
		{"iban", `"nl91 abna"`, `"NL91ABNA"`, true},
		{"iban", `"NL91"`, `"NL92"`, false},
		{"language", `"NL"`, `"nl"`, true},
		{"address.country", `"nl"`, `"NL"`, true},
		{"address.country", `"nl"`, `"DE"`, false},
		{"uuid", `"AB"`, `"ab"`, true},
		{"personUuid", `"AB"`, `"ab"`, true},
		{"dateOfBirth", `"1980-05-17"`, `"1980-05-17T00:00:00Z"`, true},
		{"dateOfBirth", `"1980-05-17T00:00:00Z"`, `"1980-05-17"`, true},
		{"dateOfBirth", `"1980-05-17"`, `"1980-05-18"`, false},
		{"dateOfBirth", `"1980-05-1"`, `"1980-05-17"`, false},
		{"dateOfBirth", `"1980-05-17"`, `"1980-05-1"`, false},
		{"startsAt", `"2026-01-02T03:04:05Z"`, `"2026-01-02T04:04:05+01:00"`, true},
		{"startsAt", `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:06Z"`, false},
		{"startsAt", `"then"`, `"0001-01-01T00:00:00Z"`, false},
		{"startsAt", `"0001-01-01T00:00:00Z"`, `"then"`, false},
		{"donationAmount", `12.50`, `12.5`, true},
		{"donationAmount", `12.50`, `12.51`, false},
		{"donationAmount", `12.5`, `"12.5"`, false},
		{"donationAmount", `1e999999999`, `0`, false},
		{"donationAmount", `0`, `1e999999999`, false},
		{"optIns.sms", `true`, `true`, true},
		{"optIns.sms", `true`, `false`, false},
		{"focusAreaUuids", `["a"]`, `["a"]`, true},
		{"focusAreaUuids", `["a"]`, `["b"]`, false},
	}
	for _, test := range tests {
		var sent, shown any
		servicetest.Check(t, apitype.DecodeExact([]byte(test.sent), &sent))
		servicetest.Check(t, apitype.DecodeExact([]byte(test.shown), &shown))
		if got := IsSame(test.path, sent, shown); got != test.want {
			t.Errorf("%s %s, shown as %s: got %t, want %t", test.path, test.sent, test.shown, got, test.want)
		}
	}
}

// A service may keep times in whole seconds, cut or rounded.
func TestShownTimes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path  string
		shown any
		want  bool
	}{
		{"attemptAt", "2026-11-20T09:15:00.700Z", true},
		{"attemptAt", "2026-11-20T09:15:00Z", true},
		{"attemptAt", "2026-11-20T09:15:01Z", true},
		{"attemptAt", "2026-11-20T09:15:02Z", false},
		{"attemptAt", "2026-11-20T09:14:59Z", false},
		{"attemptAt", "then", false},
		{"attemptAt", "0001-01-01T00:00:00Z", false},
		{"attemptAt", nil, false},
		{"notes", "2026-11-20T09:15:00Z", false},
	} {
		if got := isShown(test.path, "2026-11-20T09:15:00.700Z", test.shown, false); got != test.want {
			t.Errorf("%s shown as %v: got %t, want %t", test.path, test.shown, got, test.want)
		}
	}
	if isShown("attemptAt", "then", "0001-01-01T00:00:00Z", false) {
		t.Error("a text that is not a time was taken for one")
	}
}

func TestShownPlaces(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"name.initials":                         "initials",
		"name.firstName":                        "firstName",
		"name.lastNamePrefix":                   "lastNamePrefix",
		"name.lastName":                         "lastName",
		"optIns.email":                          "optInEmail",
		"optIns.mail":                           "optInMail",
		"optIns.phone":                          "optInPhone",
		"optIns.sms":                            "optInSms",
		"mandate.id":                            "",
		"attempts":                              "",
		"focusAreaUuids":                        "",
		"externalMetadata.additionalProperties": "",
	} {
		paths, _ := answerPaths()
		if got, moved := paths[path]; got != want || !moved {
			t.Errorf("%s: got %q, %t, want %q", path, got, moved, want)
		}
	}
	var record map[string]any
	servicetest.Check(t, apitype.DecodeExact([]byte(`{"a":{"b":"c"},"none":null,"text":"x"}`), &record))
	for _, test := range []struct {
		path  string
		value any
		there bool
	}{
		{"a.b", "c", true},
		{"a.x", nil, false},
		{"x", nil, false},
		{"none", nil, true},
		{"none.b", nil, true},
		{"text.b", nil, false},
		{"text", "x", true},
	} {
		if value, there := Shown(record, test.path); value != test.value || there != test.there {
			t.Errorf("%s: got %v, %t, want %v, %t", test.path, value, there, test.value, test.there)
		}
	}
}

// A round fails if its position does not fit the service. It does not end empty.
func TestFeedOfAnotherEpoch(t *testing.T) {
	t.Parallel()
	position := Position{After: apitype.NewTime(feedNow), Given: map[string]Stamp{}, Epoch: "one"}
	tests := []struct {
		name  string
		date  float64
		epoch string
		from  func(*Position)
		want  error
	}{
		{name: "the same epoch", epoch: "one"},
		{name: "the same epoch, with a clock that was set back", epoch: "one", date: -60},
		{name: "another epoch", epoch: "two", want: ErrEpoch},
		{name: "a position without an epoch", epoch: "two", from: func(p *Position) { p.Epoch = "" }},
		{name: "a time that the user chose", epoch: "two", from: func(p *Position) { *p = Position{After: p.After} }},
		{name: "no epochs"},
		{name: "no epochs, and a clock a minute back", date: -1},
		{name: "no epochs, and a clock an hour back", date: -60, want: ErrBehind},
	}
	for _, test := range tests {
		for _, records := range []string{"", "a:1"} {
			t.Run(test.name+" "+records, func(t *testing.T) {
				t.Parallel()
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					date := feedNow.Add(time.Duration(test.date * float64(time.Minute)))
					w.Header().Set("Date", date.Format(http.TimeFormat))
					w.Header().Set(apitype.EpochHeader, test.epoch)
					fmt.Fprint(w, `{"pageInfo":{"hasNextPage":false},"edges":[`+feedEdges(records)+`]}`)
				}))
				defer server.Close()
				client, err := New(Options{BaseURL: server.URL, Now: func() time.Time { return feedNow }})
				servicetest.Check(t, err)
				from := position
				if test.from != nil {
					test.from(&from)
				}
				round := client.Calls.Feed(apitype.CallListOptions{}, "updatedAfter").From(from)
				var got error
				for _, err := range Changes[apitype.Call](t.Context(), client, round, AllOptions{}) {
					got = err
				}
				if !errors.Is(got, test.want) {
					t.Errorf("got %v, want %v", got, test.want)
				}
				if got == nil && round.Next().Epoch != test.epoch {
					t.Errorf("got the epoch %q, want %q", round.Next().Epoch, test.epoch)
				}
			})
		}
	}
}

// A decoded record has the times that its text has, for every filter of a feed.
func TestTimesOfDecodedRecords(t *testing.T) {
	t.Parallel()
	const id = `"uuid":"3f2a0c6e-5d7b-4d0e-9a43-0c3f5a0e9b11"`
	const fields = id + `,"createdAt":"2026-11-01T09:00:00Z"`
	sameTimes[apitype.Person](t, `{`+fields+`}`)
	sameTimes[apitype.Call](t, `{`+id+`,"requestedAt":"2026-11-02T09:00:00Z","lastUpdatedAt":"2026-11-03T09:00:00Z"}`)
	sameTimes[apitype.Pledge](t, `{`+fields+`,"updatedAt":"2026-11-03T09:00:00Z","releasedAt":"2026-11-04T09:00:00Z"}`)
	sameTimes[apitype.Pledge](t, `{`+fields+`,"updatedAt":null,"releasedAt":null}`)
	sameTimes[apitype.ErasedPerson](t, `{`+id+`,"erasedAt":"2026-11-04T09:00:00Z"}`)
	sameTimes[apitype.Person](t, `{`+id+`,"createdAt":7}`)
}

func sameTimes[T any](t *testing.T, text string) {
	t.Helper()
	record := Record[T]{Raw: []byte(text)}
	want, got := timesOf(&record, false), timesOf(&record, true)
	if want.UUID.IsZero() {
		t.Errorf("%s: got no uuid", text)
	}
	for _, filter := range []string{"", "createdAfter", "requestedAfter", "releasedAfter", "updatedAfter"} {
		if !got.by(filter).Equal(want.by(filter)) || got.UUID != want.UUID {
			t.Errorf("%T %s: got %v, want %v", *new(T), filter, got.by(filter), want.by(filter))
		}
	}
}

// A round of another account fails at a service without epochs, which cannot tell that the account sees other records.
// A token that names no account is any one.
func TestFeedOfAnotherAccount(t *testing.T) {
	t.Parallel()
	token := func(subject string) string {
		claims, _ := json.Marshal(map[string]string{"sub": subject})
		return "e30." + base64.RawURLEncoding.EncodeToString(claims) + ".c2ln"
	}
	for _, test := range []struct {
		name, first, second, epoch string
		want                       error
	}{
		{name: "the same account", first: token("a"), second: token("a")},
		{name: "another account", first: token("a"), second: token("b"), want: ErrEpoch},
		{name: "another account that sees the same", first: token("a"), second: token("b"), epoch: "one"},
		{name: "tokens without an account", first: "one", second: "another"},
		{name: "at first a token without an account", first: "one", second: token("b")},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set(apitype.EpochHeader, test.epoch)
				fmt.Fprint(w, `{"pageInfo":{"hasNextPage":false},"edges":[`+feedEdges("a:1")+`]}`)
			}))
			defer server.Close()
			read := func(from Position, token string) (begun, next Position, got error) {
				client, err := New(Options{
					BaseURL: server.URL, Token: func(context.Context) (string, error) { return token, nil },
				})
				servicetest.Check(t, err)
				round := client.Calls.Feed(apitype.CallListOptions{}, "updatedAfter").From(from)
				for _, err := range Changes[apitype.Call](t.Context(), client, round, AllOptions{}) {
					got = err
				}
				begun, _ = round.Begun()
				return begun, round.Next(), got
			}
			begun, next, err := read(Position{}, test.first)
			servicetest.Check(t, err)
			for name, from := range map[string]Position{"to its end": next, "in part": begun} {
				if _, _, got := read(from, test.second); !errors.Is(got, test.want) {
					t.Errorf("read %s: got %v, want %v", name, got, test.want)
				}
			}
		})
	}
}

// A service that is restored between two pages of a round ends it: its records are of two states.
func TestFeedOfTwoEpochs(t *testing.T) {
	t.Parallel()
	pages := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		pages++
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set(apitype.EpochHeader, strconv.Itoa(pages))
		fmt.Fprintf(w, `{"pageInfo":{"hasNextPage":%t,"endCursor":"%d"},"edges":[%s]}`,
			pages == 1, pages, feedEdges([]string{"a:1", "b:1"}[pages-1]))
	}))
	defer server.Close()
	client, err := New(Options{BaseURL: server.URL})
	servicetest.Check(t, err)
	round := client.Calls.Feed(apitype.CallListOptions{}, "updatedAfter").From(Position{})
	var got error
	for _, err := range Changes[apitype.Call](t.Context(), client, round, AllOptions{}) {
		got = err
	}
	if !errors.Is(got, ErrEpoch) {
		t.Errorf("got %v, want another epoch", got)
	}
}
