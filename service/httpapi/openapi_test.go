package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// TestOpenAPI goes through every operation; the harness holds what it sends and gets
// against openapi.json.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Sample(40)
	call, person, pledge := "/api/v1/calls/"+w.a.call.String(), "/api/v1/persons/"+w.a.person.String(), "/api/v1/pledges/"+w.a.pledge.String()
	mark := "/api/v1/entity-access/actions/mark-processed"
	tests := []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/api/v1/persons?first=100", "", 200},
		{"GET", "/api/v1/persons?first=0&owningOrganizationUuids=" + user, "", 200},
		{"GET", "/api/v1/calls?first=100", "", 200},
		{"GET", "/api/v1/calls?first=100&include=personQualityResult,pledge,transactions", "", 200},
		{"GET", "/api/v1/pledges?first=100&include=transactions&withPaymentQr=true", "", 200},
		{"GET", "/api/v1/pledges?first=100", "", 200},
		{"GET", person, "", 200},
		{"GET", call, "", 200},
		{"GET", pledge, "", 200},
		{"POST", "/api/v1/persons", w.personBody(w.a, `,"iban":"NL91ABNA0417164300","optIns":{"sms":true}`), 201},
		{"POST", "/api/v1/calls", w.callBody(w.a), 201},
		{"POST", "/api/v1/calls", w.externalCallBody(w.a, `,"status":"completed","result":{"resultCode":"ok"}`), 201},
		{"POST", "/api/v1/pledges", w.pledgeBody(w.a, `,"externalSource":{"name":"x","identifier":"y"},"status":"active"`), 201},
		{"PUT", person + "/actions/update", `{"iban":null,"address":null,"name":{"initials":null}}`, 200},
		{"PUT", pledge + "/actions/update", `{"donationAmount":7.25,"endsAt":null}`, 200},
		{"PUT", pledge + "/actions/drop", "", 200},
		{"PUT", call + "/actions/add-attempt", `{"userUuid":"` + user + `"}`, 200},
		{"PUT", call + "/actions/complete", `{"result":{"resultCode":"ok","donorRetentionRating":7.5}}`, 200},
		{"PUT", "/api/v1/calls/" + w.b.call.String() + "/actions/expire", `{}`, 200},
		{"PUT", call + "/actions/cancel", `{}`, 409},
		{"POST", mark, fmt.Sprintf(`{"entries":[{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20T09:00:00Z"}]}`, w.a.call), 204},
		{"POST", mark, fmt.Sprintf(`{"entries":[{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20T09:00:00Z"}]}`, user), 400},
		{"GET", "/api/v1/calls/" + user, "", 404},
		{"GET", "/api/v1/persons?after=x", "", 400},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.method, " ", test.path, " ", test.status), func(t *testing.T) {
			answer := w.Do(w.all, test.method, test.path, test.body)
			if answer.Status != test.status {
				t.Fatalf("got %d %s, want %d", answer.Status, answer.Body, test.status)
			}
		})
	}
}

// TestOpenAPINotices shows that the check sees what is wrong.
// A number without a format becomes a float32 in generated programs, which loses cents.
func TestOpenAPINumbersHaveFormats(t *testing.T) {
	t.Parallel()
	var document any
	if err := json.Unmarshal(httpapi.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	numbers := 0
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			if types := fmt.Sprint(v["type"]); strings.Contains(types, "number") {
				numbers++
				if v["format"] != "double" {
					t.Errorf("%s: got the format %v, want double", path, v["format"])
				}
			}
			for name, below := range v {
				walk(path+"/"+name, below)
			}
		case []any:
			for i, below := range v {
				walk(path+"/"+strconv.Itoa(i), below)
			}
		}
	}
	walk("", document)
	if numbers < 10 {
		t.Errorf("got %d numbers, want 10 at least", numbers)
	}
}

func TestOpenAPINotices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/api/v1/calls/" + w.a.call.String()
	for _, bend := range []struct{ from, to string }{
		{`"uuid"`, `"uid"`},
		{`"status":"requested"`, `"status":"open"`},
		{`"attemptsCount":0`, `"attemptsCount":"0"`},
		{`"cancelledAt":null`, `"cancelledAt":1`},
	} {
		answer := w.Do(w.all, "GET", path, "")
		bent := strings.Replace(string(answer.Body), bend.from, bend.to, 1)
		if bent == string(answer.Body) {
			t.Fatalf("%s is not in the answer", bend.from)
		}
		answer.Body = []byte(bent)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		if err := servicetest.Conforms(request, nil, answer); err == nil {
			t.Errorf("%s instead of %s is not noticed", bend.to, bend.from)
		}
	}
}
