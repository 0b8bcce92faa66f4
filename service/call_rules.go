package service

import (
	"slices"

	"fundesk/apiclient/apitype"
)

type callTransition struct{ From, To apitype.CallStatus }

// callTransitions are the moves that the rules allow a service-managed call. External
// calls move from any state to any other. Spec gap: C1.
var callTransitions = []callTransition{
	{apitype.CallRequested, apitype.CallCompleted},
	{apitype.CallRequested, apitype.CallCancelled},
	{apitype.CallRequested, apitype.CallExpired},
}

// callMove is a move to an end state with what was sent along.
type callMove struct {
	name   string // As in "cannot be completed".
	to     apitype.CallStatus
	at     *apitype.Time              // Nil if the request has no time.
	result *apitype.CallResultRequest // Of a completion; nil when not sent.
}

// moveCall moves a call; changed is false when it is there already with the same
// values. Spec gaps: C1, C2, C3, C6.
func moveCall(call *apitype.Call, external bool, move callMove, now apitype.Time) (changed bool, err error) {
	if call.Status == move.to && move.repeats(call) {
		return false, nil
	}
	if !external && !slices.Contains(callTransitions, callTransition{call.Status, move.to}) {
		return false, conflict("the call is %s and cannot be %s", call.Status, move.name)
	}
	at := now
	if move.at != nil {
		at = *move.at
	}
	call.Status, call.LastUpdatedAt = move.to, now
	call.CompletedAt, call.CancelledAt, call.ExpiredAt = nil, nil, nil
	call.Result = apitype.EmbedPointer(newResult(move.result, at))
	*statusTime(call) = &at
	return true, nil
}

// repeats reports whether the call already has every value of the request that answers show.
func (m callMove) repeats(call *apitype.Call) bool {
	if m.at != nil {
		if at := *statusTime(call); at == nil || !at.Equal(*m.at) {
			return false
		}
	}
	sent := m.result
	if sent == nil {
		return true
	}
	known := call.Result.Value()
	same := func(sent, known *string) bool { return sent == nil || equal(sent, known) }
	rating := sent.DonorRetentionRating
	return same(sent.Notes, known.Notes) && same(sent.ResultCode, known.ResultCode) &&
		(rating == nil || (known.DonorRetentionRating != nil && rating.Compare(*known.DonorRetentionRating) == 0))
}

// statusTime returns the field with the time of the call's final status.
func statusTime(call *apitype.Call) **apitype.Time {
	switch call.Status {
	case apitype.CallCompleted:
		return &call.CompletedAt
	case apitype.CallCancelled:
		return &call.CancelledAt
	case apitype.CallExpired:
		return &call.ExpiredAt
	default:
		return new(*apitype.Time)
	}
}

// newResult returns the result of a call that was completed at a time, or nil if the request has none.
func newResult(sent *apitype.CallResultRequest, at apitype.Time) *apitype.CallResult {
	if sent == nil {
		return nil
	}
	result := &apitype.CallResult{
		ResultCode:           sent.ResultCode,
		CompletedAt:          sent.CompletedAt,
		Notes:                sent.Notes,
		DonorRetentionRating: sent.DonorRetentionRating,
	}
	if result.CompletedAt == nil {
		result.CompletedAt = &at
	}
	return result
}

// attemptCall records an attempt. Spec gaps: C4, C5, C6.
func attemptCall(call *apitype.Call, external bool, maximum *int, r apitype.AddAttemptRequest, now apitype.Time) error {
	if !external && call.Status != apitype.CallRequested {
		return conflict("the call is %s and takes no more attempts", call.Status)
	}
	if most, ofOrganization := maxAttempts(external, maximum); call.AttemptsCount >= most {
		if ofOrganization {
			return conflict("the call is %s and has reached the maximum of attempts, %d", call.Status, most)
		}
		return conflict("the call is %s and takes no more attempts than %d", call.Status, most)
	}
	attempt := apitype.CallAttempt{UserUUID: r.UserUUID, AttemptAt: now, CreatedAt: now}
	if r.AttemptAt != nil {
		attempt.AttemptAt = *r.AttemptAt
	}
	call.Attempts = apitype.Embed(append(call.Attempts.Value(), attempt))
	call.AttemptsCount++
	call.LastUpdatedAt = now
	return nil
}

// maxAttempts returns how many attempts a call may have, and whether its organization sets that number. The operation
// and the queue both use it: the queue offers no call that may have none. Spec gap: C5.
func maxAttempts(external bool, ofOrganization *int) (int, bool) {
	if external || ofOrganization == nil || *ofOrganization > apitype.MaxCallAttempts {
		return apitype.MaxCallAttempts, false
	}
	return *ofOrganization, true
}

// newCall returns the call of a creation. Spec gaps: C3, C9.
func newCall(id apitype.UUID, r apitype.CreateCallRequest, now apitype.Time) apitype.Call {
	call := apitype.Call{
		UUID:                    id,
		Status:                  apitype.CallRequested,
		RequestedAt:             r.RequestedAt,
		LastUpdatedAt:           now,
		Notes:                   r.Notes,
		PersonUUID:              r.PersonUUID,
		RelatedCaseUUID:         r.RelatedCaseUUID,
		CallingOrganizationUUID: r.CallingOrganizationUUID,
		Type:                    apitype.CallVerification,
		ExternalMetadata:        apitype.EmbedPointer[apitype.CallExternalMetadata](nil),
		Attempts:                apitype.Embed([]apitype.CallAttempt{}),
		Result:                  apitype.EmbedPointer[apitype.CallResult](nil),
	}
	if r.Type != nil {
		call.Type = *r.Type
	}
	if !r.IsExternal() {
		return call
	}
	m := r.ExternalMetadata
	call.ExternalMetadata = apitype.Embed(apitype.CallExternalMetadata{
		ApplicationName:      m.ApplicationName,
		ReferenceID:          m.ReferenceID,
		AgentReferenceID:     m.AgentReferenceID,
		StatusCode:           m.StatusCode,
		StatusDescription:    m.StatusDescription,
		AdditionalProperties: apitype.Object(m.AdditionalProperties),
	})
	attempts := mapped(r.Attempts, func(sent apitype.CallAttemptRequest) apitype.CallAttempt {
		return apitype.CallAttempt{UserUUID: sent.UserUUID, AttemptAt: sent.CreatedAt, CreatedAt: sent.CreatedAt}
	})
	call.Attempts, call.AttemptsCount = apitype.Embed(attempts), len(attempts)
	if r.Status != nil {
		call.Status = *r.Status
	}
	switch call.Status {
	case apitype.CallCompleted:
		call.CompletedAt = r.CompletedAt
		if call.CompletedAt == nil && r.Result != nil {
			call.CompletedAt = r.Result.CompletedAt
		}
		if call.CompletedAt == nil {
			call.CompletedAt = &now
		}
		call.Result = apitype.EmbedPointer(newResult(r.Result, *call.CompletedAt))
	case apitype.CallCancelled:
		call.CancelledAt = r.CancelledAt
		if call.CancelledAt == nil {
			call.CancelledAt = &now
		}
	}
	return call
}
