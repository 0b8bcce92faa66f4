package outbox

import (
	"os"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

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
	const moves = 300 // Enough for a list without its second look to miss some.
	dir := t.TempDir()
	box, other := open(t, dir, "https://a.example"), open(t, dir, "https://a.example")
	e := add(t, box, attempt(t, apitype.NewUUID()))
	moved := make(chan error, 1)
	go func() {
		var err error
		for n := 0; n < moves && err == nil; n++ {
			var claims []*claim
			if claims, err = (&turns{box: other, eager: true}).take(1); err == nil {
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
