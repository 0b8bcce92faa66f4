package httpapi

import (
	"net/http"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (a *api) personRoutes() []route {
	return []route{
		{http.MethodGet, "/api/v1/persons", service.PersonsRead, a.listPersons},
		{http.MethodPost, "/api/v1/persons", service.PersonsCreate, a.createPerson},
		{http.MethodGet, "/api/v1/persons/{uuid}", service.PersonsRead, a.getPerson},
		{http.MethodPut, "/api/v1/persons/{uuid}/actions/update", service.PersonsUpdate, a.updatePerson},
	}
}

func (a *api) listPersons(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	values, err := query(r)
	if err != nil {
		return err
	}
	options, violations := apitype.ParsePersonListOptions(values)
	if err := invalid(violations); err != nil {
		return err
	}
	answer, err := a.service.ListPersons(r.Context(), c, options)
	return writePage(w, answer, err)
}

func (a *api) createPerson(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	if err := invalid(noParameters(r)); err != nil {
		return err
	}
	request, err := decode[apitype.CreatePersonRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.CreatePerson(r.Context(), c, request)
	return writeRecord(w, http.StatusCreated, answer, err)
}

func (a *api) getPerson(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, err := pathUUID(r)
	if err != nil {
		return err
	}
	answer, err := a.service.GetPerson(r.Context(), c, id)
	return writeRecord(w, http.StatusOK, answer, err)
}

func (a *api) updatePerson(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, m, request, err := change[apitype.UpdatePersonRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.UpdatePerson(r.Context(), c, id, m, request)
	return writeRecord(w, http.StatusOK, answer, err)
}
