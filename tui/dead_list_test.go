package tui

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/page"
)

// What is pasted into the filter reads on as what is typed does, and a list whose filter was left goes on living.
func TestPastedFilterReadsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.loadResults(10*time.Hour, slices.Repeat([]string{"reached"}, 250)...)
	d := newDriver(t, w.options)
	d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	d.enter("2", "/")
	d.send(tea.PasteMsg{Content: "jansen"})
	d.sees("1 call of 256 read", "Anna Jansen")
	d.enter("esc")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	if calls.Waits() {
		t.Errorf("after esc: got a list that reads for ever:\n%s", d.text())
	}
	added := w.loadRequested(1, w.Clock.Now())[0]
	if d.untilPoll(w); !slices.Contains(rowIDs(calls.Rows), added) {
		t.Errorf("after esc: got:\n%s\nwant the call that has come", d.text())
	}
}

// A filter that is left as it was goes on where reading had failed, and leaves no list that waits for ever.
func TestFilterLeftReadsOn(t *testing.T) {
	t.Parallel()
	w, now := newWorld(t), fault(nil)
	w.faulty(t, &now)
	w.loadResults(10*time.Hour, slices.Repeat([]string{"reached"}, 150)...)
	d := newDriver(t, w.options)
	d.press("2")
	now = func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Has("after") {
			return nil, errors.New("no route")
		}
		return nil, nil
	}
	d.filter("status=requested")
	now = nil
	d.enter("/", "esc")
	if calls := d.app.pages[page.CallsPage].(*page.Calls); calls.Waits() || len(calls.Rows) != 5 {
		t.Errorf("got:\n%s\nwant the five that are requested", d.text())
	}
}
