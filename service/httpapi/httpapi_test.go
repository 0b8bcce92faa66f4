package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// world is two organizations with the same records each, and tokens of both.
type world struct {
	*servicetest.Harness
	a, b    owned
	all     string // Token of an account that sees everything.
	account service.Account
}

// owned is what one organization has.
type owned struct {
	organization, person, pledge, call, transaction, focusArea apitype.UUID
	token                                                      string
}

const user = "5d0c1f7e-9f5b-4b5e-8a38-0f7a3a1d9b11"

func newWorld(t *testing.T, options ...servicetest.Option) *world {
	t.Helper()
	w := &world{Harness: servicetest.New(t, options...)}
	w.account = w.Account(servicetest.Sources("crm"))
	w.all = w.TokenOf(w.account)
	w.a, w.b = w.owned("A"), w.owned("B")
	return w
}

func (w *world) owned(name string) owned {
	o := owned{organization: w.Organization(name), transaction: apitype.NewUUID(), focusArea: apitype.NewUUID()}
	o.token = w.Token(servicetest.For(o.organization), servicetest.Sources("crm"))
	w.Load(service.LoadRecord{Kind: service.LoadFocusArea, Data: service.LoadedFocusArea{
		FocusArea: apitype.FocusArea{UUID: o.focusArea, Name: "Boats"}, OrganizationUUID: o.organization,
	}})
	o.person = w.create("/api/v1/persons", w.personBody(o))
	o.pledge = w.create("/api/v1/pledges", w.pledgeBody(o))
	o.call = w.create("/api/v1/calls", w.callBody(o))
	w.Load(service.LoadRecord{Kind: service.LoadTransaction, Data: service.LoadedTransaction{
		PledgeUUID: o.pledge,
		Transaction: apitype.Transaction{
			UUID: o.transaction, PersonUUID: o.person, Amount: apitype.Cents(1250), Method: new(apitype.PaymentQRMethod),
			Status: "paid", CreatedAt: apitype.NewTime(servicetest.Start), UpdatedAt: apitype.NewTime(servicetest.Start),
		},
	}})
	return o
}

func (w *world) personBody(o owned, more ...string) string {
	return fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"name":{"firstName":"Ada","lastName":"Jansen"}%s}`,
		o.organization, o.organization, strings.Join(more, ""))
}

func (w *world) pledgeBody(o owned, more ...string) string {
	return fmt.Sprintf(`{"personUuid":%q,"createdAt":"2026-11-20T09:00:00Z","owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,`+
		`"initialDonationInterval":"monthly","initialDonationAmount":12.50,"recruiterUserUuid":%q,"startsAt":"2026-12-01","focusAreaUuids":[%q]%s}`,
		o.person, o.organization, o.organization, user, o.focusArea, strings.Join(more, ""))
}

func (w *world) callBody(o owned, more ...string) string {
	return fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-11-20T08:00:00Z","type":"happy_call"%s}`,
		o.person, o.pledge, strings.Join(more, ""))
}

func (w *world) externalCallBody(o owned, more ...string) string {
	return fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20T08:00:00Z","externalMetadata":{"applicationName":"dialler","referenceId":"7","statusCode":"S1","additionalProperties":"{\"b\":1.50,\"a\":2}"}%s}`,
		o.person, strings.Join(more, ""))
}

// create makes a record and is its uuid.
func (w *world) create(path, body string) apitype.UUID {
	answer := w.Do(w.all, http.MethodPost, path, body)
	if answer.Status != http.StatusCreated {
		panic(fmt.Sprintf("create at %s: %d %s", path, answer.Status, answer.Body))
	}
	return apitype.MustParseUUID(answer.Object()["uuid"].(string))
}

// problemOf is the places that a problem names.
func problemOf(t *testing.T, a servicetest.Answer) (problem apitype.Problem, places []string) {
	t.Helper()
	if kind := a.Header.Get("Content-Type"); kind != "application/problem+json" {
		t.Fatalf("got %d with Content-Type %q and body %s, want a problem", a.Status, kind, a.Body)
	}
	a.Decode(&problem)
	if problem.Status != a.Status || problem.Instance != a.Header.Get("X-Request-Id") || !strings.HasPrefix(problem.Type, "urn:fundesk:problem:") || problem.Title == "" {
		t.Errorf("got problem %+v for status %d", problem, a.Status)
	}
	for _, v := range problem.Errors {
		places = append(places, v.Pointer+v.Parameter)
	}
	return problem, places
}

// TestRefusals sends one wrong request each, and wants its status and the places named.
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
		{"wrong method", "DELETE", person, "", 405, nil},
		{"malformed uuid", "GET", calls + "/1", "", 400, []string{"uuid"}},
		{"uuid in braces", "GET", calls + "/{" + unknown + "}", "", 400, []string{"uuid"}},
		{"unknown call", "GET", calls + "/" + unknown, "", 404, nil},
		{"parameter of one record", "GET", call + "?include=person", "", 400, []string{"include"}},
		{"parameter that is not text", "GET", calls + "?%b6=1", "", 400, []string{"\ufffd"}},
		{"parameter of a creation that is not text", "POST", calls + "?%b6", "0", 400, []string{"\ufffd"}},
		{"malformed query", "GET", calls + "?first=%zz", "", 400, nil},
		{"unknown parameter", "GET", calls + "?status=requested", "", 400, []string{"status"}},
		{"parameter twice", "GET", calls + "?first=1&first=2", "", 400, []string{"first"}},
		{"empty parameter", "GET", calls + "?first=", "", 400, []string{"first"}},
		{"negative page", "GET", calls + "?first=-1", "", 400, []string{"first"}},
		{"large page", "GET", persons + "?last=501", "", 400, []string{"last"}},
		{"fraction of a page", "GET", pledges + "?first=1.5", "", 400, []string{"first"}},
		{"first and last", "GET", calls + "?first=1&last=1", "", 400, []string{"last"}},
		{"bad cursors", "GET", calls + "?after=x&before=y", "", 400, []string{"after", "before"}},
		{"bad include", "GET", calls + "?include=person,donor", "", 400, []string{"include"}},
		{"lone from", "GET", calls + "?requestedFrom=2026-11-20", "", 400, []string{"requestedFrom"}},
		{"lone reference", "GET", calls + "?externalReferenceId=1", "", 400, []string{"externalApplicationName"}},
		{"half a null pair", "GET", calls + "?externalReferenceId=null&externalApplicationName=x", "", 400, []string{"externalApplicationName"}},
		{"bad pledge status", "GET", pledges + "?status=open", "", 400, []string{"status"}},
		{"broken JSON", "POST", persons, `{"iban":`, 400, []string{"/iban"}},
		{"an array", "POST", persons, `[]`, 400, []string{""}},
		{"nothing sent", "POST", persons, ``, 400, []string{"/owningOrganizationUuid", "/recruitingOrganizationUuid"}},
		{"null for what is required", "POST", calls, `{"personUuid":null,"requestedAt":null,"type":null}`, 400, []string{"/requestedAt", "/personUuid", "/type"}},
		{"unknown field", "POST", persons, w.personBody(w.a, `,"donor":true`), 400, []string{"/donor"}},
		{"wrong values", "POST", persons, w.personBody(w.a, `,"iban":"NL00BANK0123456789","email":"a@b","gender":"x","language":"xx","phoneNumber":"0612345678","dateOfBirth":"2099-01-01","socialSecurityNumber":"12-3"`), 400,
			[]string{"/dateOfBirth", "/socialSecurityNumber", "/gender", "/phoneNumber", "/email", "/language", "/iban"}},
		{"part of an address", "POST", persons, w.personBody(w.a, `,"address":{"street":"Kade"}`), 400, []string{"/address/houseNumber", "/address/zipCode", "/address/city", "/address/country"}},
		{"unknown organizations", "POST", persons, fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q}`, unknown, unknown), 400, []string{"/owningOrganizationUuid", "/recruitingOrganizationUuid"}},
		{"uuid of version 1", "POST", persons, w.personBody(w.a, `,"uuid":"c232ab00-9414-11ec-b3c8-9f6bdeced846"`), 400, []string{"/uuid"}},
		{"person taken", "POST", persons, w.personBody(w.a, `,"uuid":"`+w.b.person.String()+`"`), 409, []string{"/uuid"}},
		{"empty text in an update", "PUT", person + "/actions/update", `{"academicTitle":""}`, 400, []string{"/academicTitle"}},
		{"part of an address in an update", "PUT", person + "/actions/update", `{"address":{"city":"Delft"}}`, 400, []string{"/address/street", "/address/houseNumber", "/address/zipCode", "/address/country"}},
		{"street cleared alone", "PUT", person + "/actions/update", `{"address":{"street":null}}`, 400, []string{"/address/street"}},
		{"fields of a service-managed call", "POST", calls, w.callBody(w.a, `,"status":"requested","attempts":[],"result":{},"completedAt":"2026-11-20","cancelledAt":"2026-11-20","externalSource":{"name":"x","identifier":"y"}`), 400,
			[]string{"/status", "/cancelledAt", "/completedAt", "/externalSource", "/attempts", "/result"}},
		{"type of an external call", "POST", calls, w.externalCallBody(w.a, `,"type":"winback"`), 400, []string{"/type"}},
		{"time of another state", "POST", calls, w.externalCallBody(w.a, `,"status":"expired","completedAt":"2026-11-20"`), 400, []string{"/completedAt"}},
		{"references of a call", "POST", calls, fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"callingOrganizationUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, unknown, unknown, unknown), 400,
			[]string{"/personUuid", "/relatedCaseUuid", "/callingOrganizationUuid"}},
		{"pledge of another person", "POST", calls, fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, w.a.person, w.b.pledge), 400, []string{"/relatedCaseUuid"}},
		{"call taken", "POST", calls, w.callBody(w.a, `,"uuid":"`+w.a.call.String()+`"`), 409, []string{"/uuid"}},
		{"NUL inside encoded properties", "POST", calls, fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20","externalMetadata":{"additionalProperties":"{\"a\":\"\\u0000\"}"}}`, w.a.person), 400, []string{"/externalMetadata/additionalProperties"}},
		{"rating too high", "PUT", call + "/actions/complete", `{"result":{"donorRetentionRating":10.01,"resultCode":""}}`, 400, []string{"/result/donorRetentionRating", "/result/resultCode"}},
		{"unknown field of a move", "PUT", call + "/actions/cancel", `{"expiredAt":"2026-11-20"}`, 400, []string{"/expiredAt"}},
		{"fields of a service-managed pledge", "POST", pledges, w.pledgeBody(w.a, `,"status":"lead","donationInterval":"once","donationAmount":1,"cancelledAt":"2026-11-20","droppedAt":"2026-11-20","releasedAt":"2026-11-20"`), 400,
			[]string{"/status", "/donationInterval", "/donationAmount", "/cancelledAt", "/droppedAt", "/releasedAt"}},
		{"end before start", "POST", pledges, w.pledgeBody(w.a, `,"endsAt":"2026-11-01"`), 400, []string{"/endsAt"}},
		{"day of the month", "POST", pledges, w.pledgeBody(w.a, `,"preferredPaymentDay":29`), 400, []string{"/preferredPaymentDay"}},
		{"pledge taken", "POST", pledges, w.pledgeBody(w.a, `,"uuid":"`+w.a.pledge.String()+`"`), 409, []string{"/uuid"}},
		{"focus area of another organization", "POST", pledges, strings.Replace(w.pledgeBody(w.a), w.a.focusArea.String(), w.b.focusArea.String(), 1), 400, []string{"/focusAreaUuids/0"}},
		{"required fields cleared", "PUT", pledge + "/actions/update", `{"donationInterval":null,"donationAmount":null,"recruiterUserUuid":null,"startsAt":null}`, 400,
			[]string{"/donationInterval", "/donationAmount", "/recruiterUserUuid", "/startsAt"}},
		{"three decimals", "PUT", pledge + "/actions/update", `{"donationAmount":1.005}`, 400, []string{"/donationAmount"}},
		{"unknown action", "PUT", pledge + "/actions/release", "", 404, nil},
		{"not released", "PUT", pledge + "/actions/activate", "", 409, nil},
		{"body of an action", "PUT", pledge + "/actions/drop", `{"a":1}`, 400, []string{"/a"}},
		{"no entries", "POST", "/api/v1/entity-access/actions/mark-processed", `{}`, 400, []string{"/entries"}},
		{"entries of another type", "POST", "/api/v1/entity-access/actions/mark-processed", `{"entries":[{"entityName":1}]}`, 400, []string{"/entries/0/entityName"}},
		{"large body", "POST", persons, `{"iban":"` + strings.Repeat("x", 1<<20) + `"}`, 413, nil},
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
	person := "/api/v1/persons/" + w.a.person.String()
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
		{"405 of an action", "GET", update, "", nil, 405, map[string]string{"Allow": "PUT"}},
		{"no type", "PUT", update, `{}`, nil, 415, nil},
		{"another type", "PUT", update, `{}`, map[string]string{"Content-Type": "text/plain"}, 415, nil},
		{"another charset", "PUT", update, `{}`, map[string]string{"Content-Type": "application/json; charset=latin1"}, 415, nil},
		{"UTF-8 named", "PUT", update, `{}`, map[string]string{"Content-Type": `application/json; charset="UTF-8"`}, 200, nil},
		{"compressed", "PUT", update, `{}`, map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, 415, nil},
		{"no body, no type", "PUT", update, ``, nil, 200, nil},
		{"matching tag", "PUT", update, ``, map[string]string{"If-Match": `"9", "1"`}, 200, nil},
		{"any tag", "PUT", update, ``, map[string]string{"If-Match": `*`}, 200, nil},
		{"another tag", "PUT", update, ``, map[string]string{"If-Match": `"2"`}, 412, nil},
		{"weak tag", "PUT", update, ``, map[string]string{"If-Match": `W/"1"`}, 412, nil},
		{"412 before 409", "PUT", "/api/v1/pledges/" + w.a.pledge.String() + "/actions/activate", ``, map[string]string{"If-Match": `"2"`}, 412, nil},
		{"404 before 412", "PUT", "/api/v1/calls/" + user + "/actions/cancel", ``, map[string]string{"If-Match": `"2"`}, 404, nil},
		{"no bearer", "GET", person, "", map[string]string{"Authorization": "Basic eDp5"}, 401, map[string]string{"Www-Authenticate": `Bearer realm="fundesk"`}},
		{"lower case scheme", "GET", person, "", map[string]string{"Authorization": "bearer " + w.all}, 200, nil},
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
	odd := request("GET", person, "", map[string]string{"X-Request-Id": "a\tb"})
	if id := odd.Header.Get("X-Request-Id"); id == "a\tb" || id == "" {
		t.Errorf("got request id %q for one that is not printable", id)
	}
}

// TestMissingPermissions takes each permission in turn: exactly its operations are 403,
// before anything of the request is looked at. Spec gap: R3.
func TestMissingPermissions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	operations := []struct {
		permission   service.Permission
		method, path string
	}{
		{service.PersonsRead, "GET", "/api/v1/persons?x=1"},
		{service.PersonsRead, "GET", "/api/v1/persons/x"},
		{service.PersonsCreate, "POST", "/api/v1/persons"},
		{service.PersonsUpdate, "PUT", "/api/v1/persons/x/actions/update"},
		{service.CallsRead, "GET", "/api/v1/calls?x=1"},
		{service.CallsRead, "GET", "/api/v1/calls/x"},
		{service.CallsCreate, "POST", "/api/v1/calls"},
		{service.CallsAttempt, "PUT", "/api/v1/calls/x/actions/add-attempt"},
		{service.CallsComplete, "PUT", "/api/v1/calls/x/actions/complete"},
		{service.CallsCancel, "PUT", "/api/v1/calls/x/actions/cancel"},
		{service.CallsExpire, "PUT", "/api/v1/calls/x/actions/expire"},
		{service.PledgesRead, "GET", "/api/v1/pledges?x=1"},
		{service.PledgesRead, "GET", "/api/v1/pledges/x"},
		{service.PledgesCreate, "POST", "/api/v1/pledges"},
		{service.PledgesUpdate, "PUT", "/api/v1/pledges/x/actions/update"},
		{service.PledgesAct, "PUT", "/api/v1/pledges/x/actions/drop"},
		{service.EntitiesMark, "POST", "/api/v1/entity-access/actions/mark-processed"},
	}
	for _, p := range service.Permissions {
		token := w.Token(servicetest.MayNot(p))
		for _, o := range operations {
			want := http.StatusBadRequest // Each of these requests is wrong in itself.
			if o.permission == p {
				want = http.StatusForbidden
			}
			if got := w.Do(token, o.method, o.path, ""); got.Status != want {
				t.Errorf("%s %s without %s: got %d, want %d", o.method, o.path, p, got.Status, want)
			}
		}
	}
	token := w.Token(servicetest.MayNot(service.PersonsRead, service.PledgesRead))
	for include, want := range map[string]int{"person": 403, "personQualityResult": 403, "pledge": 403, "transactions": 403, "recruiterFullName": 200} {
		if got := w.Do(token, "GET", "/api/v1/calls?include="+include, ""); got.Status != want {
			t.Errorf("include=%s: got %d, want %d", include, got.Status, want)
		}
	}
	call := w.Do(token, "GET", "/api/v1/calls/"+w.a.call.String(), "").Object()
	for _, name := range []string{"person", "pledgeCase", "transactions"} {
		if value, there := call[name]; !there || value != nil {
			t.Errorf("got %s %v in a call, want null", name, value)
		}
	}
}

var (
	anyUUID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anyTime = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)
)

// TestForeignRecords shows that another organization's record answers like one that
// does not exist, on every operation and in every reference. Spec gaps: R2, A3, L8.
func TestForeignRecords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := owned{organization: apitype.NewUUID(), person: apitype.NewUUID(), pledge: apitype.NewUUID(), call: apitype.NewUUID(), transaction: apitype.NewUUID(), focusArea: apitype.NewUUID()}
	mark := func(name string, id apitype.UUID) string {
		return fmt.Sprintf(`{"entries":[{"entityName":%q,"entityUuid":%q,"processedAt":"2026-11-20"}]}`, name, id)
	}
	operations := []struct {
		name string
		send func(o owned) servicetest.Answer
	}{
		{"get person", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "GET", "/api/v1/persons/"+o.person.String(), "")
		}},
		{"update person", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "PUT", "/api/v1/persons/"+o.person.String()+"/actions/update", `{}`)
		}},
		{"get call", func(o owned) servicetest.Answer { return w.Do(w.a.token, "GET", "/api/v1/calls/"+o.call.String(), "") }},
		{"attempt", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "PUT", "/api/v1/calls/"+o.call.String()+"/actions/add-attempt", `{}`)
		}},
		{"complete", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "PUT", "/api/v1/calls/"+o.call.String()+"/actions/complete", `{}`)
		}},
		{"cancel", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "PUT", "/api/v1/calls/"+o.call.String()+"/actions/cancel", `{}`)
		}},
		{"expire", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "PUT", "/api/v1/calls/"+o.call.String()+"/actions/expire", `{}`)
		}},
		{"get pledge", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "GET", "/api/v1/pledges/"+o.pledge.String(), "")
		}},
		{"update pledge", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "PUT", "/api/v1/pledges/"+o.pledge.String()+"/actions/update", `{"endsAt":"1999-01-01"}`)
		}},
		{"act on pledge", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "PUT", "/api/v1/pledges/"+o.pledge.String()+"/actions/activate", "")
		}},
		{"create person for it", func(o owned) servicetest.Answer { return w.Do(w.a.token, "POST", "/api/v1/persons", w.personBody(o)) }},
		{"create pledge for it", func(o owned) servicetest.Answer { return w.Do(w.a.token, "POST", "/api/v1/pledges", w.pledgeBody(o)) }},
		{"create call for it", func(o owned) servicetest.Answer { return w.Do(w.a.token, "POST", "/api/v1/calls", w.callBody(o)) }},
		{"filter persons", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "GET", "/api/v1/persons?owningOrganizationUuids="+o.organization.String(), "")
		}},
		{"filter calls", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "GET", "/api/v1/calls?owningOrganizationUuid="+o.organization.String(), "")
		}},
		{"filter pledges", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "GET", "/api/v1/pledges?personUuid="+o.person.String(), "")
		}},
		{"mark person", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "POST", "/api/v1/entity-access/actions/mark-processed", mark("person", o.person))
		}},
		{"mark pledge", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "POST", "/api/v1/entity-access/actions/mark-processed", mark("pledge", o.pledge))
		}},
		{"mark call", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "POST", "/api/v1/entity-access/actions/mark-processed", mark("call", o.call))
		}},
		{"mark transaction", func(o owned) servicetest.Answer {
			return w.Do(w.a.token, "POST", "/api/v1/entity-access/actions/mark-processed", mark("transaction", o.transaction))
		}},
	}
	for _, o := range operations {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			foreign, unknown := o.send(w.b), o.send(none)
			masked := func(a servicetest.Answer) string {
				return fmt.Sprint(a.Status, " ", anyUUID.ReplaceAllString(string(a.Body), "ID"))
			}
			if diff := cmp.Diff(masked(unknown), masked(foreign)); diff != "" {
				t.Errorf("a foreign record answers unlike an unknown one: %s", diff)
			}
			if foreign.Status >= 500 || foreign.Status == 201 {
				t.Errorf("got %d", foreign.Status)
			}
		})
	}
}

// TestPersonLife creates, updates and clears a person.
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
	if diff := cmp.Diff(want, created.Object()); diff != "" {
		t.Errorf("created: %s", diff)
	}
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
	node := page(t, w.Do(w.a.token, "GET", "/api/v1/persons?iban=x&first=1", ""))
	if len(node.Edges) != 0 {
		t.Errorf("got %d persons of an unknown IBAN", len(node.Edges))
	}
}

type envelope struct {
	PageInfo apitype.PageInfo `json:"pageInfo"`
	Edges    []struct {
		Node   map[string]any `json:"node"`
		Cursor string         `json:"cursor"`
	} `json:"edges"`
}

func page(t *testing.T, a servicetest.Answer) (e envelope) {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Fatalf("got %d %s, want a page", a.Status, a.Body)
	}
	a.Decode(&e)
	return e
}

// TestCallLife completes a call, and repeats it. Spec gaps: C2, C8.
func TestCallLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/api/v1/calls/" + w.a.call.String() + "/actions/"
	w.Clock.Advance(time.Minute)
	attempted := w.Do(w.a.token, "PUT", path+"add-attempt", `{"userUuid":"`+user+`","attemptAt":"2026-11-20T10:00:00+01:00"}`).Object()
	wantAttempts := []any{map[string]any{"userUuid": user, "attemptAt": "2026-11-20T09:00:00.000Z", "createdAt": "2026-11-20T09:16:00.000Z"}}
	if diff := cmp.Diff(wantAttempts, attempted["attempts"]); diff != "" || attempted["attemptsCount"] != 1.0 || attempted["lastUpdatedAt"] != "2026-11-20T09:16:00.000Z" {
		t.Errorf("attempt: %v %v %s", attempted["attemptsCount"], attempted["lastUpdatedAt"], diff)
	}
	w.Clock.Advance(time.Minute)
	body := `{"userUuid":"` + user + `","result":{"resultCode":"yes","notes":"glad","donorRetentionRating":8.50}}`
	completed := w.Do(w.a.token, "PUT", path+"complete", body)
	call := completed.Object()
	wantResult := map[string]any{"resultCode": "yes", "completedAt": "2026-11-20T09:17:00.000Z", "notes": "glad", "donorRetentionRating": 8.5}
	if diff := cmp.Diff(wantResult, call["result"]); diff != "" || call["status"] != "completed" || call["completedAt"] != "2026-11-20T09:17:00.000Z" {
		t.Errorf("completed: %v %v %s", call["status"], call["completedAt"], diff)
	}
	if !strings.Contains(string(completed.Body), `"donorRetentionRating":8.50`) {
		t.Error("the rating lost a digit")
	}
	w.Clock.Advance(time.Minute)
	again := w.Do(w.a.token, "PUT", path+"complete", body)
	if again.Status != 200 || string(again.Body) != string(completed.Body) {
		t.Errorf("got %d %s for the same move again", again.Status, again.Body)
	}
	for _, move := range []struct{ action, body string }{
		{"complete", `{"result":{"notes":"other"}}`}, {"cancel", ""}, {"expire", ""}, {"add-attempt", ""},
	} {
		answer := w.Do(w.a.token, "PUT", path+move.action, move.body)
		problem, _ := problemOf(t, answer)
		if answer.Status != 409 || !strings.Contains(problem.Detail, "completed") {
			t.Errorf("%s: got %d %q, want a conflict that names the status", move.action, answer.Status, problem.Detail)
		}
	}
}

// TestExternalCall shows what an external call is answered with. Spec gap: C9.
func TestExternalCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.Do(w.a.token, "POST", "/api/v1/calls", w.externalCallBody(w.a,
		`,"status":"completed","completedAt":"2026-11-19T10:00:00Z","attempts":[{"createdAt":"2026-11-19T09:00:00Z"}],"result":{"resultCode":"ok"},"externalSource":{"name":"x","identifier":"y"}`))
	call := answer.Object()
	if answer.Status != 201 || call["type"] != "verification" || call["attemptsCount"] != 1.0 || call["completedAt"] != "2026-11-19T10:00:00.000Z" {
		t.Errorf("got %d %s", answer.Status, answer.Body)
	}
	if !strings.Contains(string(answer.Body), `"additionalProperties":{"b":1.50,"a":2}`) {
		t.Errorf("the properties changed: %s", answer.Body)
	}
	path := "/api/v1/calls/" + call["uuid"].(string) + "/actions/"
	moved := w.Do(w.a.token, "PUT", path+"cancel", `{"cancelledAt":"2026-11-20"}`).Object()
	if moved["status"] != "cancelled" || moved["completedAt"] != nil || moved["result"] != nil {
		t.Errorf("got %v, want a cancelled call without a result", moved)
	}
	for query, want := range map[string]int{
		"externalApplicationName=dialler&externalReferenceId=7": 1,
		"externalApplicationName=null&externalReferenceId=null": 2,
		"externalStatusCode=S1":                                 1,
		"externalStatusCode=s1":                                 0,
	} {
		if got := page(t, w.Do(w.all, "GET", "/api/v1/calls?"+query, "")); len(got.Edges) != want {
			t.Errorf("%s: got %d calls, want %d", query, len(got.Edges), want)
		}
	}
}

// TestMaximumAttempts shows that parallel attempts never pass the maximum. Spec gap: C5.
func TestMaximumAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	limited := service.Organization{MaxCallAttempts: new(5), CoolingOff: time.Hour}
	limited.Name, limited.Abbreviation = "Limited", "L"
	o := owned{organization: w.OrganizationWith(limited)}
	o.person = w.create("/api/v1/persons", w.personBody(o))
	id := w.create("/api/v1/calls", fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20","type":"winback"}`, o.person))
	statuses := parallel(20, func(int) int {
		return w.Do(w.all, "PUT", "/api/v1/calls/"+id.String()+"/actions/add-attempt", "").Status
	})
	if statuses[200] != 5 || statuses[409] != 15 {
		t.Errorf("got %v, want 5 attempts and 15 refusals", statuses)
	}
	if call := w.Do(w.all, "GET", "/api/v1/calls/"+id.String(), "").Object(); call["attemptsCount"] != 5.0 || len(call["attempts"].([]any)) != 5 {
		t.Errorf("got %v attempts", call["attemptsCount"])
	}
}

// parallel runs n requests at once, and counts their statuses.
func parallel(n int, send func(i int) int) map[int]int {
	var mu sync.Mutex
	var group sync.WaitGroup
	statuses := map[int]int{}
	for i := range n {
		group.Go(func() {
			status := send(i)
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	group.Wait()
	return statuses
}

func TestConcurrentCreation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := apitype.NewUUID().String()
	bodies := map[string]string{"persons": w.personBody(w.a, `,"uuid":"`+id+`"`), "pledges": w.pledgeBody(w.a, `,"uuid":"`+id+`"`), "calls": w.callBody(w.a, `,"uuid":"`+id+`"`)}
	for kind, body := range bodies {
		statuses := parallel(32, func(int) int { return w.Do(w.all, "POST", "/api/v1/"+kind, body).Status })
		if statuses[201] != 1 || statuses[409] != 31 {
			t.Errorf("%s: got %v, want one 201 and 31 conflicts", kind, statuses)
		}
	}
}

func TestConcurrentMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 10 {
		id := w.create("/api/v1/calls", w.callBody(w.a))
		actions := []string{"complete", "cancel", "expire"}
		statuses := parallel(3, func(i int) int {
			return w.Do(w.all, "PUT", "/api/v1/calls/"+id.String()+"/actions/"+actions[i], "").Status
		})
		if statuses[200] != 1 || statuses[409] != 2 {
			t.Errorf("got %v, want one move", statuses)
		}
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

// TestPledgeLife drops, releases, activates, cancels and fulfils. Spec gaps: G1, G2.
func TestPledgeLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	act := func(id apitype.UUID, action string) servicetest.Answer {
		return w.Do(w.a.token, "PUT", "/api/v1/pledges/"+id.String()+"/actions/"+action, "")
	}
	dropped := w.create("/api/v1/pledges", w.pledgeBody(w.a))
	ended := w.create("/api/v1/pledges", w.pledgeBody(w.a, `,"endsAt":"2026-12-24"`))
	if got := act(dropped, "drop").Object(); got["status"] != "dropped" {
		t.Errorf("got %v", got["status"])
	}
	releasedAfter := "/api/v1/pledges?releasedAfter=2026-11-20T09:15:00Z"
	if got := page(t, w.Do(w.a.token, "GET", releasedAfter, "")); len(got.Edges) != 0 {
		t.Errorf("got %d released pledges before the time", len(got.Edges))
	}
	w.Clock.Advance(service.DefaultCoolingOff - time.Millisecond)
	if got := act(ended, "activate"); got.Status != 409 {
		t.Errorf("got %d a millisecond before the release, want 409", got.Status)
	}
	w.Clock.Advance(time.Millisecond)
	released := page(t, w.Do(w.a.token, "GET", releasedAfter, ""))
	if len(released.Edges) != 2 || released.Edges[0].Node["releasedAt"] != "2026-12-04T09:15:00.000Z" || released.Edges[0].Node["updatedAt"] != "2026-11-20T09:15:00.000Z" {
		t.Errorf("got %d released pledges, the first %v, want 2", len(released.Edges), released.Edges)
	}
	steps := []struct {
		action string
		status int
		state  string
	}{
		{"drop", 409, "lead"}, {"activate", 200, "active"}, {"activate", 200, "active"}, {"fulfill", 409, "active"},
	}
	for _, step := range steps {
		answer := act(ended, step.action)
		if answer.Status != step.status || (answer.Status == 200 && answer.Object()["status"] != step.state) {
			t.Errorf("%s: got %d %s, want %d %s", step.action, answer.Status, answer.Body, step.status, step.state)
		}
	}
	w.Clock.Set(time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC))
	if got := act(ended, "fulfill"); got.Status != 200 || got.Object()["updatedAt"] != "2026-12-24T00:00:00.000Z" {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	if got := act(dropped, "activate"); got.Status != 409 {
		t.Errorf("got %d for a dropped pledge, want 409", got.Status)
	}
	if got := w.Do(w.a.token, "GET", "/api/v1/pledges/"+dropped.String(), "").Object(); got["releasedAt"] != nil {
		t.Errorf("got releasedAt %v of a dropped pledge", got["releasedAt"])
	}
}

// TestExternalRelease shows that an external pledge's release is as supplied, also in
// the future. Spec gap: G2.
func TestExternalRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.create("/api/v1/pledges", w.pledgeBody(w.a, `,"externalSource":{"name":"x","identifier":"y"},"releasedAt":"2027-01-01"`))
	found := page(t, w.Do(w.a.token, "GET", "/api/v1/pledges?releasedAfter=2026-12-31", ""))
	if len(found.Edges) != 1 || found.Edges[0].Node["uuid"] != id.String() || found.Edges[0].Node["releasedAt"] != "2027-01-01T00:00:00.000Z" {
		t.Errorf("got %v", found.Edges)
	}
}

// TestPledgeUpdate covers what may be changed in which mode. Spec gaps: G5, G8.
func TestPledgeUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	external := w.create("/api/v1/pledges", w.pledgeBody(w.a, `,"externalSource":{"name":"x","identifier":"y"},"status":"active","donationAmount":1e2,"releasedAt":"2026-11-01","endsAt":"2026-01-01"`))
	update := func(id apitype.UUID, body string) servicetest.Answer {
		return w.Do(w.a.token, "PUT", "/api/v1/pledges/"+id.String()+"/actions/update", body)
	}
	_, places := problemOf(t, update(external, `{"donationInterval":"once","donationAmount":1,"endsAt":null}`))
	if diff := cmp.Diff([]string{"/donationInterval", "/donationAmount", "/endsAt"}, places); diff != "" {
		t.Error(diff)
	}
	got := update(external, `{"recruitingLocationLabel":"Markt","externalMetadata":{"z":1.0,"a":[]}}`)
	if got.Status != 200 || !strings.Contains(string(got.Body), `"externalMetadata":{"z":1.0,"a":[]}`) || got.Object()["donationAmount"] != 100.0 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	w.Clock.Advance(time.Minute)
	got = update(w.a.pledge, `{"donationAmount":12.500,"donationInterval":"yearly","endsAt":"2027-01-01"}`)
	pledge := got.Object()
	if pledge["donationAmount"] != 12.5 || pledge["initialDonationInterval"] != "monthly" || pledge["donationInterval"] != "yearly" || pledge["updatedAt"] != "2026-11-20T09:16:00.000Z" {
		t.Errorf("got %s", got.Body)
	}
	_, places = problemOf(t, update(w.a.pledge, `{"startsAt":"2027-01-02"}`))
	if diff := cmp.Diff([]string{"/endsAt"}, places); diff != "" {
		t.Error(diff)
	}
}

// TestRecruitedPledge shows that the recruiting organization sees a pledge, with null
// for the person that it may not see, and cannot change it. Spec gap: A3.
func TestRecruitedPledge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := strings.Replace(w.pledgeBody(w.a), `"recruitingOrganizationUuid":"`+w.a.organization.String(), `"recruitingOrganizationUuid":"`+w.b.organization.String(), 1)
	path := "/api/v1/pledges/" + w.create("/api/v1/pledges", body).String()
	got := w.Do(w.b.token, "GET", path, "")
	if got.Status != 200 || got.Object()["person"] != nil || len(got.Object()["calls"].([]any)) != 0 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	for _, action := range []string{"/actions/update", "/actions/drop"} {
		if got := w.Do(w.b.token, "PUT", path+action, ""); got.Status != 403 {
			t.Errorf("%s: got %d, want 403", action, got.Status)
		}
	}
}

// TestEmbedded compares which objects come with which answer. Spec gaps: L10, L14.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	embedded := []string{"externalMetadata", "attempts", "result", "pledgeCase", "person", "transactions", "calls", "recruiterUser", "focusAreas", "externalSource", "owningOrganization", "qualityResult", "address", "mandate"}
	names := func(value any) (found []string) {
		object, _ := value.(map[string]any)
		for _, name := range embedded {
			if _, there := object[name]; there {
				found = append(found, name)
			}
		}
		return found
	}
	node := func(path string) map[string]any {
		for _, edge := range page(t, w.Do(w.all, "GET", path, "")).Edges {
			return edge.Node
		}
		t.Fatalf("%s: no record", path)
		return nil
	}
	list := []string{"externalMetadata", "attempts", "result"}
	inList := []string{"externalMetadata", "recruiterUser", "focusAreas", "externalSource", "owningOrganization"}
	person := []string{"owningOrganization", "address", "mandate"}
	whole := []string{"externalMetadata", "person", "transactions", "calls", "recruiterUser", "focusAreas", "externalSource", "owningOrganization"}
	call := w.Do(w.all, "GET", "/api/v1/calls/"+w.a.call.String(), "").Object()
	pledge := w.Do(w.all, "GET", "/api/v1/pledges/"+w.a.pledge.String(), "").Object()
	everything := node("/api/v1/calls?include=personQualityResult,pledge,transactions")
	tests := []struct {
		name      string
		got, want []string
	}{
		{"call list", names(node("/api/v1/calls")), list},
		{"call list with recruiterFullName", names(node("/api/v1/calls?include=recruiterFullName")), list},
		{"call list with person", names(node("/api/v1/calls?include=person")["person"]), person},
		{"call list with quality", names(everything["person"]), []string{"owningOrganization", "qualityResult", "address", "mandate"}},
		{"call list with pledge", names(node("/api/v1/calls?include=pledge")["pledgeCase"]), inList},
		{"call list with transactions", names(node("/api/v1/calls?include=transactions")), append(slices.Clone(list), "transactions")},
		{"pledge of a call list with transactions", names(everything["pledgeCase"]), []string{"externalMetadata", "transactions", "recruiterUser", "focusAreas", "externalSource", "owningOrganization"}},
		{"call", names(call), []string{"externalMetadata", "attempts", "result", "pledgeCase", "person", "transactions"}},
		{"pledge of a call", names(call["pledgeCase"]), whole},
		{"call of a pledge of a call", names(call["pledgeCase"].(map[string]any)["calls"].([]any)[0]), list},
		{"pledge", names(pledge), whole},
		{"pledge list", names(node("/api/v1/pledges")), inList},
		{"pledge list with transactions", names(node("/api/v1/pledges?include=transactions")), []string{"externalMetadata", "transactions", "recruiterUser", "focusAreas", "externalSource", "owningOrganization"}},
		{"person list", names(node("/api/v1/persons")), person},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	for query, want := range map[string]int{"withPaymentQr=true": 2, "withPaymentQr=false": 0} {
		if got := page(t, w.Do(w.all, "GET", "/api/v1/pledges?"+query, "")); len(got.Edges) != want {
			t.Errorf("%s: got %d pledges, want %d", query, len(got.Edges), want)
		}
	}
}

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

// TestRevocation shows that it works on the next request. Spec gap: A4.
func TestRevocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if got := w.Do(w.all, "GET", "/api/v1/persons", ""); got.Status != 200 {
		t.Fatalf("got %d", got.Status)
	}
	if _, err := w.Service.RevokeAccount(t.Context(), w.account.UUID); err != nil {
		t.Fatal(err)
	}
	revoked, forged := w.Do(w.all, "GET", "/api/v1/persons", ""), w.Do("x.y.z", "GET", "/api/v1/persons", "")
	mask := func(a servicetest.Answer) string { return anyUUID.ReplaceAllString(string(a.Body), "ID") }
	if revoked.Status != 401 || mask(revoked) != mask(forged) {
		t.Errorf("got %d %s, want 401 like %s", revoked.Status, revoked.Body, forged.Body)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, servicetest.WithRate(100))
	statuses := map[int]int{}
	for range 110 {
		statuses[w.Do(w.b.token, "GET", "/api/v1/persons?first=0", "").Status]++
	}
	if statuses[200] != 100 || statuses[429] != 10 {
		t.Errorf("got %v, want 100 answers and 10 refusals", statuses)
	}
	refused := w.Do(w.b.token, "GET", "/api/v1/persons", "")
	if refused.Header.Get("Retry-After") != "1" {
		t.Errorf("got Retry-After %q, want 1", refused.Header.Get("Retry-After"))
	}
	if got := w.Do(w.a.token, "GET", "/api/v1/persons", ""); got.Status != 200 {
		t.Errorf("got %d for another account", got.Status)
	}
	w.Clock.Advance(time.Second)
	if got := w.Do(w.b.token, "GET", "/api/v1/persons", ""); got.Status != 200 {
		t.Errorf("got %d a second later", got.Status)
	}
}

// TestSignature follows a link to a signature file, and tries to bend it. Spec gap: G10.
func TestSignature(t *testing.T) {
	t.Parallel()
	w := newWorld(t, servicetest.WithBaseURL("https://donors.example.org/"))
	signed := service.LoadedPledge{PersonUUID: &w.a.person, Signature: []byte("\x89PNG\r\n\x1a\n0000")}
	signed.UUID, signed.Status, signed.StartsAt, signed.CreatedAt = apitype.NewUUID(), apitype.PledgeLead, apitype.NewTime(servicetest.Start), apitype.NewTime(servicetest.Start)
	signed.OwningOrganizationUUID, signed.RecruitingOrganizationUUID = w.a.organization, w.a.organization
	signed.RecruiterUserUUID, signed.InitialDonationInterval = apitype.MustParseUUID(user), "once"
	w.Load(service.LoadRecord{Kind: service.LoadPledge, Data: signed})
	link, _ := w.Do(w.a.token, "GET", "/api/v1/pledges/"+signed.UUID.String(), "").Object()["signatureSignedUrl"].(string)
	path, ours := strings.CutPrefix(link, "https://donors.example.org")
	if !ours {
		t.Fatalf("got link %q", link)
	}
	got := w.Do("", "GET", path, "")
	if got.Status != 200 || got.Header.Get("Content-Type") != "image/png" || string(got.Body) != string(signed.Signature) {
		t.Errorf("got %d %v", got.Status, got.Header)
	}
	for name, bent := range map[string]string{
		"another pledge": strings.Replace(path, signed.UUID.String(), w.a.pledge.String(), 1),
		"a later end":    strings.Replace(path, "expires=1", "expires=2", 1),
		"no signature":   path[:strings.Index(path, "&")],
		"no parameters":  path[:strings.Index(path, "?")],
	} {
		if got := w.Do("", "GET", bent, ""); got.Status != 404 {
			t.Errorf("%s: got %d, want 404", name, got.Status)
		}
	}
	w.Clock.Advance(time.Hour + time.Second)
	if got := w.Do("", "GET", path, ""); got.Status != 404 {
		t.Errorf("got %d after the hour, want 404", got.Status)
	}
}

// TestLog shows that a line of the log holds no value of the request.
func TestLog(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	w := newWorld(t, servicetest.WithLog(&log))
	w.Do(w.all, "GET", "/api/v1/persons?iban=NL91ABNA0417164300", "")
	w.Do(w.all, "PUT", "/api/v1/persons/"+w.a.person.String()+"/actions/update", `{"email":"secret@example.org"}`)
	text := log.String()
	for _, secret := range []string{"NL91", "secret@", w.all, w.a.person.String(), "Jansen"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if !strings.Contains(text, `route="PUT /api/v1/persons/{uuid}/actions/update" account=`+w.account.UUID.String()+" status=200") {
		t.Errorf("got log %s", text)
	}
}

type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to the text.
func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestOpenRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json"} {
		if got := w.Do("", "GET", path, ""); got.Status != 200 {
			t.Errorf("%s: got %d", path, got.Status)
		}
	}
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.Do("", "GET", "/readyz", ""); got.Status != 503 {
		t.Errorf("got %d without a database, want 503", got.Status)
	}
	if got := w.Do("", "GET", "/healthz", ""); got.Status != 200 {
		t.Errorf("got %d, want 200", got.Status)
	}
	if got := w.Do(w.all, "GET", "/api/v1/persons", ""); got.Status != 500 || anyTime.Match(got.Body) {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

// TestHead shows that HEAD is GET without a body, over a real connection.
func TestHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, w.URL+"/api/v1/persons/"+w.a.person.String(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.all)
	for name, transport := range map[string]http.RoundTripper{"server": http.DefaultTransport, "process": w.Transport()} {
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if response.StatusCode != 200 || response.ContentLength <= 0 {
			t.Errorf("%s: got %d with %d bytes", name, response.StatusCode, response.ContentLength)
		}
	}
}

// TestKeptJSON shows that a record of the longest values is kept whole.
func TestKeptJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	notes := strings.Repeat("é\n\"<&\u2028", 20000/6)
	text, err := json.Marshal(notes)
	if err != nil {
		t.Fatal(err)
	}
	got := w.Do(w.all, "POST", "/api/v1/calls", w.callBody(w.a, `,"notes":`+string(text)))
	if got.Status != 201 || got.Object()["notes"] != notes {
		t.Errorf("got %d, and the notes differ", got.Status)
	}
}
