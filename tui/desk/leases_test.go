package desk_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/desk"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/queue"
)

// floor is a service with a queue of n calls, and its agents.
type floor struct {
	*servicetest.Harness
	t     *testing.T
	token string
	calls []apitype.UUID                            // The oldest first.
	user  *apitype.UUID                             // Of the next agent. Nil for one of its own.
	line  func(http.RoundTripper) http.RoundTripper // To the service. Nil if it never fails.
	// configDir is the folder of scripts/. Empty without one.
	configDir string
}

func newFloor(t *testing.T, n int) *floor {
	f := &floor{Harness: servicetest.New(t), t: t}
	f.token = f.Token()
	f.loadCalls(n)
	return f
}

// loadCalls makes persons with a call each, and forgets the calls before.
func (f *floor) loadCalls(n int) {
	organization := f.Organization("A")
	f.calls = nil
	var records []service.LoadRecord
	for i := range n {
		person := service.LoadedPerson{OwningOrganizationUUID: organization, RecruitingOrganizationUUID: organization}
		person.UUID, person.CreatedAt = apitype.NewUUID(), apitype.NewTime(f.Clock.Now())
		var call service.LoadedCall
		call.UUID = apitype.NewUUID()
		call.PersonUUID = person.UUID
		call.Status = apitype.CallRequested
		call.Type = apitype.CallVerification
		call.RequestedAt = apitype.NewTime(f.Clock.Now().Add(time.Duration(i-n) * time.Hour))
		call.LastUpdatedAt = call.RequestedAt
		f.calls = append(f.calls, call.UUID)
		records = append(records, service.LoadRecord{Kind: service.LoadPerson, Data: person}, service.LoadRecord{
			Kind: service.LoadCall,
			Data: call,
		})
	}
	f.Load(records...)
}

// agent is a desk that does its work at once.
type agent struct {
	*desk.Day
	Ask    *ask.Questions
	told   []string
	urgent []string // Of the messages.
	f      *floor
	line   *faultyLine // Nil for the real one.

	requests   *atomic.Int64 // Nil if they are not counted.
	shownAfter int64         // The number when the first call was on the desk.
}

func (f *floor) agent(dir string) *agent {
	line := f.Transport()
	if f.line != nil {
		line = f.line(line)
	}
	client, err := apiclient.New(apiclient.Options{
		BaseURL:   f.URL,
		Token:     func(context.Context) (string, error) { return f.token, nil },
		Transport: line,
		Now:       f.Clock.Now,
		Sleep:     func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	servicetest.Check(f.t, err)
	account, err := client.Identity(f.t.Context())
	servicetest.Check(f.t, err)
	client.Pin(account)
	box, err := outbox.Open(dir, outbox.Options{BaseURL: f.URL, Account: account, Now: f.Clock.Now})
	servicetest.Check(f.t, err)
	a := &agent{f: f, Day: desk.New(desk.Options{
		Client:    client,
		Outbox:    box,
		Now:       f.Clock.Now,
		Languages: []string{"nl"},
		Agent:     f.user,
		ConfigDir: f.configDir,
	})}
	a.Ask = ask.New(a.Day)
	a.Changes.Sender = a.Leases.NewSender(outbox.SenderOptions{})
	a.perform(a.Begin())
	return a
}

// perform does all work in the order in which it comes up, as if it took equally long.
func (a *agent) perform(events []event.Event) {
	for len(events) > 0 {
		e := events[0]
		events = events[1:]
		switch e := e.(type) {
		case event.Job:
			events = append(events, a.Receive(e(a.f.t.Context()))...)
			if a.requests != nil && a.shownAfter == 0 && a.Call != nil {
				a.shownAfter = a.requests.Load()
			}
		case event.Notice:
			if e.Text != "" {
				a.told = append(a.told, e.Text)
				if e.Level == event.Urgent {
					a.urgent = append(a.urgent, e.Text)
				}
			}
		}
	}
}

// The agent opens a call again while its change is still being written to disk. The terminal keeps it from others, and
// not from itself.
func TestCallIsOpenedWhileItsChangeIsSaved(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	a := f.agent(t.TempDir())
	a.perform(a.Next())
	left := a.Call.UUID
	saving := a.Finish(disposition.NotReached(""))
	a.perform(a.Take(left))
	if a.Call == nil || a.Call.UUID != left || strings.Contains(strings.Join(a.told, "\n"), "another terminal") {
		t.Errorf("got the call %v, and was told %q, want the call again", a.Call, a.told)
	}
	a.perform(saving)
	a.perform(a.Skip())
	a.sendHeld()
	f.wantLeases(2)
}

// A call that was taken ahead comes next once, although the queue had it among the waiting ones. The call on the desk
// is not among them.
func TestEachCallIsNextOnce(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 5)
	a := f.agent(t.TempDir())
	a.perform(a.Poll())
	a.Keys.Press("n", false, false, f.Clock.Now())
	a.perform(a.Next())
	var got []apitype.UUID
	for _, offer := range a.Offers(5) {
		got = append(got, offer.ID)
	}
	if !slices.Equal(got, f.calls[1:]) {
		t.Errorf("got %v, want all but the first of %v", got, f.calls)
	}
}

// An agent reads that another agent has just spoken to the donor.
func TestADonorWhoWasReachedOnAnotherCallIsToldOf(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 2)
	first, second := f.agent(t.TempDir()), f.agent(t.TempDir())
	person := f.Do(f.token, http.MethodGet, "/api/v1/calls/"+f.calls[0].String(), "").Object()["personUuid"].(string)
	made := f.Do(f.token, http.MethodPost, "/api/v1/calls",
		`{"personUuid":"`+person+`","type":"winback","requestedAt":"`+apitype.NewTime(f.Clock.Now()).String()+`"}`)
	if made.Status != http.StatusCreated {
		t.Fatalf("got %d %s", made.Status, made.Body)
	}
	var other apitype.Call
	made.Decode(&other)
	first.perform(first.Next())
	first.Form().SetResult("reached")
	first.perform(first.Finish(disposition.Complete))
	f.Clock.Advance(6 * time.Second)
	if _, err := first.Changes.Sender.SendDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.Clock.Advance(10 * time.Minute)
	for range 3 {
		second.perform(second.Poll())
	}
	if second.perform(second.Next()); second.Call != nil && second.Call.PersonUUID.String() == person {
		t.Fatalf("got %+v, want the donor left alone", second.Call)
	}
	if second.perform(second.Take(other.UUID)); !second.IsOn(other.UUID) {
		t.Fatalf("got %+v, want the donor's other call", second.Call)
	}
	warned := func() bool {
		return slices.ContainsFunc(second.Warnings(), func(text string) bool {
			return strings.Contains(text, "ago on another call, less than 4 hours")
		})
	}
	if !warned() {
		t.Errorf("got %q, want that the donor was reached", second.Warnings())
	}
	f.Clock.Advance(4 * time.Hour)
	if warned() {
		t.Errorf("four hours later: got %q", second.Warnings())
	}
}

func TestAgentsOfOneFloorNeverHaveOneDonor(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 12)
	var agents []*agent
	seen := map[apitype.UUID]bool{}
	for range 3 {
		a := f.agent(t.TempDir())
		if !a.Leases.HasQueue {
			t.Fatal("the desk found no queue")
		}
		a.perform(a.Next())
		if a.Call == nil || seen[a.Call.UUID] {
			t.Fatalf("got %+v (%q), want a call of its own", a.Call, a.told)
		}
		seen[a.Call.UUID] = true
		agents = append(agents, a)
	}
	for range 2 {
		for _, a := range agents {
			f.Clock.Advance(time.Minute)
			a.perform(a.Finish(disposition.NotReached("")))
			if a.Call == nil || seen[a.Call.UUID] {
				t.Fatalf("got %+v (%q), want a call that nobody had", a.Call, a.told)
			}
			seen[a.Call.UUID] = true
		}
	}
}

// A desk that ends gives its call back. A desk that opens a call by hand keeps no other.
func TestEndedDeskHoldsNothing(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 5)
	first := f.agent(t.TempDir())
	first.perform(first.Next())
	call := first.Call.UUID
	leased := func() int {
		answer, err := apiclient.Decoded(first.Client.Queue.Leases(t.Context(), apitype.QueueLeaseListOptions{}))
		servicetest.Check(t, err)
		return len(answer.Leases)
	}
	if got := leased(); got != 2 {
		t.Errorf("got %d leases, want the call on the desk and the one after it", got)
	}
	second := f.agent(t.TempDir())
	second.perform(second.Next())
	second.perform(second.Take(call))
	if got := leased(); got != 2 {
		t.Errorf("after a call was opened by hand: got %d leases, want those of the other desk", got)
	}
	first.End()
	if got := leased(); got != 0 {
		t.Errorf("got %d leases of desks that hold nothing, want none", got)
	}
}

// TestOneScreenADonor opens a call that is on another screen of the same agent: it is refused, and the reply to the key
// comes before errors that were there already.
func TestOneScreenADonor(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 5)
	dir := t.TempDir()
	first, second := f.agent(dir), f.agent(dir)
	first.perform(first.Next())
	second.perform(second.Take(first.Call.UUID))
	if second.Call != nil || !strings.Contains(strings.Join(second.urgent, "\n"), "open in another terminal") {
		t.Errorf("got %+v and %q, want an urgent refusal", second.Call, second.told)
	}
}

// An agent with one terminal never reads of another one with an open call, whatever the order of the answers.
func TestOwnReadingsAreNoOtherScreen(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 8))
		f := newFloor(t, 3)
		f.InterfaceOnly() // Leases of the service are taken one at a time.
		a := f.agent(t.TempDir())
		var jobs []event.Job
		var results []event.Result
		perform := func(events []event.Event) {
			for _, e := range events {
				switch e := e.(type) {
				case event.Job:
					jobs = append(jobs, e)
				case event.Notice:
					if e.Text != "" {
						a.told = append(a.told, e.Text)
					}
				}
			}
		}
		var last apitype.UUID
		for left := 30; left > 0 || left > -10_000 && len(jobs)+len(results) > 0; left-- {
			switch kind := random.IntN(3); {
			case kind == 0 && left > 0:
				last = f.calls[random.IntN(len(f.calls))]
				perform(a.Take(last))
			case kind == 1 && len(jobs) > 0:
				i := random.IntN(len(jobs))
				results = append(results, jobs[i](t.Context()))
				jobs = slices.Delete(jobs, i, i+1)
			case kind == 2 && len(results) > 0:
				i := random.IntN(len(results))
				result := results[i]
				results = slices.Delete(results, i, i+1)
				perform(a.Receive(result))
			}
		}
		if said := strings.Join(a.told, "\n"); !a.IsOn(last) || strings.Contains(said, "another terminal") {
			t.Errorf("seed %d: got %+v on the desk, want call %s; it said %q", seed, a.Call, last, said)
		}
	}
}

func TestSkippedCallIsGivenBack(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 4)
	a, b := f.agent(t.TempDir()), f.agent(t.TempDir())
	a.perform(a.Next())
	skipped := a.Call.UUID
	a.perform(a.Skip())
	b.perform(b.Next())
	if b.Call == nil || b.Call.UUID != skipped {
		t.Errorf("got %+v, want the oldest call, which was given back", b.Call)
	}
}

func TestLaterPutsACallOff(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 3)
	a := f.agent(t.TempDir())
	a.perform(a.Next())
	put := a.Call.UUID
	a.perform(a.Finish(disposition.Later(card.At(f.Clock.Now().Add(2*time.Hour)), true)))
	if a.Call == nil || a.Call.UUID == put {
		t.Fatalf("got %+v (%q), want the next call", a.Call, a.told)
	}
	if slices.ContainsFunc(a.Offers(10), func(c queue.Candidate) bool { return c.ID == put }) {
		t.Errorf("the call that was put off still stands among the next ones")
	}
	a.sendHeld()
	state, err := apiclient.Decoded(a.Client.Queue.State(t.Context(), apitype.QueueOptions{}))
	if err != nil || state.Deferred != 1 {
		t.Errorf("got %+v %v, want one that is put off", state, err)
	}
}

// A call comes free for others when its agent has touched no key for 15 minutes, and not before.
func TestUntouchedDeskGivesItsCallBack(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 4)
	a := f.agent(t.TempDir())
	a.perform(a.Next())
	a.Keys.Press("down", false, false, f.Clock.Now())
	call := a.Call.UUID
	pass := func(seconds int) {
		for ; seconds > 0; seconds-- {
			f.Clock.Advance(time.Second)
			if a.perform(a.Tick()); seconds%15 == 1 {
				a.perform(a.Poll())
			}
		}
	}
	warned := func() bool {
		return strings.HasSuffix(strings.Join(a.told, "\n"),
			" is reserved for you for 3 more minutes: any key keeps the donor")
	}
	if pass(12*60 - 1); warned() {
		t.Errorf("got %q before 12 minutes", a.told)
	}
	if pass(1); !warned() {
		t.Errorf("got %q after 12 minutes, want that the lease is ending", a.told)
	}
	a.Keys.Press("down", false, false, f.Clock.Now())
	if pass(12 * 60); !warned() || len(a.told) != 2 {
		t.Errorf("got %q, want it said again 12 minutes after a key", a.told)
	}
	pass(2*60 + 59)
	if !a.IsOn(call) {
		t.Fatalf("got the call given back after 14:59: %q", a.told)
	}
	pass(1)
	a.perform(a.Poll())
	if !a.IsOn(call) ||
		!strings.HasSuffix(strings.Join(a.told, "\n"), "is no longer reserved for you: no key for 15 minutes") {
		t.Errorf("got %+v and %q, want the card kept, and that the lease has ended", a.Call, a.told)
	}
	b := f.agent(t.TempDir())
	b.perform(b.Next())
	if b.Call == nil || b.Call.UUID != call {
		t.Errorf("got %+v for another agent, want the call that was given back", b.Call)
	}
}

// After the computer slept, the call, its person and the lease are read before a key counts. The agent reads who has
// the donor now, and what changed.
func TestSleepMakesAllOld(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 4)
	a := f.agent(t.TempDir())
	a.perform(a.Next())
	a.perform(a.Tick())
	call := a.Call.UUID
	ahead := a.Offers(1)[0].ID
	f.Clock.Advance(time.Hour)
	b := f.agent(t.TempDir())
	b.perform(b.Next())
	if !b.IsOn(call) {
		t.Fatalf("got %+v for the other agent, want the call of the one who sleeps", b.Call)
	}
	if a := f.Do(f.token, http.MethodPut, "/api/v1/persons/"+b.Call.PersonUUID.String()+
		"/actions/update", `{"mobilePhoneNumber":"+31622222222"}`); a.Status != http.StatusOK {
		t.Fatalf("got %d %s", a.Status, a.Body)
	}
	events := a.Wake()
	for _, again := range []func() []event.Event{a.Poll, a.Poll, a.Refresh} { // The network comes back late.
		events = append(events, again()...)
		if !a.IsStale() {
			t.Error("got what is shown for current after an hour of sleep, and nothing was read")
		}
	}
	a.perform(events)
	said := strings.Join(a.told, "\n")
	if a.IsStale() ||
		!strings.Contains(a.Card().HolderText(), "has this donor on the screen") ||
		!strings.Contains(said, "was changed elsewhere: mobile") {
		t.Errorf("got stale %t, %q and %q, want the other agent named, and the new number",
			a.IsStale(), a.Card().HolderText(), said)
	}
	b.perform(b.Skip())
	for range 2 {
		f.Clock.Advance(15 * time.Second)
		a.perform(a.Poll())
	}
	if a.Card().HolderText() != "" || b.IsOn(ahead) == a.IsOn(ahead) {
		t.Errorf("got %q, and %+v for the other agent, want the donor the first one's again",
			a.Card().HolderText(), b.Call)
	}
}

// A call that was taken ahead counts for its agent when it is shown, and undo leaves one lease on the card
// and one ahead at most.
func TestAheadIsToldAndUndoGivesBack(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 8)
	a := f.agent(t.TempDir())
	leases := func() (shown, ahead int) {
		answer, err := apiclient.Decoded(a.Client.Queue.Leases(t.Context(), apitype.QueueLeaseListOptions{}))
		servicetest.Check(t, err)
		for _, l := range answer.Leases {
			if l.Ahead {
				ahead++
			} else {
				shown++
			}
		}
		return shown, ahead
	}
	a.perform(a.Next())
	if shown, ahead := leases(); shown != 1 || ahead != 1 {
		t.Errorf("got %d shown and %d ahead, want one of each", shown, ahead)
	}
	first := a.Call.UUID
	for range 3 {
		f.Clock.Advance(time.Second)
		a.Form().SetResult("reached")
		a.perform(a.Finish(disposition.Complete))
	}
	agents, err := apiclient.Decoded(a.Client.Queue.Agents(t.Context(), apitype.QueueAgentsOptions{}))
	if err != nil ||
		len(agents.Agents) != 1 ||
		agents.Agents[0].Taken != 4 ||
		*agents.Agents[0].CallUUID != a.Call.UUID {
		t.Errorf("got %+v %v, want four calls shown, the last of them on the screen", agents, err)
	}
	for !a.IsOn(first) && a.Changes.CanUndo() {
		a.perform(a.Changes.Undo())
		a.Changes.Written()
	}
	if shown, ahead := leases(); !a.IsOn(first) || shown+ahead != 2 {
		t.Errorf("got %+v on the desk and %d leases, want the first call, and two", a.Call, shown+ahead)
	}
}

// sendHeld sends what the agent has done, once it is no longer held.
func (a *agent) sendHeld() {
	a.f.t.Helper()
	a.Changes.Written()
	a.f.Clock.Advance(6 * time.Second)
	var told []outbox.Event
	sender := a.Leases.NewSender(outbox.SenderOptions{Notify: func(e outbox.Event) { told = append(told, e) }})
	if _, err := sender.SendDue(a.f.t.Context()); err != nil {
		a.f.t.Fatal(err)
	}
	for _, e := range told {
		a.perform(a.Receive(a.Told(e)))
	}
}

// A call that the queue gives is worked on, though this Desk has just opened it and was refused: its own note of the
// call is not that of another terminal.
func TestTakeOfACallThatWasOpenedBefore(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 1)
	f.user = new(apitype.NewUUID())
	colleague := f.agent(t.TempDir())
	colleague.perform(colleague.Next())
	f.user = new(apitype.NewUUID())
	a := f.agent(t.TempDir())
	opened := a.Take(f.calls[0])
	asked := a.Next()
	refused := a.served(opened)
	colleague.perform(colleague.Pause.Start(apitype.PauseBreak))
	a.receive(a.served(asked))
	a.receive(refused)
	for _, l := range f.leases() {
		if !a.IsOn(f.calls[0]) || l.UserUUID != *f.user {
			t.Errorf("got the call %v and the lease %+v, want the call with its lease", a.Call, l)
		}
	}
	if n := len(f.leases()); n != 1 {
		t.Errorf("got %d leases, want one", n)
	}
}
