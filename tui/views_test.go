package tui

import (
	"net/http"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/service/servicetest"
	"fundesk/tui/page"
)

// The tabs of a list count what was read of each view. tab turns to the next one, which the service filters by status,
// and esc goes back to all. The completion of the fixture was not a change of today.
func TestViewsOfCalls(t *testing.T) {
	t.Parallel()
	w, queries := newQueueWorld(t), []string(nil)
	now := fault(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/api/v1/calls" {
			queries = append(queries, r.URL.Query().Get("status"))
		}
		return nil, nil
	})
	w.faulty(t, &now)
	w.change(t, "/api/v1/calls/"+callID(2).String()+"/actions/complete")
	d := newDriver(t, w.options)
	d.press("2")
	d.sees("All 6  Open 4  Overdue 0  Done today 2")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	for _, view := range []struct {
		key, status string
		rows        int
	}{
		{"tab", "requested", 4},
		{"tab", "requested", 0},
		{"tab", "completed", 1},
		{"shift+tab", "requested", 0},
		{"esc", "", 6},
	} {
		queries = nil
		d.press(view.key)
		if len(calls.Rows) != view.rows || len(queries) != 1 || queries[0] != view.status {
			t.Errorf("%s: got %d rows by %q, want %d by one request for %q",
				view.key, len(calls.Rows), queries, view.rows, view.status)
		}
	}
	w.change(t, "/api/v1/calls/"+callID(1).String()+"/actions/cancel")
	d.untilPoll(w)
	d.sees("All 6  Open 3")
}

// A click on a tab of a list turns to it.
func TestClickOnAView(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		w := newQueueWorld(t)
		w.options.Mouse = true
		d := newDriver(t, w.options)
		d.size(size[0], size[1])
		d.press("2")
		before, _, _ := strings.Cut(strings.Split(d.text(), "\n")[1], "Open")
		d.send(tea.MouseClickMsg{X: len([]rune(before)), Y: 1, Button: tea.MouseLeft})
		if calls := d.app.pages[page.CallsPage].(*page.Calls); len(calls.Rows) != 5 {
			t.Errorf("%d columns: got %d rows, want the 5 open calls", size[0], len(calls.Rows))
		}
	}
}

// The band of a record has the donor and the numbers, and the state is beside its title.
func TestBandOfARecord(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.size(120, 36)
	for key, wants := range map[string][]string{
		"2": {
			"Call", "completed", "Fia Klaar", "Dutch · 46 years", "+31 6 12 34 56 76  mobile",
			"verification · requested 3 days ago",
		},
		"3": {"Person", "Fia Klaar", "Dutch · 46 years", "+31 6 12 34 56 76  mobile"},
		"4": {
			"Pledge", "lead", "Fia Klaar", "+31 6 12 34 56 76  mobile",
			"donates € 12.50 monthly · not collected yet",
		},
	} {
		d.press(key)
		lines := strings.Split(d.text(), "\n")[1:6]
		for _, want := range wants {
			if preview := strings.Join(lines, "\n"); !strings.Contains(preview, want) {
				t.Errorf("page %s: got\n%s\nwant %q on the band", key, preview, want)
			}
		}
	}
}

// A change while another tab is in front moves the record between the counts of all tabs.
func TestChangesMoveBetweenViews(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.press("2")
	d.sees("All 6  Open 5  Overdue 0  Done today 1")
	d.press("tab")
	w.Clock.Advance(time.Second)
	w.change(t, "/api/v1/calls/"+callID(2).String()+"/actions/complete")
	d.untilPoll(w)
	d.sees("All 6  Open 4  Overdue 0  Done today 2")
	w.Clock.Advance(time.Second)
	w.loadRequested(1, w.Clock.Now())
	d.untilPoll(w)
	d.sees("All 7  Open 5  Overdue 0  Done today 2")
}

// Actions are for marked records alone: without one, the record under the cursor is not meant.
func TestActionsNeedAMark(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.enter("2", "A")
	d.sees("no record is marked: space marks one")
	d.enter("G", "space") // The last one.
	d.filter("Fia")
	d.enter("A")
	d.sees("the filter hides the marked records")
	if d.app.Dialog != nil {
		t.Errorf("got a question:\n%s", d.text())
	}
}

// A word that is typed into the field of the filter stands apart from the filter that is there.
func TestFilterGoesOnWithAWord(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.press("2")
	d.filter("status=requested")
	d.filter("zoe")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	servicetest.Same(t, "rows", 1, len(calls.Rows))
}
