package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// queueRoutes are those of the queue, an extension beside the interface.
func (a *api) queueRoutes() []route {
	s := a.service
	return []route{
		{http.MethodGet, "/fundesk/v1", "", a.extensions},
		{http.MethodGet, "/fundesk/v1/queue", service.CallsRead, list(apitype.ParseQueueOptions, s.QueueState)},
		{http.MethodGet, "/fundesk/v1/queue/calls", service.CallsRead, list(apitype.ParseQueueCallListOptions, s.QueueCalls)},
		{http.MethodGet, "/fundesk/v1/queue/leases", service.CallsRead, read(s.QueueLeases)},
		{http.MethodGet, "/fundesk/v1/queue/agents", service.CallsRead, list(apitype.ParseQueueAgentsOptions, s.QueueAgents)},
		{http.MethodPost, "/fundesk/v1/queue/take", service.CallsRead, worked(a.takeCalls)},
		{http.MethodPost, "/fundesk/v1/queue/leases/{uuid}/extend", service.CallsRead, worked(a.extendLease)},
		{http.MethodPost, "/fundesk/v1/queue/leases/{uuid}/release", service.CallsRead, worked(deferral(s.ReleaseLease))},
		{http.MethodPut, "/fundesk/v1/queue/calls/{uuid}/later", service.CallsRead, worked(deferral(s.DeferCall))},
	}
}

// extensionNames are what answers announce.
var extensionNames = []string{apitype.ExtensionQueue, apitype.ExtensionStatus}

var extensionHeader = []string{strings.Join(extensionNames, ", ")}

// announce names the extensions on every answer below the interface and below them.
func announce(header http.Header, path string) {
	if strings.HasPrefix(path, "/api/v1/") || path == "/fundesk/v1" || strings.HasPrefix(path, "/fundesk/v1/") {
		header[apitype.ExtensionsHeader] = extensionHeader
	}
}

// extensions tells what there is beside the interface.
func (a *api) extensions(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	if err := invalid(noParameters(r)); err != nil {
		return err
	}
	body, err := json.Marshal(apitype.Extensions{Extensions: extensionsFor(c.Account), Version: a.version})
	if err == nil {
		write(w, http.StatusOK, jsonType, body)
	}
	return err
}

// read answers a question that takes no parameters.
func read(answers func(context.Context, service.Caller) (service.Answer, error)) handler {
	return func(w http.ResponseWriter, r *http.Request, c service.Caller) error {
		if err := invalid(noParameters(r)); err != nil {
			return err
		}
		answer, err := answers(r.Context(), c)
		return writePage(w, answer, err)
	}
}

// worked answers what whoever works with the queue asks for: both permissions come before the
// values of the request. Spec gap: R3.
func worked(handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request, c service.Caller) error {
		if err := service.RequireQueue(c); err != nil {
			return err
		}
		return handle(w, r, c)
	}
}

func (a *api) takeCalls(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	if err := invalid(noParameters(r)); err != nil {
		return err
	}
	request, err := decode[apitype.TakeRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.TakeCalls(r.Context(), c, request)
	return writePage(w, answer, err)
}

func (a *api) extendLease(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	id, err := pathUUID(r)
	if err != nil {
		return err
	}
	request, err := decode[apitype.ExtendRequest](w, r)
	if err != nil {
		return err
	}
	answer, err := a.service.ExtendLease(r.Context(), c, id, request)
	return writePage(w, answer, err)
}

// deferral answers what puts a call off.
func deferral(save func(context.Context, service.Caller, apitype.UUID, apitype.DeferRequest) error) handler {
	return func(w http.ResponseWriter, r *http.Request, c service.Caller) error {
		id, err := pathUUID(r)
		if err != nil {
			return err
		}
		request, err := decode[apitype.DeferRequest](w, r)
		if err != nil {
			return err
		}
		if err := save(r.Context(), c, id, request); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}
