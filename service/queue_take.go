package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// QueueEvent is something that is counted of the queue.
type QueueEvent string

// What is counted.
const (
	LeasesTaken    QueueEvent = "taken"
	LeasesExpired  QueueEvent = "expired"
	LeasesReleased QueueEvent = "released"
	LeasesRefused  QueueEvent = "refused" // There is no such lease any more, or the call is in one.
)

// RequireQueue refuses an account that may not take calls. It comes before the values of a
// request are looked at. Spec gap: R3.
func RequireQueue(c Caller) error { return errors.Join(c.Require(CallsRead), c.Require(CallsAttempt)) }

// TakeCalls gives a user the calls that are next, each in a lease.
// POST /fundesk/v1/queue/take
func (s *Service) TakeCalls(ctx context.Context, c Caller, request apitype.TakeRequest) (Answer, error) {
	if err := cmp.Or(RequireQueue(c), NotValid(request.Validate())); err != nil {
		return Answer{}, err
	}
	query, ok := s.queueQuery(c, request.QueueFilter, &request.UserUUID, apitype.Time{})
	t := &taking{s: s, c: c, request: request, query: query, nothing: !ok}
	err := s.Write(ctx, WriteShared, "take calls", func(tx Tx) error {
		if err := ctx.Err(); err != nil { // A caller that went away is given nothing.
			return err
		}
		t.at(s.TimeOf(tx))
		return t.give(tx)
	})
	s.counted(LeasesExpired, t.expired)
	if err != nil {
		return Answer{}, err
	}
	s.counted(LeasesTaken, len(t.leases)-t.repeated)
	s.forgetQueue(ctx, t.now)
	answer, err := s.takeAnswer(ctx, t)
	if err != nil {
		return Answer{}, err
	}
	return answer, s.noteRead(ctx, t.shown()...)
}

// shown are the lines of the persons who are shown with what was taken.
func (t *taking) shown() (lines []AuditLine) {
	if !t.c.May(PersonsRead) {
		return nil
	}
	for _, lease := range t.leases {
		lines = append(lines, t.c.Audited(AuditQueueTake, lease.CallUUID, t.now).Of(lease.Person).by(&lease.UserUUID))
	}
	return lines
}

type taking struct {
	s       *Service
	c       Caller
	request apitype.TakeRequest
	query   QueueQuery
	now     apitype.Time
	nothing bool // Nothing can be found.
	expired int  // Leases that were seen to have ended.

	leases    []LeaseRow
	repeated  int // Of the leases, those that the request was given before.
	ordinal   int // Of the next lease.
	want      int // How many more are looked for.
	nextDueAt *apitype.Time
}

// at begins a try of the transaction, at a time.
func (t *taking) at(now apitype.Time) {
	t.now, t.expired = now, 0
	t.query.at(now)
}

// begin looks at what came of the request before. It runs once for each try of the transaction.
func (t *taking) begin(before QueueRequest) {
	t.leases, t.ordinal, t.want, t.nextDueAt = nil, 0, t.request.Number(), before.NextDueAt
	t.query.Due, t.query.GaveBack = before.Due, before.GaveBack
	if t.nothing {
		t.want = 0
	}
	t.want = min(t.want, max(0, apitype.MaxLeases-before.Held))
	for _, lease := range before.Leases {
		t.ordinal = max(t.ordinal, lease.Ordinal+1)
		if lease.TakenAt.Add(requestLife).After(t.now.Time) {
			t.want = 0
			if lease.Live(t.now) {
				t.leases = append(t.leases, lease)
			}
		}
	}
	t.repeated = len(t.leases)
}

// give runs in a transaction, perhaps several times. It gives as many calls as are wanted, in the order
// of the queue. A call that is not given after all is found not to be eligible, and is not there the
// next time.
func (t *taking) give(tx Tx) error {
	before, err := tx.QueueRequest(t.c.UUID, t.request.RequestUUID, t.query)
	if err != nil {
		return err
	}
	t.begin(before)
	if before.HasNewlyEligible {
		if t.expired, err = tx.EndLeasesByTime(t.now); err != nil {
			return err
		}
		if err := tx.MarkEligible(t.now); err != nil {
			return err
		}
	}
	for t.want > 0 {
		t.query.Limit = t.want
		rows, err := tx.NextInQueue(t.query)
		if err != nil || len(rows) == 0 {
			return err
		}
		for len(rows) > 0 && t.want > 0 {
			if rows, err = t.lease(tx, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// lease gives calls, unless their person is in a lease that could not be seen, or has opted out. The
// first lease is saved before the others: by its ordinal the same request, in another process, meets
// this one, whichever of the others are refused.
func (t *taking) lease(tx Tx, rows []QueueRow) ([]QueueRow, error) {
	var leases []LeaseRow
	ordinal, n := t.ordinal, t.want
	if len(t.leases) == 0 {
		n = min(n, 1)
	}
	for ; n > 0 && len(rows) > 0; rows = rows[1:] {
		ready, err := t.ready(tx, rows[0])
		if err != nil {
			return nil, err
		}
		if ready {
			leases = append(leases, t.newLease(rows[0], ordinal))
			ordinal, n = ordinal+1, n-1
		}
	}
	saved, err := tx.InsertLeases(leases)
	if err != nil {
		return nil, err
	}
	for _, lease := range leases {
		ok := slices.Contains(saved, lease.LeaseUUID)
		if !ok {
			if ok, err = t.leaseAgain(tx, lease); err != nil {
				return nil, err
			}
		}
		if ok { // The ordinal of a first one that was refused is the next one's.
			t.leases, t.ordinal = append(t.leases, lease), lease.Ordinal+1
			t.want--
		}
	}
	return rows, nil
}

// leaseAgain saves a lease whose place another one had, which may have ended by itself. Where it
// has not, the calls of the person are found not to be eligible.
func (t *taking) leaseAgain(tx Tx, lease LeaseRow) (saved bool, err error) {
	expired, err := tx.EndLeasesByTime(t.now)
	if err != nil {
		return false, err
	}
	if t.expired += expired; expired > 0 {
		again, err := tx.InsertLeases([]LeaseRow{lease})
		if err != nil || len(again) > 0 {
			return err == nil, err
		}
	}
	same, err := tx.QueueRequest(t.c.UUID, t.request.RequestUUID, t.query)
	if err == nil && slices.ContainsFunc(same.Leases, func(l LeaseRow) bool { return l.Ordinal == lease.Ordinal }) {
		return false, ErrAgain // The same request came twice at the same time; the other one was first.
	}
	if err != nil {
		return false, err
	}
	return false, refreshEligibility(tx, lease.Person, t.now, nil)
}

// ready reports whether a call that is next may be given as its person is, and makes it ineligible where
// not: an opt-out while the call was created is known here at last.
func (t *taking) ready(tx Tx, row QueueRow) (bool, error) {
	var person apitype.Person
	if err := decode("person", row.PersonDoc, &person); err != nil {
		return false, err
	}
	row.OptedOut = optedOut(person)
	if row.refresh(t.now); !row.Ready {
		return false, personChanged(tx, row.Person, person, t.now)
	}
	return true, nil
}

func (t *taking) newLease(row QueueRow, ordinal int) LeaseRow {
	lease := LeaseRow{
		Lease: apitype.Lease{
			LeaseUUID: apitype.NewUUID(), CallUUID: row.Call, UserUUID: t.request.UserUUID,
			TakenAt: t.now, ExpiresAt: apitype.NewTime(t.now.Add(t.request.Lease())), DueAt: row.DueAt, Note: row.Note,
		},
		Account: t.c.UUID, Request: t.request.RequestUUID, Ordinal: ordinal,
		Person: row.Person, Owner: row.Owner, Type: row.Type, Language: row.Language,
	}
	if !t.request.Ahead {
		lease.ShownAt = &t.now
	}
	return lease
}

// takeAnswer writes the leases with their calls, and how many calls wait. It ends like a page before it gets
// too long, with one lease at least; the other calls wait again. Spec gap: S32.
func (s *Service) takeAnswer(ctx context.Context, t *taking) (answer Answer, err error) {
	given := 0
	err = s.Read(ctx, ReadRecord, "read what was taken", func(r Reader) error {
		viewer := s.viewer(t.c)
		leases, err := named(r, t.leases)
		if err != nil {
			return err
		}
		dst := []byte(`{"leases":[`)
		for given = 0; given < len(leases); given++ {
			size := len(dst)
			if given > 0 {
				dst = append(dst, ',')
			}
			if dst, err = s.appendLease(dst, viewer, r, leases[given]); err != nil {
				return err
			}
			if given > 0 && len(dst) > pageBytes {
				dst = dst[:size]
				break
			}
		}
		rest := queueRest{NextDueAt: t.nextDueAt}
		if rest.Waiting, err = s.waiting(r, t.query); err != nil {
			return err
		}
		rest.Waiting = min(rest.Waiting+len(leases)-given, apitype.MaxWaiting)
		tail, err := json.Marshal(rest)
		answer.JSON = append(append(dst, `],`...), tail[1:]...)
		return err
	})
	if err != nil || given == len(t.leases) {
		return answer, err
	}
	over := t.leases[given:]
	t.leases = t.leases[:given]
	return answer, s.Write(ctx, WriteIsolated, "give calls back", func(tx Tx) error {
		for _, l := range over {
			err := endLease(tx, l, t.now, EndedByMove, func(row *QueueRow) bool {
				isDue := row.Call == l.CallUUID && l.DueAt != nil
				if isDue {
					row.DueAt = l.DueAt
				}
				return isDue
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// endLease ends a lease, and recomputes when the calls of its person become eligible.
func endLease(tx Tx, l LeaseRow, now apitype.Time, by LeaseEnd, change func(*QueueRow) bool) error {
	if _, err := tx.EndLeaseOfCall(l.Person, l.CallUUID, now, by); err != nil {
		return err
	}
	return refreshEligibility(tx, l.Person, now, change)
}

func (s *Service) appendLease(dst []byte, v viewer, r Reader, lease apitype.Lease) ([]byte, error) {
	row, err := r.WholeCall(lease.CallUUID, v.caller.Scope, AnyWeight)
	if err != nil {
		return nil, OrNotFound(err, "call")
	}
	if numbers := s.numbersOf(row.PersonRow); len(numbers) > 0 && v.mayReadPerson(row.Owner) {
		if lease.NumberContactedAt, err = r.NumbersContacted(numbers, apitype.NewTime(lease.TakenAt.Add(-restAfterContact))); err != nil {
			return nil, err
		}
	}
	call, err := v.call(row)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(lease)
	return AppendWith(dst, head, "call", call.JSON), err
}

// named returns leases as they are sent, with the names of their users.
func named(r Reader, rows []LeaseRow) ([]apitype.Lease, error) {
	names, err := r.UserNames(mapped(rows, func(l LeaseRow) apitype.UUID { return l.UserUUID }))
	return mapped(rows, func(row LeaseRow) apitype.Lease {
		lease := row.Sent()
		lease.Name = names[lease.UserUUID]
		return lease
	}), err
}

type queueRest struct {
	Waiting   int           `json:"waiting"`
	NextDueAt *apitype.Time `json:"nextDueAt"`
}

// waiting is how many calls wait, up to the most that is counted. When so many wait for any user,
// that is remembered for a moment: counted anew for each take, they cost more than the take
// itself. Fewer are never remembered, since other processes change them.
func (s *Service) waiting(r Reader, query QueueQuery) (int, error) {
	const life = 100 * time.Millisecond
	asked := query.narrowing()
	if n, ok := s.waited.get(asked, query.Now); ok {
		return n, nil
	}
	query.Limit = apitype.MaxWaiting
	requested, due, err := r.QueueWaiting(query)
	if requested == apitype.MaxWaiting {
		s.waited.put(asked, requested, query.Now, life)
	}
	return min(requested+due, apitype.MaxWaiting), err
}

func (s *Service) counted(event QueueEvent, n int) {
	if n > 0 && s.count != nil {
		s.count(event, n)
	}
}

func (s *Service) countRefused(err error) {
	if kind := KindOf(err); err != nil && (kind == NotFound || kind == Conflict) {
		s.counted(LeasesRefused, 1)
	}
}
