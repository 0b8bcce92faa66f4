package desk

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
)

const floorSettings = `{"organizations":[{"uuid":"10000000-0000-4000-8000-000000000001",` +
	`"results":{"happy_call":[{"code":"thanked","label":"was thanked","effect":null,"asksNotes":false},{"code":"stop","label":"","effect":"opt-out","asksNotes":true}]},` +
	`"scripts":{"happy_call":"Hello"},"callingHours":{"NL":{"sunday":"-"}},"maxCallAttempts":3}],` +
	`"users":[{"uuid":"20000000-0000-4000-8000-000000000001","name":"Anneke"}]}`

// floorCall returns a call of the organization that has the settings.
func floorCall() *apitype.Call {
	owner := apitype.OrganizationReference{UUID: apitype.MustParseUUID("10000000-0000-4000-8000-000000000001")}
	return &apitype.Call{
		UUID:          callID(1),
		Type:          apitype.CallHappy,
		Status:        apitype.CallRequested,
		AttemptsCount: 1,
		Person: apitype.Embed(apitype.Person{
			OwningOrganization: apitype.Embed(owner), Address: apitype.Embed(apitype.Address{Country: "NL"}),
		}),
	}
}

// floorService has settings, with an ETag that shows whether they still hold.
type floorService struct {
	answers
	etag string
}

func (f *floorService) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := f.answers.RoundTrip(r)
	if answer.Header.Set("ETag", f.etag); r.Header.Get("If-None-Match") == f.etag {
		answer.StatusCode, answer.Body = http.StatusNotModified, http.NoBody
	}
	return answer, err
}

// floorClient returns a client of a service with settings.
func floorClient(t *testing.T) (*apiclient.Client, *floorService) {
	t.Helper()
	service := &floorService{etag: `"1"`, answers: answers{
		"GET /fundesk/v1":          `200 {"extensions":["settings"]}`,
		"GET /fundesk/v1/settings": "200 " + floorSettings,
	}}
	client, err := apiclient.New(apiclient.Options{BaseURL: "https://a.example", Transport: service, Tries: 1})
	servicetest.Check(t, err)
	return client, service
}

func floorDay(t *testing.T, o Options) *Day {
	t.Helper()
	var err error
	if o.Client == nil {
		o.Client, _ = floorClient(t)
	}
	o.Outbox, err = outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "embedded"})
	if err != nil {
		t.Fatal(err)
	}
	d := New(o)
	d.Call = floorCall()
	return d
}

// readFloor reads the settings as a Desk does at its start.
func readFloor(t *testing.T, d *Day) {
	t.Helper()
	d.floor.Read()
	work(t, d, d.Drain())
}

// Two empty homes on one service show the same results, effects, scripts, hours and names. No results of earlier calls
// come with them.
func TestTwoHomesHaveOneFloor(t *testing.T) {
	t.Parallel()
	sunday := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, seen := range [][]string{{"zeta", "alpha"}, {"alpha", "stop", "zeta"}} {
		d := floorDay(t, Options{})
		for _, code := range seen {
			d.Codes.See(apitype.CallHappy, code)
		}
		d.floor.Read()
		texts := work(t, d, d.Drain())
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "guessed") }) {
			t.Errorf("got %q, want nothing guessed", texts)
		}
		var words []string
		for _, r := range d.Form().Results() {
			words = append(words, entry.ResultWords(r))
		}
		if !slices.Equal(words, []string{"was thanked", "stop (opt-out)"}) {
			t.Errorf("got %q, want the results of the settings alone", words)
		}
		if d.pickScript(); !slices.Equal(d.Card().Script.Lines, []string{"Hello"}) {
			t.Errorf("got the script %q, want that of the settings", d.Card().Script.Lines)
		}
		if got := d.place().Against(d.Call, sunday, d.Texts); !strings.HasSuffix(got, "no calls on that day") {
			t.Errorf("got %q, want the hours of the settings", got)
		}
		got := d.AgentName(apitype.MustParseUUID("20000000-0000-4000-8000-000000000001"))
		if got != "Anneke" || d.maxAttempts(d.Call) != 3 {
			t.Errorf("got %q and %d attempts, want those of the settings", got, d.maxAttempts(d.Call))
		}
	}
}

// A signed-in person has their name on the Desk before the settings are read.
func TestSignedInPersonIsNamed(t *testing.T) {
	t.Parallel()
	client, service := floorClient(t)
	service.answers["GET /fundesk/v1"] = `200 {"extensions":["settings"],
		"user":{"uuid":"20000000-0000-4000-8000-000000000002","name":"Joost"}}`
	d := floorDay(t, Options{Client: client})
	if has, err := client.Has(t.Context(), apitype.ExtensionSettings); err != nil || !has {
		t.Fatalf("the service is asked for its extensions: %t, %v", has, err)
	}
	id := apitype.MustParseUUID("20000000-0000-4000-8000-000000000002")
	if got := d.AgentName(id); got != "Joost" {
		t.Errorf("got %q, want the person of the token", got)
	}
	if got := d.AgentName(apitype.MustParseUUID("20000000-0000-4000-8000-000000000003")); got != "" {
		t.Errorf("got %q for another user, want no name", got)
	}
}

// A Desk works offline from what an earlier start has kept, and a profile's own settings come first.
func TestSettingsOffline(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/desk/p.json"
	online := floorDay(t, Options{StateFile: path})
	readFloor(t, online)

	offline := New(Options{Client: new(apiclient.Client), Outbox: online.Outbox, StateFile: path})
	offline.Call = floorCall()
	if rows := offline.Form().Results(); len(rows) != 2 || !rows[1].AsksNotes {
		t.Errorf("got %+v, want the results that were kept", rows)
	}
	own := New(Options{
		Client: new(apiclient.Client), Outbox: online.Outbox, StateFile: path, MaxAttempts: 9,
		Results: map[apitype.CallType][]apitype.ResultChoice{apitype.CallHappy: {{Code: "mine"}}},
		Hours:   card.CallingHours{"NL": {Sunday: "10:00-18:00"}},
	})
	own.Call = floorCall()
	if rows := own.Form().Results(); len(rows) != 1 || rows[0].Code != "mine" || own.maxAttempts(own.Call) != 9 {
		t.Errorf("got %+v and %d attempts, want those of the profile", rows, own.maxAttempts(own.Call))
	}
	if got := own.place().Against(own.Call, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), own.Texts); got != "" {
		t.Errorf("got %q, want the hours of the profile", got)
	}
	// Asked again, the service answers that they still hold.
	again := floorDay(t, Options{StateFile: path})
	readFloor(t, again)
	if len(again.floor.Present().Users) != 1 {
		t.Errorf("got %+v, want those that were kept", again.floor.Present())
	}
}

// What is settled on the call on the desk stays when other settings come: they are announced, and hold from the next
// call on.
func TestNothingOnTheCardMoves(t *testing.T) {
	t.Parallel()
	client, service := floorClient(t)
	d := floorDay(t, Options{Client: client})
	readFloor(t, d)
	before, script, most := d.Form().Results(), d.Card().Script.Lines, d.maxAttempts(d.Call)
	changed := strings.NewReplacer(`"code":"thanked"`, `"code":"new"`, "Hello", "Goodbye", `"maxCallAttempts":3`,
		`"maxCallAttempts":7`)
	service.answers["GET /fundesk/v1/settings"] = "200 " + changed.Replace(floorSettings)
	service.etag = `"2"`
	d.floor.Read()
	texts := work(t, d, d.Drain())
	if !slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(text, "they apply from the next call")
	}) {
		t.Errorf("got %q, want the change announced", texts)
	}
	servicetest.Same(t, "results", before, d.Form().Results())
	servicetest.Same(t, "script", script, d.Card().Script.Lines)
	if d.maxAttempts(d.Call) != most {
		t.Errorf("got %d attempts, want %d", d.maxAttempts(d.Call), most)
	}
	d.next()
	d.Call = floorCall()
	d.Call.UUID = callID(2)
	if rows := d.Form().Results(); rows[0].Code != "new" || d.maxAttempts(d.Call) != 7 {
		t.Errorf("got %+v and %d attempts, want the new settings for the next call", rows, d.maxAttempts(d.Call))
	}
}

// Before the settings of the floor were read there is no result, hour or script. Failures are repeated after 2, 4, 8
// and so on, 60 seconds at most; then they are asked for each minute.
func TestSettingsComeFirst(t *testing.T) {
	t.Parallel()
	now := morning
	status, asked := "503 {}", []time.Time(nil)
	service := answersOf(func(r *http.Request) string {
		switch r.URL.Path {
		case "/fundesk/v1":
			return `200 {"extensions":["settings"]}`
		case "/fundesk/v1/settings":
			asked = append(asked, now)
			return status
		}
		return "404 {}"
	})
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   "https://a.example",
		Transport: service,
		Tries:     1,
		Now:       func() time.Time { return now },
	})
	servicetest.Check(t, err)
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "embedded"})
	servicetest.Check(t, err)
	d := New(Options{Client: client, Outbox: box, Now: func() time.Time { return now }})
	d.Codes.See(apitype.CallHappy, "guessed")
	work(t, d, d.Begin())
	d.Call = floorCall()
	d.Form().ResultCode = "guessed" // Of a draft.
	work(t, d, d.Receive(event.Result{TakeIn: func() {}}))
	sunday := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	isOffered := len(d.Form().Results()) > 0 ||
		len(d.Card().Script.Lines) > 0 ||
		d.place().Against(d.Call, sunday, d.Texts) != ""
	if isOffered || !strings.Contains(d.WhyNoResults(), "are being read") {
		t.Errorf("got %+v and %q, want nothing before the settings", d.Form().Results(), d.WhyNoResults())
	}
	for range 130 {
		now = now.Add(time.Second)
		work(t, d, d.Tick())
	}
	var waits []int
	for i := range asked[1:] {
		waits = append(waits, int(asked[i+1].Sub(asked[i]).Seconds()))
	}
	servicetest.Same(t, "seconds between failures", []int{2, 4, 8, 16, 32, 60}, waits)
	status = "200 " + floorSettings
	for range 60 {
		now = now.Add(time.Second)
		work(t, d, d.Tick())
	}
	rows := d.Form().Results()
	if len(rows) != 2 || d.WhyNoResults() != "" || d.place().Against(d.Call, sunday, d.Texts) == "" {
		t.Errorf("got %+v and %q, want the results of the settings", rows, d.WhyNoResults())
	}
	before := len(asked)
	for range 4 {
		now = now.Add(15 * time.Second)
		work(t, d, d.Poll())
	}
	if len(asked) != before+1 {
		t.Errorf("got %d requests in a minute, want 1", len(asked)-before)
	}
}

// answersOf is a service with the answers of a function: a status and a body.
type answersOf func(r *http.Request) string

func (a answersOf) RoundTrip(r *http.Request) (*http.Response, error) {
	return answers{r.Method + " " + r.URL.Path: a(r)}.RoundTrip(r)
}
