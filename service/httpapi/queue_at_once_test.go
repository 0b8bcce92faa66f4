package httpapi_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/queue"
	"fundesk/service/servicetest"
)

// TestTakesAtOnce runs many parallel takes. No donor is given twice, and no agent is left without a call.
// Promise S35: takers pass over what others hold.
func TestTakesAtOnce(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	onEngines(t, func(t *testing.T, f *floor) {
		testTakesAtOnce(t, f, false)
		testTakesAtOnce(t, f, true)
	})
}

// testTakesAtOnce leaves one call; with a call that is due for one of the agents, if asked for.
func testTakesAtOnce(t *testing.T, f *floor, due bool) {
	const others = 11
	twice := f.person("null")
	first, second := f.call(twice, 90*time.Minute, "happy_call"), f.call(twice, 80*time.Minute, "happy_call")
	for range others + 3 { // One more than requested: a call that another take holds is passed over.
		f.call(f.person("null"), time.Hour, "happy_call")
	}
	kept, owner := f.call(f.person("null"), time.Minute, "happy_call"), apitype.NewUUID()
	if due {
		f.later(kept, fmt.Sprintf(`{"notBefore":%q,"userUuid":%q}`, f.In(time.Second), owner))
	}
	f.Clock.Advance(2 * time.Second)

	agents := &crowd{service: f.Service, caller: f.caller()}
	gone, leave := context.WithCancel(t.Context())
	leave()
	away, repeated, several := apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID()
	agents.take(gone, apitype.NewUUID(), away, 1)
	agents.take(t.Context(), apitype.NewUUID(), several, 3)
	agents.take(t.Context(), owner, repeated, 1)
	agents.take(t.Context(), owner, repeated, 1)
	for range others {
		agents.take(t.Context(), apitype.NewUUID(), apitype.NewUUID(), 1)
	}
	agents.Wait()
	for request, calls := range agents.calls { // Agents come again if all calls were locked at that instant.
		if len(calls) == 0 && request != away {
			agents.take(t.Context(), apitype.NewUUID(), request, 1)
			agents.Wait()
		}
	}

	held := agents.held(t)
	if got := agents.calls[away]; got != nil {
		t.Errorf("who went away was given %v", got)
	}
	if got := agents.calls[repeated]; len(got) != 2 || got[0] != got[1] {
		t.Errorf("a request that came twice was given %v", got)
	}
	if n := len(agents.calls[several]); n < 1 || n > 3 {
		t.Errorf("a take of 3 calls got %d", n)
	}
	if held[first] == held[second] {
		t.Errorf("of a person's two calls the older one is held: %t, the other one: %t", held[first], held[second])
	}
	if want := others + len(agents.calls[several]) + 1; len(held) != want {
		t.Errorf("got %d calls held, want %d", len(held), want)
	}
}

// TestTakesOfOneUserAtOnce lets the clients of one user take and choose calls in parallel: the user holds ten at most.
func TestTakesOfOneUserAtOnce(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	onEngines(t, func(t *testing.T, f *floor) {
		agents := &crowd{service: f.Service, caller: f.caller()}
		for range 3 {
			user := apitype.NewUUID()
			chosen := f.waitingCalls(30)
			for i := range 6 {
				agents.take(t.Context(), user, apitype.NewUUID(), apitype.MaxLeases)
				agents.Go(func() { f.choose(user, chosen[len(chosen)-1-i]) })
			}
			agents.Wait()
			f.take(user, `,"count":10`) // Fewer, if calls were locked at that instant.
			servicetest.Same(t, "leases", apitype.MaxLeases, len(f.leases("?userUuid="+user.String())))
		}
		agents.held(t)
	})
}

// crowd is a group of agents who take in parallel.
type crowd struct {
	sync.WaitGroup
	service *service.Service
	caller  service.Caller
	mu      sync.Mutex
	calls   map[apitype.UUID][]apitype.UUID // By request, with one for each of its answers.
	errs    []error
}

// take lets one more agent take calls.
func (c *crowd) take(ctx context.Context, user, request apitype.UUID, count int) {
	c.Go(func() {
		answer, err := queue.New(c.service, nil).Take(ctx, c.caller, apitype.TakeRequest{
			RequestUUID: request,
			UserUUID:    user,
			Count:       &count,
		})
		var taken apitype.Taken
		if err == nil {
			err = json.Unmarshal(answer.JSON, &taken)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.calls == nil {
			c.calls = map[apitype.UUID][]apitype.UUID{}
		}
		c.calls[request] = append(c.calls[request], callsOf(taken)...)
		if !errors.Is(err, context.Canceled) {
			c.errs = append(c.errs, err)
		}
	})
}

// held returns the calls that were given, each to one request.
func (c *crowd) held(t *testing.T) map[apitype.UUID]bool {
	t.Helper()
	servicetest.Report(t, errors.Join(c.errs...))
	held := map[apitype.UUID]bool{}
	for _, calls := range c.calls {
		slices.SortFunc(calls, apitype.UUID.Compare)
		for _, call := range slices.Compact(slices.Clone(calls)) {
			if held[call] {
				t.Errorf("call %s was given twice", call)
			}
			held[call] = true
		}
	}
	return held
}

// rival is a store in which another agent takes a donor just before the lease is saved, while a lease of another donor
// ends.
type rival struct {
	service.Store
	until time.Time // Of the lease.
}

func (r rival) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	if mode != service.WriteShared {
		return r.Store.Write(ctx, mode, change)
	}
	return r.Store.Write(ctx, service.WriteShared, func(tx service.Tx) error {
		return change(&rivalTx{Tx: tx, until: r.until})
	})
}

type rivalTx struct {
	service.Tx
	came  bool
	until time.Time
}

func (t *rivalTx) Claim(leases []service.LeaseRow) ([]apitype.UUID, int, error) {
	if !t.came {
		t.came = true
		first := leases[0]
		first.LeaseUUID, first.Request, first.UserUUID = apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID()
		first.ExpiresAt = apitype.NewTime(t.until)
		if _, _, err := t.Tx.Claim([]service.LeaseRow{first}); err != nil {
			return nil, 0, err
		}
	}
	return t.Tx.Claim(leases)
}

// TestDonorTakenMeanwhile takes a call with a donor that another agent holds when the lease is saved. It gets another
// call, even if unrelated leases have ended, or this one.
func TestDonorTakenMeanwhile(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		held := f.call(f.person("null"), 2*time.Hour, "happy_call")
		free := f.call(f.person("null"), time.Hour, "happy_call")
		take := func(rest time.Duration) []apitype.UUID {
			s := f.On(rival{f.Store, f.Clock.Now().Add(rest)})
			request, agents := apitype.NewUUID(), &crowd{service: s, caller: f.caller()}
			agents.take(t.Context(), apitype.NewUUID(), request, 1)
			agents.Wait()
			servicetest.Report(t, errors.Join(agents.errs...))
			return agents.calls[request]
		}
		servicetest.Same(t, "held for an hour", []apitype.UUID{free}, take(time.Hour))
		f.Clock.Advance(2 * time.Hour) // All that were held are free again.
		servicetest.Same(t, "held until a second ago", []apitype.UUID{held}, take(-time.Second))
	})
}

// TestRequestRepeatedElsewhere repeats a take at another process. The first one lost its call to another agent's lease,
// and has not committed the next. Both get the same calls.
func TestRequestRepeatedElsewhere(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		count int
	}{{"of one call", 1}, {"of two calls", 2}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			testRequestRepeatedElsewhere(t, test.count)
		})
	}
}

func testRequestRepeatedElsewhere(t *testing.T, count int) {
	f := postgresFloor(t)
	donor := f.person("null")
	f.call(donor, 3*time.Hour, "happy_call")
	f.call(donor, time.Minute, "winback") // Behind what the first process looks at.
	for range 3 {
		f.call(f.person("null"), time.Hour, "happy_call")
	}
	db, err := sql.Open("pgx", f.Database)
	servicetest.Check(t, err)
	defer func() { _ = db.Close() }()

	request, user := apitype.NewUUID(), apitype.NewUUID()
	caller := f.caller()
	second, answered := &crowd{service: f.Service, caller: caller}, make(chan struct{})
	inserts := 0
	beforeClaim := at("before Claim", func() {
		if inserts++; inserts == 1 { // The donor is in a lease that the first process cannot see yet.
			f.take(f.users[1], `,"types":["winback"]`)
		}
	})
	afterClaim := at("after Claim", func() {
		if inserts != 2 {
			return
		}
		second.take(t.Context(), user, request, count)
		go func() {
			second.Wait()
			close(answered)
		}()
		for waits := false; !waits; {
			select {
			case <-answered: // It did not wait for the first one.
				return
			default:
			}
			err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) > 0 FROM pg_locks WHERE NOT granted`).Scan(&waits)
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	s := f.On(hooked{f.Store, func(point string) error { return errors.Join(beforeClaim(point), afterClaim(point)) }})
	first := &crowd{service: s, caller: caller}
	first.take(t.Context(), user, request, count)
	first.Wait()
	second.Wait()
	if err := errors.Join(append(first.errs, second.errs...)...); err != nil || inserts < 2 {
		t.Fatalf("%v, leases were saved %d times", err, inserts)
	}
	servicetest.Same(t, "the repeated request was given other calls", first.calls[request], second.calls[request])
}

// TestRequestRepeatedBesideAnEnd repeats a take at another process. After that one has looked for calls, the first one
// gives two, and one of them is worked on. The repeat gives the other one, and none in addition. The first take is for
// another user: takes for one user come one after the other.
func TestRequestRepeatedBesideAnEnd(t *testing.T) {
	t.Parallel()
	f := postgresFloor(t)
	for range 4 {
		f.call(f.person("null"), time.Hour, "happy_call")
	}
	request, user := apitype.NewUUID(), apitype.NewUUID()
	caller := f.caller()
	first := &crowd{service: f.Service, caller: caller}
	var left []apitype.UUID
	s := f.On(hooked{f.Store, once("before Claim", func() {
		first.take(t.Context(), apitype.NewUUID(), request, 2)
		first.Wait()
		given := first.calls[request]
		if len(given) != 2 {
			t.Errorf("got %d calls, want 2", len(given))
			return
		}
		left = given[1:]
		_, err := f.Service.AddAttempt(t.Context(), caller, given[0], nil, apitype.AddAttemptRequest{})
		servicetest.Report(t, err)
	})})
	second := &crowd{service: s, caller: caller}
	second.take(t.Context(), user, request, 1)
	second.Wait()
	servicetest.Report(t, errors.Join(append(first.errs, second.errs...)...))
	servicetest.Same(t, "the repeated request", left, second.calls[request])
}

// TestYearsRelaxedBesideATake allows more years after the last pledge while a take at another process marks calls by
// the earlier years. The call of a donor within the later years is given.
func TestYearsRelaxedBesideATake(t *testing.T) {
	t.Parallel()
	f := postgresFloor(t)
	db, err := sql.Open("pgx", f.Database)
	servicetest.Check(t, err)
	defer func() { _ = db.Close() }()
	donor := f.person("null")
	f.pledge(donor, `,"externalSource":{"name":"crm","identifier":"1"},"status":"cancelled","cancelledAt":"2020-01-01"`)
	call := f.call(donor, time.Hour, "winback")
	f.setRules(apitype.OrganizationSettings{YearsAfterEnd: 3})
	relaxed := make(chan struct{})
	s := f.On(hooked{f.Store, once("after OpenQueue", func() {
		go func() {
			defer close(relaxed)
			f.setRules(apitype.OrganizationSettings{YearsAfterEnd: 99})
		}()
		for waits := false; !waits; {
			select {
			case <-relaxed: // It did not wait for the take.
				return
			default:
			}
			err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) > 0 FROM pg_locks WHERE NOT granted`).Scan(&waits)
			if err != nil {
				t.Error(err)
				return
			}
		}
	})})
	agents := &crowd{service: s, caller: f.caller()}
	agents.take(t.Context(), apitype.NewUUID(), apitype.NewUUID(), 1)
	agents.Wait()
	<-relaxed
	servicetest.Report(t, errors.Join(agents.errs...))
	f.callable("more years", call)
}
