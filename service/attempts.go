package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// Why an attempt did not reach the donor is stored in the private part of the call, so that it is exported and erased
// with it. Spec gap: S92.

// attemptReason describes the attempts of a call at a time.
type attemptReason struct {
	AttemptAt apitype.Time        `json:"attemptAt"`
	Reason    *apitype.NotReached `json:"reason,omitzero"`
	Number    *apitype.PhoneKind  `json:"number,omitzero"`
}

// DescribeAttempt replaces the description of an attempt, which gives the donor the rest of its reason.
// PUT /fundesk/v1/calls/{uuid}/attempts/{attemptAt}
func (s *Service) DescribeAttempt(
	ctx context.Context,
	c Caller,
	id apitype.UUID,
	at apitype.Time,
	request apitype.AttemptReasonRequest,
) (Answer, error) {
	if err := cmp.Or(c.Require(CallsAttempt), NotValid(request.Validate())); err != nil {
		return Answer{}, err
	}
	var described apitype.DescribedAttempt
	var attempt apitype.CallAttempt
	rule := func(_ Tx, row *CallRow, call *apitype.Call, now apitype.Time) (changed bool, err error) {
		attempts := call.Attempts.Value()
		i := slices.IndexFunc(attempts, func(a apitype.CallAttempt) bool { return a.AttemptAt.Equal(at) })
		if i < 0 {
			return false, OrNotFound(ErrNoRow, "attempt of that time")
		}
		attempt = attempts[i]
		described = apitype.DescribedAttempt{
			AttemptAt: attempt.AttemptAt,
			UserUUID:  attempt.UserUUID,
			Reason:    request.Reason,
			Number:    request.Number,
		}
		err = revise("call", &row.Private, func(private *callPrivate) { changed = private.describe(at, request) })
		if changed {
			call.LastUpdatedAt = now // Spec gap: C6.
		}
		return changed, err
	}
	rest := func(tx Tx, row *CallRow, call apitype.Call, now apitype.Time) error {
		return restDonor(tx, *row, call, attempt, request.Reason, now)
	}
	line := c.Audited(AuditCallReason, id, apitype.Time{})
	if c.Person != nil {
		line = line.By(&c.Person.UUID)
	}
	if _, err := s.changeCall(ctx, c, line, nil, request, rule, rest); err != nil {
		return Answer{}, err
	}
	return Answered(described, nil)
}

// describe stores a description, and reports whether it changed.
func (p *callPrivate) describe(at apitype.Time, request apitype.AttemptReasonRequest) bool {
	i := slices.IndexFunc(p.Attempts, func(a attemptReason) bool { return a.AttemptAt.Equal(at) })
	isSame := i >= 0 && equal(p.Attempts[i].Reason, request.Reason) && equal(p.Attempts[i].Number, request.Number)
	isEmpty := request.Reason == nil && request.Number == nil
	if isSame || i < 0 && isEmpty {
		return false
	}
	if i >= 0 {
		p.Attempts = slices.Delete(p.Attempts, i, i+1)
	}
	if !isEmpty {
		p.Attempts = append(p.Attempts, attemptReason{AttemptAt: at, Reason: request.Reason, Number: request.Number})
	}
	return true
}

// restDonor gives the contact of an attempt the rest of its reason, as the settings of the person's organization are
// now. It locks the rows of the calls before the row of the donor, like every change.
func restDonor(
	tx Tx,
	row CallRow,
	call apitype.Call,
	attempt apitype.CallAttempt,
	reason *apitype.NotReached,
	now apitype.Time,
) error {
	if _, err := tx.QueueOfPerson(call.PersonUUID); err != nil {
		return err
	}
	contact, err := contactOf(tx, call, attempt)
	if err != nil {
		return err
	}
	rest, err := restOf(tx, row.Owner, reason)
	if err != nil {
		return err
	}
	var until *apitype.Time
	if rest > 0 {
		until = new(apitype.NewTime(contact.Add(rest)))
	}
	if err := tx.RestDonor(call.PersonUUID, contact, until); err != nil {
		return err
	}
	return RefreshEligibility(tx, call.PersonUUID, now, nil)
}

// contactOf returns the contact that an attempt was counted as: its time, but not after its creation, and not before
// the lease that it ended.
func contactOf(r Reader, call apitype.Call, attempt apitype.CallAttempt) (apitype.Time, error) {
	first, before := attempt.AttemptAt, apitype.Time{}
	if attempt.CreatedAt.Before(first.Time) {
		first = attempt.CreatedAt
	}
	for _, other := range call.Attempts.Value() {
		if other.CreatedAt.Before(attempt.CreatedAt.Time) && other.CreatedAt.After(before.Time) {
			before = other.CreatedAt
		}
	}
	taken, err := r.AttemptedLease(call.PersonUUID, call.UUID, before, attempt.CreatedAt)
	if err != nil || taken == nil || taken.Before(first.Time) {
		return first, err
	}
	return *taken, nil
}

// restOf returns the rest of a reason in the settings of an organization, or 0.
func restOf(r Reader, owner apitype.UUID, reason *apitype.NotReached) (time.Duration, error) {
	if reason == nil {
		return 0, nil
	}
	settings, err := r.OrganizationSettings(Scope{Organizations: []apitype.UUID{owner}})
	if err != nil || len(settings) == 0 || settings[0].NotReached[*reason] == "" {
		return 0, err
	}
	return apitype.ParseRest(settings[0].NotReached[*reason])
}

// Attempts returns the attempts of a call with their reasons.
// GET /fundesk/v1/calls/{uuid}/attempts
func (s *Service) Attempts(ctx context.Context, c Caller, id apitype.UUID) (Answer, error) {
	if err := c.Require(CallsRead); err != nil {
		return Answer{}, err
	}
	return View(ctx, s, "read the attempts", func(r Reader) (Answer, error) {
		row, err := visibleCall(r, c, id)
		if err != nil {
			return Answer{}, err
		}
		all, err := describedAttempts(row)
		return Answered(apitype.DescribedAttempts{Attempts: all}, err)
	})
}

// describedAttempts returns the attempts of a call with their reasons, the earliest first.
func describedAttempts(row CallRow) ([]apitype.DescribedAttempt, error) {
	var call apitype.Call
	var private callPrivate
	if err := cmp.Or(decode("call", row.Doc, &call), decode("call", row.Private, &private)); err != nil {
		return nil, err
	}
	all := []apitype.DescribedAttempt{}
	for _, attempt := range call.Attempts.Value() {
		described := apitype.DescribedAttempt{AttemptAt: attempt.AttemptAt, UserUUID: attempt.UserUUID}
		reason := private.reasonOf(attempt)
		described.Reason, described.Number = reason.Reason, reason.Number
		all = append(all, described)
	}
	slices.SortStableFunc(all, func(a, b apitype.DescribedAttempt) int { return a.AttemptAt.Compare(b.AttemptAt.Time) })
	return all, nil
}

func (p *callPrivate) reasonOf(attempt apitype.CallAttempt) attemptReason {
	for _, reason := range p.Attempts {
		if reason.AttemptAt.Equal(attempt.AttemptAt) {
			return reason
		}
	}
	return attemptReason{}
}

// withReasons appends the reasons of a call's attempts after its node, as a member of the edge.
func withReasons(node func(dst []byte, row CallRow) []byte) func(dst []byte, row CallRow) []byte {
	return func(dst []byte, row CallRow) []byte {
		dst = node(dst, row)
		var private callPrivate
		if decode("call", row.Private, &private) != nil || len(private.Attempts) == 0 {
			return dst
		}
		reasons := []apitype.NotReached{}
		for _, attempt := range private.Attempts {
			if attempt.Reason != nil {
				reasons = append(reasons, *attempt.Reason)
			}
		}
		text, _ := json.Marshal(reasons) // Words cannot fail.
		return append(append(dst, `,"attemptReasons":`...), text...)
	}
}

// maxWork is the most operations of a user that are listed, beyond what a person does in two days. The documents of
// their calls are read in batches.
const (
	maxWork   = 10_000
	workBatch = 500
)

// Work returns the operations of a user, the newest first.
// GET /fundesk/v1/queue/agents/{userUuid}/work
func (s *Service) Work(
	ctx context.Context,
	c Caller,
	user apitype.UUID,
	o apitype.AgentWorkOptions,
) (Answer, error) {
	if err := c.Require(CallsRead); err != nil {
		return Answer{}, err
	}
	now, err := s.StoreTime(ctx)
	if err != nil {
		return Answer{}, err
	}
	since := apitype.NewTime(now.Add(-24 * time.Hour))
	if o.Since != nil {
		since = *o.Since
	}
	if since.Before(now.Add(-apitype.MaxWork)) {
		return Answer{}, NotValid(apitype.Violations{{Parameter: "since", Message: "must lie within 48 hours"}})
	}
	work := apitype.AgentWork{Work: []apitype.AgentWorkItem{}}
	err = s.ReadLong(ctx, "list the work of the user", func(r Reader) error {
		rows, err := r.WorkOf(WorkQuery{
			Scope: c.Scope,
			User:  user,
			Since: since,
			Limit: maxWork + 1,
		})
		if err != nil {
			return err
		}
		work.HasMore = len(rows) > maxWork
		for batch := range slices.Chunk(rows[:min(len(rows), maxWork)], workBatch) {
			items, err := workItems(r, batch)
			if err != nil {
				return err
			}
			work.Work = append(work.Work, items...)
		}
		return nil
	})
	return Answered(work, err)
}

// workItems adds to the operations what is known of their calls.
func workItems(r Reader, rows []WorkRow) ([]apitype.AgentWorkItem, error) {
	ids := mapped(rows, func(row WorkRow) apitype.UUID { return row.Call })
	slices.SortFunc(ids, apitype.UUID.Compare)
	calls, err := r.KeptCalls(slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	known := make(map[apitype.UUID]CallRow, len(calls))
	for _, call := range calls {
		known[call.UUID] = call
	}
	items := []apitype.AgentWorkItem{}
	for _, row := range rows {
		of, ok := known[row.Call]
		if !ok {
			continue
		}
		item, err := workItem(row, of)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

func workItem(row WorkRow, of CallRow) (apitype.AgentWorkItem, error) {
	var call apitype.Call
	var private callPrivate
	var item apitype.AgentWorkItem
	if err := cmp.Or(decode("call", of.Doc, &call), decode("call", of.Private, &private)); err != nil {
		return item, err
	}
	item = apitype.AgentWorkItem{
		Time:      row.At,
		Operation: row.Operation,
		CallUUID:  row.Call,
		Type:      call.Type,
	}
	switch row.Operation {
	case apitype.WorkAttempt:
		for _, attempt := range call.Attempts.Value() {
			if attempt.CreatedAt.Equal(row.At) {
				item.Reason = private.reasonOf(attempt).Reason
			}
		}
	case apitype.WorkComplete:
		if result := call.Result.Pointer(); result != nil {
			item.ResultCode = result.ResultCode
		}
	}
	return item, nil
}
