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
	call, person, pledge := calls+"/"+w.a.call.String(), persons+"/"+w.a.person.String(), pledges+"/"+w.a.pledge.String()
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
		{"half a null pair", "GET", calls + "?externalReferenceId=null&externalApplicationName=x", "", 400, "externalApplicationName"},
		{"an array", "POST", persons, `[]`, 400, "(body)"},
		{"nothing sent", "POST", persons, ``, 400, "/owningOrganizationUuid /recruitingOrganizationUuid"},
		{"null for what is required", "POST", calls, `{"personUuid":null,"requestedAt":null,"type":null}`, 400, "/requestedAt /personUuid /type"},
		{
			"wrong values", "POST", persons, w.personBody(w.a, `,"iban":"NL00BANK0123456789","email":"a@b","gender":"x","language":"xx","phoneNumber":"0612345678","dateOfBirth":"2099-01-01","socialSecurityNumber":"12-3"`), 400,
			"/dateOfBirth /socialSecurityNumber /gender /phoneNumber /email /language /iban",
		},
		{"part of an address", "POST", persons, w.personBody(w.a, `,"address":{"street":"Kade"}`), 400, "/address/houseNumber /address/zipCode /address/city /address/country"},
		{"unknown organizations", "POST", persons, fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, unknown, unknown), 400, "/owningOrganizationUuid /recruitingOrganizationUuid"},
		{"uuid of version 1", "POST", persons, w.personBody(w.a, `,"uuid":"c232ab00-9414-11ec-b3c8-9f6bdeced846"`), 400, "/uuid"},
		{"uuid of version 1 for a call", "POST", calls, w.callBody(w.a, `,"uuid":"c232ab00-9414-11ec-b3c8-9f6bdeced846"`), 400, "/uuid"},
		{"uuid of version 1 for a pledge", "POST", pledges, w.pledgeBody(w.a, `,"uuid":"c232ab00-9414-11ec-b3c8-9f6bdeced846"`), 400, "/uuid"},
		{"person taken", "POST", persons, w.personBody(w.a, `,"uuid":"`+w.b.person.String()+`"`), 409, "/uuid"},
		{"empty text in an update", "PUT", person + "/actions/update", `{"academicTitle":""}`, 400, "/academicTitle"},
		{"part of an address in an update", "PUT", person + "/actions/update", `{"address":{"city":"Delft"}}`, 400, "/address/street /address/houseNumber /address/zipCode /address/country"},
		{"street cleared alone", "PUT", person + "/actions/update", `{"address":{"street":null}}`, 400, "/address/street"},
		{
			"fields of a service-managed call", "POST", calls, w.callBody(w.a, `,"status":"requested","attempts":[],"result":{},"completedAt":"2026-11-20","cancelledAt":"2026-11-20","externalSource":{"name":"x","identifier":"y"}`), 400,
			"/status /cancelledAt /completedAt /externalSource /attempts /result",
		},
		{"type of an external call", "POST", calls, w.externalCallBody(w.a, `,"type":"winback"`), 400, "/type"},
		{"time of another state", "POST", calls, w.externalCallBody(w.a, `,"status":"expired","completedAt":"2026-11-20"`), 400, "/completedAt"},
		{
			"references of a call", "POST", calls, fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"callingOrganizationUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, unknown, unknown, unknown), 400,
			"/personUuid /relatedCaseUuid /callingOrganizationUuid",
		},
		{"pledge of another person", "POST", calls, fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, w.a.person, w.b.pledge), 400, "/relatedCaseUuid"},
		{"call taken", "POST", calls, w.callBody(w.a, `,"uuid":"`+w.a.call.String()+`"`), 409, "/uuid"},
		{"rating too high", "PUT", call + "/actions/complete", `{"result":{"donorRetentionRating":10.01,"resultCode":""}}`, 400, "/result/donorRetentionRating /result/resultCode"},
		{
			"fields of a service-managed pledge", "POST", pledges, w.pledgeBody(w.a, `,"status":"lead","donationInterval":"once","donationAmount":1,"cancelledAt":"2026-11-20","droppedAt":"2026-11-20","releasedAt":"2026-11-20"`), 400,
			"/status /donationInterval /donationAmount /cancelledAt /droppedAt /releasedAt",
		},
		{"end before start", "POST", pledges, w.pledgeBody(w.a, `,"endsAt":"2026-11-01"`), 400, "/endsAt"},
		{"pledge taken", "POST", pledges, w.pledgeBody(w.a, `,"uuid":"`+w.a.pledge.String()+`"`), 409, "/uuid"},
		{"focus area of another organization", "POST", pledges, strings.Replace(w.pledgeBody(w.a), w.a.focusArea.String(), w.b.focusArea.String(), 1), 400, "/focusAreaUuids/0"},
		{
			"required fields cleared", "PUT", pledge + "/actions/update", `{"donationInterval":null,"donationAmount":null,"recruiterUserUuid":null,"startsAt":null}`, 400,
			"/donationInterval /donationAmount /recruiterUserUuid /startsAt",
		},
		{"three decimals", "PUT", pledge + "/actions/update", `{"donationAmount":1.005}`, 400, "/donationAmount"},
		{"unknown action", "PUT", pledge + "/actions/release", "", 404, ""},
		{"not released", "PUT", pledge + "/actions/activate", "", 409, ""},
		{"body of an action", "PUT", pledge + "/actions/drop", `{"a":1}`, 400, "/a"},
		{"no entries", "POST", "/api/v1/entity-access/actions/mark-processed", `{}`, 400, "/entries"},
		{"entries of another type", "POST", "/api/v1/entity-access/actions/mark-processed", `{"entries":[{"entityName":1}]}`, 400, "/entries/0/entityName"},
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
		{"own request id", "GET", person, "", "X-Request-Id: abc-1", 200, "X-Request-Id: abc-1\nCache-Control: no-store\nEtag: \"1\""},
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
