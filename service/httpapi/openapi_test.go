package httpapi_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// described is the router of openapi.json.
func described(t *testing.T) routers.Router {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(httpapi.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	document.Servers = nil
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		t.Fatal(err)
	}
	return router
}

// TestOpenAPI checks requests and answers of every operation against openapi.json.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	w, router := newWorld(t), described(t)
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
			if err := conforms(t, router, w.all, test.method, test.path, test.body, answer); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOpenAPINotices shows that the check sees what is wrong.
func TestOpenAPINotices(t *testing.T) {
	t.Parallel()
	w, router := newWorld(t), described(t)
	path := "/api/v1/calls/" + w.a.call.String()
	for _, bend := range []struct{ from, to string }{
		{`"uuid"`, `"uid"`}, {`"status":"requested"`, `"status":"open"`}, {`"attemptsCount":0`, `"attemptsCount":"0"`},
		{`"cancelledAt":null`, `"cancelledAt":1`},
	} {
		answer := w.Do(w.all, "GET", path, "")
		bent := strings.Replace(string(answer.Body), bend.from, bend.to, 1)
		if bent == string(answer.Body) {
			t.Fatalf("%s is not in the answer", bend.from)
		}
		answer.Body = []byte(bent)
		if err := conforms(t, router, w.all, "GET", path, "", answer); err == nil {
			t.Errorf("%s instead of %s is not noticed", bend.to, bend.from)
		}
	}
}

// conforms checks one request and its answer.
func conforms(t *testing.T, router routers.Router, token, method, path, body string, answer servicetest.Answer) error {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	route, parameters, err := router.FindRoute(request)
	if err != nil {
		return err
	}
	options := &openapi3filter.Options{
		AuthenticationFunc:    openapi3filter.NoopAuthenticationFunc,
		IncludeResponseStatus: true,
	}
	input := &openapi3filter.RequestValidationInput{Request: request, PathParams: parameters, Route: route, Options: options}
	if answer.Status < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil {
			return err
		}
	}
	return openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: answer.Status, Header: answer.Header,
		Body: io.NopCloser(bytes.NewReader(answer.Body)), Options: options,
	})
}
