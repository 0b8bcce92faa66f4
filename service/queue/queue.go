// Package queue decides which agent calls which donor: takes, leases, deferrals, and the states of agents.
// It is an extension of the interface: a lease blocks no operation, and a client that does not know the
// queue loses nothing by it. Package service decides when a call may be given. It updates the call's
// row with each change that the decision depends on.
//
//	q := queue.New(rules, nil)
//	answer, err := q.Take(ctx, caller, apitype.TakeRequest{RequestUUID: id, UserUUID: user})
package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// The times of the queue.
const (
	keptPastDue = 30 * time.Minute // How long a call that is due waits for its user alone.
	returnPause = 10 * time.Minute // How long a user's release has them offered all else first.
	requestLife = 24 * time.Hour   // How long a take is recognised when it is repeated.
)

// Event is something that is counted of the queue.
type Event string

// The counted calls.
const (
	Taken    Event = "taken"
	Expired  Event = "expired"
	Released Event = "released"
	Refused  Event = "refused" // There is no such lease any more, or the call is in one.
)

// Queue gives calls to agents. It is safe for concurrent use, and several processes may share one database.
type Queue struct {
	rules  *service.Service
	count  func(event Event, n int)
	waited memo[int] // The number of waiting calls, if it is large.
}

// New returns the queue of a service. It calls count, which may be nil, for each event.
func New(rules *service.Service, count func(event Event, n int)) *Queue {
	return &Queue{rules: rules, count: count}
}

// Require refuses an account that may not take calls. It comes before the values of a
// request are looked at. Spec gap: R3.
func Require(c service.Caller) error {
	return errors.Join(c.Require(service.CallsRead), c.Require(service.CallsAttempt))
}

// queryOf returns the query of a caller. ok is false if no call can match.
func queryOf(
	c service.Caller,
	f apitype.QueueFilter,
	user *apitype.UUID,
	now apitype.Time,
) (q service.QueueQuery, ok bool) {
	q = service.QueueQuery{Types: f.Types, Languages: f.Languages, User: user}
	setTime(&q, now)
	q.Scope, ok = c.Scope.Narrow(f.OwningOrganizationUUIDs) // Spec gap: L8
	return q, ok
}

// setTime sets the time at which is asked.
func setTime(q *service.QueueQuery, now apitype.Time) {
	q.Now, q.KeptUntil, q.Returned = now, apitype.NewTime(now.Add(-keptPastDue)), apitype.NewTime(now.Add(-returnPause))
}

// narrowing has the filters of a query, for any user.
func narrowing(q service.QueueQuery) string { return fmt.Sprint(q.Scope, q.Types, q.Languages) }

// Tend does the periodic work of the queue, unless another process does it.
func (q *Queue) Tend(ctx context.Context) error {
	expired, err := q.rules.TendQueue(ctx)
	q.counted(Expired, expired)
	return err
}

func (q *Queue) counted(event Event, n int) {
	if n > 0 && q.count != nil {
		q.count(event, n)
	}
}

func (q *Queue) countRefused(err error) {
	if kind := service.KindOf(err); err != nil && (kind == service.NotFound || kind == service.Conflict) {
		q.counted(Refused, 1)
	}
}

// memo caches answers for a short time, by request. The zero value is ready, and it is safe for concurrent use.
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

// get returns the stored answer to a query if it is still fresh. An answer of a later time is not: the clock was put
// back.
func (m *memo[T]) get(asked string, now apitype.Time) (T, bool) {
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
