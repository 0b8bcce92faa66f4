package desk_test

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/disposition"
)

// What was stale stays stale after a reading that failed, and is read again until one succeeds.
func TestFailedReadingRefreshesNothing(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	a, line := f.agentOn(t.TempDir())
	b := f.agent(t.TempDir())
	a.press("n")
	a.perform(a.Next())
	call := a.Call.UUID
	a.perform(a.Wake())
	line.isCut = true
	f.Clock.Advance(2 * time.Hour)
	b.press("/")
	b.perform(b.Take(call))
	b.speak("well")
	b.press("ctrl+s")
	b.perform(b.Finish(disposition.Complete))
	b.sendHeld()
	a.perform(a.Wake())
	for range 3 {
		if !a.IsStale() {
			t.Fatal("got the card current after a reading that failed, want it stale")
		}
		a.pollFor(15 * time.Second)
	}
	line.isCut = false
	a.pollFor(15 * time.Second)
	isEnded := a.Call == nil || a.Call.UUID != call || a.Call.Status == apitype.CallCompleted
	if a.IsStale() || !isEnded {
		t.Errorf("got stale %t and %+v, want the call read", a.IsStale(), a.Call)
	}
}
