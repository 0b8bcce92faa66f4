package desk_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/event"
)

// agentWithAttempt returns an agent who has just pressed a on a call.
func (f *floor) agentWithAttempt() (a *agent, line *faultyLine, call apitype.UUID) {
	a, line = f.agentOn(f.t.TempDir())
	a.press("n")
	a.perform(a.Next())
	call = a.Call.UUID
	a.press("a")
	a.perform(a.Finish(disposition.NotReached("")))
	return a, line, call
}

// An agent gives the key again while the service takes its undo in. The donor stays protected, and another undo leaves
// no pending lease behind.
func TestKeyDuringAnUndo(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	a, line, call := f.agentWithAttempt()
	var again []event.Event
	line.status = func(r *http.Request) int {
		if again == nil && strings.HasSuffix(r.URL.Path, "/extend") {
			a.press("a")
			again = a.Finish(disposition.NotReached(""))
		}
		return 0
	}
	a.press("u")
	a.perform(a.Changes.Undo())
	line.status = nil
	a.perform(again)
	if !slices.Contains(f.pending(), call) {
		t.Fatalf("got %v pending while the change waits, want %v", f.pending(), call)
	}
	a.press("u")
	a.perform(a.Changes.Undo())
	if !a.IsOn(call) || len(f.pending()) != 0 {
		t.Errorf("got %v pending after both changes were undone, want none", f.pending())
	}
}

// The answer to an undo is lost, so that the lease is plain. The same key again makes it pending.
func TestKeyAfterAnUndoWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	a, line, call := f.agentWithAttempt()
	line.loses = func(_, path string) bool { return strings.HasSuffix(path, "/extend") }
	a.press("u")
	a.perform(a.Changes.Undo())
	line.loses = nil
	a.press("a")
	a.perform(a.Finish(disposition.NotReached("")))
	if !slices.Contains(f.pending(), call) {
		t.Errorf("got %v pending, want %v, whose change waits", f.pending(), call)
	}
}

// Two undone calls: the first comes back after the second as it was shown, although it could not be read then.
func TestUndoneCallThatWasNotReadComesBackWithItsDonor(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 2)
	a, line, _ := f.agentWithAttempt()
	latest := *a.Call
	f.Clock.Advance(2 * time.Second)
	a.press("a")
	a.perform(a.Finish(disposition.NotReached("")))
	line.status = func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/calls/"+latest.UUID.String()) {
			return http.StatusServiceUnavailable
		}
		return 0
	}
	for range 2 {
		a.press("u")
		a.perform(a.Changes.Undo())
	}
	a.press("n")
	a.perform(a.Next())
	if !a.IsOn(latest.UUID) || a.Call.PersonUUID != latest.PersonUUID {
		t.Errorf("got %+v, want %+v", a.Call, latest)
	}
}
