package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
)

// TestMarkProcessed covers good and failing entries together. Spec gaps: R1, E1, E2.
func TestMarkProcessed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v1/entity-access/actions/mark-processed"
	good := fmt.Sprintf(`{"entityName":"transaction","entityUuid":%q,"processedAt":"2026-11-20","externalSourceName":"crm","consumerIdentifier":%q}`, w.a.transaction, user)
	if got := w.Do(w.a.token, "POST", path, `{"entries":[`+good+`,`+good+`]}`); got.Status != 204 || len(got.Body) != 0 {
		t.Errorf("got %d %s, want 204", got.Status, got.Body)
	}
	bad := fmt.Sprintf(`{"entries":[%s,{"entityName":"donor","entityUuid":"1","processedAt":"x","consumerIdentifier":"z"},{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20","externalSourceName":"other"},{}]}`, good, w.a.call)
	got := w.Do(w.a.token, "POST", path, bad)
	var body apitype.ProcessedErrors
	got.Decode(&body)
	want := apitype.ProcessedErrors{Errors: []apitype.ProcessedError{
		{EntityName: "donor", EntityUUID: "1", ConsumerIdentifier: new("z")},
		{EntityName: "call", EntityUUID: w.a.call.String()},
		{},
	}}
	for i := range body.Errors {
		if body.Errors[i].ErrorMessage == "" {
			t.Errorf("entry %d has no message", i)
		}
		body.Errors[i].ErrorMessage = ""
	}
	if diff := cmp.Diff(want, body); diff != "" || got.Status != 400 || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %d %s", got.Status, diff)
	}
	many := `{"entries":[` + strings.Repeat(good+",", 1000) + good + `]}`
	if got := w.Do(w.a.token, "POST", path, many); got.Status != 400 {
		t.Errorf("got %d for 1001 entries, want 400", got.Status)
	}
}
