package desk_test

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
)

// afterCrash returns a copy of the disk of a Desk that runs. The copy has no locks, like the disk of a Desk that died.
func afterCrash(t *testing.T, dir string) string {
	t.Helper()
	copied := t.TempDir()
	servicetest.Check(t, os.CopyFS(copied, os.DirFS(dir)))
	return copied
}

// TestCrashAfterTheDisk kills a Desk after a key that ends a call, just when the change is on disk. The next Desk
// leaves the lease pending, because the change waits.
func TestCrashAfterTheDisk(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 1)
	f.user = new(apitype.NewUUID())
	dir := t.TempDir()
	first := f.agent(dir)
	first.perform(first.Take(f.calls[0]))
	first.Leases.Protect(f.calls[0])
	first.perform(first.Drain())
	_, err := first.Outbox.Add(outbox.Entry{
		Change:    first.Changes.Attempt(f.calls[0], "attempt").Change,
		NotBefore: f.Clock.Now().Add(time.Hour),
	})
	servicetest.Check(t, err)
	second := f.agent(afterCrash(t, dir))
	second.perform(second.Next())
	leases := f.leases()
	if len(leases) != 1 || !leases[0].Pending {
		t.Errorf("got %+v, want the pending lease of the change that waits", leases)
	}
	if second.Call != nil {
		t.Errorf("got the call %s, whose change waits", second.Call.UUID)
	}
}

// TestCrashBetweenTheKeyAndTheDisk kills a Desk after a key that ends a call, before the change is on disk. The next
// Desk has the donor on the card again: no change waits, so the lease must not stay pending for a day.
func TestCrashBetweenTheKeyAndTheDisk(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 1)
	f.user = new(apitype.NewUUID())
	dir := t.TempDir()
	first := f.agent(dir)
	first.perform(first.Take(f.calls[0]))
	first.Leases.Protect(f.calls[0])
	first.perform(first.Drain())
	leases := f.leases()
	if len(leases) != 1 || !leases[0].Pending {
		t.Fatalf("got %+v, want the pending lease of the ended call", leases)
	}
	second := f.agent(afterCrash(t, dir))
	leases = f.leases()
	if len(leases) != 1 || leases[0].Pending {
		t.Errorf("got %+v, want a lease that is not pending: no change waits", leases)
	}
	second.perform(second.Next())
	if !second.IsOn(f.calls[0]) {
		t.Error("the donor is not offered to the agent again")
	}
}

// TestCrashOfAnotherAgent kills a Desk. An agent who works with the same account on the same computer does not get the
// donor of the first one, who may still speak with that donor.
func TestCrashOfAnotherAgent(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 2)
	f.user = new(apitype.NewUUID())
	dir := t.TempDir()
	first := f.agent(dir)
	first.perform(first.Take(f.calls[0]))
	before := f.leases()
	f.Clock.Advance(time.Minute)
	disk := afterCrash(t, dir)
	f.user = new(apitype.NewUUID())
	second := f.agent(disk)
	second.perform(second.Next())
	if second.IsOn(f.calls[0]) {
		t.Error("the donor of the first agent is on the card of the second one")
	}
	for _, after := range f.leases() {
		if after.CallUUID == f.calls[0] && after.ExpiresAt != before[0].ExpiresAt {
			t.Errorf("got the lease until %s, want it as it was: until %s", after.ExpiresAt, before[0].ExpiresAt)
		}
	}
}

// TestCrashAndAServiceThatIsAway kills a Desk between a key and the disk. The service is away for a moment when the
// next Desk asks for the pending lease. The Desk after that one takes it over.
func TestCrashAndAServiceThatIsAway(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 1)
	f.user = new(apitype.NewUUID())
	dir := t.TempDir()
	first := f.agent(dir)
	first.perform(first.Take(f.calls[0]))
	first.Leases.Protect(f.calls[0])
	first.perform(first.Drain())
	disk := afterCrash(t, dir)
	f.line = func(real http.RoundTripper) http.RoundTripper { return withoutExtensions{real} }
	second := f.agent(disk)
	f.line = nil
	second.End()
	third := f.agent(disk)
	third.perform(third.Next())
	if !third.IsOn(f.calls[0]) {
		t.Errorf("the donor is not offered to the agent again: the leases are %+v", f.leases())
	}
}

// TestCrashOfADeskWithoutAnAgent kills a Desk that knows no agent. The next one goes on with its donor, although it
// acts for another user.
func TestCrashOfADeskWithoutAnAgent(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 1)
	dir := t.TempDir()
	first := f.agent(dir)
	first.perform(first.Next())
	second := f.agent(afterCrash(t, dir))
	second.perform(second.Next())
	if !second.IsOn(f.calls[0]) {
		t.Error("the donor is not offered to the agent again")
	}
}

// withoutExtensions is a line to the service on which no lease is extended.
type withoutExtensions struct{ http.RoundTripper }

func (w withoutExtensions) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/extend") {
		return nil, errors.New("the network is down")
	}
	return w.RoundTripper.RoundTrip(r)
}
