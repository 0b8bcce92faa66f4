package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// hostile are JSON texts of strings that have broken programs.
var hostile = map[string]string{
	"SQL":                     `"'; DROP TABLE persons; --"`,
	"SQL with a placeholder":  `"$1 ? :a %' OR 1=1"`,
	"wildcards":               `"%_*"`,
	"NUL":                     `"a\u0000b"`,
	"C1 and escapes":          `"\u0085\u009b31m\u001b]0;x\u0007"`,
	"bidi":                    `"\u202eabc\u2066\u200b"`,
	"lone surrogate":          `"\ud800x"`,
	"bytes that are not text": "\"\xff\xfe\"",
	"beyond the plane":        `"\ud83d\ude00é"`,
	"not normalised":          `"e\u0301"`,
	"format":                  `"%s%n%d%x{{.}}${jndi:ldap://127.0.0.1/a}"`,
	"path":                    `"../../../../etc/passwd"`,
	"markup":                  `"<script>alert(1)</script>&amp;\u2028"`,
	"formula":                 `"=HYPERLINK(\"x\")"`,
	"line ends":               `"a\r\nSet-Cookie: x=1\r\n"`,
	"quotes":                  `"\"\\\"'` + "`" + `"`,
	"null in words":           `"null"`,
	"number":                  `"1e309"`,
	"spaces":                  `" \t\u00a0\ufeff "`,
	"empty":                   `""`,
	"a thousand and one":      `"` + strings.Repeat("ä", 1001) + `"`,
	mebibyte:                  `"` + strings.Repeat("x", 1<<20) + `"`,
}

// mebibyte is more than a body may have, in whatever field: one of each operation does.
const mebibyte = "a mebibyte"

// operation is one operation with a body, of which every string field has a value.
type operation struct {
	name, method, path string
	body               string
	kind               reflect.Type      // What the body is decoded into.
	shown              map[string]string // Where answers have a field, if not in the same place; "": nowhere.
}

// operations returns all operations with a body, on records of the first organization.
func (w *world) operations() []operation {
	external := w.create("/api/v1/calls", w.externalCallBody(w.a)).String()
	call, person, pledge := "/api/v1/calls/"+external, personPath(w.a.person), pledgePath(w.a.pledge)
	const fields = `"academicTitle":"dr","dateOfBirth":"1980-01-02","socialSecurityNumber":"123456789","gender":"other","phoneNumber":"+31612345678",` +
		`"mobilePhoneNumber":"+31612345679","email":"a@example.org","language":"nl","iban":"NL91ABNA0417164300",` +
		`"name":{"initials":"A","firstName":"Ada","lastNamePrefix":"van","lastName":"Jansen"},` +
		`"address":{"street":"Kade","houseNumber":"1","houseNumberExtension":"a","zipCode":"1000AA","city":"Delft","country":"NL"},` +
		`"optIns":{"email":true,"mail":true,"phone":true,"sms":true},"mandate":{"id":"M","createdAt":"2026-11-20"}`
	shownOfPerson := map[string]string{
		"/recruitingOrganizationUuid": "",
		"/owningOrganizationUuid":     "",
		"/mandate/id":                 "",
		"/name/initials":              "/initials",
		"/name/firstName":             "/firstName",
		"/name/lastNamePrefix":        "/lastNamePrefix",
		"/name/lastName":              "/lastName",
	}
	const result = `"result":{"completedAt":"2026-11-20","notes":"n","donorRetentionRating":7,"resultCode":"yes"}`
	metadata := `"externalMetadata":{"applicationName":"d","referenceId":"7","agentReferenceId":"8","statusCode":"S","statusDescription":"t","additionalProperties":"{}"}`
	return []operation{
		{
			"create person", "POST", "/api/v1/persons",
			fmt.Sprintf(`{"uuid":"NEW","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,%s}`,
				w.a.organization, w.a.organization, fields),
			reflect.TypeFor[apitype.CreatePersonRequest](), shownOfPerson,
		},
		{
			name:   "update person",
			method: "PUT",
			path:   person + "/actions/update",
			body:   `{` + fields + `}`,
			kind:   reflect.TypeFor[apitype.UpdatePersonRequest](),
			shown:  shownOfPerson,
		},
		{
			"create external call", "POST", "/api/v1/calls",
			fmt.Sprintf(`{"uuid":"NEW","status":"completed","requestedAt":"2026-11-20","requestedByUserUuid":%q,"completedAt":"2026-11-20","notes":"n","personUuid":%q,"relatedCaseUuid":%q,"callingOrganizationUuid":%q,%s,"externalSource":{"name":"x","identifier":"y"},"attempts":[{"createdAt":"2026-11-20","userUuid":%q}],%s}`,
				user, w.a.person, w.a.pledge, w.a.organization, metadata, user, result),
			reflect.TypeFor[apitype.CreateCallRequest](),
			map[string]string{
				"/requestedByUserUuid":       "",
				"/externalSource/name":       "",
				"/externalSource/identifier": "",
				"/attempts/0/createdAt":      "",
			},
		},
		{
			"create call", "POST", "/api/v1/calls", w.callBody(w.a, `,"uuid":"NEW","notes":"n"`),
			nil,
			map[string]string{},
		},
		{
			name:   "attempt",
			method: "PUT",
			path:   call + "/actions/add-attempt",
			body:   `{"userUuid":"` + user + `","attemptAt":"2026-11-20"}`,
			kind:   reflect.TypeFor[apitype.AddAttemptRequest](),
			shown:  map[string]string{"/userUuid": "", "/attemptAt": ""},
		},
		{
			name:   "complete",
			method: "PUT",
			path:   call + "/actions/complete",
			body:   `{"userUuid":"` + user + `",` + result + `}`,
			kind:   reflect.TypeFor[apitype.CompleteCallRequest](),
			shown:  map[string]string{"/userUuid": ""},
		},
		{
			name:   "cancel",
			method: "PUT",
			path:   call + "/actions/cancel",
			body:   `{"cancelledAt":"2026-11-20"}`,
			kind:   reflect.TypeFor[apitype.CancelCallRequest](),
		},
		{
			name:   "expire",
			method: "PUT",
			path:   call + "/actions/expire",
			body:   `{"expiredAt":"2026-11-20"}`,
			kind:   reflect.TypeFor[apitype.ExpireCallRequest](),
		},
		{
			"create external pledge", "POST", "/api/v1/pledges",
			w.pledgeBody(
				w.a,
				`,"uuid":"NEW","status":"cancelled","recruitingLocationLabel":"l","donationInterval":"once","donationAmount":1,"recruitmentType":"d2d","cancelledAt":"2026-11-20","preferredPaymentDay":1,"releasedAt":"2026-11-20","endsAt":"2027-11-20","externalMetadata":{"a":"b"},"externalSource":{"name":"x","identifier":"y"}`,
			),
			reflect.TypeFor[apitype.CreatePledgeRequest](),
			map[string]string{"/cancelledAt": "", "/focusAreaUuids/0": ""},
		},
		{
			"update pledge", "PUT", pledge + "/actions/update",
			`{"recruitingLocationLabel":"l","donationInterval":"once","donationAmount":1,"recruiterUserUuid":"` +
				user + `","startsAt":"2026-11-20","endsAt":"2027-11-20","externalMetadata":{"a":"b"}}`,
			reflect.TypeFor[apitype.UpdatePledgeRequest](),
			map[string]string{},
		},
		{
			"mark", "POST", "/api/v1/entity-access/actions/mark-processed",
			fmt.Sprintf(`{"entries":[{"entityName":"call","entityUuid":%q,"processedAt":"2026-11-20","externalSourceName":"crm","consumerIdentifier":%q}]}`, w.a.call, user),
			reflect.TypeFor[apitype.MarkProcessedRequest](), nil,
		},
	}
}

// leaves calls visit for each value of a document that is not an object or an array.
func leaves(value any, place string, visit func(place string, value any)) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			leaves(inner, place+"/"+name, visit)
		}
	case []any:
		for i, inner := range v {
			leaves(inner, fmt.Sprint(place, "/", i), visit)
		}
	default:
		visit(place, value)
	}
}

// decoded reads a JSON text; anything else ends the test.
func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("decode %.80s: %v", text, err)
	}
	return value
}

// Places of strings in a body.
func stringFields(t *testing.T, body string) []string {
	t.Helper()
	var places []string
	leaves(decoded(t, []byte(body)), "", func(place string, value any) {
		if _, ok := value.(string); ok {
			places = append(places, place)
		}
	})
	slices.Sort(places)
	return places
}

// with returns the body with the text in the place of a value.
func with(t *testing.T, body, place, text string) string {
	t.Helper()
	document := decoded(t, []byte(body))
	const here = "HERE-IT-GOES"
	set(document, strings.Split(place, "/")[1:], here)
	data, err := json.Marshal(document)
	servicetest.Check(t, err)
	return strings.Replace(string(data), `"`+here+`"`, text, 1)
}

// set puts a value into a document.
func set(document any, path []string, value any) {
	switch v := document.(type) {
	case map[string]any:
		if len(path) == 1 {
			v[path[0]] = value
			return
		}
		set(v[path[0]], path[1:], value)
	case []any:
		if len(path) == 1 {
			v[0] = value
			return
		}
		set(v[0], path[1:], value)
	}
}

// TestOperationsAreWhole shows that the bodies that the attacks begin with have every
// field that there is: a new field is attacked, too.
func TestOperationsAreWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t).unchecked()
	for _, o := range w.operations() {
		if answer := w.Do(w.all, o.method, o.path, fresh(o.body)); answer.Status >= 300 {
			t.Errorf("%s: got %d %s", o.name, answer.Status, answer.Body)
		}
		if o.kind == nil {
			continue
		}
		body := decoded(t, []byte(o.body)).(map[string]any)
		for field := range o.kind.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			managedOnly := strings.HasPrefix(o.name, "create external") &&
				slices.Contains([]string{"type", "cancelledAt", "droppedAt"}, name)
			if _, there := body[name]; !there && !managedOnly {
				t.Errorf("%s: the body lacks %s", o.name, name)
			}
		}
	}
}

// fresh returns a body with an identifier of its own.
func fresh(body string) string {
	return strings.Replace(body, `"NEW"`, `"`+apitype.NewUUID().String()+`"`, 1)
}

// TestInjectionIntoBodies puts every hostile string into every string field of every
// body: it comes back as it was sent, or is refused with its place. Never a 5xx.
func TestInjectionIntoBodies(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	w := newWorld(t).unchecked()
	taken := map[string]int{}
	for _, o := range w.operations() {
		for i, place := range stringFields(t, o.body) {
			for name, text := range hostile {
				if name == mebibyte && i > 0 {
					continue
				}
				answer := w.Do(w.all, o.method, o.path, fresh(with(t, o.body, place, text)))
				switch {
				case answer.Status == http.StatusOK || answer.Status == http.StatusCreated:
					taken[name]++
					checkReturned(t, o, place, name, text, answer.Body)
				case answer.Status == http.StatusRequestEntityTooLarge &&
					len(text) > 1<<20, answer.Status == http.StatusNoContent:
				case answer.Status == http.StatusBadRequest:
					// One entry of mark-processed is refused in the interface's own form. Spec gap: R1.
					body := string(answer.Body)
					if !strings.Contains(body, `"pointer":"`+place+`"`) && !strings.Contains(body, `"errorMessage"`) {
						t.Errorf("%s: %s in %s: got %s, want its place", o.name, name, place, body)
					}
				default:
					t.Errorf("%s: %s in %s: got %d %s", o.name, name, place, answer.Status, answer.Body)
				}
			}
		}
	}
	for _, name := range []string{
		"SQL", "SQL with a placeholder", "bidi", "C1 and escapes", "format", "path", "markup",
		"line ends", "not normalised",
	} {
		if taken[name] < 20 {
			t.Errorf("%s was taken by %d fields, want 20: free text is kept as it was sent", name, taken[name])
		}
	}
	w.Want(http.StatusOK, w.all, "GET", "/api/v1/persons?first=1", "")
}

// checkReturned compares the sent fields with the returned ones.
func checkReturned(t *testing.T, o operation, place, name, text string, body []byte) {
	t.Helper()
	at, moved := o.shown[place]
	if !moved {
		at = place
	}
	if at == "" {
		return
	}
	var sent, got any
	if err := json.Unmarshal([]byte(text), &sent); err != nil {
		t.Errorf("%s: %s in %s was taken", o.name, name, place)
	}
	leaves(decoded(t, body), "", func(there string, value any) {
		if there == at {
			got = value
		}
	})
	if got != sent {
		t.Errorf("%s: %s in %s: got %q back, want %q", o.name, name, place, got, sent)
	}
}

// TestInjectionIntoQueries puts every hostile string into every parameter of every list:
// it finds what it names, which is nothing, or is refused with its name. Never a 5xx.
func TestInjectionIntoQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t).unchecked()
	lists := parametersOfLists(t)
	lists["/signatures/"+w.a.pledge.String()] = []string{"expires", "signature"}
	others := map[string]string{ // Parameters that go together.
		"externalReferenceId":     "externalApplicationName=x",
		"externalApplicationName": "externalReferenceId=x",
		"requestedFrom":           "requestedUntil=2026-11-20",
		"requestedUntil":          "requestedFrom=2026-11-20",
	}
	for list, parameters := range lists {
		for i, name := range parameters {
			more := others[name]
			for title, text := range hostile {
				if title == mebibyte && i > 0 {
					continue
				}
				var value string
				if err := json.Unmarshal([]byte(text), &value); err != nil {
					value = text
				}
				answer := w.get(list + "?" + name + "=" + url.QueryEscape(value) + "&" + more)
				switch {
				case answer.Status == http.StatusOK:
					if edges := answer.Object()["edges"].([]any); len(edges) != 0 {
						t.Errorf("%s: %s in %s found %d records", list, title, name, len(edges))
					}
				case answer.Status == http.StatusNotFound && strings.HasPrefix(list, "/signatures/"):
				case title == "null in words" &&
					more != "" &&
					answer.Status == http.StatusBadRequest: // Half of the null pair: the other half is named.
				case answer.Status != http.StatusBadRequest ||
					!strings.Contains(string(answer.Body), `"parameter":"`+name+`"`):
					t.Errorf("%s: %s in %s: got %d %s", list, title, name, answer.Status, answer.Body)
				}
			}
		}
	}
}

// parametersOfLists returns the parameters of each list that openapi.json has.
func parametersOfLists(t *testing.T) map[string][]string {
	t.Helper()
	const component, place = "#/components/parameters/", "before" // Lists have it.
	var document struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Name string `json:"name"`
					Ref  string `json:"$ref"`
				} `json:"parameters"`
			} `json:"get"`
		} `json:"paths"`
	}
	servicetest.Check(t, json.Unmarshal(httpapi.OpenAPI, &document))
	lists := map[string][]string{}
	for path, operations := range document.Paths {
		var names []string
		for _, p := range operations.Get.Parameters {
			names = append(names, p.Name+strings.TrimPrefix(p.Ref, component))
		}
		if slices.Contains(names, place) {
			lists[path] = names
		}
	}
	if len(lists) < 5 {
		t.Fatalf("got the lists %v of openapi.json, want 5 at least", lists)
	}
	return lists
}
