package apiclient

import (
	"context"
	"iter"

	"fundesk/apiclient/apitype"
)

const callsPath = "/api/v1/calls"

// CallsService reads calls. What changes them is a Change, for Client.Send: a move or an
// attempt is recognised by its own time after a lost answer; give it one.
type CallsService struct{ endpoint[apitype.Call] }

// List fetches one page.
// GET /api/v1/calls (interface: Calls)
func (s *CallsService) List(ctx context.Context, o apitype.CallListOptions) (Page[apitype.Call], error) {
	return s.list(ctx, o.Query())
}

// All walks the list from o.After on, most recently requested first. A non-nil error
// ends it.
func (s *CallsService) All(ctx context.Context, o apitype.CallListOptions, all AllOptions) iter.Seq2[Record[apitype.Call], error] {
	return s.all(ctx, o.Query(), all)
}

// Get fetches one call.
// GET /api/v1/calls/{uuid} (interface: Calls)
func (s *CallsService) Get(ctx context.Context, id apitype.UUID) (Record[apitype.Call], error) {
	return s.get(ctx, id)
}

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
