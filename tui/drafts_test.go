package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// A draft that is opened again may be changed like one's own.
func TestOpenedDraftIsChangedNotJoined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	servicetest.Check(t, w.box.SaveDraft(callID(1), outbox.Draft{Call: callID(1), Notes: "typed before"}))
	d := newDriver(t, w.options)
	d.enter("n", "i", "backspace")
	servicetest.Check(t, d.app.Day.Changes.Autosave.Flush())
	if draft, _, _ := w.box.Draft(callID(1)); draft.Notes != "typed befor" {
		t.Errorf("draft: got %q, want the changed one", draft.Notes)
	}
}

// ctrl+z stops the program for as long as somebody likes: what was typed is on disk before, and
// nothing is begun with the outbox in the 2 s that stopping may take.
func TestSuspendingSavesWhatWasTyped(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.enter("n", "i", "h", "e", "r", "e")
	began := time.Now()
	d.press("ctrl+z")
	if draft, found, err := w.box.Draft(d.app.Day.Call.UUID); err != nil || !found || draft.Notes != "here" {
		t.Errorf("got %q %v %v on disk, want what was typed", draft.Notes, found, err)
	}
	unlock, err := w.box.LockDrafts()
	if err != nil || time.Since(began) < 2*time.Second {
		t.Errorf("got %v after %v, want nobody at the outbox before 2 s", err, time.Since(began))
	}
	if err == nil {
		unlock()
	}
}

// Who comes back within the time that stopping may take does not wait for its end: q sends what
// is held at once.
func TestResumeUsesTheOutboxAtOnce(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.press("n")
	w.seen()
	d.press("a")
	w.box.Quiesce(time.Hour) // As ctrl+z does, for two seconds.
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.send(tea.ResumeMsg{})
		d.press("q")
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("got no end, want the outbox used as soon as the program goes on")
	}
	if got := w.call(t, callID(1)); got.AttemptsCount != 1 {
		t.Errorf("attempts: got %d, want what was held sent", got.AttemptsCount)
	}
}
