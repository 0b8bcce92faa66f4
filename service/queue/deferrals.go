package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// checkDeferral refuses a deferral that the caller may not make. now is the time of the change.
func (q *Queue) checkDeferral(
	ctx context.Context,
	c service.Caller,
	request apitype.DeferRequest,
) (now apitype.Time, err error) {
	if err := Require(c); err != nil {
		return now, err
	}
	now, err = q.rules.StoreTime(ctx)
	if err != nil {
		return now, err
	}
	return now, service.NotValid(request.Validate(now.Time))
}

func deferral(call apitype.UUID, request apitype.DeferRequest) func(*service.QueueRow) bool {
	return func(row *service.QueueRow) bool {
		if row.Call != call {
			return false
		}
		row.DueAt, row.KeptFor, row.DueReason = request.NotBefore, nil, nil
		if row.DueAt != nil {
			row.KeptFor, row.DueReason = request.UserUUID, request.Reason
		}
		return true
	}
}

// Defer puts a call off, or back to its place.
// PUT /fundesk/v1/queue/calls/{callUuid}/later
func (q *Queue) Defer(ctx context.Context, c service.Caller, id apitype.UUID, request apitype.DeferRequest) error {
	if _, err := q.checkDeferral(ctx, c, request); err != nil {
		return err
	}
	err := q.rules.Write(ctx, service.WriteIsolated, "defer the call", func(tx service.Tx) error {
		return deferCall(tx, deferring{
			c:       c,
			call:    id,
			request: request,
			now:     q.rules.TimeOf(tx),
		})
	})
	q.countRefused(err)
	return err
}

// deferring is a deferral that is being made.
type deferring struct {
	c       service.Caller
	call    apitype.UUID
	request apitype.DeferRequest
	now     apitype.Time
	used    *apitype.Time // The deferral that the lease has used up. Nil if there is none.
}

// deferCall defers a call unless it is leased or deferred otherwise than the request was made against. The lease
// that the request names does not refuse it.
func deferCall(tx service.Tx, d deferring) error {
	person, err := service.WaitingCall(tx, d.c, d.call)
	if err != nil {
		return err
	}
	lease, err := tx.LeaseOfPerson(person)
	if err != nil && !errors.Is(err, service.ErrNoRow) {
		return err
	}
	isLeased := err == nil && lease.CallUUID == d.call && lease.Live(d.now)
	isNamed := isLeased && d.request.LeaseUUID != nil && *d.request.LeaseUUID == lease.LeaseUUID
	if isNamed {
		d.used = usedBy(lease)
	}
	isDone, err := d.check(tx, person)
	if isLeased && !isNamed && !isDone {
		return leaseHeld(lease, "the call is leased; its holder can put it off, or release the lease")
	}
	if isDone && !isNamed || err != nil {
		return err
	}
	if isLeased {
		err = service.EndLease(tx, lease, d.now, service.EndedByDeferral, deferral(d.call, d.request))
	} else {
		err = service.RefreshEligibility(tx, person, d.now, deferral(d.call, d.request))
	}
	if err != nil {
		return err
	}
	agent, err := d.agent(tx)
	if err != nil {
		return err
	}
	return tx.Audit(d.c.Audited(service.AuditCallLater, d.call, d.now).Of(person).By(agent))
}

// agent returns the user of the lease that the request names, live or not. Without one, it returns the user that the
// call is deferred for.
func (d deferring) agent(tx service.Tx) (*apitype.UUID, error) {
	if d.request.LeaseUUID == nil {
		return d.request.UserUUID, nil
	}
	lease, err := tx.Lease(*d.request.LeaseUUID, d.c.Scope)
	isOther := errors.Is(err, service.ErrNoRow) || err == nil && lease.CallUUID != d.call
	if isOther {
		return d.request.UserUUID, nil
	}
	return &lease.UserUUID, err
}

// usedBy returns the deferral that a lease has used up, or nil.
func usedBy(lease service.LeaseRow) *apitype.Time {
	if !lease.UsesDeferral() {
		return nil
	}
	return lease.DueAt
}

// check compares replaces with the deferral in force, and reports whether that already is as requested.
func (d deferring) check(tx service.Tx, person apitype.UUID) (bool, error) {
	if d.request.Replaces == nil {
		return false, nil
	}
	rows, err := tx.QueueOfPerson(person)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(rows, func(q service.QueueRow) bool { return q.Call == d.call })
	if i < 0 {
		return false, service.ErrAgain // The lease ended in between.
	}
	row, shown := rows[i], d.request.Replaces.NotBefore
	isFor := row.DueAt == nil || same(row.KeptFor, d.request.UserUUID, apitype.UUID.Compare) &&
		same(row.DueReason, d.request.Reason, strings.Compare)
	if isFor && same(row.DueAt, d.request.NotBefore, compareTimes) {
		return true, nil
	}
	isUsed := row.DueAt == nil && d.used != nil && same(d.used, shown, compareTimes)
	if isUsed || same(row.DueAt, shown, compareTimes) {
		return false, nil
	}
	now := "not put off any more"
	if row.DueAt != nil {
		now = "put off until " + row.DueAt.String() + " by now"
	}
	return false, &service.Error{
		Kind:   service.Conflict,
		Detail: "the call was changed since it was shown: it is " + now,
	}
}

// same reports whether two values are equal, or both absent.
func same[T any](a, b *T, compare func(T, T) int) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return compare(*a, *b) == 0
}

func compareTimes(a, b apitype.Time) int { return a.Compare(b.Time) }

// Deferrals returns a page of the callbacks, the earliest first.
// GET /fundesk/v1/queue/deferrals
func (q *Queue) Deferrals(
	ctx context.Context,
	c service.Caller,
	o apitype.QueueDeferralListOptions,
) (service.Answer, error) {
	if err := c.Require(service.CallsRead); err != nil {
		return service.Answer{}, err
	}
	nodes := map[apitype.UUID][]byte{}
	return service.AnswerForward(ctx, q.rules, c, service.ForwardList[service.DeferralRow]{
		What:    "list the callbacks",
		Cursor:  service.DeferralCursor,
		First:   o.First,
		After:   o.After,
		Now:     q.rules.Now(),
		Filters: o.Query,
		Rows: func(r service.Reader, after *service.Position, limit int) ([]service.DeferralRow, error) {
			return r.Deferrals(service.DeferralQuery{
				Scope: c.Scope,
				User:  o.UserUUID,
				After: after,
				Limit: limit,
			})
		},
		More: func(r service.Reader, rows []service.DeferralRow) error {
			users := []apitype.UUID{}
			for _, row := range rows {
				if row.UserUUID != nil {
					users = append(users, *row.UserUUID)
				}
			}
			names, err := r.UserNames(users)
			for _, row := range rows {
				node, failed := callbackNode(row, c, names)
				nodes[row.CallUUID], err = node, errors.Join(err, failed)
			}
			return err
		},
		Shown: func(persons []apitype.UUID, row service.DeferralRow) []apitype.UUID {
			return append(persons, row.PersonUUID)
		},
		Position: func(row service.DeferralRow) service.Position {
			return service.Position{At: row.NotBefore, UUID: row.CallUUID}
		},
		Node: func(dst []byte, row service.DeferralRow) []byte { return append(dst, nodes[row.CallUUID]...) },
	})
}

// callbackNode returns a callback of an answer, with the parts that the caller may see.
func callbackNode(d service.DeferralRow, c service.Caller, names map[apitype.UUID]*string) ([]byte, error) {
	if d.UserUUID != nil {
		d.Name = names[*d.UserUUID]
	}
	if c.May(service.PersonsRead) {
		var person apitype.Person
		if err := json.Unmarshal(d.PersonDoc, &person); err != nil {
			return nil, fmt.Errorf("decode the stored person: %w", err)
		}
		d.PersonName = new(fullName(person))
	} else {
		d.Reason = nil
	}
	return json.Marshal(d.Deferral)
}

func fullName(p apitype.Person) string {
	var parts []string
	for _, part := range []*string{cmp.Or(p.FirstName, p.Initials), p.LastNamePrefix, p.LastName} {
		if part != nil {
			parts = append(parts, *part)
		}
	}
	return strings.Join(parts, " ")
}

// deferralOf restores the deferral that a lease used up.
func deferralOf(lease service.LeaseRow) func(*service.QueueRow) bool {
	return func(row *service.QueueRow) bool {
		isRestored := row.Call == lease.CallUUID && lease.UsesDeferral()
		if isRestored {
			row.DueAt, row.KeptFor, row.DueReason = lease.DueAt, lease.KeptFor, lease.Reason
		}
		return isRestored
	}
}
