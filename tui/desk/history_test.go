package desk_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/desk"
)

// counted counts what a desk asks for, and the pages of calls among that.
type counted struct {
	http.RoundTripper
	pages, all *atomic.Int64
	deaf       bool
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.all.Add(1)
	if r.URL.Path == "/api/v1/calls" {
		c.pages.Add(1)
	}
	if c.deaf {
		query := r.URL.Query()
		query.Del("requestedFrom")
		query.Del("requestedUntil")
		r.URL.RawQuery = query.Encode()
	}
	return c.RoundTripper.RoundTrip(r)
}

// plainDesk is a desk at a service without a queue, with a state folder.
func (f *floor) plainDesk(dir, account string, user *apitype.UUID) (a *agent, pages *atomic.Int64) {
	f.t.Helper()
	a, pages = f.plainDeskBefore(dir, account, user)
	a.perform(a.Begin())
	return a, pages
}

// plainDeskBefore is one that has not begun.
func (f *floor) plainDeskBefore(dir, account string, user *apitype.UUID) (a *agent, pages *atomic.Int64) {
	f.t.Helper()
	pages, all := new(atomic.Int64), new(atomic.Int64)
	line := f.Transport()
	if f.line != nil {
		line = f.line(line)
	}
	client, err := apiclient.New(apiclient.Options{
		BaseURL: f.URL, Token: func(context.Context) (string, error) { return f.token, nil },
		Transport: counted{line, pages, all, f.deaf}, Now: f.Clock.Now,
	})
	servicetest.Check(f.t, err)
	box, err := outbox.Open(filepath.Join(dir, "outbox"), outbox.Options{BaseURL: f.URL, Account: account, Now: f.Clock.Now})
	servicetest.Check(f.t, err)
	a = &agent{Day: desk.New(desk.Options{
		Client: client, Outbox: box, Now: f.Clock.Now, Languages: []string{"nl"}, Agent: user, StateFile: filepath.Join(dir, "desk", "test.json"),
	}), f: f, requests: all}
	a.Changes.Sender = box.Sender(client, outbox.SenderOptions{})
	return a, pages
}

// loadCompleted loads n calls that ended before those that wait, the last one a second before.
func (f *floor) loadCompleted(n int, last time.Time) {
	f.t.Helper()
	organization := f.Organization("Old")
	person := service.LoadedPerson{OwningOrganizationUUID: organization, RecruitingOrganizationUUID: organization}
	person.UUID, person.CreatedAt = apitype.NewUUID(), apitype.NewTime(last.Add(-time.Duration(n)*time.Second))
	records := []service.LoadRecord{{Kind: service.LoadPerson, Data: person}}
	for i := range n {
		at := apitype.NewTime(last.Add(-time.Duration(i+1) * time.Second))
		var call service.LoadedCall
		call.UUID, call.PersonUUID, call.Status, call.Type = apitype.NewUUID(), person.UUID, apitype.CallCompleted, apitype.CallVerification
		call.RequestedAt, call.LastUpdatedAt, call.CompletedAt = at, at, &at
		call.Result = apitype.Embed(apitype.CallResult{ResultCode: new("reached")})
		records = append(records, service.LoadRecord{Kind: service.LoadCall, Data: call})
	}
	f.Load(records...)
}

// walkedHistory is a desk that has walked the history of a service without a queue, and its folder.
func walkedHistory(t *testing.T) (f *floor, dir string, first *agent) {
	t.Helper()
	f, dir = newFloor(t, 5), t.TempDir()
	f.InterfaceOnly()
	f.loadCompleted(2600, f.Clock.Now().Add(-10*time.Hour))
	f.Clock.Advance(time.Hour)
	first, pages := f.plainDesk(dir, "x", nil)
	first.perform(first.Next())
	if n, all := first.Waiting(); n != 5 || !all || pages.Load() < 6 {
		t.Fatalf("got %d calls (all %v) in %d pages, want 5 after a walk", n, all, pages.Load())
	}
	return f, dir, first
}

// The history of a service without a queue is walked once: the next start goes on from the
// first call that was open, and learns what has changed since.
func TestHistoryIsWalkedOnce(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	f, dir, first := walkedHistory(t)
	first.End()

	f.Clock.Advance(time.Hour)
	late := f.loadRequestedAt(f.Clock.Now().Add(-9000 * time.Hour)) // Imported: an old request, open now.
	second, pages := f.plainDesk(dir, "x", nil)
	second.perform(second.Next())
	if second.Call == nil || pages.Load() > 3 {
		t.Errorf("second start: got %+v after %d pages, want a call after one page, a look whether there are more, and the changes", second.Call, pages.Load())
	}
	if n, all := second.Waiting(); n != 6 || !all {
		t.Errorf("second start: got %d calls (all %v), want all 6", n, all)
	}
	if !slices.ContainsFunc(append(second.Offers(10), desk.Candidate{ID: second.Call.UUID}), func(c desk.Candidate) bool { return c.ID == late }) {
		t.Errorf("second start: got no call %s, which was imported with an old request time", late)
	}
	second.End()

	third, _ := f.plainDesk(dir, "x", nil)
	if n, all := third.Waiting(); n != 6 || !all {
		t.Errorf("third start: got %d calls (all %v), want all 6", n, all)
	}
	other, pages := f.plainDesk(dir, "y", nil)
	if n, all := other.Waiting(); n != 6 || !all || pages.Load() < 6 {
		t.Errorf("another account: got %d calls (all %v) in %d pages, want its own walk", n, all, pages.Load())
	}
}

// What is known of the history is kept while the desk is open, too: the start after one that broke off
// walks nothing again.
func TestHistoryIsKeptByAnOpenDesk(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	f, dir, first := walkedHistory(t)
	for range 10 {
		f.Clock.Advance(time.Minute)
		first.perform(first.Poll())
	}
	second, pages := f.plainDesk(dir, "x", nil)
	second.perform(second.Next())
	if n, all := second.Waiting(); n != 5 || !all || pages.Load() > 3 {
		t.Errorf("got %d calls (all %v) in %d pages, want 5 without a walk", n, all, pages.Load())
	}
}

// One old call that is open delays no start, though it may not be called: the years after it are read
// when the agent has a call. A service that pays no heed to the times between which
// calls were requested is walked from the beginning, as if nothing was remembered.
func TestOldCallHidesNoHistory(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	f := newFloor(t, 5)
	f.InterfaceOnly()
	f.loadCompleted(*oldCalls, f.Clock.Now().Add(-10*time.Hour))
	old := f.loadRequestedAt(f.Clock.Now().Add(-9000 * time.Hour))
	f.optOut(old)
	dir, history := t.TempDir(), int64(*oldCalls/desk.WalkPage)
	first, pages := f.plainDesk(dir, "x", nil)
	first.perform(first.Next())
	if n, all := first.Waiting(); n != 6 || !all || pages.Load() < history {
		t.Fatalf("got %d calls (all %v) in %d pages, want 6 after a walk", n, all, pages.Load())
	}
	first.End()
	middle := f.loadRequestedAt(f.Clock.Now().Add(-10*time.Hour - time.Duration(*oldCalls/2)*time.Second)) // Among those that are left out.
	start := func(mostPages, mostRequests int64) {
		t.Helper()
		f.Clock.Advance(time.Hour)
		next, pages := f.plainDeskBefore(dir, "x", nil)
		if next.perform(append(next.Begin(), next.Next()...)); next.Call == nil {
			t.Fatal("got no call")
		}
		if n, all := next.Waiting(); n != 7 || !all || pages.Load() > mostPages || next.shownAfter > mostRequests {
			t.Errorf("got %d calls (all %v) in %d pages, the first after %d requests, want all 7 in %d, the first after %d", n, all, pages.Load(), next.shownAfter, mostPages, mostRequests)
		}
		known := append(next.Offers(10), desk.Candidate{ID: next.Call.UUID})
		for id, want := range map[apitype.UUID]bool{old: false, middle: true} {
			if got := slices.ContainsFunc(known, func(c desk.Candidate) bool { return c.ID == id }); got != want {
				t.Errorf("got call %s offered %v, want %v", id, got, want)
			}
		}
		next.End()
	}
	for range 2 {
		start(history+5, 8)
	}
	f.deaf = true
	start(2*(history+3), history+9)
}

// oldCalls is how many calls of the history have ended.
var oldCalls = flag.Int("old-calls", 2600, "calls that have ended, in the history of a service without a queue")

// optOut lets the person of a call opt out of the phone.
func (f *floor) optOut(call apitype.UUID) {
	f.t.Helper()
	person := f.Do(f.token, http.MethodGet, "/api/v1/calls/"+call.String(), "").Object()["personUuid"].(string)
	if got := f.Do(f.token, http.MethodPut, "/api/v1/persons/"+person+"/actions/update", `{"optIns":{"phone":false}}`); got.Status != http.StatusOK {
		f.t.Fatalf("opt out: %d %s", got.Status, got.Body)
	}
}

func (f *floor) loadRequestedAt(at time.Time) apitype.UUID {
	f.t.Helper()
	organization := f.Organization("Late")
	person := service.LoadedPerson{OwningOrganizationUUID: organization, RecruitingOrganizationUUID: organization}
	person.UUID, person.CreatedAt = apitype.NewUUID(), apitype.NewTime(at)
	var call service.LoadedCall
	call.UUID, call.PersonUUID, call.Status, call.Type = apitype.NewUUID(), person.UUID, apitype.CallRequested, apitype.CallVerification
	call.RequestedAt, call.LastUpdatedAt = apitype.NewTime(at), apitype.NewTime(f.Clock.Now())
	f.Load(service.LoadRecord{Kind: service.LoadPerson, Data: person}, service.LoadRecord{Kind: service.LoadCall, Data: call})
	return call.UUID
}

// More changes than are taken in at a time since the last start: all calls are walked again.
func TestHistoryWithTooManyChanges(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	f := newFloor(t, 2)
	f.InterfaceOnly()
	dir := t.TempDir()
	first, _ := f.plainDesk(dir, "x", nil)
	first.perform(first.Next())
	first.End()
	f.Clock.Advance(time.Hour)
	late := f.loadRequestedAt(f.Clock.Now().Add(-9000 * time.Hour))
	f.Clock.Advance(time.Hour)
	f.loadCompleted(desk.MostChanges+1, f.Clock.Now())
	second, _ := f.plainDesk(dir, "x", nil)
	if n, all := second.Waiting(); n != 3 || !all {
		t.Errorf("got %d calls (all %v), want all 3, %s too", n, all, late)
	}
}

// Agents of a service without a queue are spread over the oldest calls, each always to the
// same one; two terminals of one agent never show one donor.
func TestAgentsAreSpreadWithoutAQueue(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 60)
	f.InterfaceOnly()
	for n := range 12 {
		user := apitype.MustParseUUID(fmt.Sprintf("e0000000-0000-4000-8000-%012d", n))
		want := desk.Spread(user.String(), f.calls, func(id apitype.UUID) apitype.UUID { return id })[0]
		for range 2 {
			a, _ := f.plainDesk(t.TempDir(), "x", &user)
			a.perform(a.Next())
			if a.Call == nil || a.Call.UUID != want {
				t.Fatalf("agent %d: got %+v, want %s, the first of the oldest fifty spread for this agent", n, a.Call, want)
			}
		}
	}
	dir, user := t.TempDir(), apitype.NewUUID()
	one, _ := f.plainDesk(dir, "x", &user)
	one.perform(one.Next())
	two, _ := f.plainDesk(dir, "x", &user)
	two.perform(two.Next())
	if one.Call == nil || two.Call == nil || one.Call.UUID == two.Call.UUID {
		t.Errorf("got %+v and %+v, want two calls", one.Call, two.Call)
	}
	shown := one.Call.UUID
	one.perform(one.Next())
	two.perform(two.Take(shown))
	if two.Call == nil || two.Call.UUID != shown {
		t.Errorf("got %+v (%q), want the call that the other terminal has left", two.Call, two.told)
	}
}

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
