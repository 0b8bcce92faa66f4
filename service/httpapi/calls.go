package httpapi

import (
	"net/http"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (a *api) callRoutes() []route {
	s := a.service
	return []route{
		{http.MethodGet, "/api/v1/calls", service.CallsRead, list(apitype.ParseCallListOptions, s.ListCalls, service.AllowCallIncludes)},
		{http.MethodPost, "/api/v1/calls", service.CallsCreate, create(s.CreateCall)},
		{http.MethodGet, "/api/v1/calls/{uuid}", service.CallsRead, get(s.GetCall)},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/add-attempt", service.CallsAttempt, change(s.AddAttempt)},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/complete", service.CallsComplete, change(s.CompleteCall)},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/cancel", service.CallsCancel, change(s.CancelCall)},
		{http.MethodPut, "/api/v1/calls/{uuid}/actions/expire", service.CallsExpire, change(s.ExpireCall)},
	}
}
