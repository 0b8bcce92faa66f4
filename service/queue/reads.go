package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// mayReadQueue refuses an account that may not read the queue; now is the time of the request.
func (q *Queue) mayReadQueue(ctx context.Context, c service.Caller) (now apitype.Time, err error) {
	if err := c.Require(service.CallsRead); err != nil {
		return now, err
	}
	return q.rules.StoreTime(ctx)
}

// State returns how many calls wait.
// GET /fundesk/v1/queue
func (q *Queue) State(ctx context.Context, c service.Caller, o apitype.QueueOptions) (service.Answer, error) {
	now, err := q.mayReadQueue(ctx, c)
	if err != nil {
		return service.Answer{}, err
	}
	state := apitype.QueueState{ByType: map[apitype.CallType]int{}, ByLanguage: map[string]int{}}
	if query, ok := queryOf(c, o.QueueFilter, o.UserUUID, now); ok {
		state, err = q.countQueue(ctx, query)
	}
	if err != nil {
		return service.Answer{}, err
	}
	err = q.rules.Read(ctx, service.ReadRecord, "read the messages", func(r service.Reader) (err error) {
		state.Messages, err = messages(r, c.Scope, now)
		return err
	})
	return service.Answered(state, err)
}

// countQueue counts the calls of the queue.
func (q *Queue) countQueue(ctx context.Context, query service.QueueQuery) (apitype.QueueState, error) {
	var state apitype.QueueState
	var err error
	err = q.rules.Read(ctx, service.ReadPlanned, "count the queue", func(r service.Reader) error {
		query := query
		query.Rules, err = q.rules.ReadFloorRules(r)
		if err != nil {
			return err
		}
		var reserved []service.QueueCount
		if query.User != nil {
			reserved, err = r.QueueReserved(query)
			if err != nil {
				return err
			}
			query.User = nil
		}
		counts, leased, err := r.QueueCounts(query)
		state = stateOf(slices.Concat(counts, reserved), query)
		state.Leased = leased
		return err
	})
	return state, err
}

// stateOf sums counts up.
func stateOf(counts []service.QueueCount, query service.QueueQuery) apitype.QueueState {
	state := apitype.QueueState{ByType: map[apitype.CallType]int{}, ByLanguage: map[string]int{}}
	for _, c := range counts {
		state.Deferred += c.Deferred
		state.DueNextHour += c.Soon
		if !query.Rules.Permits(c.Kind) {
			continue
		}
		waits, oldest := c.Due, c.OldestDue
		switch {
		case c.Waiting == 0:
		case query.Rules.IsOpen(c.Kind, query.Now):
			waits += c.Waiting
			oldest = earlier(oldest, c.OldestWaiting)
		default:
			state.Closed += c.Waiting
			state.OpensAt = earlier(state.OpensAt, query.Rules.Opens(c.Kind, query.Now))
		}
		if waits == 0 {
			continue
		}
		state.Waiting += waits
		state.Due += c.Due
		state.ByType[c.Kind.Type] += waits
		state.ByLanguage[c.Kind.Language] += waits
		state.OldestRequestedAt = earlier(state.OldestRequestedAt, oldest)
	}
	return state
}

// earlier returns the earlier of two times that may be nil.
func earlier(a, b *apitype.Time) *apitype.Time {
	if a == nil || b != nil && b.Before(a.Time) {
		return b
	}
	return a
}

// Calls returns a page of the waiting calls, in the order of takes.
// GET /fundesk/v1/queue/calls
func (q *Queue) Calls(ctx context.Context, c service.Caller, o apitype.QueueCallListOptions) (service.Answer, error) {
	now, err := q.mayReadQueue(ctx, c)
	if err != nil {
		return service.Answer{}, err
	}
	query, ok := queryOf(c, o.QueueFilter, o.UserUUID, now)
	query.GaveBack = true
	var calls map[apitype.UUID]service.CallRow
	return service.AnswerForward(ctx, q.rules, c, service.ForwardList[service.Position]{
		What:    "list the queue",
		Cursor:  service.QueueCursor,
		First:   o.First,
		After:   o.After,
		Now:     now,
		IsEmpty: !ok,
		Filters: o.Query,
		Rows: func(r service.Reader, after *service.Position, limit int) ([]service.Position, error) {
			rules, err := q.rules.ReadFloorRules(r)
			if err != nil {
				return nil, err
			}
			query.Rules, query.After, query.Limit = rules, after, limit
			return r.QueuePositions(query)
		},
		More: func(r service.Reader, rows []service.Position) (err error) {
			ids := make([]apitype.UUID, len(rows))
			for i, row := range rows {
				ids[i] = row.UUID
			}
			calls, err = r.CallNodes(ids)
			return err
		},
		Shown: func(persons []apitype.UUID, p service.Position) []apitype.UUID {
			if calls[p.UUID].PersonRow == nil {
				return persons
			}
			return service.AppendPersonOf(persons, calls[p.UUID])
		},
		Position: func(p service.Position) service.Position { return p },
		Node: func(dst []byte, p service.Position) []byte {
			call := calls[p.UUID]
			var person []byte
			if call.PersonRow != nil && c.May(service.PersonsRead) {
				person = call.PersonRow.Doc
			}
			return service.AppendWith(dst, call.Doc, "person", person)
		},
	})
}

// Leases returns the live leases.
// GET /fundesk/v1/queue/leases
func (q *Queue) Leases(ctx context.Context, c service.Caller, o apitype.QueueLeaseListOptions) (service.Answer, error) {
	now, err := q.mayReadQueue(ctx, c)
	if err != nil {
		return service.Answer{}, err
	}
	return service.Answered(
		service.View(ctx, q.rules, "list the leases", func(r service.Reader) (all apitype.Leases, err error) {
			rows, err := r.Leases(service.LeaseQuery{
				Scope:  c.Scope,
				User:   o.UserUUID,
				Person: o.PersonUUID,
				Now:    now,
			})
			if err != nil {
				return all, err
			}
			all.Leases = make([]apitype.Lease, len(rows))
			for i, row := range rows {
				row.Reason = nil // As the notes, it is for the user that works on the call.
				all.Leases[i] = row.Sent()
			}
			if o.PersonUUID == nil || !c.May(service.PersonsRead) {
				return all, nil
			}
			all.NumberBlocked, err = numberBlocked(r, *o.PersonUUID, c.Scope)
			return all, err
		}),
	)
}

// numberBlocked reports whether a number of a person is blocked. It returns nil if the account does not see the
// person.
func numberBlocked(r service.Reader, person apitype.UUID, scope service.Scope) (*bool, error) {
	row, err := r.Person(person, scope)
	if errors.Is(err, service.ErrNoRow) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	isBlocked, err := service.NumberBlocked(r, row)
	return &isBlocked, err
}

// Agents returns what users do now, and their work.
// GET /fundesk/v1/queue/agents
func (q *Queue) Agents(ctx context.Context, c service.Caller, o apitype.QueueAgentsOptions) (service.Answer, error) {
	now, err := q.mayReadQueue(ctx, c)
	if err != nil {
		return service.Answer{}, err
	}
	since := apitype.NewTime(now.Add(-24 * time.Hour))
	if o.Since != nil {
		since = *o.Since
	}
	if since.Before(now.Add(-apitype.MaxAgents)) { // All that was done is passed over for the count.
		return service.Answer{}, service.NotValid(
			apitype.Violations{
				{Parameter: "since", Message: fmt.Sprintf("must lie within %d days", apitype.MaxAgents/(24*time.Hour))},
			},
		)
	}
	read := func(read func(service.Reader) error) error {
		if o.UserUUID == nil { // The work of all users is many rows.
			return q.rules.ReadLong(ctx, "count the agents", read)
		}
		return q.rules.Read(ctx, service.ReadPlanned, "count the work of the user", read)
	}
	agents := agentCounts{}
	var later map[apitype.UUID]int
	var names map[apitype.UUID]*string
	err = read(func(r service.Reader) (err error) {
		clear(agents)
		if err := agents.count(r, c.Scope, o.UserUUID, since, now); err != nil {
			return err
		}
		if err := agents.states(r, c, o.UserUUID, since, now); err != nil {
			return err
		}
		later, err = r.DeferralCounts(c.Scope, o.UserUUID)
		if err != nil {
			return err
		}
		names, err = r.UserNames(slices.Collect(maps.Keys(agents)))
		return err
	})
	if err != nil {
		return service.Answer{}, err
	}
	for user, agent := range agents {
		agent.Name, agent.Deferred = names[user], later[user]
	}
	return service.Answered(agents.answer(), nil)
}

// agentCounts holds the agents by user.
type agentCounts map[apitype.UUID]*apitype.QueueAgent

// count reads the work of users since the hour of a time, and the calls on their desks. A nil user means all.
func (a agentCounts) count(r service.Reader, scope service.Scope, user *apitype.UUID, since, now apitype.Time) error {
	done, err := r.WorkDone(scope, user, since)
	if err != nil {
		return err
	}
	for _, w := range done {
		agent := a.of(w.User, w.SeenAt)
		agent.Taken += w.Taken
		agent.Attempts += w.Attempts
		agent.Completed += w.Completed
		agent.Cancelled += w.Cancelled
		agent.Expired += w.Expired
		agent.Released += w.Released
		if w.Code != "" {
			agent.ByResult[w.Code] += w.Completed
		}
	}
	leases, err := r.Leases(service.LeaseQuery{Scope: scope, User: user, Now: now})
	for _, lease := range leases {
		agent := a.of(lease.UserUUID, lease.TakenAt)
		isCard := lease.ShownAt != nil && !lease.Pending
		if isCard && (agent.TakenAt == nil || lease.ShownAt.After(agent.TakenAt.Time)) {
			agent.CallUUID, agent.Type, agent.TakenAt = &lease.CallUUID, &lease.Type, lease.ShownAt
		}
	}
	return err
}

func (a agentCounts) of(user apitype.UUID, seen apitype.Time) *apitype.QueueAgent {
	agent, ok := a[user]
	if !ok {
		agent = &apitype.QueueAgent{
			UserUUID:   user,
			LastSeenAt: seen,
			State:      apitype.UserReady,
			ByResult:   map[string]int{},
		}
		a[user] = agent
	}
	if seen.After(agent.LastSeenAt.Time) {
		agent.LastSeenAt = seen
	}
	return agent
}

func (a agentCounts) answer() apitype.QueueAgents {
	all := apitype.QueueAgents{Agents: make([]apitype.QueueAgent, 0, len(a))}
	for _, agent := range a {
		all.Agents = append(all.Agents, *agent)
	}
	slices.SortFunc(all.Agents, func(x, y apitype.QueueAgent) int { return x.UserUUID.Compare(y.UserUUID) })
	return all
}

// Oldest returns the time of request of the oldest waiting call, or nil if none waits.
func (q *Queue) Oldest(ctx context.Context) (oldest *apitype.Time, now apitype.Time, err error) {
	now, err = q.rules.StoreTime(ctx)
	if err != nil {
		return nil, now, err
	}
	query := service.QueueQuery{
		Scope:     service.Scope{All: true},
		Now:       now,
		KeptUntil: now,
		Returned:  now,
	}
	err = q.rules.Read(ctx, service.ReadSnapshot, "look at the queue", func(r service.Reader) (err error) {
		query.Rules, err = q.rules.ReadFloorRules(r)
		if err != nil {
			return err
		}
		oldest, err = r.QueueOldest(query)
		return err
	})
	return oldest, now, err
}
