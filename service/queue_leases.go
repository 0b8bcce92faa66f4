package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// LeaseCall leases a call that a user chose. Only another user's lease of the person refuses it: what
// keeps a call out of the queue is the user's to decide.
// PUT /fundesk/v1/queue/calls/{callUuid}/lease
func (s *Service) LeaseCall(ctx context.Context, c Caller, id apitype.UUID, request apitype.LeaseRequest) (answer Answer, err error) {
	if err := cmp.Or(RequireQueue(c), NotValid(request.Validate())); err != nil {
		return Answer{}, err
	}
	query, _ := s.queueQuery(c, apitype.QueueFilter{}, &request.UserUUID, apitype.Time{})
	t := &taking{
		s: s, c: c, query: query,
		request: apitype.TakeRequest{RequestUUID: request.RequestUUID, UserUUID: request.UserUUID, LeaseSeconds: request.LeaseSeconds},
	}
	var lease LeaseRow
	err = s.Write(ctx, WriteIsolated, "lease the call", func(tx Tx) (err error) {
		t.at(s.TimeOf(tx))
		lease, err = t.choose(tx, id)
		return err
	})
	s.countRefused(err)
	if err != nil {
		return Answer{}, err
	}
	s.counted(LeasesTaken, 1)
	s.forgetQueue(ctx, t.now)
	t.leases = []LeaseRow{lease}
	if err := s.noteRead(ctx, t.shown()...); err != nil {
		return Answer{}, err
	}
	err = s.Read(ctx, ReadRecord, "read what was leased", func(r Reader) error {
		leases, err := named(r, t.leases)
		if err == nil {
			answer.JSON, err = s.appendLease(nil, s.viewer(c), r, leases[0])
		}
		return err
	})
	return answer, err
}

// choose leases a call. The user's own lease of the call is kept longer; one of another call of the
// person ends.
func (t *taking) choose(tx Tx, id apitype.UUID) (lease LeaseRow, err error) {
	person, err := waitingCall(tx, t.c, id)
	if err != nil {
		return lease, err
	}
	before, err := tx.QueueRequest(t.c.UUID, t.request.RequestUUID, t.query)
	if err != nil {
		return lease, err
	}
	t.begin(before)
	held, err := tx.LeaseOfPerson(person)
	switch {
	case errors.Is(err, ErrNoRow):
	case err != nil:
		return lease, err
	case !held.Live(t.now):
		if _, err := tx.EndLeasesByTime(t.now); err != nil {
			return lease, err
		}
	case held.UserUUID != t.request.UserUUID:
		return lease, leaseHeld(tx, held, "another user holds the person of the call")
	case held.CallUUID == id:
		return t.keep(tx, held)
	default:
		before.Held--
		if _, err := tx.EndLeaseOfCall(held.Person, held.CallUUID, t.now, EndedByMove); err != nil {
			return lease, err
		}
	}
	if before.Held >= apitype.MaxLeases {
		return lease, conflict("the user holds %d calls already; release one", before.Held)
	}
	return t.insert(tx, id, person)
}

func (t *taking) insert(tx Tx, id, person apitype.UUID) (lease LeaseRow, err error) {
	rows, err := tx.QueueOfPerson(person)
	if err != nil {
		return lease, err
	}
	i := slices.IndexFunc(rows, func(q QueueRow) bool { return q.Call == id })
	if i < 0 {
		return lease, ErrAgain // It ended meanwhile.
	}
	lease = t.newLease(rows[i], t.ordinal)
	saved, err := tx.InsertLeases([]LeaseRow{lease})
	if err == nil && len(saved) == 0 {
		err = ErrAgain // Another request was faster.
	}
	if err != nil {
		return lease, err
	}
	return lease, refreshEligibility(tx, person, t.now, nil)
}

// keep extends a lease that the user holds, and shows it.
func (t *taking) keep(tx Tx, held LeaseRow) (LeaseRow, error) {
	show := held.ShownAt == nil
	if show {
		held.ShownAt = &t.now
	}
	if until := apitype.NewTime(t.now.Add(t.request.Lease())); until.After(held.ExpiresAt.Time) {
		held.ExpiresAt = until
	}
	err := tx.ExtendLease(held.LeaseUUID, held.ExpiresAt, t.now, show)
	return held, errors.Join(err, refreshEligibility(tx, held.Person, t.now, nil))
}

// ExtendLease keeps a lease so long from now.
// POST /fundesk/v1/queue/leases/{leaseUuid}/extend
func (s *Service) ExtendLease(ctx context.Context, c Caller, id apitype.UUID, request apitype.ExtendRequest) (answer Answer, err error) {
	if err := cmp.Or(RequireQueue(c), NotValid(request.Validate())); err != nil {
		return Answer{}, err
	}
	err = s.Write(ctx, WriteIsolated, "extend the lease", func(tx Tx) error {
		now := s.TimeOf(tx)
		lease, err := tx.Lease(id, c.Scope)
		if err == nil && !lease.Live(now) {
			err = ErrNoRow
		}
		if err != nil {
			return OrNotFound(err, "lease, or it has ended")
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
	return now, NotValid(request.Validate(now.Time))
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
	err = s.Write(ctx, WriteIsolated, "release the lease", func(tx Tx) error {
		released, now = 0, s.TimeOf(tx)
		lease, err := tx.Lease(id, c.Scope)
		if err != nil || !lease.Live(now) {
			return OrNotFound(err, "lease")
		}
		by := EndedByReturn
		if request.NotBefore != nil {
			by = EndedByDeferral
		}
		released = 1
		err = endLease(tx, lease, now, by, deferral(lease.CallUUID, request))
		if by == EndedByDeferral {
			line := c.Audited(AuditCallLater, lease.CallUUID, now).Of(lease.Person).by(&lease.UserUUID)
			err = errors.Join(err, tx.Audit(line))
		}
		return err
	})
	s.counted(LeasesReleased, released)
	s.countRefused(err)
	return err
}

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
	err = s.Write(ctx, WriteIsolated, "defer the call", func(tx Tx) error {
		now = s.TimeOf(tx)
		person, err := waitingCall(tx, c, id)
		if err != nil {
			return err
		}
		lease, err := tx.LeaseOfPerson(person)
		if err != nil && !errors.Is(err, ErrNoRow) {
			return err
		}
		if err == nil && lease.CallUUID == id && lease.Live(now) {
			if request.LeaseUUID == nil || *request.LeaseUUID != lease.LeaseUUID {
				return leaseHeld(tx, lease, "the call is leased; its holder can put it off, or release the lease")
			}
			if _, err := tx.EndLeaseOfCall(lease.Person, id, now, EndedByDeferral); err != nil {
				return err
			}
		}
		line := c.Audited(AuditCallLater, id, now).Of(person).by(request.UserUUID)
		return errors.Join(refreshEligibility(tx, person, now, deferral(id, request)), tx.Audit(line))
	})
	s.countRefused(err)
	return err
}

// LeaveNote leaves a note for the next agent of a call, while it waits: behind those before. One that is
// repeated, after a lost answer, stands there already; where there is no room for all, the oldest lines go.
// POST /fundesk/v1/queue/calls/{callUuid}/notes
func (s *Service) LeaveNote(ctx context.Context, c Caller, id apitype.UUID, request apitype.NoteRequest) error {
	if err := cmp.Or(RequireQueue(c), NotValid(request.Validate())); err != nil {
		return err
	}
	return s.Write(ctx, WriteIsolated, "leave the note", func(tx Tx) error {
		person, err := waitingCall(tx, c, id)
		if err != nil {
			return err
		}
		now, isNew := s.TimeOf(tx), false
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
			err = errors.Join(err, tx.Audit(c.Audited(AuditCallNote, id, now).Of(person)))
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

// leaseHeld refuses something because another user holds the person.
func leaseHeld(r Reader, held LeaseRow, detail string) error {
	names, err := r.UserNames([]apitype.UUID{held.UserUUID})
	if err != nil {
		return err
	}
	return &Error{
		Kind: Conflict, Detail: detail,
		Lease: &apitype.LeaseHolder{UserUUID: held.UserUUID, Name: names[held.UserUUID], TakenAt: held.TakenAt, ExpiresAt: held.ExpiresAt},
	}
}

// ReleaseUser gives back what a user holds, and opens their callbacks to every user if asked to.
// POST /fundesk/v1/queue/release
func (s *Service) ReleaseUser(ctx context.Context, c Caller, request apitype.ReleaseUserRequest) (Answer, error) {
	if err := cmp.Or(RequireQueue(c), NotValid(request.Validate())); err != nil {
		return Answer{}, err
	}
	var released apitype.ReleasedUser
	err := s.Write(ctx, WriteIsolated, "release the user", func(tx Tx) error {
		released = apitype.ReleasedUser{}
		now := s.TimeOf(tx)
		leases, err := tx.Leases(c.Scope, &request.UserUUID, now)
		if err != nil {
			return err
		}
		for _, lease := range leases {
			if err := endLease(tx, lease, now, EndedByReturn, nil); err != nil {
				return err
			}
		}
		released.Leases = len(leases)
		if !request.Deferrals {
			return nil
		}
		shared, err := tx.ShareDeferrals(request.UserUUID, c.Scope)
		for _, row := range shared {
			err = errors.Join(err, tx.Audit(c.Audited(AuditCallLater, row.CallUUID, now).Of(row.PersonUUID)))
		}
		released.Deferrals = len(shared)
		return err
	})
	if err == nil {
		s.counted(LeasesReleased, released.Leases)
	}
	return Answered(released, err)
}

// QueueDeferrals is a page of the callbacks, the earliest first.
// GET /fundesk/v1/queue/deferrals
func (s *Service) QueueDeferrals(ctx context.Context, c Caller, o apitype.QueueDeferralListOptions) (Answer, error) {
	if err := c.Require(CallsRead); err != nil {
		return Answer{}, err
	}
	cursors := s.cursors(deferralCursor)
	w, err := cursors.window(apitype.Paging{First: o.First, After: o.After})
	if err != nil {
		return Answer{}, err
	}
	query := DeferralQuery{Scope: c.Scope, User: o.UserUUID, After: w.after, Limit: w.size + 1}
	page := pageOf[DeferralRow]{hasPrevious: query.After != nil}
	err = s.Read(ctx, ReadSnapshot, "list the callbacks", func(r Reader) (err error) {
		if page.rows, err = r.Deferrals(query); err != nil {
			return err
		}
		page.limit(w.size)
		users := []apitype.UUID{}
		for _, row := range page.rows {
			if row.UserUUID != nil {
				users = append(users, *row.UserUUID)
			}
		}
		names, err := r.UserNames(users)
		for i := range page.rows {
			err = errors.Join(err, page.rows[i].write(c, names))
		}
		return err
	})
	if err != nil {
		return Answer{}, err
	}
	if len(page.rows) > 0 && c.May(PersonsRead) {
		if err := s.noteRead(ctx, c.listed(AuditQueueList, o.Query(), len(page.rows), s.Now())); err != nil {
			return Answer{}, err
		}
	}
	cursor := func(dst []byte, row DeferralRow) []byte {
		return cursors.append(dst, Position{At: row.NotBefore, UUID: row.CallUUID})
	}
	return Answer{JSON: envelope(page, 0, cursor, func(dst []byte, row DeferralRow) []byte { return append(dst, row.node...) })}, nil
}

// write makes the node of a callback, with what the caller may see of it.
func (d *DeferralRow) write(c Caller, names map[apitype.UUID]*string) (err error) {
	if d.UserUUID != nil {
		d.Name = names[*d.UserUUID]
	}
	if c.May(PersonsRead) {
		var person apitype.Person
		if err := decode("person", d.PersonDoc, &person); err != nil {
			return err
		}
		d.PersonName = new(fullName(person))
	}
	d.node, err = encode("callback", d.Deferral)
	return err
}

func fullName(p apitype.Person) string {
	first := p.FirstName
	if first == nil {
		first = p.Initials
	}
	var parts []string
	for _, part := range []*string{first, p.LastNamePrefix, p.LastName} {
		if part != nil {
			parts = append(parts, *part)
		}
	}
	return strings.Join(parts, " ")
}
