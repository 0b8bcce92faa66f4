package apiclient

import (
	"context"
	"iter"
	"net/url"
	"strings"

	"fundesk/apiclient/apitype"
)

const pledgesPath = "/api/v1/pledges"

// PledgesService reads pledges. What changes them is a Change, for Client.Send.
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

// CreatePledgeChange is a pledge's creation as it is sent.
func CreatePledgeChange(r apitype.CreatePledgeRequest) (Change, error) {
	return newCreation(OpCreatePledge, &r.UUID, &r)
}

// UpdatePledgeChange is a pledge's update as it is sent.
func UpdatePledgeChange(id apitype.UUID, r apitype.UpdatePledgeRequest) (Change, error) {
	return newChange(OpUpdatePledge, id, r)
}

// PledgeActionChange is a status action as it is sent: without a body.
func PledgeActionChange(id apitype.UUID, action apitype.PledgeAction) Change {
	ch, _ := newChange(OpPledgeAction, id, nil) // Only a body can fail.
	ch.Path = strings.Replace(ch.Path, "{action}", url.PathEscape(string(action)), 1)
	return ch
}
