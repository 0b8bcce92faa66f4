package httpapi

import (
	"net/http"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (a *api) personRoutes() []route {
	s := a.service
	return []route{
		{http.MethodGet, "/api/v1/persons", service.PersonsRead, list(apitype.ParsePersonListOptions, s.ListPersons)},
		{http.MethodPost, "/api/v1/persons", service.PersonsCreate, create(s.CreatePerson)},
		{http.MethodGet, "/api/v1/persons/{uuid}", service.PersonsRead, get(s.GetPerson)},
		{http.MethodPut, "/api/v1/persons/{uuid}/actions/update", service.PersonsUpdate, change(s.UpdatePerson)},
	}
}
