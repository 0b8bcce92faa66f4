package httpapi_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/queue"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// TestClaimsModel runs random takes, leases, releases, extensions, completions, pauses and releases of users at one
// time, on two processes of PostgreSQL or one of SQLite, in rounds between which time passes. After each round the live
// leases are those that were given and not ended: never two of one donor, and none is lost. A take that came twice at
// one time, once at each process, got one answer. A user who is paused after a round holds nothing.
func TestClaimsModel(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, func(t *testing.T, f *floor) {
		seed := *modelSeed
		if seed == 0 {
			seed = rand.Uint64()
		}
		m := newClaimsModel(t, f, rand.New(rand.NewPCG(seed, 56)))
		for round := range 12 {
			m.round()
			if t.Failed() {
				t.Fatalf("seed %d, round %d", seed, round)
			}
		}
		if m.given < 50 || m.repeats < 12 {
			t.Errorf("the model gave %d leases and repeated %d takes: it shows too little", m.given, m.repeats)
		}
	})
}

// claimsModel knows which leases are live between rounds.
type claimsModel struct {
	t      *testing.T
	f      *floor
	random *rand.Rand
	caller service.Caller
	at     []*service.Service // The processes.
	live   map[apitype.UUID]apitype.Lease
	donor  map[apitype.UUID]apitype.UUID // Of each call.

	mu       sync.Mutex
	taken    map[apitype.UUID]apitype.Lease // In this round.
	ended    map[apitype.UUID]bool          // Leases that were ended in this round.
	extended map[apitype.UUID]apitype.Time
	twice    []takenTwice
	released map[apitype.UUID]bool // Users with leases that ended in this round, and calls with work.
	paused   map[apitype.UUID]bool // Users who paused in this round.
	given    int
	repeats  int
}

func newClaimsModel(t *testing.T, f *floor, random *rand.Rand) *claimsModel {
	m := &claimsModel{
		t:      t,
		f:      f,
		random: random,
		caller: f.caller(),
		at:     []*service.Service{f.Service},
		live:   map[apitype.UUID]apitype.Lease{},
		donor:  map[apitype.UUID]apitype.UUID{},
	}
	if strings.HasPrefix(f.Database, "postgres") {
		store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: f.Database, Postgres: pgdriver.Driver{}})
		servicetest.Check(t, err)
		t.Cleanup(func() { servicetest.Report(t, store.Close()) })
		second, err := service.New(t.Context(), service.Options{Store: store, Now: f.Clock.Now})
		servicetest.Check(t, err)
		m.at = append(m.at, second)
	}
	return m
}

// round creates donors, does much at one time, compares, and lets time pass.
func (m *claimsModel) round() {
	m.t.Helper()
	for range 6 {
		donor := m.f.person("null")
		for range 1 + m.random.IntN(2) {
			m.donor[m.f.call(donor, time.Hour, "happy_call")] = donor
		}
	}
	m.taken, m.ended = map[apitype.UUID]apitype.Lease{}, map[apitype.UUID]bool{}
	m.twice, m.paused = nil, map[apitype.UUID]bool{}
	m.extended, m.released = map[apitype.UUID]apitype.Time{}, map[apitype.UUID]bool{}
	known := slices.SortedFunc(maps.Values(m.live), func(a, b apitype.Lease) int {
		return a.LeaseUUID.Compare(b.LeaseUUID)
	})
	var group sync.WaitGroup
	for range 8 {
		group.Go(m.takes(m.f.users[m.random.IntN(len(m.f.users))]))
		if len(known) > 0 {
			group.Go(m.ends(known[m.random.IntN(len(known))]))
		}
	}
	if m.random.IntN(4) == 0 {
		group.Go(m.releasesUser(m.f.users[m.random.IntN(len(m.f.users))]))
	}
	if m.random.IntN(2) == 0 {
		user := m.f.users[m.random.IntN(len(m.f.users))]
		m.mu.Lock()
		m.paused[user], m.released[user] = true, true
		m.mu.Unlock()
		group.Go(m.setsState(user, apitype.UserPaused))
		for range 3 {
			group.Go(m.takes(user))
		}
		if m.random.IntN(2) == 0 {
			group.Go(m.opens(user))
		}
	}
	group.Wait()
	m.compareTwice()
	m.compare()
	for user := range m.paused {
		m.setsState(user, apitype.UserReady)()
	}
	m.f.Clock.Advance(time.Duration(m.random.IntN(10)) * time.Minute)
	now := m.f.Clock.Now()
	maps.DeleteFunc(m.live, func(_ apitype.UUID, l apitype.Lease) bool { return !l.ExpiresAt.After(now) })
}

func (m *claimsModel) queue() *queue.Queue { return queue.New(m.at[m.random.IntN(len(m.at))], nil) }

// takes returns a take, which comes twice at one time if chance wants it.
func (m *claimsModel) takes(user apitype.UUID) func() {
	request := apitype.TakeRequest{RequestUUID: apitype.NewUUID(), UserUUID: user, Count: new(1 + m.random.IntN(3))}
	queues := []*queue.Queue{m.queue()}
	if m.random.IntN(3) == 0 {
		queues = append(queues, m.queue())
		m.repeats++
	}
	return func() {
		answers := make([][]apitype.UUID, len(queues))
		var group sync.WaitGroup
		for i, at := range queues {
			group.Go(func() { answers[i] = m.take(at, request) })
		}
		group.Wait()
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(answers) > 1 {
			m.twice = append(m.twice, takenTwice{user, answers[0], answers[1]})
		}
	}
}

// takenTwice has the leases of a take that came twice at one time.
type takenTwice struct {
	user          apitype.UUID
	first, second []apitype.UUID
}

// compareTwice expects one answer to a take that came twice. A lease may have ended between the answers if its user was
// released, or its call had work, in this round. A take that found all donors locked takes again, and may get others.
func (m *claimsModel) compareTwice() {
	m.t.Helper()
	mayHaveEnded := func(lease apitype.UUID) bool { return m.released[m.taken[lease].CallUUID] }
	for _, take := range m.twice {
		first := slices.DeleteFunc(take.first, mayHaveEnded)
		second := slices.DeleteFunc(take.second, mayHaveEnded)
		isEmpty := len(first) == 0 || len(second) == 0
		if !slices.Equal(first, second) && !isEmpty && !m.released[take.user] {
			m.t.Errorf("one take got %v and %v", first, second)
		}
	}
}

func (m *claimsModel) take(at *queue.Queue, request apitype.TakeRequest) []apitype.UUID {
	answer, err := at.Take(m.t.Context(), m.caller, request)
	var taken apitype.Taken
	if err == nil {
		err = apitype.DecodeExact(answer.JSON, &taken)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if service.KindOf(err) == service.Conflict && m.paused[request.UserUUID] {
		return nil
	}
	if err != nil {
		m.t.Errorf("take: %v", err)
		return nil
	}
	var ids []apitype.UUID
	for _, lease := range taken.Leases {
		ids = append(ids, lease.LeaseUUID)
		if _, isRepeated := m.taken[lease.LeaseUUID]; !isRepeated {
			m.given++
		}
		m.taken[lease.LeaseUUID] = lease
	}
	slices.SortFunc(ids, apitype.UUID.Compare)
	return ids
}

// ends returns what ends a lease, or keeps it longer.
func (m *claimsModel) ends(lease apitype.Lease) func() {
	how, at, s := m.random.IntN(5), m.queue(), m.at[m.random.IntN(len(m.at))]
	return func() {
		var err error
		ctx, isEnd := m.t.Context(), true
		switch how {
		case 0:
			err = at.Release(ctx, m.caller, lease.LeaseUUID, apitype.DeferRequest{})
		case 1:
			later := apitype.NewTime(m.f.Clock.Now().Add(time.Hour))
			err = at.Release(ctx, m.caller, lease.LeaseUUID, apitype.DeferRequest{NotBefore: &later})
		case 2:
			_, err = s.CompleteCall(ctx, m.caller, lease.CallUUID, nil, apitype.CompleteCallRequest{
				UserUUID: &lease.UserUUID,
			})
		case 3:
			_, err = s.AddAttempt(ctx, m.caller, lease.CallUUID, nil, apitype.AddAttemptRequest{})
		default:
			isEnd = false
			_, err = at.Extend(ctx, m.caller, lease.LeaseUUID, apitype.ExtendRequest{LeaseSeconds: new(1800)})
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		isLate := err != nil && (service.KindOf(err) == service.NotFound || service.KindOf(err) == service.Conflict)
		switch {
		case isEnd && (err == nil || isLate): // A call that was completed already is a conflict.
			m.ended[lease.LeaseUUID] = true
			m.released[lease.CallUUID] = true
		case err == nil:
			m.extended[lease.LeaseUUID] = apitype.NewTime(m.f.Clock.Now().Add(30 * time.Minute))
		case !isLate:
			m.t.Errorf("end or extend the lease in way %d: %v", how, err)
		}
	}
}

func (m *claimsModel) releasesUser(user apitype.UUID) func() {
	at := m.queue()
	m.mu.Lock()
	m.released[user] = true
	m.mu.Unlock()
	return func() {
		_, err := at.ReleaseUser(m.t.Context(), m.caller, apitype.ReleaseUserRequest{UserUUID: user})
		m.mu.Lock()
		defer m.mu.Unlock()
		if err != nil {
			m.t.Errorf("release the user: %v", err)
		}
	}
}

// setsState returns a change of the state of a user.
func (m *claimsModel) setsState(user apitype.UUID, state apitype.UserStateName) func() {
	at, request := m.queue(), apitype.UserStateRequest{State: state}
	if state == apitype.UserPaused {
		request.Reason = new(apitype.PauseLunch)
	}
	return func() {
		if _, err := at.SetState(m.t.Context(), m.caller, user, request); err != nil {
			m.t.Errorf("set the state: %v", err)
		}
	}
}

// opens returns the lease of a call that a user chose, which ends a pause.
func (m *claimsModel) opens(user apitype.UUID) func() {
	calls := slices.SortedFunc(maps.Keys(m.donor), apitype.UUID.Compare)
	call, at := calls[m.random.IntN(len(calls))], m.queue()
	request := apitype.LeaseRequest{RequestUUID: apitype.NewUUID(), UserUUID: user}
	return func() {
		answer, err := at.Lease(m.t.Context(), m.caller, call, request)
		if service.KindOf(err) == service.Conflict {
			return // A colleague has the donor, or the call has ended.
		}
		var lease apitype.Lease
		if err == nil {
			err = apitype.DecodeExact(answer.JSON, &lease)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if err != nil {
			m.t.Errorf("lease: %v", err)
			return
		}
		m.taken[lease.LeaseUUID] = lease
	}
}

// isPaused reports whether a user takes no calls now.
func (m *claimsModel) isPaused(user apitype.UUID) bool {
	answer, err := m.queue().Agents(m.t.Context(), m.caller, apitype.QueueAgentsOptions{UserUUID: &user})
	servicetest.Check(m.t, err)
	var all apitype.QueueAgents
	servicetest.Check(m.t, apitype.DecodeExact(answer.JSON, &all))
	return slices.ContainsFunc(all.Agents, func(a apitype.QueueAgent) bool {
		return a.UserUUID == user && a.State == apitype.UserPaused
	})
}

// compare reads the live leases at each process. A lease that was given in a round in which its user was released, or
// its call was worked on, may have come before or after that.
func (m *claimsModel) compare() {
	m.t.Helper()
	must, may := map[apitype.UUID]apitype.Lease{}, map[apitype.UUID]apitype.Lease{}
	all := maps.Clone(m.live)
	maps.Copy(all, m.taken)
	for id, lease := range all {
		if until, isExtended := m.extended[id]; isExtended {
			lease.ExpiresAt = until
		}
		switch {
		case m.ended[id]:
		case m.released[lease.UserUUID] || m.released[lease.CallUUID]:
			may[id] = lease
		default:
			must[id] = lease
		}
	}
	for _, s := range m.at {
		answer, err := queue.New(s, nil).Leases(m.t.Context(), m.caller, apitype.QueueLeaseListOptions{})
		servicetest.Check(m.t, err)
		var got apitype.Leases
		servicetest.Check(m.t, apitype.DecodeExact(answer.JSON, &got))
		found, holder := map[apitype.UUID]apitype.Lease{}, map[apitype.UUID]apitype.UUID{}
		for _, lease := range got.Leases {
			found[lease.LeaseUUID] = lease
			donor := m.donor[lease.CallUUID]
			if other, isHeld := holder[donor]; isHeld {
				m.t.Errorf("donor %s is in the leases %s and %s", donor, other, lease.LeaseUUID)
			}
			holder[donor] = lease.LeaseUUID
			_, isRequired := must[lease.LeaseUUID]
			_, isAllowed := may[lease.LeaseUUID]
			if m.paused[lease.UserUUID] && m.isPaused(lease.UserUUID) {
				m.t.Errorf("the user of the lease %s is paused", lease.LeaseUUID)
			}
			if !isRequired && !isAllowed {
				m.t.Errorf("lease %s is live: it was ended, or never given", lease.LeaseUUID)
			}
		}
		for id, lease := range must {
			kept := found[id] // The clocks of processes may differ a little.
			if kept.ExpiresAt.Sub(lease.ExpiresAt.Time).Abs() > time.Minute {
				m.t.Errorf("a lease is lost, or ends at another time: got %s until %s, want %s until %s",
					kept.LeaseUUID, kept.ExpiresAt, lease.LeaseUUID, lease.ExpiresAt)
			}
		}
		m.live = found
	}
}
