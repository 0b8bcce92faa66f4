package httpapi_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		places                   []string
	}{
		{"unknown path", "GET", "/api/v1/donors", "", 404, nil},
		{"double slash", "GET", "/api/v1//persons", "", 404, nil},
		{"trailing slash", "GET", persons + "/", "", 404, nil},
		{"malformed uuid", "GET", calls + "/1", "", 400, []string{"uuid"}},
		{"unknown call", "GET", calls + "/" + unknown, "", 404, nil},
		{"parameter of one record", "GET", call + "?include=person", "", 400, []string{"include"}},
		{"parameter that is not text", "GET", calls + "?%b6=1", "", 400, []string{"\ufffd"}},
		{"parameter of a creation that is not text", "POST", calls + "?%b6", "0", 400, []string{"\ufffd"}},
		{"malformed query", "GET", calls + "?first=%zz", "", 400, nil},
		{"unknown parameter", "GET", calls + "?state=requested", "", 400, []string{"state"}},
		{"parameter twice", "GET", calls + "?first=1&first=2", "", 400, []string{"first"}},
		{"negative page", "GET", calls + "?first=-1", "", 400, []string{"first"}},
		{"first and last", "GET", calls + "?first=1&last=1", "", 400, []string{"last"}},
		{"lone from", "GET", calls + "?requestedFrom=2026-11-20", "", 400, []string{"requestedFrom"}},
		{"lone reference", "GET", calls + "?externalReferenceId=1", "", 400, []string{"externalApplicationName"}},
		{"half a null pair", "GET", calls + "?externalReferenceId=null&externalApplicationName=x", "", 400, []string{"externalApplicationName"}},
		{"an array", "POST", persons, `[]`, 400, []string{""}},
		{"nothing sent", "POST", persons, ``, 400, []string{"/owningOrganizationUuid", "/recruitingOrganizationUuid"}},
		{"null for what is required", "POST", calls, `{"personUuid":null,"requestedAt":null,"type":null}`, 400, []string{"/requestedAt", "/personUuid", "/type"}},
		{
			"wrong values", "POST", persons, w.personBody(w.a, `,"iban":"NL00BANK0123456789","email":"a@b","gender":"x","language":"xx","phoneNumber":"0612345678","dateOfBirth":"2099-01-01","socialSecurityNumber":"12-3"`), 400,
			[]string{"/dateOfBirth", "/socialSecurityNumber", "/gender", "/phoneNumber", "/email", "/language", "/iban"},
		},
		{"part of an address", "POST", persons, w.personBody(w.a, `,"address":{"street":"Kade"}`), 400, []string{"/address/houseNumber", "/address/zipCode", "/address/city", "/address/country"}},
		{"unknown organizations", "POST", persons, fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, unknown, unknown), 400, []string{"/owningOrganizationUuid", "/recruitingOrganizationUuid"}},
		{"uuid of version 1", "POST", persons, w.personBody(w.a, `,"uuid":"c232ab00-9414-11ec-b3c8-9f6bdeced846"`), 400, []string{"/uuid"}},
		{"uuid of version 1 for a call", "POST", calls, w.callBody(w.a, `,"uuid":"c232ab00-9414-11ec-b3c8-9f6bdeced846"`), 400, []string{"/uuid"}},
		{"uuid of version 1 for a pledge", "POST", pledges, w.pledgeBody(w.a, `,"uuid":"c232ab00-9414-11ec-b3c8-9f6bdeced846"`), 400, []string{"/uuid"}},
		{"person taken", "POST", persons, w.personBody(w.a, `,"uuid":"`+w.b.person.String()+`"`), 409, []string{"/uuid"}},
		{"empty text in an update", "PUT", person + "/actions/update", `{"academicTitle":""}`, 400, []string{"/academicTitle"}},
		{"part of an address in an update", "PUT", person + "/actions/update", `{"address":{"city":"Delft"}}`, 400, []string{"/address/street", "/address/houseNumber", "/address/zipCode", "/address/country"}},
		{"street cleared alone", "PUT", person + "/actions/update", `{"address":{"street":null}}`, 400, []string{"/address/street"}},
		{
			"fields of a service-managed call", "POST", calls, w.callBody(w.a, `,"status":"requested","attempts":[],"result":{},"completedAt":"2026-11-20","cancelledAt":"2026-11-20","externalSource":{"name":"x","identifier":"y"}`), 400,
			[]string{"/status", "/cancelledAt", "/completedAt", "/externalSource", "/attempts", "/result"},
		},
		{"type of an external call", "POST", calls, w.externalCallBody(w.a, `,"type":"winback"`), 400, []string{"/type"}},
		{"time of another state", "POST", calls, w.externalCallBody(w.a, `,"status":"expired","completedAt":"2026-11-20"`), 400, []string{"/completedAt"}},
		{
			"references of a call", "POST", calls, fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"callingOrganizationUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, unknown, unknown, unknown), 400,
			[]string{"/personUuid", "/relatedCaseUuid", "/callingOrganizationUuid"},
		},
		{"pledge of another person", "POST", calls, fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, w.a.person, w.b.pledge), 400, []string{"/relatedCaseUuid"}},
		{"call taken", "POST", calls, w.callBody(w.a, `,"uuid":"`+w.a.call.String()+`"`), 409, []string{"/uuid"}},
		{"rating too high", "PUT", call + "/actions/complete", `{"result":{"donorRetentionRating":10.01,"resultCode":""}}`, 400, []string{"/result/donorRetentionRating", "/result/resultCode"}},
		{
			"fields of a service-managed pledge", "POST", pledges, w.pledgeBody(w.a, `,"status":"lead","donationInterval":"once","donationAmount":1,"cancelledAt":"2026-11-20","droppedAt":"2026-11-20","releasedAt":"2026-11-20"`), 400,
			[]string{"/status", "/donationInterval", "/donationAmount", "/cancelledAt", "/droppedAt", "/releasedAt"},
		},
		{"end before start", "POST", pledges, w.pledgeBody(w.a, `,"endsAt":"2026-11-01"`), 400, []string{"/endsAt"}},
		{"pledge taken", "POST", pledges, w.pledgeBody(w.a, `,"uuid":"`+w.a.pledge.String()+`"`), 409, []string{"/uuid"}},
		{"focus area of another organization", "POST", pledges, strings.Replace(w.pledgeBody(w.a), w.a.focusArea.String(), w.b.focusArea.String(), 1), 400, []string{"/focusAreaUuids/0"}},
		{
			"required fields cleared", "PUT", pledge + "/actions/update", `{"donationInterval":null,"donationAmount":null,"recruiterUserUuid":null,"startsAt":null}`, 400,
			[]string{"/donationInterval", "/donationAmount", "/recruiterUserUuid", "/startsAt"},
		},
		{"three decimals", "PUT", pledge + "/actions/update", `{"donationAmount":1.005}`, 400, []string{"/donationAmount"}},
		{"unknown action", "PUT", pledge + "/actions/release", "", 404, nil},
		{"not released", "PUT", pledge + "/actions/activate", "", 409, nil},
		{"body of an action", "PUT", pledge + "/actions/drop", `{"a":1}`, 400, []string{"/a"}},
		{"no entries", "POST", "/api/v1/entity-access/actions/mark-processed", `{}`, 400, []string{"/entries"}},
		{"entries of another type", "POST", "/api/v1/entity-access/actions/mark-processed", `{"entries":[{"entityName":1}]}`, 400, []string{"/entries/0/entityName"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			answer := w.Do(w.all, test.method, test.path, test.body)
			if answer.Status != test.status {
				t.Fatalf("got %d %s, want %d", answer.Status, answer.Body, test.status)
			}
			_, places := problemOf(t, answer)
			if diff := cmp.Diff(test.places, places); diff != "" {
				t.Errorf("places: %s\n%s", diff, answer.Body)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	request := func(method, path, body string, header map[string]string) servicetest.Answer {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+w.all)
		for name, value := range header {
			r.Header.Set(name, value)
		}
		return w.Send(r)
	}
	person := personPath(w.a.person)
	update := person + "/actions/update"
	tests := []struct {
		name, method, path, body string
		header                   map[string]string
		status                   int
		want                     map[string]string
	}{
		{"own request id", "GET", person, "", map[string]string{"X-Request-Id": "abc-1"}, 200, map[string]string{"X-Request-Id": "abc-1", "Cache-Control": "no-store", "Etag": `"1"`}},
		{"405", "POST", person, "", nil, 405, map[string]string{"Allow": "GET, HEAD"}},
		{"405 of a list", "PUT", "/api/v1/calls", "", nil, 405, map[string]string{"Allow": "GET, HEAD, POST"}},
		{"no type", "PUT", update, `{}`, nil, 415, nil},
		{"no body, no type", "PUT", update, ``, nil, 200, nil},
		{"matching tag", "PUT", update, ``, map[string]string{"If-Match": `"9", "1"`}, 200, nil},
		{"another tag", "PUT", update, ``, map[string]string{"If-Match": `"2"`}, 412, nil},
		{"412 before 409", "PUT", pledgePath(w.a.pledge) + "/actions/activate", ``, map[string]string{"If-Match": `"9"`}, 412, nil},
		{"404 before 412", "PUT", "/api/v1/calls/" + user + "/actions/cancel", ``, map[string]string{"If-Match": `"2"`}, 404, nil},
		{"no bearer", "GET", person, "", map[string]string{"Authorization": "Basic eDp5"}, 401, map[string]string{"Www-Authenticate": `Bearer realm="fundesk"`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			answer := request(test.method, test.path, test.body, test.header)
			if answer.Status != test.status {
				t.Errorf("got %d %s, want %d", answer.Status, answer.Body, test.status)
			}
			for name, want := range test.want {
				if got := answer.Header.Get(name); got != want {
					t.Errorf("got %s %q, want %q", name, got, want)
				}
			}
		})
	}
}
