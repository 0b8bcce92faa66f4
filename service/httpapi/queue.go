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
		{http.MethodGet, "/fundesk/v1", "", read(a.extensions)},
		{http.MethodGet, "/fundesk/v1/queue", service.CallsRead, list(apitype.ParseQueueOptions, s.QueueState)},
		{http.MethodGet, "/fundesk/v1/queue/calls", service.CallsRead, list(apitype.ParseQueueCallListOptions, s.QueueCalls)},
		{http.MethodGet, "/fundesk/v1/queue/leases", service.CallsRead, read(s.QueueLeases)},
		{http.MethodGet, "/fundesk/v1/queue/agents", service.CallsRead, list(apitype.ParseQueueAgentsOptions, s.QueueAgents)},
		{http.MethodPost, "/fundesk/v1/queue/take", service.CallsRead, worked(act(http.StatusOK, s.TakeCalls))},
		{http.MethodGet, "/fundesk/v1/queue/deferrals", service.CallsRead, list(apitype.ParseQueueDeferralListOptions, s.QueueDeferrals)},
		{http.MethodPost, "/fundesk/v1/queue/release", service.CallsRead, worked(act(http.StatusOK, s.ReleaseUser))},
		{http.MethodPut, "/fundesk/v1/queue/calls/{uuid}/lease", service.CallsRead, worked(actOn(s.LeaseCall))},
		{http.MethodPost, "/fundesk/v1/queue/leases/{uuid}/extend", service.CallsRead, worked(actOn(s.ExtendLease))},
		{http.MethodPost, "/fundesk/v1/queue/leases/{uuid}/release", service.CallsRead, worked(without(s.ReleaseLease))},
		{http.MethodPut, "/fundesk/v1/queue/calls/{uuid}/later", service.CallsRead, worked(without(s.DeferCall))},
		{http.MethodPost, "/fundesk/v1/queue/calls/{uuid}/notes", service.CallsRead, worked(without(s.LeaveNote))},
	}
}

// extensionNames are what answers announce.
var extensionNames = []string{apitype.ExtensionQueue, apitype.ExtensionStatus, apitype.ExtensionNotes, apitype.ExtensionFilters}

var extensionHeader = []string{strings.Join(extensionNames, ", ")}

// announce names the extensions on every answer below the interface and below them.
func announce(header http.Header, path string) {
	if strings.HasPrefix(path, "/api/v1/") || path == "/fundesk/v1" || strings.HasPrefix(path, "/fundesk/v1/") {
		header[apitype.ExtensionsHeader] = extensionHeader
	}
}

// extensions tells what there is beside the interface.
func (a *api) extensions(_ context.Context, c service.Caller) (answer service.Answer, err error) {
	answer.JSON, err = json.Marshal(apitype.Extensions{Extensions: extensionsFor(c.Account), Version: a.version})
	return answer, err
}

// worked answers requests that work with the queue: both permissions come before the
// values of the request. Spec gap: R3.
func worked(handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request, c service.Caller) error {
		if err := service.RequireQueue(c); err != nil {
			return err
		}
		return handle(w, r, c)
	}
}

// without handles a change whose answer has no body.
func without[T any](save func(context.Context, service.Caller, apitype.UUID, T) error) handler {
	return actOn(func(ctx context.Context, c service.Caller, id apitype.UUID, request T) (service.Answer, error) {
		return service.Answer{}, save(ctx, c, id, request)
	})
}
