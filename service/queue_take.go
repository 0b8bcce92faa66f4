package service

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

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
	if err := cmp.Or(RequireQueue(c), invalid(request.Validate())); err != nil {
		return Answer{}, err
	}
	query, ok := s.queueQuery(c, request.QueueFilter, &request.UserUUID, apitype.Time{})
	t := &taking{s: s, c: c, request: request, query: query, nothing: !ok}
	if err := described("take calls", t.take(ctx)); err != nil {
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
		lines = append(lines, t.c.audited(AuditQueueTake, lease.CallUUID, t.now).of(lease.Person).by(&lease.UserUUID))
	}
	return lines
}

// taking is one take.
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

// at sets the time of the take.
func (t *taking) at(now apitype.Time) {
	t.now = now
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
			if lease.live(t.now) {
				t.leases = append(t.leases, lease)
			}
		}
	}
	t.repeated = len(t.leases)
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

// newLease returns the lease of a call.
func (t *taking) newLease(row QueueRow, ordinal int) LeaseRow {
	lease := LeaseRow{
		Lease: apitype.Lease{
			LeaseUUID: t.s.newUUID(), CallUUID: row.Call, UserUUID: t.request.UserUUID,
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
	err = s.read(ctx, ReadRecord, "read what was taken", func(r Reader) error {
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
	return answer, s.update(ctx, "give calls back", func(tx Tx) error {
		return each(over, func(l LeaseRow) error {
			return endLease(tx, l, t.now, EndedByMove, func(row *QueueRow) bool {
				isDue := row.Call == l.CallUUID && l.DueAt != nil
				if isDue {
					row.DueAt = l.DueAt
				}
				return isDue
			})
		})
	})
}

// endLease ends a lease, and recomputes when the calls of its person become eligible.
func endLease(tx Tx, l LeaseRow, now apitype.Time, by LeaseEnd, change func(*QueueRow) bool) error {
	if _, err := tx.EndLeaseOfCall(l.Person, l.CallUUID, now, by); err != nil {
		return err
	}
	return refreshEligibility(tx, l.Person, now, change)
}

// appendLease writes a lease with its call.
func (s *Service) appendLease(dst []byte, v viewer, r Reader, lease apitype.Lease) ([]byte, error) {
	row, err := r.WholeCall(lease.CallUUID, v.caller.Scope, AnyWeight)
	if err != nil {
		return nil, orNotFound(err, "call")
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
	return append(member(open(dst, head), "call", call.JSON), '}'), err
}

// named returns leases as they are sent, with the names of their users.
func named(r Reader, rows []LeaseRow) ([]apitype.Lease, error) {
	names, err := r.UserNames(mapped(rows, func(l LeaseRow) apitype.UUID { return l.UserUUID }))
	return mapped(rows, func(row LeaseRow) apitype.Lease {
		lease := leaseOf(row)
		lease.Name = nameOf(names, lease.UserUUID)
		return lease
	}), err
}

// nameOf returns the name of a user, nil when it is not known.
func nameOf(names map[apitype.UUID]string, user apitype.UUID) *string {
	if name, ok := names[user]; ok {
		return &name
	}
	return nil
}

// queueRest is what an answer to a take says of the queue.
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

// ExtendLease keeps a lease so long from now.
// POST /fundesk/v1/queue/leases/{leaseUuid}/extend
func (s *Service) ExtendLease(ctx context.Context, c Caller, id apitype.UUID, request apitype.ExtendRequest) (answer Answer, err error) {
	if err := cmp.Or(RequireQueue(c), invalid(request.Validate())); err != nil {
		return Answer{}, err
	}
	err = s.update(ctx, "extend the lease", func(tx Tx) error {
		now := s.timeOf(tx)
		lease, err := tx.Lease(id, c.Scope)
		if err == nil && !lease.live(now) {
			err = ErrNoRow
		}
		if err != nil {
			return orNotFound(err, "lease, or it has ended")
		}
		lease.ExpiresAt = apitype.NewTime(now.Add(request.Lease()))
		show := lease.ShownAt == nil && request.Ahead != nil && !*request.Ahead
		if show {
			lease.ShownAt = &now
		}
		if err := tx.ExtendLease(id, lease.ExpiresAt, now, show); err != nil {
			return err
		}
		leases, err := named(tx, []LeaseRow{lease})
		if err != nil {
			return err
		}
		if answer.JSON, err = json.Marshal(leases[0]); err != nil {
			return err
		}
		return refreshEligibility(tx, lease.Person, now, nil)
	})
	s.countRefused(err)
	return answer, err
}

// deferring refuses what the caller may not put off, or not so; now is the time of the change.
func (s *Service) deferring(ctx context.Context, c Caller, request apitype.DeferRequest) (now apitype.Time, err error) {
	if err := RequireQueue(c); err != nil {
		return now, err
	}
	if now, err = s.queueTime(ctx); err != nil {
		return now, err
	}
	return now, invalid(request.Validate(now.Time))
}

// ReleaseLease gives a call back: to its place, or deferred. A lease that has ended is
// released already.
// POST /fundesk/v1/queue/leases/{leaseUuid}/release
func (s *Service) ReleaseLease(ctx context.Context, c Caller, id apitype.UUID, request apitype.DeferRequest) error {
	now, err := s.deferring(ctx, c, request)
	if err != nil {
		return err
	}
	released := 0
	err = s.update(ctx, "release the lease", func(tx Tx) error {
		released, now = 0, s.timeOf(tx)
		lease, err := tx.Lease(id, c.Scope)
		if err != nil || !lease.live(now) {
			return orNotFound(err, "lease")
		}
		by := EndedByReturn
		if request.NotBefore != nil {
			by = EndedByDeferral
		}
		released = 1
		err = endLease(tx, lease, now, by, deferral(lease.CallUUID, request))
		if by == EndedByDeferral {
			line := c.audited(AuditCallLater, lease.CallUUID, now).of(lease.Person).by(&lease.UserUUID)
			err = errors.Join(err, tx.Audit(line))
		}
		return err
	})
	s.counted(LeasesReleased, released)
	s.countRefused(err)
	return err
}

// deferral puts off one of a person's calls.
func deferral(call apitype.UUID, request apitype.DeferRequest) func(*QueueRow) bool {
	return func(row *QueueRow) bool {
		if row.Call != call {
			return false
		}
		row.DueAt, row.KeptFor = request.NotBefore, nil
		if row.DueAt != nil {
			row.KeptFor = request.UserUUID
		}
		return true
	}
}

// DeferCall puts a call off, or back to its place.
// PUT /fundesk/v1/queue/calls/{callUuid}/later
func (s *Service) DeferCall(ctx context.Context, c Caller, id apitype.UUID, request apitype.DeferRequest) error {
	now, err := s.deferring(ctx, c, request)
	if err != nil {
		return err
	}
	err = s.update(ctx, "defer the call", func(tx Tx) error {
		now = s.timeOf(tx)
		person, err := waitingCall(tx, c, id)
		if err != nil {
			return err
		}
		lease, err := tx.LeaseOfPerson(person)
		if err != nil && !errors.Is(err, ErrNoRow) {
			return err
		}
		if err == nil && lease.CallUUID == id && lease.live(now) {
			if request.LeaseUUID == nil || *request.LeaseUUID != lease.LeaseUUID {
				return leaseHeld(tx, lease, "the call is leased; its holder can put it off, or release the lease")
			}
			if _, err := tx.EndLeaseOfCall(lease.Person, id, now, EndedByDeferral); err != nil {
				return err
			}
		}
		line := c.audited(AuditCallLater, id, now).of(person).by(request.UserUUID)
		return errors.Join(refreshEligibility(tx, person, now, deferral(id, request)), tx.Audit(line))
	})
	s.countRefused(err)
	return err
}

// LeaveNote leaves a note for the next agent of a call, while it waits: behind those before. One that is
// repeated, after a lost answer, stands there already; where there is no room for all, the oldest lines go.
// POST /fundesk/v1/queue/calls/{callUuid}/notes
func (s *Service) LeaveNote(ctx context.Context, c Caller, id apitype.UUID, request apitype.NoteRequest) error {
	if err := cmp.Or(RequireQueue(c), invalid(request.Validate())); err != nil {
		return err
	}
	return s.update(ctx, "leave the note", func(tx Tx) error {
		person, err := waitingCall(tx, c, id)
		if err != nil {
			return err
		}
		now, isNew := s.timeOf(tx), false
		err = refreshEligibility(tx, person, now, func(row *QueueRow) bool {
			text := request.Text
			if row.Note != nil {
				text = *row.Note + "\n" + text
			}
			if row.Call != id || strings.Contains("\n"+strings.TrimSuffix(text, request.Text), "\n"+request.Text+"\n") {
				return false
			}
			for utf8.RuneCountInString(text) > apitype.MaxNotes {
				_, text, _ = strings.Cut(text, "\n")
			}
			row.Note, isNew = &text, true
			return true
		})
		if isNew {
			err = errors.Join(err, tx.Audit(c.audited(AuditCallNote, id, now).of(person)))
		}
		return err
	})
}

// waitingCall returns the person of a call that waits and that the caller may change.
func waitingCall(tx Tx, c Caller, id apitype.UUID) (person apitype.UUID, err error) {
	row, err := changeableCall(tx, c, id)
	if err != nil {
		return person, err
	}
	var call apitype.Call
	if err := decode("call", row.Doc, &call); err != nil {
		return person, err
	}
	if call.Status != apitype.CallRequested {
		return person, conflict("the call is %s and waits no more", call.Status)
	}
	return call.PersonUUID, nil
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
