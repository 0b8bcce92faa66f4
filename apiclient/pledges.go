package apiclient

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"fundesk/apiclient/apitype"
)

const pledgesPath = "/api/v1/pledges"

// PledgesService is the operations on pledges.
type PledgesService struct{ endpoint[apitype.Pledge] }

// List fetches one page.
// GET /api/v1/pledges (interface: Pledges)
func (s *PledgesService) List(ctx context.Context, o apitype.PledgeListOptions) (Page[apitype.Pledge], error) {
	return s.list(ctx, s.query(o))
}

// All walks the list from o.After on, newest first. A non-nil error ends it.
func (s *PledgesService) All(ctx context.Context, o apitype.PledgeListOptions, all AllOptions) iter.Seq2[Record[apitype.Pledge], error] {
	return s.all(ctx, s.query(o), all)
}

// query gives the payment filter the name that this service knows. Spec gap: L13.
func (s *PledgesService) query(o apitype.PledgeListOptions) url.Values {
	query := o.Query()
	if name := s.client.options.PaymentQRParameter; name != apitype.PaymentQRParameter && query.Has(apitype.PaymentQRParameter) {
		query.Set(name, query.Get(apitype.PaymentQRParameter))
		query.Del(apitype.PaymentQRParameter)
	}
	return query
}

// Get fetches one pledge.
// GET /api/v1/pledges/{uuid} (interface: Pledges)
func (s *PledgesService) Get(ctx context.Context, id apitype.UUID) (Record[apitype.Pledge], error) {
	return s.get(ctx, id)
}

// Create creates a pledge under the uuid of the request, or a new one.
// POST /api/v1/pledges (interface: Pledges)
func (s *PledgesService) Create(ctx context.Context, r apitype.CreatePledgeRequest) (Record[apitype.Pledge], error) {
	return s.send(ctx)(CreatePledgeChange(r))
}

// Update changes the fields that the request names.
// PUT /api/v1/pledges/{uuid}/actions/update (interface: Pledges)
func (s *PledgesService) Update(ctx context.Context, id apitype.UUID, r apitype.UpdatePledgeRequest) (Record[apitype.Pledge], error) {
	return s.send(ctx)(UpdatePledgeChange(id, r))
}

// Act executes a status action; any name is sent.
// PUT /api/v1/pledges/{uuid}/actions/{statusUpdateAction} (interface: Pledges)
func (s *PledgesService) Act(ctx context.Context, id apitype.UUID, action apitype.PledgeAction) (Record[apitype.Pledge], error) {
	return s.send(ctx)(PledgeActionChange(id, action), nil)
}

// CreatePledgeChange is a pledge's creation as it is sent.
func CreatePledgeChange(r apitype.CreatePledgeRequest) (Change, error) {
	return newCreation(OpCreatePledge, pledgesPath, &r.UUID, func() any { return r })
}

// UpdatePledgeChange is a pledge's update as it is sent.
func UpdatePledgeChange(id apitype.UUID, r apitype.UpdatePledgeRequest) (Change, error) {
	return newChange(OpUpdatePledge, id, http.MethodPut, pledgesPath+"/"+id.String()+"/actions/update", r)
}

// PledgeActionChange is a status action as it is sent: without a body.
func PledgeActionChange(id apitype.UUID, action apitype.PledgeAction) Change {
	return Change{
		Op: OpPledgeAction, UUID: id, Method: http.MethodPut,
		Path: pledgesPath + "/" + id.String() + "/actions/" + url.PathEscape(string(action)),
	}
}
