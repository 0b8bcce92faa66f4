package card_test

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/entry"
)

// A donor gives since the day of joining, or from the first day of a later pledge. No text has "since" with a future
// day.
func TestJoined(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 6, 17, 12, 0, 0, 0, zone)
	k := card.Card{Form: entry.Form{Now: func() time.Time { return now }}}
	joined := apitype.NewTime(time.Date(2026, 6, 10, 15, 0, 0, 0, time.UTC))
	tests := []struct {
		name      string
		starts    time.Time
		word, day string
	}{
		{"begun", time.Date(2026, 6, 12, 0, 0, 0, 0, time.UTC), "since", "2026-06-10"},
		{"begins today", time.Date(2026, 6, 17, 0, 0, 0, 0, time.UTC), "since", "2026-06-10"},
		{"begins tomorrow", time.Date(2026, 6, 18, 0, 0, 0, 0, time.UTC), "from", "2026-06-18"},
		{"begins next month", time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), "from", "2026-07-01"},
	}
	for _, test := range tests {
		word, day := k.Joined(apitype.Pledge{CreatedAt: joined, StartsAt: apitype.NewTime(test.starts)})
		if word != test.word || day.Format(time.DateOnly) != test.day {
			t.Errorf("%s: got %s %s, want %s %s", test.name, word, day.Format(time.DateOnly), test.word, test.day)
		}
	}
}
