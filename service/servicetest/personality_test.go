package servicetest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// TestPersonalities shows the effect of each toggle.
func TestPersonalities(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	h.Sample(20)
	token := h.Token()
	send := func(p servicetest.Personality, method, path, body string) (status int, text string) {
		request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+token)
		if body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		h.As(p).ServeHTTP(w, request)
		return w.Code, w.Body.String()
	}
	first := func(list string) string {
		var page struct {
			Edges []struct{ Node struct{ UUID string } }
		}
		servicetest.Check(t, json.Unmarshal(h.Do(token, "GET", "/api/v1/"+list+"?first=1", "").Body, &page))
		return page.Edges[0].Node.UUID
	}
	call, pledge := first("calls"), first("pledges")
	mark := fmt.Sprintf(`{"entries":[{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20"},{"entityName":"call","entityUuid":"x","processedAt":"2026-11-20"}]}`, call)
	tests := []struct {
		name               string
		p                  servicetest.Personality
		method, path, body string
		status             int
		has, lacks         string
	}{
		{"ours", servicetest.Personality{}, "GET", "/api/v1/calls?first=2", "", 200, `"hasNextPage":true`, ""},
		{"page of one", servicetest.Personality{PageSize: 1}, "GET", "/api/v1/persons?first=20", "", 200, `"hasNextPage":true`, "},{"},
		{"large page", servicetest.Personality{PageSize: 1000}, "GET", "/api/v1/persons?first=1000", "", 200, `"hasNextPage":false`, ""},
		{"no flags", servicetest.Personality{NoFlags: true}, "GET", "/api/v1/calls", "", 200, `"endCursor"`, "hasNextPage"},
		{"always next", servicetest.Personality{AlwaysNext: true}, "GET", "/api/v1/persons?first=500", "", 200, `"hasNextPage":true`, ""},
		{"bare array", servicetest.Personality{BareArray: true}, "GET", "/api/v1/pledges", "", 200, `[{`, "pageInfo"},
		{"422", servicetest.Personality{Status422: true}, "GET", "/api/v1/calls?first=x", "", 422, `"errors"`, ""},
		{"all or nothing", servicetest.Personality{AllOrNothing: true}, "POST", "/api/v1/entity-access/actions/mark-processed", mark, 400, `"errorMessage"`, ""},
		{"no embeds", servicetest.Personality{NoEmbeds: true}, "GET", "/api/v1/calls/" + call, "", 200, `"personUuid"`, `"pledgeCase"`},
		{"circular", servicetest.Personality{Circular: true}, "GET", "/api/v1/pledges/" + pledge, "", 200, `"pledgeCase":"[Circular]"`, ""},
		{"text", servicetest.Personality{PlainErrors: true}, "GET", "/api/v1/calls/x", "", 400, "this was refused", "{"},
		{"other action", servicetest.Personality{Actions: map[string]string{"drop": "discard"}}, "PUT", "/api/v1/pledges/" + pledge + "/actions/drop", "", 404, "no such action", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			status, text := send(test.p, test.method, test.path, test.body)
			if status != test.status || !strings.Contains(text, test.has) || (test.lacks != "" && strings.Contains(text, test.lacks)) {
				t.Errorf("got %d %.300s, want %d with %q and without %q", status, text, test.status, test.has, test.lacks)
			}
		})
	}
	if status, _ := send(servicetest.Personality{Actions: map[string]string{"drop": "discard"}}, http.MethodPut, "/api/v1/pledges/"+pledge+"/actions/discard", ""); status == http.StatusNotFound {
		t.Error("the other name of an action is not known")
	}
}
