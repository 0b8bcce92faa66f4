package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// An attempt with notes asks where they go: to the next agent, or into a draft. u takes both back, and the next agent
// has the note on the card.
func TestAttemptAsksWhereNotesGo(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.enter("n")
	w.seen()
	d.press("i")
	d.typing("wife: Tuesday 18:00")
	ask := func() {
		t.Helper()
		d.press("esc")
		w.seen()
		d.press("a")
		if text := d.text(); !strings.Contains(text, "where do your notes go?") {
			t.Fatalf("got no question:\n%s", text)
		}
	}
	ask()
	d.press("a") // A held key does not answer, and esc goes on with the call.
	d.press("esc")
	if got := w.entries(t); len(got) != 0 || !d.app.Day.IsOn(callID(1)) {
		t.Fatalf("got %v on %v, want nothing sent", got, d.app.Day.Call)
	}
	ask()
	d.press("n")
	both := []string{"call.attempt c0010000", "call.note c0010000"}
	if got := w.entries(t); !slices.Equal(got, both) || d.app.Day.IsOn(callID(1)) {
		t.Fatalf("got %v, want %v and the next call", got, both)
	}
	d.sees("your notes for the next agent: Anna Jansen")
	d.press("u")
	got := w.entries(t)
	if len(got) != 0 || !d.app.Day.IsOn(callID(1)) || d.app.Day.Form().Notes != "wife: Tuesday 18:00" {
		t.Fatalf("got %v and %q, want the call and its text back", got, d.app.Day.Form().Notes)
	}
	ask()
	d.press("n")
	d.sendHeld(w)
	if drafts, err := w.box.Drafts(); err != nil || len(drafts) != 0 {
		t.Errorf("got the drafts %v, %v: the text went with the attempt", drafts, err)
	}

	w.Clock.Advance(5 * time.Hour)
	w.options.Agent = new(ids(0xe0, 7))
	w.connect(t, t.TempDir())
	w.options.Agent = new(ids(0xe0, 7))
	next := newDriver(t, w.options)
	next.press("/")
	next.typing("jansen")
	next.enter("enter", "enter")
	next.sees("note     wife: Tuesday 18:00")
}

// Into a draft: the attempt goes alone. A service that keeps no notes is not asked about.
func TestNotesOfAnAttemptStayADraft(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"queue": {"a", "d"}, "interface only": {"a"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newQueueWorld(t)
			if name != "queue" {
				w.InterfaceOnly()
			}
			d := newDriver(t, w.options)
			d.enter("n")
			w.seen()
			d.press("i")
			d.typing("later")
			d.press("esc")
			w.seen()
			d.enter(keys...)
			servicetest.Same(t, "entries", []string{"call.attempt c0010000"}, w.entries(t))
			if err := d.app.Day.Changes.Drafts.Flush(); err != nil {
				t.Fatal(err)
			}
			drafts, err := w.box.Drafts()
			if err != nil ||
				len(drafts) != 1 ||
				drafts[0].Notes != "later" ||
				drafts[0].Call != apitype.UUID(callID(1)) {
				t.Errorf("got %+v, %v, want the draft", drafts, err)
			}
		})
	}
}

// A note for the next agent leaves a chosen result as a draft, with the note.
func TestResultStaysADraftBesideANoteForTheNextAgent(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.enter("n", "c", "2", "i")
	d.typing("wife: Tuesday 18:00")
	d.press("esc")
	chosen := d.app.Day.Form().ResultCode
	w.seen()
	d.enter("a", "n")
	servicetest.Check(t, d.app.Day.Changes.Drafts.Flush())
	draft, found, err := w.box.Draft(callID(1))
	if err != nil || !found || chosen == "" || draft.ResultCode != chosen {
		t.Errorf("got the draft %+v, %t, %v, want the result %q in it", draft, found, err, chosen)
	}
}

// A draft that is opened again may be changed like one's own.
func TestOpenedDraftIsChangedNotJoined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	servicetest.Check(t, w.box.SaveDraft(callID(1), outbox.Draft{Call: callID(1), Notes: "typed before"}))
	d := newDriver(t, w.options)
	d.enter("n", "i", "backspace")
	servicetest.Check(t, d.app.Day.Changes.Drafts.Flush())
	if draft, _, _ := w.box.Draft(callID(1)); draft.Notes != "typed befor" {
		t.Errorf("draft: got %q, want the changed one", draft.Notes)
	}
}

// ctrl+z stops the program for any time, in the notes and in a line alike. Typed text is on disk before, and nothing
// begins with the outbox in the 2 s that stopping may take.
func TestSuspendingSavesWhatWasTyped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		keys  []string
		draft outbox.Draft
	}{
		{[]string{"i", "h", "e", "r", "e"}, outbox.Draft{Notes: "here"}},
		{[]string{"f", "3", "a", "@"}, outbox.Draft{Unfinished: map[string]string{"email": "a@"}}},
	} {
		w, d := opened(t)
		d.press("n")
		d.enter(test.keys...)
		began := time.Now()
		d.press("ctrl+z")
		draft, _, err := w.box.Draft(d.app.Day.Call.UUID)
		servicetest.Check(t, err)
		servicetest.Same(t, "notes on disk", test.draft.Notes, draft.Notes)
		servicetest.Same(t, "lines on disk", test.draft.Unfinished, draft.Unfinished)
		unlock, err := w.box.LockDrafts()
		if err != nil || time.Since(began) < 2*time.Second {
			t.Errorf("got %v after %v, want nobody at the outbox before 2 s", err, time.Since(began))
		}
		if err == nil {
			unlock()
		}
	}
}

// Keys of the terminal work while something is open: ctrl+z stops the program, and the text is there when it goes on.
func TestSuspendedInADialog(t *testing.T) {
	t.Parallel()
	for _, opens := range [][]string{{"/"}, {"b"}, {"c"}, {"?"}, {"X"}} {
		w := newQueueWorld(t)
		d := newDriver(t, w.options)
		d.press("n")
		w.seen()
		d.enter(opens...)
		open := d.app.Dialog
		d.press("ctrl+z")
		if !d.app.suspended || d.app.Dialog == nil || d.app.Dialog != open {
			t.Errorf("%v: got suspended %t and %T, want it suspended and open", opens, d.app.suspended, d.app.Dialog)
		}
		d.send(tea.ResumeMsg{})
	}
}

// An agent who returns within the time that stopping may take does not wait for its end: q sends held changes at once.
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
