package httpapi

import (
	"net/http"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (a *api) pledgeRoutes() []route {
	return []route{
		{http.MethodGet, "/api/v1/pledges", service.PledgesRead, a.listPledges},
		{http.MethodPost, "/api/v1/pledges", service.PledgesCreate, a.createPledge},
		{http.MethodGet, "/api/v1/pledges/{uuid}", service.PledgesRead, a.getPledge},
		{http.MethodPut, "/api/v1/pledges/{uuid}/actions/update", service.PledgesUpdate, a.updatePledge},
		{http.MethodPut, "/api/v1/pledges/{uuid}/actions/{statusUpdateAction}", service.PledgesAct, a.actOnPledge},
	}
}

func (a *api) listPledges(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	values, err := query(r)
	if err != nil {
		return err
	}
	options, violations := apitype.ParsePledgeListOptions(values)
	if err := invalid(violations); err != nil {
		return err
	}
	answer, err := a.service.ListPledges(r.Context(), c, options)
	return writePage(w, answer, err)
}

func (a *api) createPledge(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	if err := invalid(noParameters(r)); err != nil {
		return err
	}
	request, err := decode[apitype.CreatePledgeRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.CreatePledge(r.Context(), c, request)
	return writeRecord(w, http.StatusCreated, answer, err)
}

func (a *api) getPledge(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, err := pathUUID(r)
	if err != nil {
		return err
	}
	answer, err := a.service.GetPledge(r.Context(), c, id)
	return writeRecord(w, http.StatusOK, answer, err)
}

func (a *api) updatePledge(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, m, request, err := change[apitype.UpdatePledgeRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.UpdatePledge(r.Context(), c, id, m, request)
	return writeRecord(w, http.StatusOK, answer, err)
}

// actOnPledge takes no body, or {}. Spec gap: R13.
func (a *api) actOnPledge(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, m, _, err := change[struct{}](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.ActOnPledge(r.Context(), c, id, m, apitype.PledgeAction(r.PathValue("statusUpdateAction")))
	return writeRecord(w, http.StatusOK, answer, err)
}
