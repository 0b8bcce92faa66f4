package apiclient

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// feedNow is the time of this machine in the tests of feeds.
var feedNow = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// at is a time so many minutes after feedNow, as a service sends it.
func at(minutes float64) string {
	return apitype.NewTime(feedNow.Add(time.Duration(minutes * float64(time.Minute)))).String()
}

// feedRound is one reading: what the service answers, what is asked for, and what is given.
type feedRound struct {
	date    float64 // Of the service, in minutes after feedNow.
	settled string  // "" for a service that does not say it.
	records string  // One letter each, with its version behind a colon: a:-5 was changed 5 minutes ago.
	asked   string
	given   string
}

// A feed gives each change once, whatever the clocks say and however late it becomes visible; a record that
// may have changed comes again, so that none is lost.
func TestFeed(t *testing.T) {
	t.Parallel()
	const day = 24 * 60
	for name, test := range map[string]struct {
		since  string
		live   bool
		begin  string
		rounds []feedRound
	}{
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
		"twice in one round, where pages moved": {"updatedAfter", false, "", []feedRound{{0, "", "a:-1 b:-2 a:-1", "", "ab"}}},
		"a record without a time, each time":    {"updatedAfter", false, at(-5), []feedRound{{0, "", "a", at(-5), "a"}, {0, "", "a", at(-5), "a"}}},
		"a record without a time, live, once":   {"updatedAfter", true, at(-5), []feedRound{{0, "", "a", at(-5), "a"}, {0, "", "a", at(-5), ""}, {0, "", "a::2", at(-5), "a"}}},
		"live, from the service's own now": {"updatedAfter", true, at(0), []feedRound{
			{-10, "", "", at(0), ""},
			{-10, "", "a:-9", at(-10), "a"},
		}},
		"other times": {"requestedAfter", false, "", []feedRound{{0, "", "r:-60", "", "r"}, {0, "", "r:-60", at(-62), ""}}},
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
				w.Header().Set("Date", feedNow.Add(time.Duration(round.date*float64(time.Minute))).Format(http.TimeFormat))
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
				r, given := feed.From(position), ""
				for record, err := range Changes[apitype.Call](t.Context(), client, r, AllOptions{}) {
					if err != nil {
						t.Fatalf("round %d: %v", i, err)
					}
					id, _ := apitype.RecordUUID(record.Raw)
					given += string(rune(id[15]))
				}
				if given != want.given || asked != want.asked {
					t.Errorf("round %d: got %q of what changed after %s, want %q after %s", i, given, asked, want.given, want.asked)
				}
				position = r.Next()
				for id, s := range position.Given {
					if !s.Time.IsZero() && !s.Time.After(position.After.Time) {
						t.Errorf("round %d: %s is kept, want it forgotten: it does not come again", i, id)
					}
				}
			}
		})
	}
}

// feedEdges are the edges of a list of records.
func feedEdges(records string) string {
	var edges []string
	for _, text := range strings.Fields(records) {
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
