package service

import (
	"context"

	"fundesk/apiclient/apitype"
)

// CompleteCall marks a call as completed.
// PUT /api/v1/calls/{uuid}/actions/complete (interface: Calls)
func (s *Service) CompleteCall(
	ctx context.Context,
	c Caller,
	id apitype.UUID,
	m Match,
	request apitype.CompleteCallRequest,
) (Answer, error) {
	if err := c.Require(CallsComplete); err != nil {
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
	line := c.Audited(AuditCallComplete, id, apitype.Time{}).By(request.UserUUID)
	move := callMove{name: "completed", to: apitype.CallCompleted, result: request.Result}
	if request.Result != nil {
		move.at = request.Result.CompletedAt
	}
	var effect apitype.ResultEffect
	var mayBeMarked bool
	rule := func(tx Tx, row *CallRow, call *apitype.Call, now apitype.Time) (bool, error) {
		changed, err := moveCall(call, row.External, move, now)
		if err != nil {
			return false, err
		}
		if !changed { // A repeat returns the answer of the first request.
			var private callPrivate
			err := decode("call", row.Private, &private)
			effect = private.Effect
			return false, err
		}
		line.At = now // The person changes at the time of the call, whatever the clock says.
		effect, mayBeMarked, err = noteCompletion(tx, row, call, request.UserUUID)
		return true, err
	}
	ended := func(tx Tx, row *CallRow, call apitype.Call, now apitype.Time) error {
		if err := s.onCallEnded(tx, row, call, request.UserUUID, now); err != nil {
			return err
		}
		if mayBeMarked {
			if err := markMissing(tx, *row, call); err != nil {
				return err
			}
		}
		return applyEffect(tx, line, row, effect, now)
	}
	answer, err := s.changeCall(ctx, c, line, m, request, rule, ended)
	answer.Effect = effect
	return answer, err
}

// CancelCall cancels a call.
// PUT /api/v1/calls/{uuid}/actions/cancel (interface: Calls)
func (s *Service) CancelCall(
	ctx context.Context,
	c Caller,
	id apitype.UUID,
	m Match,
	request apitype.CancelCallRequest,
) (Answer, error) {
	return s.endCall(
		ctx,
		c,
		CallsCancel,
		AuditCallCancel,
		id,
		m,
		callMove{name: "cancelled", to: apitype.CallCancelled, at: request.CancelledAt},
		request,
	)
}

// ExpireCall marks a call as expired.
// PUT /api/v1/calls/{uuid}/actions/expire (interface: Calls)
func (s *Service) ExpireCall(
	ctx context.Context,
	c Caller,
	id apitype.UUID,
	m Match,
	request apitype.ExpireCallRequest,
) (Answer, error) {
	return s.endCall(
		ctx,
		c,
		CallsExpire,
		AuditCallExpire,
		id,
		m,
		callMove{name: "expired", to: apitype.CallExpired, at: request.ExpiredAt},
		request,
	)
}

func (s *Service) endCall(
	ctx context.Context,
	c Caller,
	may Permission,
	operation AuditOperation,
	id apitype.UUID,
	m Match,
	move callMove,
	sent any,
) (Answer, error) {
	if err := c.Require(may); err != nil {
		return Answer{}, err
	}
	return s.changeCall(
		ctx,
		c,
		c.Audited(operation, id, apitype.Time{}),
		m,
		sent,
		func(_ Tx, row *CallRow, call *apitype.Call, now apitype.Time) (bool, error) {
			changed, err := moveCall(call, row.External, move, now)
			if changed {
				row.CompletedBy = nil
			}
			return changed, err
		},
		func(tx Tx, row *CallRow, call apitype.Call, now apitype.Time) error {
			if err := s.onCallEnded(tx, row, call, nil, now); err != nil || !row.External {
				return err
			}
			return markMissing(tx, *row, call) // It may have been completed before.
		},
	)
}

// noteCompletion keeps with a call the user of its completion, the effect on the person and the checks that the
// organization requires. mayBeMarked reports whether there are such checks, or were.
func noteCompletion(
	tx Tx,
	row *CallRow,
	call *apitype.Call,
	user *apitype.UUID,
) (effect apitype.ResultEffect, mayBeMarked bool, err error) {
	effect, err = effectOf(tx, row, call)
	if err != nil {
		return "", false, err
	}
	required, err := requiredChecks(tx, row, call)
	if err != nil {
		return "", false, err
	}
	row.CompletedBy = user
	err = revise("call", &row.Private, func(private *callPrivate) {
		private.CompletedBy = user
		private.Effect = effect
		mayBeMarked = len(required)+len(private.RequiredChecks) > 0
		private.RequiredChecks = required
	})
	return effect, mayBeMarked, err
}
