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
		{
			name:   "page of one",
			p:      servicetest.Personality{PageSize: 1},
			method: "GET",
			path:   "/api/v1/persons?first=20",
			status: 200,
			has:    `"hasNextPage":true`,
			lacks:  "},{",
		},
		{
			name:   "large page",
			p:      servicetest.Personality{PageSize: 1000},
			method: "GET",
			path:   "/api/v1/persons?first=1000",
			status: 200,
			has:    `"hasNextPage":false`,
		},
		{
			name:   "no flags",
			p:      servicetest.Personality{NoFlags: true},
			method: "GET",
			path:   "/api/v1/calls",
			status: 200,
			has:    `"endCursor"`,
			lacks:  "hasNextPage",
		},
		{
			name:   "always next",
			p:      servicetest.Personality{AlwaysNext: true},
			method: "GET",
			path:   "/api/v1/persons?first=500",
			status: 200,
			has:    `"hasNextPage":true`,
		},
		{"bare array", servicetest.Personality{BareArray: true}, "GET", "/api/v1/pledges", "", 200, `[{`, "pageInfo"},
		{"422", servicetest.Personality{Status422: true}, "GET", "/api/v1/calls?first=x", "", 422, `"errors"`, ""},
		{
			name:   "all or nothing",
			p:      servicetest.Personality{AllOrNothing: true},
			method: "POST",
			path:   "/api/v1/entity-access/actions/mark-processed",
			body:   mark,
			status: 400,
			has:    `"errorMessage"`,
		},
		{
			name:   "no embeds",
			p:      servicetest.Personality{NoEmbeds: true},
			method: "GET",
			path:   "/api/v1/calls/" + call,
			status: 200,
			has:    `"personUuid"`,
			lacks:  `"pledgeCase"`,
		},
		{
			name:   "circular",
			p:      servicetest.Personality{Circular: true},
			method: "GET",
			path:   "/api/v1/pledges/" + pledge,
			status: 200,
			has:    `"pledgeCase":"[Circular]"`,
		},
		{
			name:   "text",
			p:      servicetest.Personality{PlainErrors: true},
			method: "GET",
			path:   "/api/v1/calls/x",
			status: 400,
			has:    "this was refused",
			lacks:  "{",
		},
		{
			name:   "other action",
			p:      servicetest.Personality{Actions: map[string]string{"drop": "discard"}},
			method: "PUT",
			path:   "/api/v1/pledges/" + pledge + "/actions/drop",
			status: 404,
			has:    "no such action",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			status, text := send(test.p, test.method, test.path, test.body)
			if status != test.status ||
				!strings.Contains(text, test.has) ||
				(test.lacks != "" && strings.Contains(text, test.lacks)) {
				t.Errorf("got %d %.300s, want %d with %q and without %q",
					status, text, test.status, test.has, test.lacks)
			}
		})
	}
	status, _ := send(servicetest.Personality{Actions: map[string]string{"drop": "discard"}}, http.MethodPut,
		"/api/v1/pledges/"+pledge+"/actions/discard", "")
	if status == http.StatusNotFound {
		t.Error("the other name of an action is not known")
	}
}
