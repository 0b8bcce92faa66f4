package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
)

// LeaseCall leases a call that a user chose. Only another user's lease of the person refuses it: what
// keeps a call out of the queue is the user's to decide.
// PUT /fundesk/v1/queue/calls/{callUuid}/lease
func (s *Service) LeaseCall(ctx context.Context, c Caller, id apitype.UUID, request apitype.LeaseRequest) (answer Answer, err error) {
	if err := cmp.Or(RequireQueue(c), invalid(request.Validate())); err != nil {
		return Answer{}, err
	}
	query, _ := s.queueQuery(c, apitype.QueueFilter{}, &request.UserUUID, apitype.Time{})
	t := &taking{
		s: s, c: c, query: query,
		request: apitype.TakeRequest{RequestUUID: request.RequestUUID, UserUUID: request.UserUUID, LeaseSeconds: request.LeaseSeconds},
	}
	var lease LeaseRow
	err = s.update(ctx, "lease the call", func(tx Tx) (err error) {
		t.at(s.timeOf(tx))
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
	err = s.read(ctx, ReadRecord, "read what was leased", func(r Reader) error {
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
	before, err := t.requestBefore(tx)
	if err != nil {
		return lease, err
	}
	t.begin(before)
	held, err := tx.LeaseOfPerson(person)
	switch {
	case errors.Is(err, ErrNoRow):
	case err != nil:
		return lease, err
	case !held.live(t.now):
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

// insert saves the lease of a call.
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

// leaseHeld refuses something because another user holds the person.
func leaseHeld(r Reader, held LeaseRow, detail string) error {
	names, err := r.UserNames([]apitype.UUID{held.UserUUID})
	if err != nil {
		return err
	}
	return &Error{
		Kind: Conflict, Detail: detail,
		Lease: &apitype.LeaseHolder{UserUUID: held.UserUUID, Name: nameOf(names, held.UserUUID), TakenAt: held.TakenAt, ExpiresAt: held.ExpiresAt},
	}
}

// ReleaseUser gives back what a user holds, and opens their callbacks to every user if asked to.
// POST /fundesk/v1/queue/release
func (s *Service) ReleaseUser(ctx context.Context, c Caller, request apitype.ReleaseUserRequest) (Answer, error) {
	if err := cmp.Or(RequireQueue(c), invalid(request.Validate())); err != nil {
		return Answer{}, err
	}
	var released apitype.ReleasedUser
	err := s.update(ctx, "release the user", func(tx Tx) error {
		released = apitype.ReleasedUser{}
		now := s.timeOf(tx)
		leases, err := tx.Leases(c.Scope, &request.UserUUID, now)
		if err != nil {
			return err
		}
		if err := each(leases, func(l LeaseRow) error { return endLease(tx, l, now, EndedByReturn, nil) }); err != nil {
			return err
		}
		released.Leases = len(leases)
		if !request.Deferrals {
			return nil
		}
		shared, err := tx.ShareDeferrals(request.UserUUID, c.Scope)
		for _, row := range shared {
			err = errors.Join(err, tx.Audit(c.audited(AuditCallLater, row.CallUUID, now).of(row.PersonUUID)))
		}
		released.Deferrals = len(shared)
		return err
	})
	if err != nil {
		return Answer{}, err
	}
	s.counted(LeasesReleased, released.Leases)
	return answered(released)
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
	err = s.read(ctx, ReadSnapshot, "list the callbacks", func(r Reader) (err error) {
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
		if err := s.noteRead(ctx, c.listed(AuditQueueList, o.Query(), len(page.rows), s.now())); err != nil {
			return Answer{}, err
		}
	}
	cursor := func(dst []byte, row DeferralRow) []byte {
		return cursors.append(dst, Position{At: row.NotBefore, UUID: row.CallUUID})
	}
	return Answer{JSON: envelope(page, 0, cursor, func(dst []byte, row DeferralRow) []byte { return append(dst, row.node...) })}, nil
}

// write makes the node of a callback, with what the caller may see of it.
func (d *DeferralRow) write(c Caller, names map[apitype.UUID]string) (err error) {
	if d.UserUUID != nil {
		d.Name = nameOf(names, *d.UserUUID)
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

// fullName returns the name of a person in one line.
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
