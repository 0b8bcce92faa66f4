package service

import (
	"bytes"
	"cmp"
	"context"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
)

// The details that an agent checked with the donor are stored in the private part of the call, so that they are
// exported and erased with it. Spec gap: S80.

// PutChecks replaces the checks of a call.
// PUT /fundesk/v1/calls/{uuid}/checks
func (s *Service) PutChecks(
	ctx context.Context,
	c Caller,
	id apitype.UUID,
	request apitype.CallChecks,
) (Answer, error) {
	if err := MayCheck(c); err != nil {
		return Answer{}, err
	}
	user, err := c.ActingUser(request.UserUUID)
	if err != nil {
		return Answer{}, err
	}
	request.UserUUID = user
	if err := NotValid(request.Validate()); err != nil {
		return Answer{}, err
	}
	line := c.Audited(AuditCallChecks, id, apitype.Time{}).By(request.UserUUID)
	rule := func(_ Tx, row *CallRow, call *apitype.Call, now apitype.Time) (bool, error) {
		before := row.Private
		err := revise("call", &row.Private, func(private *callPrivate) { private.Checks = &request })
		call.LastUpdatedAt = now // Spec gap: C6.
		return !bytes.Equal(before, row.Private), err
	}
	mark := func(tx Tx, row *CallRow, call apitype.Call, _ apitype.Time) error {
		if call.Status != apitype.CallCompleted {
			return nil
		}
		return markMissing(tx, *row, call)
	}
	if _, err := s.changeCall(ctx, c, line, nil, request, rule, mark); err != nil {
		return Answer{}, err
	}
	return Answered(request, nil)
}

// MayCheck refuses a caller that may neither complete nor attempt calls.
func MayCheck(c Caller) error {
	if c.May(CallsComplete) {
		return nil
	}
	return c.Require(CallsAttempt)
}

// Checks returns the checks of a call.
// GET /fundesk/v1/calls/{uuid}/checks
func (s *Service) Checks(ctx context.Context, c Caller, id apitype.UUID) (Answer, error) {
	if err := c.Require(CallsRead); err != nil {
		return Answer{}, err
	}
	return View(ctx, s, "read the checks", func(r Reader) (Answer, error) {
		row, err := visibleCall(r, c, id)
		if err != nil {
			return Answer{}, err
		}
		var private callPrivate
		if err := decode("call", row.Private, &private); err != nil {
			return Answer{}, err
		}
		none := apitype.CallChecks{Items: []apitype.Check{}}
		return Answered(*cmp.Or(private.Checks, &none), nil)
	})
}

// withChecks appends the checks of a call after its node, as a member of the edge.
func withChecks(node func(dst []byte, row CallRow) []byte) func(dst []byte, row CallRow) []byte {
	return func(dst []byte, row CallRow) []byte {
		dst = node(dst, row)
		var private struct {
			Checks *apitype.CallChecks `json:"checks"`
		}
		err := decode("call", row.Private, &private)
		if err != nil || private.Checks == nil || len(private.Checks.Items) == 0 {
			return dst
		}
		text, err := json.Marshal(private.Checks)
		if err != nil {
			return dst
		}
		return append(append(dst, `,"checks":`...), text...)
	}
}
