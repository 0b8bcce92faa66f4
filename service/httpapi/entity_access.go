package httpapi

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (a *api) entityAccessRoutes() []route {
	return []route{
		{http.MethodPost, "/api/v1/entity-access/actions/mark-processed", service.EntitiesMark, act(http.StatusBadRequest, a.markProcessed)},
	}
}

// markRequest is the body with its entries as they came: a wrong value in one is
// reported on its own. Spec gap: R1.
type markRequest struct {
	Entries []apitype.UncheckedEntry `json:"entries"`
}

// markProcessed has something to say of entries that fail alone.
func (a *api) markProcessed(ctx context.Context, c service.Caller, request markRequest) (answer service.Answer, err error) {
	failures, err := a.service.MarkProcessed(ctx, c, request.Entries)
	if err != nil || len(failures) == 0 {
		return answer, err
	}
	answer.JSON, err = json.Marshal(apitype.ProcessedErrors{Errors: failures})
	return answer, err
}
