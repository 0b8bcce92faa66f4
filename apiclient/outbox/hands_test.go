package outbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// A manual change to an entry is refused in the states in which it would do harm.
func TestEntriesByHand(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	for _, test := range []struct {
		name           string
		folder         string
		sent           bool // It was tried.
		held           bool
		state          State
		recalls, drops bool
		requeues       bool
		afterRelease   State
	}{
		{"held", dirQueued, false, true, StateHeld, true, true, false, StateQueued},
		{"queued", dirQueued, false, false, StateQueued, true, true, false, StateQueued},
		{"tried, and to be tried again", dirQueued, true, true, StateQueued, false, true, false, StateQueued},
		{"unsure", dirUnsure, true, false, StateUnsure, false, true, true, StateUnsure},
		{"refused", dirRejected, true, false, StateRejected, false, true, true, StateRejected},
		{"refused before it was sent", dirRejected, false, false, StateRejected, false, true, true, StateRejected},
	} {
		entry := func() (*Outbox, Entry) {
			box, err := Open(t.TempDir(), Options{
				BaseURL: "https://a.example",
				Account: "agent",
				Now:     func() time.Time { return now },
			})
			servicetest.Check(t, err)
			e := attempt(t, apitype.NewUUID())
			if test.held {
				e.NotBefore = now.Add(time.Second)
			}
			e = add(t, box, e)
			if test.sent {
				e.SentAt, e.Tries = now, 1
			}
			servicetest.Check(t, box.move(test.folder, e))
			return box, e
		}
		box, e := entry()
		if shown, err := box.Show(e.ID); err != nil || shown.State != test.state {
			t.Errorf("%s: got it %s, %v, want %s", test.name, shown.State, err, test.state)
		}
		err := box.Requeue(e.ID)
		if (err == nil) != test.requeues ||
			err != nil && err.Error() != fmt.Sprintf("%s: it is %s and is sent automatically", e.ID, test.state) {
			t.Errorf("%s: got %v of sending it again, want it taken %t", test.name, err, test.requeues)
		}
		if shown, _ := box.Show(e.ID); test.requeues && (shown.State != StateQueued || shown.Tries != 0) {
			t.Errorf("%s: got %+v, want it queued anew", test.name, shown)
		}
		box, e = entry()
		servicetest.Check(t, box.Release())
		if shown, err := box.Show(e.ID); err != nil ||
			shown.State != test.afterRelease ||
			test.state == StateHeld && !shown.NotBefore.IsZero() ||
			test.sent && test.held && shown.NotBefore.IsZero() {
			t.Errorf("%s: got it %s until %v after all holds were ended, %v, want %s",
				test.name, shown.State, shown.NotBefore, err, test.afterRelease)
		}
		box, e = entry()
		if _, err := box.Recall(e.ID); (err == nil) != test.recalls || err != nil && !errors.Is(err, ErrSent) {
			t.Errorf("%s: got %v of taking it back, want it taken %t", test.name, err, test.recalls)
		}
		box, e = entry()
		if err := box.Drop(e.ID); (err == nil) != test.drops {
			t.Errorf("%s: got %v of dropping it, want it taken %t", test.name, err, test.drops)
		}
		if _, err := box.Show(e.ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: got %v after it was dropped, want that it is not there", test.name, err)
		}
	}
}

// Numbers continue from the highest one ever given, even if the file that keeps it is gone.
func TestNumbersGoOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	box := open(t, dir, "https://a.example")
	for want := range uint64(3) {
		if e := add(t, box, attempt(t, apitype.NewUUID())); e.Seq != want+1 {
			t.Errorf("got number %d, want %d", e.Seq, want+1)
		}
	}
	path := filepath.Join(dir, "sequence")
	files, err := filepath.Glob(filepath.Join(dir, "*", "sequence"))
	if err == nil && len(files) == 1 {
		path = files[0]
	}
	servicetest.Check(t, os.WriteFile(path, []byte("40\n"), 0o600))
	if e := add(t, box, attempt(t, apitype.NewUUID())); e.Seq != 41 {
		t.Errorf("got number %d, want 41", e.Seq)
	}
	servicetest.Check(t, os.WriteFile(path, []byte("x"), 0o600))
	if e := add(t, box, attempt(t, apitype.NewUUID())); e.Seq != 42 {
		t.Errorf("a file that is torn: got number %d, want 42", e.Seq)
	}
	servicetest.Check(t, os.WriteFile(path, []byte("7\n"), 0o600))
	if e := add(t, open(t, dir, "https://a.example"), attempt(t, apitype.NewUUID())); e.Seq != 43 {
		t.Errorf("another program, and a file of before: got number %d, want 43", e.Seq)
	}
}

// A process that goes on does not wait for the rest of the time in which it was to be stopped.
func TestResumeEndsQuiesce(t *testing.T) {
	t.Parallel()
	box := open(t, t.TempDir(), "http://127.0.0.1:1")
	box.Resume() // Of nothing.
	for range 2 {
		box.Quiesce(time.Hour)
		box.Resume()
		box.Resume()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		add(t, box, attempt(t, apitype.NewUUID()))
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("got no entry in, want the outbox open after Resume")
	}
}

// A process that rests holds no lock that others wait for, and goes on afterwards.
func TestQuiesceLeavesTheFolderToOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asleep := open(t, dir, "http://127.0.0.1:1")
	resting := open(t, dir, "http://127.0.0.1:1")
	other := open(t, dir, "http://127.0.0.1:1")
	asleep.Quiesce(time.Hour)
	change, added := attempt(t, apitype.NewUUID()), make(chan error, 1)
	go func() {
		_, err := other.Add(change)
		added <- err
	}()
	select {
	case err := <-added:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("another process: got no entry in, want it while the first one rests")
	}

	const most = 50 * time.Millisecond
	began := time.Now()
	resting.Quiesce(most)
	add(t, resting, attempt(t, apitype.NewUUID()))
	if waited := time.Since(began); waited < most {
		t.Errorf("the resting process: wrote after %s, want nothing before %s", waited, most)
	}
	if got := len(list(t, other)); got != 2 {
		t.Errorf("entries: got %d, want 2", got)
	}
}

func TestDrafts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	box := open(t, dir, "https://a.example")
	call := apitype.NewUUID()
	draft := Draft{ResultCode: "reached", Rating: new(0), Notes: "grüße 👩‍👩‍👧 世界\nsecond line"}
	servicetest.Check(t, box.SaveDraft(call, draft))
	got, found, err := box.Draft(call)
	if err != nil || !found {
		t.Fatalf("draft: got %v %v, want one", found, err)
	}
	if got.Notes != draft.Notes || got.ResultCode != draft.ResultCode || *got.Rating != 0 || got.Call != call {
		t.Errorf("draft: got %+v, want %+v", got, draft)
	}
	if _, found, err := open(t, dir, "https://b.example").Draft(call); found || err != nil {
		t.Errorf("draft at another service: got %v %v, want none", found, err)
	}
	servicetest.Check(t, box.SaveDraft(call, Draft{}))
	if drafts, err := box.Drafts(); len(drafts) != 0 || err != nil {
		t.Errorf("after an empty draft: got %v %v, want none", drafts, err)
	}
}

func TestTornDraftIsSetAsideAndReported(t *testing.T) {
	t.Parallel()
	box := open(t, t.TempDir(), "https://a.example")
	call := apitype.NewUUID()
	servicetest.Check(t, box.SaveDraft(call, Draft{Notes: "half of it"}))
	servicetest.Check(t, os.Truncate(box.draftPath(call), 90))
	if _, damaged, err := box.List(); err != nil || len(damaged) != 1 {
		t.Errorf("list: got %v %v, want one damaged file", damaged, err)
	}
	if draft, found, err := box.Draft(call); found || err != nil {
		t.Errorf("draft: got %+v %v, want none", draft, err)
	}
	servicetest.Check(t, box.SaveDraft(call, Draft{Notes: "typed anew"}))
	if draft, found, err := box.Draft(call); !found || err != nil || draft.Notes != "typed anew" {
		t.Errorf("draft: got %+v %v, want the new text", draft, err)
	}
	if _, damaged, err := box.List(); err != nil || len(damaged) != 1 {
		t.Errorf("list: got %v %v, want what was set aside", damaged, err)
	}
}

func TestJoinNotes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ base, mine, theirs, want string }{
		{"a", "b", "cat", "b\ncat"},
		{"Call", "Call Ann", "Call tomorrow", "Call Ann tomorrow"},
		{"Call", "Write", "Recall. Call at ten", "Recall. Write at ten"},
		{"", "mine", "theirs", "mine\ntheirs"},
		{"x", "", "theirs", "theirs"},
		{"x", "mine", "x", "mine"},
		{"é", "b", "été", "b\nété"},
	} {
		if got := JoinNotes(test.base, test.mine, test.theirs); got != test.want {
			t.Errorf("%q with %q, from %q: got %q, want %q", test.mine, test.theirs, test.base, got, test.want)
		}
	}
}

// An entry that goes from folder to folder is in every list.
func TestListMissesNothingThatMoves(t *testing.T) {
	t.Parallel()
	moves := servicetest.Times(20, 100) // 100 are enough for a list without its second look to miss some.
	dir := t.TempDir()
	box, other := open(t, dir, "https://a.example"), open(t, dir, "https://a.example")
	e := add(t, box, attempt(t, apitype.NewUUID()))
	moved := make(chan error, 1)
	go func() {
		var err error
		for n := 0; n < moves && err == nil; n++ {
			var claims []*claim
			claims, err = (&turns{box: other, eager: true}).take(1)
			if err == nil {
				err = other.settle(claims[0], dirQueued, Event{})
			}
		}
		moved <- err
	}()
	for lists, missed := 0, 0; ; lists++ {
		if entries := list(t, box); len(entries) != 1 || entries[0].ID != e.ID {
			missed++
		}
		select {
		case err := <-moved:
			if err != nil || missed > 0 {
				t.Errorf("lists without the entry: got %d of %d (%v), want none", missed, lists, err)
			}
			return
		default:
		}
	}
}
