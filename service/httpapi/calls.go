package httpapi

import (
	"net/http"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (a *api) callRoutes() []route {
	return []route{
		{http.MethodGet, "/api/v1/calls", service.CallsRead, a.listCalls},
		{http.MethodPost, "/api/v1/calls", service.CallsCreate, a.createCall},
		{http.MethodGet, "/api/v1/calls/{uuid}", service.CallsRead, a.getCall},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/add-attempt", service.CallsAttempt, a.addAttempt},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/complete", service.CallsComplete, a.completeCall},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/cancel", service.CallsCancel, a.cancelCall},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/expire", service.CallsExpire, a.expireCall},
	}
}

func (a *api) listCalls(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	values, err := query(r)
	if err != nil {
		return err
	}
	options, violations := apitype.ParseCallListOptions(values)
	if err := service.AllowCallIncludes(c, options.Include); err != nil { // Before 400. Spec gap: R3
		return err
	}
	if err := invalid(violations); err != nil {
		return err
	}
	answer, err := a.service.ListCalls(r.Context(), c, options)
	return writePage(w, answer, err)
}

func (a *api) createCall(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	if err := invalid(noParameters(r)); err != nil {
		return err
	}
	request, err := decode[apitype.CreateCallRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.CreateCall(r.Context(), c, request)
	return writeRecord(w, http.StatusCreated, answer, err)
}

func (a *api) getCall(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, err := pathUUID(r)
	if err != nil {
		return err
	}
	answer, err := a.service.GetCall(r.Context(), c, id)
	return writeRecord(w, http.StatusOK, answer, err)
}

func (a *api) addAttempt(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, m, request, err := change[apitype.AddAttemptRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.AddAttempt(r.Context(), c, id, m, request)
	return writeRecord(w, http.StatusOK, answer, err)
}

func (a *api) completeCall(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, m, request, err := change[apitype.CompleteCallRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.CompleteCall(r.Context(), c, id, m, request)
	return writeRecord(w, http.StatusOK, answer, err)
}

func (a *api) cancelCall(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, m, request, err := change[apitype.CancelCallRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.CancelCall(r.Context(), c, id, m, request)
	return writeRecord(w, http.StatusOK, answer, err)
}

func (a *api) expireCall(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, m, request, err := change[apitype.ExpireCallRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.ExpireCall(r.Context(), c, id, m, request)
	return writeRecord(w, http.StatusOK, answer, err)
}
