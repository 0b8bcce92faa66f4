package apiclient

import "fundesk/apiclient/apitype"

const callsPath = "/api/v1/calls"

// CreateCallChange is a call's creation as it is sent.
func CreateCallChange(r apitype.CreateCallRequest) (Change, error) {
	return newCreation(OpCreateCall, &r.UUID, &r)
}

// AddAttemptChange is an attempt as it is sent.
func AddAttemptChange(id apitype.UUID, r apitype.AddAttemptRequest) (Change, error) {
	return newChange(OpAddAttempt, id, r)
}

// CompleteCallChange is a completion as it is sent.
func CompleteCallChange(id apitype.UUID, r apitype.CompleteCallRequest) (Change, error) {
	return newChange(OpCompleteCall, id, r)
}

// CancelCallChange is a cancellation as it is sent.
func CancelCallChange(id apitype.UUID, r apitype.CancelCallRequest) (Change, error) {
	return newChange(OpCancelCall, id, r)
}

// ExpireCallChange is an expiry as it is sent.
func ExpireCallChange(id apitype.UUID, r apitype.ExpireCallRequest) (Change, error) {
	return newChange(OpExpireCall, id, r)
}
