package desk_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"fundesk/service/servicetest"
	"fundesk/tui/desk"
)

// A change whose commit waits for minutes is dated before it is seen. The Desk asks on from where the service's
// changes are settled, so the change comes in when it is seen.
func TestChangeThatIsSettledLate(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	f.InterfaceOnly()
	waiting := &servicetest.WaitingCommit{Call: f.calls[2]}
	f.line = func(line http.RoundTripper) http.RoundTripper {
		waiting.RoundTripper = line
		return waiting
	}
	a, _ := f.plainDesk(t.TempDir(), "x", nil)
	attempts := func() int {
		all := a.Offers(10)
		at := slices.IndexFunc(all, func(c desk.Candidate) bool { return c.ID == f.calls[2] })
		if at < 0 {
			return -1
		}
		return all[at].Attempts
	}
	poll := func(times int) {
		for range times {
			f.Clock.Advance(15 * time.Second)
			a.perform(a.Poll())
		}
	}
	poll(4)
	waiting.Settled = f.Clock.Now()
	f.Clock.Advance(time.Second)
	if answer := f.Do(f.token, http.MethodPut, "/api/v1/calls/"+f.calls[2].String()+"/actions/add-attempt", `{}`); answer.Status != http.StatusOK {
		t.Fatal(answer.Status)
	}
	poll(80) // Twenty minutes.
	if got := attempts(); got != 0 {
		t.Fatalf("got %d attempts before the change is seen, want 0", got)
	}
	waiting.Settled = time.Time{}
	poll(8)
	f.Clock.Advance(24 * time.Hour) // The pause after an attempt is over.
	if got := attempts(); got != 1 {
		t.Errorf("got %d attempts, want the one that was seen late", got)
	}
}
