package tui

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/page"
)

// untilMidnight advances the clock to a minute before the next midnight, or as far again as it is after that.
func (w *world) untilMidnight() {
	now := w.Clock.Now()
	w.Clock.Advance(now.Truncate(24 * time.Hour).Add(24*time.Hour - time.Minute).Sub(now))
}

// An action on marked records ends the marks of those alone: a record that the filter hides was not acted on.
func TestMarksThatAFilterHidesStay(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.press("2")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	d.enter("space", "space") // Calls 6 and 5.
	d.filter("status=completed")
	d.enter("A")
	d.sees("1 call")
	d.enter("4", "y") // Mark as processed.
	if d.app.Dialog != nil || len(w.entries(t)) != 1 {
		t.Fatalf("got %d entries, want the one record that is shown:\n%s", len(w.entries(t)), d.text())
	}
	if len(calls.Marks) != 1 || !calls.Marks[callID(5)] {
		t.Errorf("marks: got %v, want that of call 5, which was hidden", calls.Marks)
	}
}

// A filter that names a day as today means the day of reading, even if it was typed the day before.
func TestFilterOfTodayAfterMidnight(t *testing.T) {
	t.Parallel()
	for _, reads := range []string{"by itself", "R"} {
		w, d := opened(t)
		w.untilMidnight()
		old := w.loadRequested(1, w.Clock.Now())[0]
		d.press("2")
		calls := d.app.pages[page.CallsPage].(*page.Calls)
		d.filter("requestedAfter=today")
		if got := rowIDs(calls.Rows); !slices.Equal(got, []apitype.UUID{old}) {
			t.Fatalf("%s: before midnight: got %v, want %s", reads, got, old)
		}
		w.Clock.Advance(5 * time.Minute)
		if reads == "R" {
			d.press("R")
		} else {
			d.untilPoll(w)
		}
		if got := rowIDs(calls.Rows); len(got) != 0 {
			t.Errorf("%s: after midnight: got %v, want nothing of the day before", reads, got)
		}
	}
}

// Statistics of today that stay open count the new day after midnight.
func TestStatsOfTodayAfterMidnight(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	w.untilMidnight()
	w.loadRequested(2, w.Clock.Now())
	d.enter("6", "P", "1")
	d.sees("counted 2 calls and 0 pledges of today")
	w.Clock.Advance(5 * time.Minute)
	d.untilPoll(w)
	d.sees("counted 0 calls and 0 pledges of today")
}

// A donor with a corrected name has the new name once the list of pledges is read again.
func TestPledgesReadAnewHaveCorrectedDonors(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.press("4")
	d.sees("Anna Jansen")
	a := w.Do(w.Token(), http.MethodPut, "/api/v1/persons/"+personID(1).String()+"/actions/update",
		`{"name":{"lastName":"Vermeer"}}`)
	if a.Status != http.StatusOK {
		t.Fatalf("correct: got %d %s", a.Status, a.Body)
	}
	d.press("R")
	d.sees("Anna Vermeer")
	d.lacks("Anna Jansen")
}
