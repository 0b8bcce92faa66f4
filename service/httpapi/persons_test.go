package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/service/servicetest"
)

// TestPersonLife creates, updates and clears a person.
// Promise S7: an update that changes nothing keeps revision and updatedAt.
// Promise S17: a mandate without anything in it changes nothing.
func TestPersonLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	created := w.Do(w.a.token, "POST", "/api/v1/persons", w.personBody(w.a,
		`,"uuid":"A9D0C6E2-3B5D-4C0C-9B1A-6C1F2D3E4F50","iban":"nl91 abna 0417 1643 00","dateOfBirth":"1980-05-17T23:30:00-05:00","socialSecurityNumber":"123456782","language":"NL","gender":"female",`+
			`"phoneNumber":"+31201234567","email":"ada@example.org","address":{"street":"Kade","houseNumber":"1","zipCode":"1011AB","city":"Delft","country":"nl"},`+
			`"optIns":{"email":true,"sms":false},"mandate":{"id":"M-1"}`))
	if created.Status != 201 {
		t.Fatalf("got %d %s", created.Status, created.Body)
	}
	id := "a9d0c6e2-3b5d-4c0c-9b1a-6c1f2d3e4f50"
	want := map[string]any{
		"uuid": id, "personUuid": id, "academicTitle": nil, "initials": nil, "firstName": "Ada", "lastNamePrefix": nil, "lastName": "Jansen",
		"dateOfBirth": "1980-05-17", "socialSecurityNumber": "123456782", "iban": "NL91ABNA0417164300", "phoneNumber": "+31201234567",
		"mobilePhoneNumber": nil, "email": "ada@example.org", "gender": "female", "optInEmail": true, "optInPhone": nil, "optInMail": nil,
		"optInSms": false, "language": "nl", "createdAt": "2026-11-20T09:15:00.000Z",
		"address":            map[string]any{"street": "Kade", "houseNumber": "1", "houseNumberExtension": nil, "zipCode": "1011AB", "city": "Delft", "country": "NL"},
		"mandate":            map[string]any{"createdAt": "2026-11-20T09:15:00.000Z"},
		"owningOrganization": map[string]any{"uuid": w.a.organization.String(), "name": "A", "abbreviation": "A"},
		"qualityResult":      nil,
	}
	path := "/api/v1/persons/" + id
	servicetest.Same(t, "created", want, created.Object())
	if got := w.Do(w.a.token, "GET", path, ""); string(got.Body) != string(created.Body) {
		t.Errorf("got %s, want what was created", got.Body)
	}
	w.Clock.Advance(time.Hour)
	updated := w.Do(w.a.token, "PUT", path+"/actions/update",
		`{"iban":null,"name":{"initials":"A."},"address":{"houseNumberExtension":"bis"},"optIns":null,"mandate":null,"language":"de"}`)
	want["iban"], want["initials"], want["language"], want["mandate"] = nil, "A.", "de", nil
	want["optInEmail"], want["optInSms"] = nil, nil
	want["address"].(map[string]any)["houseNumberExtension"] = "bis"
	if diff := cmp.Diff(want, updated.Object()); diff != "" || updated.Header.Get("Etag") != `"2"` {
		t.Errorf("updated, tag %s: %s", updated.Header.Get("Etag"), diff)
	}
	if again := w.Do(w.a.token, "PUT", path+"/actions/update", `{"language":"de"}`); again.Header.Get("Etag") != `"2"` {
		t.Errorf("got tag %s for an update that changes nothing, want 2", again.Header.Get("Etag"))
	}
	// Objects without anything in them change nothing; at creation a mandate is dated then.
	if again := w.Do(w.a.token, "PUT", path+"/actions/update", `{"optIns":{},"mandate":{},"address":{}}`); again.Header.Get("Etag") != `"2"` || again.Object()["mandate"] != nil {
		t.Errorf("got tag %s and mandate %v for empty objects, want 2 and none", again.Header.Get("Etag"), again.Object()["mandate"])
	}
	dated := w.Do(w.a.token, "POST", "/api/v1/persons", w.personBody(w.a, `,"mandate":{}`)).Object()
	servicetest.Same(t, "mandate of a creation", map[string]any{"createdAt": "2026-11-20T10:15:00.000Z"}, dated["mandate"])
	node := page(t, w.Do(w.a.token, "GET", "/api/v1/persons?iban=x&first=1", ""))
	if len(node.Edges) != 0 {
		t.Errorf("got %d persons of an unknown IBAN", len(node.Edges))
	}
}

func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fields := []string{`"academicTitle":"dr."`, `"email":"a@example.org"`, `"language":"nl"`, `"gender":"other"`, `"phoneNumber":"+31201234567"`}
	parallel(len(fields), func(i int) int {
		return w.Do(w.all, "PUT", "/api/v1/persons/"+w.a.person.String()+"/actions/update", "{"+fields[i]+"}").Status
	})
	body := string(w.Do(w.all, "GET", "/api/v1/persons/"+w.a.person.String(), "").Body)
	for _, field := range fields {
		if !strings.Contains(body, field) {
			t.Errorf("%s was lost: %s", field, body)
		}
	}
}
