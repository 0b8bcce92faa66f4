package httpapi_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// TestRefusals sends one wrong request each, and wants its status and the places named.
// Promise S20: a path that is not clean is 404.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	calls, persons, pledges := "/api/v1/calls", "/api/v1/persons", "/api/v1/pledges"
	call := calls + "/" + w.a.call.String()
	person := persons + "/" + w.a.person.String()
	pledge := pledges + "/" + w.a.pledge.String()
	unknown := apitype.NewUUID().String()
	tests := []struct {
		name, method, path, body string
		status                   int
		places                   string // Separated by spaces.
	}{
		{"unknown path", "GET", "/api/v1/donors", "", 404, ""},
		{"double slash", "GET", "/api/v1//persons", "", 404, ""},
		{"trailing slash", "GET", persons + "/", "", 404, ""},
		{"malformed uuid", "GET", calls + "/1", "", 400, "uuid"},
		{"unknown call", "GET", calls + "/" + unknown, "", 404, ""},
		{"parameter of one record", "GET", call + "?include=person", "", 400, "include"},
		{"parameter that is not text", "GET", calls + "?%b6=1", "", 400, "\ufffd"},
		{"parameter of a creation that is not text", "POST", calls + "?%b6", "0", 400, "\ufffd"},
		{"malformed query", "GET", calls + "?first=%zz", "", 400, ""},
		{"unknown parameter", "GET", calls + "?state=requested", "", 400, "state"},
		{"parameter twice", "GET", calls + "?first=1&first=2", "", 400, "first"},
		{"negative page", "GET", calls + "?first=-1", "", 400, "first"},
		{"first and last", "GET", calls + "?first=1&last=1", "", 400, "last"},
		{"lone from", "GET", calls + "?requestedFrom=2026-11-20", "", 400, "requestedFrom"},
		{"lone reference", "GET", calls + "?externalReferenceId=1", "", 400, "externalApplicationName"},
		{
			name:   "half a null pair",
			method: "GET",
			path:   calls + "?externalReferenceId=null&externalApplicationName=x",
			status: 400,
			places: "externalApplicationName",
		},
		{"an array", "POST", persons, `[]`, 400, "(body)"},
		{"nothing sent", "POST", persons, ``, 400, "/owningOrganizationUuid /recruitingOrganizationUuid"},
		{
			name:   "null for what is required",
			method: "POST",
			path:   calls,
			body:   `{"personUuid":null,"requestedAt":null,"type":null}`,
			status: 400,
			places: "/requestedAt /personUuid /type",
		},
		{
			"wrong values", "POST", persons,
			w.personBody(
				w.a,
				`,"iban":"NL00BANK0123456789","email":"a@b","gender":"x","language":"xx","phoneNumber":"0612345678","dateOfBirth":"2099-01-01","socialSecurityNumber":"12-3"`,
			), 400,
			"/dateOfBirth /socialSecurityNumber /gender /phoneNumber /email /language /iban",
		},
		{
			name:   "part of an address",
			method: "POST",
			path:   persons,
			body:   w.personBody(w.a, `,"address":{"street":"Kade"}`),
			status: 400,
			places: "/address/houseNumber /address/zipCode /address/city /address/country",
		},
		{
			name:   "unknown organizations",
			method: "POST",
			path:   persons,
			body:   fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, unknown, unknown),
			status: 400,
			places: "/owningOrganizationUuid /recruitingOrganizationUuid",
		},
		{
			name:   "uuid of version 1",
			method: "POST",
			path:   persons,
			body:   w.personBody(w.a, `,"uuid":"c232ab00-9414-11ec-b3c8-9f6bdeced846"`),
			status: 400,
			places: "/uuid",
		},
		{
			name:   "uuid of version 1 for a call",
			method: "POST",
			path:   calls,
			body:   w.callBody(w.a, `,"uuid":"c232ab00-9414-11ec-b3c8-9f6bdeced846"`),
			status: 400,
			places: "/uuid",
		},
		{
			name:   "uuid of version 1 for a pledge",
			method: "POST",
			path:   pledges,
			body:   w.pledgeBody(w.a, `,"uuid":"c232ab00-9414-11ec-b3c8-9f6bdeced846"`),
			status: 400,
			places: "/uuid",
		},
		{"person taken", "POST", persons, w.personBody(w.a, `,"uuid":"`+w.b.person.String()+`"`), 409, "/uuid"},
		{"empty text in an update", "PUT", person + "/actions/update", `{"academicTitle":""}`, 400, "/academicTitle"},
		{
			name:   "part of an address in an update",
			method: "PUT",
			path:   person + "/actions/update",
			body:   `{"address":{"city":"Delft"}}`,
			status: 400,
			places: "/address/street /address/houseNumber /address/zipCode /address/country",
		},
		{
			name:   "street cleared alone",
			method: "PUT",
			path:   person + "/actions/update",
			body:   `{"address":{"street":null}}`,
			status: 400,
			places: "/address/street",
		},
		{
			"fields of a service-managed call", "POST", calls,
			w.callBody(
				w.a,
				`,"status":"requested","attempts":[],"result":{},"completedAt":"2026-11-20","cancelledAt":"2026-11-20","externalSource":{"name":"x","identifier":"y"}`,
			), 400,
			"/status /cancelledAt /completedAt /externalSource /attempts /result",
		},
		{"type of an external call", "POST", calls, w.externalCallBody(w.a, `,"type":"winback"`), 400, "/type"},
		{
			name:   "time of another state",
			method: "POST",
			path:   calls,
			body:   w.externalCallBody(w.a, `,"status":"expired","completedAt":"2026-11-20"`),
			status: 400,
			places: "/completedAt",
		},
		{
			"references of a call", "POST", calls,
			fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"callingOrganizationUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, unknown, unknown, unknown), 400,
			"/personUuid /relatedCaseUuid /callingOrganizationUuid",
		},
		{
			name:   "pledge of another person",
			method: "POST",
			path:   calls,
			body: fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`,
				w.a.person, w.b.pledge),
			status: 400,
			places: "/relatedCaseUuid",
		},
		{"call taken", "POST", calls, w.callBody(w.a, `,"uuid":"`+w.a.call.String()+`"`), 409, "/uuid"},
		{
			name:   "rating too high",
			method: "PUT",
			path:   call + "/actions/complete",
			body:   `{"result":{"donorRetentionRating":10.01,"resultCode":""}}`,
			status: 400,
			places: "/result/donorRetentionRating /result/resultCode",
		},
		{
			"fields of a service-managed pledge", "POST", pledges,
			w.pledgeBody(
				w.a,
				`,"status":"lead","donationInterval":"once","donationAmount":1,"cancelledAt":"2026-11-20","droppedAt":"2026-11-20","releasedAt":"2026-11-20"`,
			), 400,
			"/status /donationInterval /donationAmount /cancelledAt /droppedAt /releasedAt",
		},
		{"end before start", "POST", pledges, w.pledgeBody(w.a, `,"endsAt":"2026-11-01"`), 400, "/endsAt"},
		{"pledge taken", "POST", pledges, w.pledgeBody(w.a, `,"uuid":"`+w.a.pledge.String()+`"`), 409, "/uuid"},
		{
			name:   "focus area of another organization",
			method: "POST",
			path:   pledges,
			body:   strings.Replace(w.pledgeBody(w.a), w.a.focusArea.String(), w.b.focusArea.String(), 1),
			status: 400,
			places: "/focusAreaUuids/0",
		},
		{
			"required fields cleared", "PUT", pledge + "/actions/update",
			`{"donationInterval":null,"donationAmount":null,"recruiterUserUuid":null,"startsAt":null}`, 400,
			"/donationInterval /donationAmount /recruiterUserUuid /startsAt",
		},
		{"three decimals", "PUT", pledge + "/actions/update", `{"donationAmount":1.005}`, 400, "/donationAmount"},
		{"unknown action", "PUT", pledge + "/actions/release", "", 404, ""},
		{"not released", "PUT", pledge + "/actions/activate", "", 409, ""},
		{"body of an action", "PUT", pledge + "/actions/drop", `{"a":1}`, 400, "/a"},
		{"no entries", "POST", "/api/v1/entity-access/actions/mark-processed", `{}`, 400, "/entries"},
		{
			name:   "entries of another type",
			method: "POST",
			path:   "/api/v1/entity-access/actions/mark-processed",
			body:   `{"entries":[{"entityName":1}]}`,
			status: 400,
			places: "/entries/0/entityName",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			answer := w.Do(w.all, test.method, test.path, test.body)
			if answer.Status != test.status {
				t.Fatalf("got %d %s, want %d", answer.Status, answer.Body, test.status)
			}
			_, places := problemOf(t, answer)
			servicetest.Same(t, "places", test.places, strings.Join(places, " "))
		})
	}
}

// TestHeaders sends a header with each request, and wants those of the answer, one a line.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	person := personPath(w.a.person)
	update := person + "/actions/update"
	for _, test := range []struct {
		name, method, path, body string
		header                   string
		status                   int
		want                     string
	}{
		{
			name:   "own request id",
			method: "GET",
			path:   person,
			header: "X-Request-Id: abc-1",
			status: 200,
			want:   "X-Request-Id: abc-1\nCache-Control: no-store\nEtag: \"1\"",
		},
		{"405", "POST", person, "", "", 405, "Allow: GET, HEAD"},
		{"405 of a list", "PUT", "/api/v1/calls", "", "", 405, "Allow: GET, HEAD, POST"},
		{"no type", "PUT", update, `{}`, "", 415, ""},
		{"no body, no type", "PUT", update, ``, "", 200, ""},
		{"matching tag", "PUT", update, ``, `If-Match: "9", "1"`, 200, ""},
		{"another tag", "PUT", update, ``, `If-Match: "2"`, 412, ""},
		{"412 before 409", "PUT", pledgePath(w.a.pledge) + "/actions/activate", ``, `If-Match: "9"`, 412, ""},
		{"404 before 412", "PUT", "/api/v1/calls/" + user + "/actions/cancel", ``, `If-Match: "2"`, 404, ""},
		{"a tag of what has none", "POST", consentsPath(w.a.person), `{}`, `If-Match: "1"`, 400, ""},
		{"any tag of it, no type", "POST", consentsPath(w.a.person), `{}`, `If-Match: *`, 415, ""},
		{"no bearer", "GET", person, "", "Authorization: Basic eDp5", 401, `Www-Authenticate: Bearer realm="fundesk"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			request := httptest.NewRequestWithContext(t.Context(), test.method, test.path, strings.NewReader(test.body))
			request.Header.Set("Authorization", "Bearer "+w.all)
			if name, value, has := strings.Cut(test.header, ": "); has {
				request.Header.Set(name, value)
			}
			answer := w.Send(request)
			if answer.Status != test.status {
				t.Errorf("got %d %s, want %d", answer.Status, answer.Body, test.status)
			}
			for line := range strings.Lines(test.want) {
				name, want, _ := strings.Cut(strings.TrimSpace(line), ": ")
				servicetest.Same(t, name, want, answer.Header.Get(name))
			}
		})
	}
}
