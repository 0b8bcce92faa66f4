package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Lease leases a call that a user chose. Only another user's lease of the person refuses it: what
// keeps a call out of the queue is the user's to decide.
// PUT /fundesk/v1/queue/calls/{callUuid}/lease
func (q *Queue) Lease(
	ctx context.Context,
	c service.Caller,
	id apitype.UUID,
	request apitype.LeaseRequest,
) (service.Answer, error) {
	if err := Require(c); err != nil {
		return service.Answer{}, err
	}
	user, err := c.ActingUser(&request.UserUUID)
	if err != nil {
		return service.Answer{}, err
	}
	request.UserUUID = *user
	if err := service.NotValid(request.Validate()); err != nil {
		return service.Answer{}, err
	}
	query, _ := queryOf(c, apitype.QueueFilter{}, &request.UserUUID, apitype.Time{})
	t := &taking{
		c:     c,
		query: query,
		request: apitype.TakeRequest{
			RequestUUID:  request.RequestUUID,
			UserUUID:     request.UserUUID,
			LeaseSeconds: request.LeaseSeconds,
		},
		pending: request.Pending,
	}
	var lease service.LeaseRow
	err = q.rules.Write(ctx, service.WriteIsolated, "lease the call", func(tx service.Tx) (err error) {
		t.at(q.rules.TimeOf(tx))
		lease, err = t.choose(tx, id)
		return err
	})
	q.countRefused(err)
	if err != nil {
		return service.Answer{}, err
	}
	q.counted(Taken, 1)
	q.counted(Expired, t.expired)
	t.leases = []service.LeaseRow{lease}
	if err := q.rules.NoteRead(ctx, t.shown()...); err != nil {
		return service.Answer{}, err
	}
	answer, isPaused, err := q.leaseAnswer(ctx, t)
	if err != nil {
		return answer, err
	}
	if isPaused { // The pause began during the lease, which ends it.
		return q.Lease(ctx, c, id, request)
	}
	return answer, nil
}

// leaseAnswer reads the chosen call, and whether its user has paused by now.
func (q *Queue) leaseAnswer(ctx context.Context, t *taking) (answer service.Answer, isPaused bool, err error) {
	err = q.rules.Read(ctx, service.ReadRecord, "read what was leased", func(r service.Reader) error {
		answer.JSON, err = q.appendLease(nil, t, r, sent(t.c, t.leases[0]))
		if err != nil || t.pending {
			return err
		}
		pause, err := pauseOf(r, t.request.UserUUID, t.now)
		isPaused = pause != nil
		return err
	})
	return answer, isPaused, err
}

// CreateCall saves a new call and leases it for the user that opens it. No other user gets the donor in between.
// POST /api/v1/calls with LeaseForHeader
func (q *Queue) CreateCall(
	ctx context.Context,
	c service.Caller,
	request apitype.CreateCallRequest,
	leaseFor apitype.UUID,
) (service.Answer, error) {
	user, err := c.ActingUserAt(apitype.Violation{Parameter: apitype.LeaseForHeader}, &leaseFor)
	if err != nil {
		return service.Answer{}, err
	}
	query, _ := queryOf(c, apitype.QueueFilter{}, user, apitype.Time{})
	t := &taking{
		c:     c,
		query: query,
		request: apitype.TakeRequest{
			RequestUUID:  apitype.NewUUID(),
			UserUUID:     *user,
			LeaseSeconds: new(int(apitype.NewCallLease / time.Second)),
			Ahead:        true, // The lease of the opened call counts as taken.
		},
	}
	answer, err := q.rules.CreateCallAnd(ctx, c, request, func(tx service.Tx, call apitype.UUID) error {
		t.at(q.rules.TimeOf(tx))
		return t.reserve(tx, request.PersonUUID, call)
	})
	if err != nil {
		return answer, err
	}
	q.counted(Expired, t.expired)
	q.endPauseSince(ctx, t)
	return answer, nil
}

// endPauseSince ends a pause that began while its user opened a new call. If the pause has given the call back, it
// holds. The call is saved by now, so nothing refuses it any more.
func (q *Queue) endPauseSince(ctx context.Context, t *taking) {
	if len(t.leases) == 0 {
		return
	}
	isPaused := false
	err := q.rules.Read(ctx, service.ReadRecord, "read the state of the user", func(r service.Reader) error {
		pause, err := pauseOf(r, t.request.UserUUID, t.now)
		isPaused = pause != nil
		return err
	})
	if err == nil && isPaused {
		request := apitype.ExtendRequest{LeaseSeconds: t.request.LeaseSeconds, Ahead: &t.request.Ahead}
		_, _ = q.extend(ctx, t.c, t.leases[0].LeaseUUID, request, true)
	}
}

// reserve leases a new call, unless its person is in a lease or the user holds too many.
func (t *taking) reserve(tx service.Tx, person, call apitype.UUID) error {
	t.leases = nil
	held, err := tx.LeaseOfPerson(person)
	isFree := errors.Is(err, service.ErrNoRow) || err == nil && !held.Live(t.now)
	if !isFree {
		return err
	}
	lease, err := t.choose(tx, call)
	if service.KindOf(err) == service.Conflict {
		return nil
	}
	if err != nil {
		return err
	}
	t.leases = []service.LeaseRow{lease}
	return nil
}

// choose leases a call. It extends the user's lease of this call, and ends their lease of another call of the donor.
func (t *taking) choose(tx service.Tx, id apitype.UUID) (service.LeaseRow, error) {
	person, err := service.WaitingCall(tx, t.c, id)
	if err != nil {
		return service.LeaseRow{}, err
	}
	before, err := tx.QueueRequest(t.c.UUID, t.request.RequestUUID, t.query)
	if err != nil {
		return service.LeaseRow{}, err
	}
	t.begin(before)
	if before.Pause != nil && !t.pending {
		if err := tx.EndPause(t.request.UserUUID, t.now); err != nil {
			return service.LeaseRow{}, err
		}
	}
	rows, err := tx.QueueOfPerson(person) // Before the row of the donor is locked.
	if err != nil {
		return service.LeaseRow{}, err
	}
	held, err := tx.LeaseOfPerson(person)
	isFree := errors.Is(err, service.ErrNoRow) || err == nil && !held.Live(t.now)
	switch {
	case isFree:
	case err != nil:
		return service.LeaseRow{}, err
	case held.UserUUID != t.request.UserUUID:
		return service.LeaseRow{}, leaseHeld(held, "another user holds the person of the call")
	case held.CallUUID == id:
		return t.keep(tx, held)
	case held.Pending:
		return service.LeaseRow{}, leaseHeld(held, "a change of another call of the person is pending")
	default:
		before.Held--
		var keepsDeferral func(*service.QueueRow) bool
		if held.ShownAt == nil { // The user never saw a callback that this lease has used up.
			keepsDeferral = deferralOf(held)
		}
		if err := service.EndLease(tx, held, t.now, service.EndedByMove, keepsDeferral); err != nil {
			return service.LeaseRow{}, err
		}
	}
	if before.Held >= apitype.MaxLeases && !t.pending {
		return service.LeaseRow{}, &service.Error{
			Kind:   service.Conflict,
			Detail: fmt.Sprintf("the user holds %d calls already; release one", before.Held),
		}
	}
	return t.insert(tx, id, rows)
}

// insert claims the donor for a call, which is one of the calls that wait of the donor.
func (t *taking) insert(tx service.Tx, id apitype.UUID, rows []service.QueueRow) (service.LeaseRow, error) {
	i := slices.IndexFunc(rows, func(q service.QueueRow) bool { return q.Call == id })
	if i < 0 {
		return service.LeaseRow{}, service.ErrAgain // The lease ended in between.
	}
	lease := t.newLease(rows[i], t.ordinal)
	if t.pending { // The user saw the call before.
		lease.Pending, lease.ShownAt = true, nil
		lease.ExpiresAt = apitype.NewTime(t.now.Add(apitype.PendingLease))
	}
	saved, expired, err := tx.Claim([]service.LeaseRow{lease})
	if err != nil {
		return lease, err
	}
	if len(saved) == 0 {
		return lease, service.ErrAgain // Another request was faster.
	}
	t.expired = expired
	if err := service.RefreshEligibility(tx, lease.Person, t.now, nil); err != nil {
		return lease, err
	}
	return lease, tx.CountWork(workOf([]service.LeaseRow{lease}))
}

// keep extends a lease that the user holds, and shows it.
func (t *taking) keep(tx service.Tx, held service.LeaseRow) (service.LeaseRow, error) {
	life := t.request.Lease()
	if t.pending {
		life = apitype.PendingLease
	}
	held.Pending = held.Pending || t.pending
	prolong(&held, apitype.NewTime(t.now.Add(life)))
	return held, extend(tx, &held, t.now, !held.Pending)
}

// extend saves a lease that is kept longer, and counts that its user was seen. A call that is shown for the first time
// counts as taken.
func extend(tx service.Tx, l *service.LeaseRow, now apitype.Time, isShown bool) error {
	work := service.Work{User: l.UserUUID, Owner: l.Owner, SeenAt: now}
	if l.ShownAt == nil && isShown {
		l.ShownAt = &now
		work.Taken = 1
	}
	err := service.RefreshEligibility(tx, l.Person, now, func(row *service.QueueRow) bool {
		row.LeasedUntil = &l.ExpiresAt
		return false
	})
	if err != nil {
		return err
	}
	if err := tx.ExtendLease(*l, now); err != nil {
		return err
	}
	return tx.CountWork([]service.Work{work})
}

// prolong lets a lease end at a time, unless it ends later.
func prolong(l *service.LeaseRow, until apitype.Time) {
	if until.After(l.ExpiresAt.Time) {
		l.ExpiresAt = until
	}
}

// Extend keeps a lease so long from now. A call that comes back from a pending change to the card ends its user's
// pause.
// POST /fundesk/v1/queue/leases/{leaseUuid}/extend
func (q *Queue) Extend(
	ctx context.Context,
	c service.Caller,
	id apitype.UUID,
	request apitype.ExtendRequest,
) (service.Answer, error) {
	return q.extend(ctx, c, id, request, false)
}

// extend extends a lease. isOpened means that the user opens its call, which ends their pause.
func (q *Queue) extend(
	ctx context.Context,
	c service.Caller,
	id apitype.UUID,
	request apitype.ExtendRequest,
	isOpened bool,
) (service.Answer, error) {
	if err := cmp.Or(Require(c), service.NotValid(request.Validate())); err != nil {
		return service.Answer{}, err
	}
	var lease service.LeaseRow
	endsPause := false
	err := q.rules.Write(ctx, service.WriteIsolated, "extend the lease", func(tx service.Tx) (err error) {
		now := q.rules.TimeOf(tx)
		lease, err = tx.Lease(id, c.Scope)
		if err == nil && !lease.Live(now) {
			err = service.ErrNoRow
		}
		if err != nil {
			return service.OrNotFound(err, "lease, or it has ended")
		}
		wasPending := lease.Pending
		if request.Pending != nil {
			lease.Pending = *request.Pending
		}
		until := apitype.NewTime(now.Add(request.Lease()))
		if wasPending && lease.Pending { // It is never shortened: the change still waits.
			prolong(&lease, until)
		} else {
			lease.ExpiresAt = until
		}
		endsPause = (isOpened || wasPending) && !lease.Pending // The user has the call on the card.
		if endsPause {
			if err := tx.EndPause(lease.UserUUID, now); err != nil {
				return err
			}
		}
		isShown := request.Pending != nil || request.Ahead != nil && !*request.Ahead
		return extend(tx, &lease, now, isShown)
	})
	q.countRefused(err)
	if err != nil {
		return service.Answer{}, err
	}
	isPaused := false
	var answer service.Answer
	answer.JSON, err = json.Marshal(sent(c, lease))
	if err != nil || !endsPause {
		return answer, err
	}
	err = q.rules.Read(ctx, service.ReadRecord, "read the state of the user", func(r service.Reader) error {
		pause, err := pauseOf(r, lease.UserUUID, q.rules.Now())
		isPaused = pause != nil
		return err
	})
	if err != nil {
		return answer, err
	}
	if isPaused { // The pause began during the extension, and may have ended the lease.
		return q.extend(ctx, c, id, request, true)
	}
	return answer, nil
}

// Release gives a call back: to its place, or deferred. A callback that is not due yet stays. A lease that has ended is
// released already: then only a deferral that names what it replaces is made.
// POST /fundesk/v1/queue/leases/{leaseUuid}/release
func (q *Queue) Release(ctx context.Context, c service.Caller, id apitype.UUID, request apitype.DeferRequest) error {
	now, err := q.checkDeferral(ctx, c, request)
	if err != nil {
		return err
	}
	released := 0
	err = q.rules.Write(ctx, service.WriteIsolated, "release the lease", func(tx service.Tx) error {
		released, now = 0, q.rules.TimeOf(tx)
		lease, err := tx.Lease(id, c.Scope)
		if err != nil {
			return service.OrNotFound(err, "lease")
		}
		d := deferring{
			c:       c,
			call:    lease.CallUUID,
			request: request,
			now:     now,
			used:    usedBy(lease),
		}
		if !lease.Live(now) {
			if request.NotBefore == nil || request.Replaces == nil {
				return nil
			}
			d.request.LeaseUUID = cmp.Or(request.LeaseUUID, &id)
			return deferCall(tx, d)
		}
		by, change := service.EndedByReturn, deferral(lease.CallUUID, request)
		if request.NotBefore != nil {
			by = service.EndedByDeferral
			if _, err := d.check(tx, lease.Person); err != nil {
				return err
			}
		} else if lease.DueAt != nil && lease.DueAt.After(now.Time) {
			change = nil // The user looked at the donor before the callback.
		}
		released = 1
		err = service.EndLease(tx, lease, now, by, change)
		if by == service.EndedByDeferral {
			line := c.Audited(service.AuditCallLater, lease.CallUUID, now).Of(lease.Person).By(&lease.UserUUID)
			err = errors.Join(err, tx.Audit(line))
		}
		return err
	})
	q.counted(Released, released)
	q.countRefused(err)
	return err
}

// LeaveNote adds a note for the next agent of a waiting call, after the earlier ones. A repeated note, after a lost
// answer, is added once. If the notes get too long, the oldest lines are dropped.
// POST /fundesk/v1/queue/calls/{callUuid}/notes
func (q *Queue) LeaveNote(ctx context.Context, c service.Caller, id apitype.UUID, request apitype.NoteRequest) error {
	if err := cmp.Or(Require(c), service.NotValid(request.Validate())); err != nil {
		return err
	}
	return q.rules.Write(ctx, service.WriteIsolated, "leave the note", func(tx service.Tx) error {
		person, err := service.WaitingCall(tx, c, id)
		if err != nil {
			return err
		}
		now, isNew := q.rules.TimeOf(tx), false
		err = service.RefreshEligibility(tx, person, now, func(row *service.QueueRow) bool {
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
			err = errors.Join(err, tx.Audit(c.Audited(service.AuditCallNote, id, now).Of(person)))
		}
		return err
	})
}

// leaseHeld refuses something because another user holds the person.
func leaseHeld(held service.LeaseRow, detail string) error {
	return &service.Error{
		Kind:   service.Conflict,
		Detail: detail,
		Lease: &apitype.LeaseHolder{
			UserUUID:  held.UserUUID,
			Name:      held.Name,
			TakenAt:   held.TakenAt,
			ExpiresAt: held.ExpiresAt,
		},
	}
}

// ReleaseUser gives back what a user holds, and opens their callbacks to every user if asked to.
// POST /fundesk/v1/queue/release
func (q *Queue) ReleaseUser(
	ctx context.Context,
	c service.Caller,
	request apitype.ReleaseUserRequest,
) (service.Answer, error) {
	if err := cmp.Or(Require(c), service.NotValid(request.Validate())); err != nil {
		return service.Answer{}, err
	}
	var released apitype.ReleasedUser
	err := q.rules.Write(ctx, service.WriteIsolated, "release the user", func(tx service.Tx) (err error) {
		released = apitype.ReleasedUser{}
		now := q.rules.TimeOf(tx)
		released.Leases, err = releaseLeases(tx, c.Scope, request.UserUUID, request.Pending, false, now)
		if err != nil || !request.Deferrals {
			return err
		}
		shared, err := tx.ShareDeferrals(request.UserUUID, c.Scope)
		for _, row := range shared {
			err = errors.Join(err, tx.Audit(c.Audited(service.AuditCallLater, row.CallUUID, now).Of(row.PersonUUID)))
		}
		released.Deferrals = len(shared)
		return err
	})
	if err == nil {
		q.counted(Released, released.Leases)
	}
	return service.Answered(released, err)
}

// releaseLeases gives back the leases of a user, and returns how many. In a pause their calls keep their deferrals: the
// user did not choose to give them up. Otherwise, one that the user saw is used up.
func releaseLeases(
	tx service.Tx,
	scope service.Scope,
	user apitype.UUID,
	pendingToo, isPause bool,
	now apitype.Time,
) (int, error) {
	leases, err := tx.Leases(service.LeaseQuery{Scope: scope, User: &user, Now: now})
	if err != nil {
		return 0, err
	}
	if !pendingToo {
		leases = slices.DeleteFunc(leases, func(l service.LeaseRow) bool { return l.Pending })
	}
	for _, lease := range leases {
		by, keepsDeferral := service.EndedByReturn, deferralOf(lease)
		if isPause && lease.DueAt != nil {
			by = service.EndedByDeferral
		} else if !isPause && lease.ShownAt != nil {
			keepsDeferral = nil
		}
		if err := service.EndLease(tx, lease, now, by, keepsDeferral); err != nil {
			return 0, err
		}
	}
	return len(leases), nil
}
