package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
)

// queueTime is the present by the clock that all processes share.
func (s *Service) queueTime(ctx context.Context) (apitype.Time, error) {
	ahead, err := s.store.ClockAhead(ctx)
	return apitype.NewTime(s.clock().Add(ahead)), described("read the clock", err)
}

// mayReadQueue refuses an account that may not read the queue; now is the time of the request.
func (s *Service) mayReadQueue(ctx context.Context, c Caller) (now apitype.Time, err error) {
	if err := c.Require(CallsRead); err != nil {
		return now, err
	}
	return s.queueTime(ctx)
}

// QueueState is how many calls wait.
// GET /fundesk/v1/queue
func (s *Service) QueueState(ctx context.Context, c Caller, o apitype.QueueOptions) (Answer, error) {
	now, err := s.mayReadQueue(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	state := apitype.QueueState{}
	if query, ok := s.queueQuery(c, o.QueueFilter, o.UserUUID, now); ok {
		state, err = s.countQueue(ctx, query)
	}
	if state.ByType == nil {
		state.ByType = map[apitype.CallType]int{}
	}
	if state.ByLanguage == nil {
		state.ByLanguage = map[string]int{}
	}
	return Answered(state, err)
}

// A count passes over every call that is requested. So that supervisors of a long queue
// take no more than some hundredths of a processor, one of more calls than countedAnew is the
// answer for a time that grows with the queue: half a second of 50,000 calls. Spec gap: S37.
const (
	countedAnew = 3_000
	countLife   = 10 * time.Microsecond // For each call.
)

// countQueue is how many calls there are.
func (s *Service) countQueue(ctx context.Context, query QueueQuery) (state apitype.QueueState, err error) {
	asked := fmt.Sprint(query.narrowing(), query.User)
	if state, ok := s.states.get(asked, query.Now); ok {
		return state, nil
	}
	var passed int
	err = s.Read(ctx, ReadSnapshot, "count the queue", func(r Reader) (err error) {
		state, passed, err = r.QueueState(query)
		return err
	})
	if err == nil && passed > countedAnew {
		s.states.put(asked, state, query.Now, time.Duration(passed)*countLife)
	}
	return state, err
}

// QueueCalls is a page of the calls that wait, in the order in which they would be taken.
// GET /fundesk/v1/queue/calls
func (s *Service) QueueCalls(ctx context.Context, c Caller, o apitype.QueueCallListOptions) (Answer, error) {
	now, err := s.mayReadQueue(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	cursors := s.cursors(queueCursor)
	w, err := cursors.window(apitype.Paging{First: o.First, After: o.After})
	if err != nil {
		return Answer{}, err
	}
	var page pageOf[Position]
	var calls map[apitype.UUID]CallRow
	if query, ok := s.queueQuery(c, o.QueueFilter, o.UserUUID, now); ok {
		page.hasPrevious = w.after != nil // There was one: the cursor names it.
		query.GaveBack, query.After, query.Limit = true, w.after, w.size+1
		err = s.Read(ctx, ReadSnapshot, "list the queue", func(r Reader) (err error) {
			page.rows, err = r.QueuePositions(query)
			if page.limit(w.size); err != nil || len(page.rows) == 0 {
				return err
			}
			calls, err = r.CallNodes(mapped(page.rows, func(p Position) apitype.UUID { return p.UUID }))
			return err
		})
		if err != nil {
			return Answer{}, err
		}
	}
	if len(page.rows) > 0 && c.May(PersonsRead) {
		if err := s.noteRead(ctx, c.listed(AuditQueueList, o.Query(), len(page.rows), now)); err != nil {
			return Answer{}, err
		}
	}
	node := func(dst []byte, p Position) []byte {
		call := calls[p.UUID]
		var person []byte
		if call.PersonRow != nil && c.May(PersonsRead) {
			person = call.PersonRow.Doc
		}
		return AppendWith(dst, call.Doc, "person", person)
	}
	return Answer{JSON: envelope(page, 0, cursors.append, node)}, nil
}

// QueueLeases are the leases that hold.
// GET /fundesk/v1/queue/leases
func (s *Service) QueueLeases(ctx context.Context, c Caller) (Answer, error) {
	now, err := s.mayReadQueue(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	return Answered(View(ctx, s, "list the leases", func(r Reader) (all apitype.Leases, err error) {
		rows, err := r.Leases(c.Scope, nil, now)
		if err == nil {
			all.Leases, err = named(r, rows)
		}
		return all, err
	}))
}

// QueueAgents are what users do and did.
// GET /fundesk/v1/queue/agents
func (s *Service) QueueAgents(ctx context.Context, c Caller, o apitype.QueueAgentsOptions) (Answer, error) {
	now, err := s.mayReadQueue(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	since := apitype.NewTime(now.Add(-24 * time.Hour))
	if o.Since != nil {
		since = *o.Since
	}
	if since.Before(now.Add(-apitype.MaxAgents)) { // All that was done is passed over for the count.
		return Answer{}, NotValid(apitype.Violations{{Parameter: "since", Message: fmt.Sprintf("must lie within %d days", apitype.MaxAgents/(24*time.Hour))}})
	}
	agents := agentCounts{}
	counted, err := s.countAgents(ctx, c.Scope, since, now, agents)
	if err != nil {
		return Answer{}, err
	}
	if since.Before(counted.Time) {
		if err := s.countHours(ctx, c.Scope, since, counted, agents); err != nil {
			return Answer{}, err
		}
	}
	var later map[apitype.UUID]int
	names, err := View(ctx, s, "read the names", func(r Reader) (_ map[apitype.UUID]*string, err error) {
		if later, err = r.DeferralCounts(c.Scope); err != nil {
			return nil, err
		}
		return r.UserNames(slices.Collect(maps.Keys(agents)))
	})
	if err != nil {
		return Answer{}, err
	}
	for user, agent := range agents {
		agent.Name, agent.Deferred = names[user], later[user]
	}
	return Answered(agents.answer(), nil)
}

// countAgents counts what is not counted by the hour yet, and returns until when the rest is.
func (s *Service) countAgents(ctx context.Context, scope Scope, since, now apitype.Time, agents agentCounts) (counted apitype.Time, err error) {
	err = s.Read(ctx, ReadSnapshot, "count the agents", func(r Reader) (err error) {
		clear(agents)
		if counted, err = r.QueueCounted(); err != nil {
			return err
		}
		if since.Before(counted.Time) {
			since = counted
		}
		leases, err := r.LeasesSeen(scope, since, now)
		for _, lease := range leases {
			agents.lease(lease, since, now)
		}
		if err != nil {
			return err
		}
		done, err := r.WorkDone(scope, since)
		for _, work := range done {
			agents.work(work)
		}
		return err
	})
	return counted, err
}

// countHours adds the hours since a time, the one in which it lies included. They change no more, so
// that they are read in parts, one request at a time: lists have the other connections.
func (s *Service) countHours(ctx context.Context, scope Scope, since, counted apitype.Time, agents agentCounts) error {
	if err := s.long.Take(ctx); err != nil {
		return err
	}
	defer s.long.End(ctx)
	for from := apitype.NewTime(since.Truncate(time.Hour)); from.Before(counted.Time); {
		until := soonest(counted, apitype.NewTime(from.Add(countedAtOnce)))
		part, err := View(ctx, s, "count the agents", func(r Reader) ([]HourDone, error) { return r.HoursDone(scope, from, until) })
		if err != nil {
			return err
		}
		for _, h := range part {
			agents.hour(h)
		}
		from = until
	}
	return nil
}

// agentCounts are the agents by user.
type agentCounts map[apitype.UUID]*apitype.QueueAgent

func (a agentCounts) of(user apitype.UUID, seen apitype.Time) *apitype.QueueAgent {
	agent, ok := a[user]
	if !ok {
		agent = &apitype.QueueAgent{UserUUID: user, LastSeenAt: seen, ByResult: map[string]int{}}
		a[user] = agent
	}
	if seen.After(agent.LastSeenAt.Time) {
		agent.LastSeenAt = seen
	}
	return agent
}

// lease counts what became of a lease. A call that its agent never saw was neither taken nor given
// back.
func (a agentCounts) lease(lease LeaseRow, since, now apitype.Time) {
	agent := a.of(lease.UserUUID, lease.SeenAt)
	if lease.ShownAt != nil && !lease.ShownAt.Before(since.Time) {
		agent.Taken++
	}
	if lease.ShownAt != nil && lease.Live(now) && (agent.TakenAt == nil || lease.ShownAt.After(agent.TakenAt.Time)) {
		agent.CallUUID, agent.Type, agent.TakenAt = &lease.CallUUID, &lease.Type, lease.ShownAt
	}
	if lease.EndedAt == nil || lease.EndedAt.Before(since.Time) {
		return
	}
	switch by := lease.EndedBy; {
	case by == EndedByCancel, by == EndedByExpiry, lease.ShownAt != nil && (by == EndedByReturn || by == EndedByDeferral):
		a.hour(HourDone{User: lease.UserUUID, What: string(by), Records: 1, SeenAt: lease.SeenAt})
	}
}

func (a agentCounts) work(w Work) {
	a.hour(HourDone{User: w.User, What: w.Work, Records: 1, SeenAt: w.At})
	if w.Work == WorkComplete && w.Code != nil {
		a.hour(HourDone{User: w.User, What: hourResult, Code: *w.Code, Records: 1, SeenAt: w.At})
	}
}

// hour adds what was counted already.
func (a agentCounts) hour(h HourDone) {
	agent := a.of(h.User, h.SeenAt)
	switch h.What {
	case hourTaken:
		agent.Taken += h.Records
	case WorkAttempt:
		agent.Attempts += h.Records
	case WorkComplete:
		agent.Completed += h.Records
	case hourResult:
		agent.ByResult[h.Code] += h.Records
	case string(EndedByCancel):
		agent.Cancelled += h.Records
	case string(EndedByExpiry):
		agent.Expired += h.Records
	case string(EndedByReturn), string(EndedByDeferral):
		agent.Released += h.Records
	}
}

func (a agentCounts) answer() apitype.QueueAgents {
	all := apitype.QueueAgents{Agents: make([]apitype.QueueAgent, 0, len(a))}
	for _, agent := range a {
		all.Agents = append(all.Agents, *agent)
	}
	slices.SortFunc(all.Agents, func(x, y apitype.QueueAgent) int { return x.UserUUID.Compare(y.UserUUID) })
	return all
}

// OldestWaiting is when the oldest call was requested that waits now; nil: none does.
func (s *Service) OldestWaiting(ctx context.Context) (oldest *apitype.Time, now apitype.Time, err error) {
	if now, err = s.queueTime(ctx); err != nil {
		return nil, now, err
	}
	query := QueueQuery{Scope: Scope{All: true}, Now: now, KeptUntil: now, Returned: now}
	err = s.Read(ctx, ReadRecord, "look at the queue", func(r Reader) (err error) {
		oldest, err = r.QueueOldest(query)
		return err
	})
	return oldest, now, err
}

// memo remembers answers for a short time, by what was asked. The zero value is ready, and it is
// safe for concurrent use.
type memo[T any] struct {
	mu   sync.Mutex
	kept map[string]remembered[T]
}

// remembered is an answer and how long it holds.
type remembered[T any] struct {
	value T
	since apitype.Time
	life  time.Duration
}

// maxMemo bounds the answers that are remembered.
const maxMemo = 1000

// get is the answer to what was asked, where it still holds. One of a later time does not: the
// clock was put back.
func (m *memo[T]) get(asked string, now apitype.Time) (value T, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.kept[asked]
	age := now.Sub(r.since.Time)
	return r.value, ok && age >= 0 && age < r.life
}

func (m *memo[T]) put(asked string, value T, now apitype.Time, life time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= maxMemo {
		m.kept = map[string]remembered[T]{}
	}
	m.kept[asked] = remembered[T]{value, now, life}
}
