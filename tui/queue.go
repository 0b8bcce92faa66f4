package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// How the queue reads the service.
const (
	queuePage     = 500 // Calls asked for at a time.
	queueSmall    = 100 // When the service refuses that many.
	queueEnough   = 60  // Candidates that are enough for now.
	queuePrefetch = 3   // Calls read ahead of the agent.
	attemptRest   = 4 * time.Hour
)

// candidate is a requested call as the list shows it: what choosing needs, and no more.
type candidate struct {
	id, person  apitype.UUID
	kind        apitype.CallType
	requestedAt time.Time
	attempts    int
	lastAttempt time.Time
}

// passedOver is a call that was not offered.
type passedOver struct {
	id     apitype.UUID
	reason string
}

// queue knows the requested calls, the oldest first. The interface has no filter for
// a call's status: the queue walks the list from its oldest end and keeps what it read.
type queue struct {
	candidates []candidate
	known      map[apitype.UUID]bool
	ready      map[apitype.UUID]apitype.Call // Read ahead.
	fetching   map[apitype.UUID]bool
	away       map[apitype.UUID]bool // Worked on or skipped by the agent in this session.
	skipped    []passedOver

	before  string // Cursor: everything older was read.
	size    int
	walking bool
	ended   bool
	since   apitype.Time // Changes up to then are known.
	codes   map[string]int
}

func newQueue(now time.Time) *queue {
	return &queue{
		known: map[apitype.UUID]bool{}, ready: map[apitype.UUID]apitype.Call{},
		fetching: map[apitype.UUID]bool{}, away: map[apitype.UUID]bool{}, codes: map[string]int{},
		size: queuePage, since: apitype.NewTime(now),
	}
}

// walked is one page of the walk.
type walked struct {
	calls  []apitype.Call // The oldest first.
	before string
	more   bool
	size   int
}

// walkPage reads the page of calls before a cursor, from the oldest end of the list:
// last without before gives the oldest ones. Spec gaps: L1, L2.
func walkPage(ctx context.Context, client *apiclient.Client, before string, size int) (walked, error) {
	options := apitype.CallListOptions{Paging: apitype.Paging{Before: before, Last: new(size)}}
	page, err := client.Calls.List(ctx, options)
	if apiclient.KindOf(err) == apiclient.KindRejected && size > queueSmall {
		size = queueSmall
		options.Last = new(size)
		page, err = client.Calls.List(ctx, options)
	}
	if err != nil {
		return walked{}, err
	}
	calls, err := decodeAll(page.Records)
	if err != nil {
		return walked{}, err
	}
	slices.Reverse(calls)
	// A cursor that stands still would be walked for ever.
	more := page.HasPreviousPage && page.StartCursor != "" && page.StartCursor != before
	return walked{calls: calls, before: page.StartCursor, more: more, size: size}, nil
}

func decodeAll[T any](records []apiclient.Record[T]) ([]T, error) {
	all := make([]T, 0, len(records))
	for _, r := range records {
		value, err := r.Decode()
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, nil
}

// add takes a page of the walk in.
func (q *queue) add(w walked) {
	q.walking = false
	q.ended = !w.more
	q.size = w.size
	if w.more {
		q.before = w.before
	}
	for _, call := range w.calls {
		q.learn(call)
	}
}

// learn takes one call in, as it is now.
func (q *queue) learn(call apitype.Call) {
	if code := call.Result.Value().ResultCode; code != nil && *code != "" {
		q.codes[*code]++
	}
	if call.Status != apitype.CallRequested {
		q.drop(call.UUID)
		return
	}
	c := candidate{
		id: call.UUID, person: call.PersonUUID, kind: call.Type, requestedAt: call.RequestedAt.Time,
		attempts: call.AttemptsCount, lastAttempt: lastAttempt(call),
	}
	if q.known[c.id] {
		if i := q.index(c.id); i >= 0 {
			q.candidates[i] = c
		}
		return
	}
	q.known[c.id] = true
	i, _ := slices.BinarySearchFunc(q.candidates, c, func(a, b candidate) int { return a.requestedAt.Compare(b.requestedAt) })
	for i < len(q.candidates) && q.candidates[i].requestedAt.Equal(c.requestedAt) {
		i++
	}
	q.candidates = slices.Insert(q.candidates, i, c)
}

func (q *queue) index(id apitype.UUID) int {
	return slices.IndexFunc(q.candidates, func(c candidate) bool { return c.id == id })
}

// drop forgets a call that is no longer requested.
func (q *queue) drop(id apitype.UUID) {
	delete(q.ready, id)
	if i := q.index(id); i >= 0 {
		q.candidates = slices.Delete(q.candidates, i, i+1)
	}
	q.known[id] = false
}

// others is how many other requested calls of a person are known.
func (q *queue) others(person, except apitype.UUID) int {
	n := 0
	for _, c := range q.candidates {
		if c.person == person && c.id != except {
			n++
		}
	}
	return n
}

// offers are the candidates that pass what the list tells, in order, up to limit.
func (q *queue) offers(now time.Time, maxAttempts, limit int, pending func(apitype.UUID) bool) []candidate {
	var found []candidate
	for _, c := range q.candidates {
		if q.away[c.id] || pending(c.id) {
			continue
		}
		if reason := attemptsReason(now, c.attempts, c.lastAttempt, maxAttempts); reason != "" {
			continue
		}
		if found = append(found, c); len(found) == limit {
			break
		}
	}
	return found
}

// reasons are why the known calls are passed over now, for the agent to see.
func (q *queue) reasons(now time.Time, maxAttempts int) []passedOver {
	all := slices.Clone(q.skipped)
	for _, c := range q.candidates {
		if reason := attemptsReason(now, c.attempts, c.lastAttempt, maxAttempts); reason != "" && !q.away[c.id] {
			all = append(all, passedOver{id: c.id, reason: reason})
		}
	}
	return all
}

// pass notes that a call is not offered again in this session, and why.
func (q *queue) pass(id apitype.UUID, reason string) {
	q.away[id] = true
	delete(q.ready, id)
	if reason != "" {
		q.skipped = append(q.skipped, passedOver{id: id, reason: reason})
	}
}

// attemptsReason says why the attempts so far speak against ringing now.
func attemptsReason(now time.Time, attempts int, last time.Time, maxAttempts int) string {
	switch {
	case maxAttempts > 0 && attempts >= maxAttempts:
		return fmt.Sprintf("%s, the maximum is %d", plural(attempts, "attempt", "attempts"), maxAttempts)
	case !last.IsZero() && now.Sub(last) < attemptRest:
		return "an attempt " + durationText(now.Sub(last)) + " ago, less than 4 hours"
	default:
		return ""
	}
}

func durationText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

// lastAttempt is when a person was last rung, zero when never or not known.
func lastAttempt(call apitype.Call) time.Time {
	var last time.Time
	for _, a := range call.Attempts.Value() {
		if a.AttemptAt.After(last) {
			last = a.AttemptAt.Time
		}
	}
	return last
}
