package tui

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/page"
)

// Text that is pasted into the filter filters like typed text, and a list goes on living after its filter was left.
func TestPastedFilterReadsOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.loadResults(10*time.Hour, slices.Repeat([]string{"reached"}, 250)...)
	d := newDriver(t, w.options)
	d.size(120, 36)
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
	servicetest.Slow(t)
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

// A list that could not be read again warns, and is read once that is possible. It never passes for the present state.
func TestListThatCouldNotBeReadAnew(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{"R", "filter"} {
		w, now := newWorld(t), fault(nil)
		w.faulty(t, &now)
		d := newDriver(t, w.options)
		d.press("2")
		calls := d.app.pages[page.CallsPage].(*page.Calls)
		now = func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }
		d.untilPoll(w)
		added := w.loadRequested(1, w.Clock.Now())[0]
		w.change(t, "/api/v1/calls/"+callID(2).String()+"/actions/cancel")
		w.Clock.Advance(10 * time.Minute)
		if keys == "R" {
			d.press("R")
		} else {
			d.filter("type=happy")
			d.lacks("nothing here")
		}
		w.Clock.Advance(10 * time.Minute)
		now = nil
		d.untilPoll(w)
		d.untilPoll(w)
		if !slices.Contains(rowIDs(calls.Rows), added) || keys == "R" && !strings.Contains(d.text(), "✗ cancelled") {
			t.Errorf("%s: got:\n%s\nwant what has come and changed meanwhile", keys, d.text())
		}
	}
}

// A live list that is filtered by the donor's name takes in the pledge of a donor with an unread name.
func TestNewPledgeOfAFilteredDonor(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.press("4")
	d.filter("jansen")
	pledges := d.app.pages[page.PledgesPage].(*page.Pledges)
	if len(pledges.Rows) != 1 {
		t.Fatalf("got %d rows, want one", len(pledges.Rows))
	}
	w.loadPerson(7, "Jan", "Jansen")
	w.Clock.Advance(945 * time.Hour)
	w.loadPledge(7)
	w.Clock.Advance(-945 * time.Hour)
	if d.untilPoll(w); len(pledges.Rows) != 2 {
		t.Errorf("got:\n%s\nwant the new pledge, too", d.text())
	}
}

// A late answer takes no text from an agent who has begun to type: neither into a dialog, nor as keys of another page.
func TestWhatComesLateTakesNoText(t *testing.T) {
	t.Parallel()
	late := func(d *driver, key string) tea.Cmd {
		_, cmd := d.app.Update(keyPress(key))
		return cmd
	}
	_, d := opened(t)
	d.enter("n", ":")
	d.send(tea.PasteMsg{Content: callID(5).String()})
	record := late(d, "enter")
	d.enter("i", "w", "a")
	d.run(record, 0)
	if d.enter("i", "t"); d.app.current != page.DeskPage ||
		d.app.Day.Form().Notes != "wait" ||
		!d.app.Day.IsOn(callID(1)) {
		t.Errorf("record: got page %d and the notes %q, want what was typed:\n%s",
			d.app.current, d.app.Day.Form().Notes, d.text())
	}
	d.sees("what you asked for came while you were typing")
}

// A record that was asked for turns the page for its key alone: after another key, the next one is meant for the Desk.
func TestWhatComesLateTurnsNoPage(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.enter("n", ":")
	d.send(tea.PasteMsg{Content: callID(5).String()})
	_, record := d.app.Update(keyPress("enter"))
	d.press("j")
	d.run(record, 0)
	if d.app.current != page.DeskPage {
		t.Errorf("got page %d, want the Desk", d.app.current)
	}
	d.sees("ask again")
}

// What agents did is counted from the beginning of the day: the service counts by the hour, and a moment before
// midnight would bring the last hour of the day before.
func TestAgentsOfTodayAreCountedFromMidnight(t *testing.T) {
	t.Parallel()
	w, now := newQueueWorld(t), fault(nil)
	w.faulty(t, &now)
	d := newDriver(t, w.options)
	asked := ""
	now = func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/queue/agents") {
			asked = r.URL.Query().Get("since")
		}
		return nil, nil
	}
	d.enter("6", "P", "1")
	if today := w.Clock.Now().Truncate(24 * time.Hour); asked != apitype.NewTime(today).String() {
		t.Errorf("got what agents did since %s, want since %s", asked, apitype.NewTime(today))
	}
}
