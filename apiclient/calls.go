package apiclient

import (
	"context"
	"iter"
	"net/http"

	"fundesk/apiclient/apitype"
)

const callsPath = "/api/v1/calls"

// CallsService is the operations on calls. A move or an attempt is recognised by its
// own time after a lost answer: give it one.
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

// Create creates a call under the uuid of the request, or a new one.
// POST /api/v1/calls (interface: Calls)
func (s *CallsService) Create(ctx context.Context, r apitype.CreateCallRequest) (Record[apitype.Call], error) {
	return s.send(ctx)(CreateCallChange(r))
}

// AddAttempt records that the person was rung.
// PUT /api/v1/calls/{uuid}/actions/add-attempt (interface: Calls)
func (s *CallsService) AddAttempt(ctx context.Context, id apitype.UUID, r apitype.AddAttemptRequest) (Record[apitype.Call], error) {
	return s.send(ctx)(AddAttemptChange(id, r))
}

// Complete marks a call as completed.
// PUT /api/v1/calls/{uuid}/actions/complete (interface: Calls)
func (s *CallsService) Complete(ctx context.Context, id apitype.UUID, r apitype.CompleteCallRequest) (Record[apitype.Call], error) {
	return s.send(ctx)(CompleteCallChange(id, r))
}

// Cancel cancels a call.
// PUT /api/v1/calls/{uuid}/actions/cancel (interface: Calls)
func (s *CallsService) Cancel(ctx context.Context, id apitype.UUID, r apitype.CancelCallRequest) (Record[apitype.Call], error) {
	return s.send(ctx)(CancelCallChange(id, r))
}

// Expire marks a call as expired.
// PUT /api/v1/calls/{uuid}/actions/expire (interface: Calls)
func (s *CallsService) Expire(ctx context.Context, id apitype.UUID, r apitype.ExpireCallRequest) (Record[apitype.Call], error) {
	return s.send(ctx)(ExpireCallChange(id, r))
}

// CreateCallChange is a call's creation as it is sent.
func CreateCallChange(r apitype.CreateCallRequest) (Change, error) {
	return newCreation(OpCreateCall, callsPath, &r.UUID, func() any { return r })
}

// AddAttemptChange is an attempt as it is sent.
func AddAttemptChange(id apitype.UUID, r apitype.AddAttemptRequest) (Change, error) {
	return newChange(OpAddAttempt, id, http.MethodPut, callAction(id, "add-attempt"), r)
}

// CompleteCallChange is a completion as it is sent.
func CompleteCallChange(id apitype.UUID, r apitype.CompleteCallRequest) (Change, error) {
	return newChange(OpCompleteCall, id, http.MethodPut, callAction(id, "complete"), r)
}

// CancelCallChange is a cancellation as it is sent.
func CancelCallChange(id apitype.UUID, r apitype.CancelCallRequest) (Change, error) {
	return newChange(OpCancelCall, id, http.MethodPut, callAction(id, "cancel"), r)
}

// ExpireCallChange is an expiry as it is sent.
func ExpireCallChange(id apitype.UUID, r apitype.ExpireCallRequest) (Change, error) {
	return newChange(OpExpireCall, id, http.MethodPut, callAction(id, "expire"), r)
}

func callAction(id apitype.UUID, action string) string {
	return callsPath + "/" + id.String() + "/actions/" + action
}
