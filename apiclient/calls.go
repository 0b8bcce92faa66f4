package apiclient

import "fundesk/apiclient/apitype"

const callsPath = "/api/v1/calls"

// CreateCallChange returns the change that creates a call.
func CreateCallChange(r apitype.CreateCallRequest) (Change, error) {
	return newCreation(OpCreateCall, &r.UUID, &r)
}

// AddAttemptChange returns the change that adds an attempt.
func AddAttemptChange(id apitype.UUID, r apitype.AddAttemptRequest) (Change, error) {
	return newChange(OpAddAttempt, id, r)
}

// CompleteCallChange returns the change that completes a call.
func CompleteCallChange(id apitype.UUID, r apitype.CompleteCallRequest) (Change, error) {
	return newChange(OpCompleteCall, id, r)
}

// CancelCallChange returns the change that cancels a call.
func CancelCallChange(id apitype.UUID, r apitype.CancelCallRequest) (Change, error) {
	return newChange(OpCancelCall, id, r)
}

// ExpireCallChange returns the change that expires a call.
func ExpireCallChange(id apitype.UUID, r apitype.ExpireCallRequest) (Change, error) {
	return newChange(OpExpireCall, id, r)
}
