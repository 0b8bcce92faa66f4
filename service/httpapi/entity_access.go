package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

func (a *api) entityAccessRoutes() []route {
	return []route{
		{http.MethodPost, "/api/v1/entity-access/actions/mark-processed", service.EntitiesMark, a.markProcessed},
	}
}

// markRequest is the body with its entries as they came: a wrong value in one is
// reported on its own. Spec gap: R1.
type markRequest struct {
	Entries []apitype.UncheckedEntry `json:"entries"`
}

func (a *api) markProcessed(w http.ResponseWriter, r *http.Request, c service.Caller) error {
	if err := invalid(noParameters(r)); err != nil {
		return err
	}
	request, err := decode[markRequest](w, r)
	if err != nil {
		return err
	}
	failures, err := a.service.MarkProcessed(r.Context(), c, request.Entries)
	if err != nil {
		return err
	}
	if len(failures) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	body, err := json.Marshal(apitype.ProcessedErrors{Errors: failures})
	if err != nil {
		return err
	}
	write(w, http.StatusBadRequest, jsonType, body)
	return nil
}
