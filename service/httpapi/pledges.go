package httpapi

import (
	"context"
	"net/http"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (a *api) pledgeRoutes() []route {
	s := a.service
	return []route{
		{http.MethodGet, "/api/v1/pledges", service.PledgesRead, list(apitype.ParsePledgeListOptions, s.ListPledges)},
		{http.MethodPost, "/api/v1/pledges", service.PledgesCreate, create(s.CreatePledge)},
		{http.MethodGet, "/api/v1/pledges/{uuid}", service.PledgesRead, get(s.GetPledge)},
		{http.MethodPut, "/api/v1/pledges/{uuid}/actions/update", service.PledgesUpdate, change(s.UpdatePledge)},
		{http.MethodPut, "/api/v1/pledges/{uuid}/actions/{statusUpdateAction}", service.PledgesAct, a.actOnPledge},
	}
}

// actOnPledge takes no body, or {}. Spec gap: R13.
func (a *api) actOnPledge(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	action := apitype.PledgeAction(r.PathValue("statusUpdateAction"))
	return change(func(ctx context.Context, c service.Caller, id apitype.UUID, m service.Match, _ struct{}) (service.Answer, error) {
		return a.service.ActOnPledge(ctx, c, id, m, action)
	})(w, r, c)
}
