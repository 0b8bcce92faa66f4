package httpapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// What the records of TestWhatRoutesShow hold in every field of a kind that can.
const (
	ofPerson = "CANARYPERSON"
	ofCall   = "CANARYCALL"
	ofPledge = "CANARYPLEDGE"
)

// shownWorld is a service with one record of each kind, full of canaries, that notes reads.
type shownWorld struct {
	*world
	person, call, pledge, lease apitype.UUID
}

func newShownWorld(t *testing.T) *shownWorld {
	t.Helper()
	w := &shownWorld{world: newWorld(t), person: apitype.NewUUID(), call: apitype.NewUUID(), pledge: apitype.NewUUID()}
	noted, err := service.New(t.Context(), service.Options{Store: w.Store, Now: w.Clock.Now, AuditReads: true})
	servicetest.Check(t, err)
	w.Service, w.Handler = noted, httpapi.New(httpapi.Options{Service: noted, Now: w.Clock.Now})
	at, o, user := apitype.NewTime(w.Clock.Now().Add(-time.Hour)), w.a.organization, apitype.NewUUID()
	canary := new(ofPerson)
	person := service.LoadedPerson{OwningOrganizationUUID: o, RecruitingOrganizationUUID: o, Person: apitype.Person{
		UUID: w.person, CreatedAt: at, AcademicTitle: canary, Initials: canary, FirstName: canary, LastNamePrefix: canary, LastName: canary, Email: new(ofPerson + "@example.org"),
		Address: apitype.Embed(apitype.Address{Street: ofPerson, HouseNumber: "1", ZipCode: "1", City: ofPerson, Country: "NL"}),
	}}
	metadata := apitype.Object(`{"x":"` + ofPledge + `"}`)
	pledge := service.LoadedPledge{PersonUUID: &w.person, Pledge: apitype.Pledge{
		UUID: w.pledge, Status: apitype.PledgeActive, StartsAt: at, CreatedAt: at, UpdatedAt: at, OwningOrganizationUUID: o, RecruitingOrganizationUUID: o,
		InitialDonationAmount: apitype.Cents(100), DonationAmount: apitype.Cents(100), InitialDonationInterval: "monthly", DonationInterval: "monthly",
		RecruiterUserUUID: user, ExternalMetadata: &metadata, RecruitingLocationLabel: new(ofPledge),
	}}
	transaction := service.LoadedTransaction{PledgeUUID: w.pledge, Transaction: apitype.Transaction{
		UUID: apitype.NewUUID(), PersonUUID: &w.person, Amount: apitype.Cents(100), Name: canary, IBAN: canary, Description: canary, Method: new("m"), CreatedAt: at, UpdatedAt: at,
	}}
	call := service.LoadedCall{Call: apitype.Call{
		UUID: w.call, Status: apitype.CallRequested, Type: apitype.CallHappy, RequestedAt: at, LastUpdatedAt: at, PersonUUID: w.person, RelatedCaseUUID: &w.pledge, Notes: new(ofCall),
	}}
	w.Load(service.LoadRecord{Kind: service.LoadPerson, Data: person}, service.LoadRecord{Kind: service.LoadPledge, Data: pledge},
		service.LoadRecord{Kind: service.LoadCall, Data: call}, service.LoadRecord{Kind: service.LoadTransaction, Data: transaction})
	w.lease = apitype.NewUUID()
	return w
}

// requests are a request of each route, by method and path of openapi.json, which shows what it can.
func (w *shownWorld) requests() map[string][2]string {
	user, calls, persons, pledges := apitype.NewUUID(), "/api/v1/calls", "/api/v1/persons", "/api/v1/pledges"
	call, person, pledge, queued := calls+"/"+w.call.String(), persons+"/"+w.person.String(), pledges+"/"+w.pledge.String(), "/fundesk/v1/queue/calls/"+w.call.String()
	lease := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"leaseSeconds":60}`, apitype.NewUUID(), user)
	take := strings.Replace(lease, "{", `{"count":10,`, 1)
	return map[string][2]string{
		"GET /api/v1/persons":                                     {persons, ""},
		"POST /api/v1/persons":                                    {persons, w.personBody(w.a)},
		"GET /api/v1/persons/{uuid}":                              {person, ""},
		"PUT /api/v1/persons/{uuid}/actions/update":               {person + "/actions/update", `{}`},
		"GET /api/v1/calls":                                       {calls + "?include=person,personQualityResult,pledge,transactions", ""},
		"POST /api/v1/calls":                                      {calls, fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-01-01","type":"winback"}`, w.person, w.pledge)},
		"GET /api/v1/calls/{uuid}":                                {call, ""},
		"PUT /api/v1/calls/{uuid}/actions/add-attempt":            {call + "/actions/add-attempt", `{}`},
		"PUT /api/v1/calls/{uuid}/actions/complete":               {call + "/actions/complete", `{}`},
		"PUT /api/v1/calls/{uuid}/actions/cancel":                 {call + "/actions/cancel", `{}`},
		"PUT /api/v1/calls/{uuid}/actions/expire":                 {call + "/actions/expire", `{}`},
		"GET /api/v1/pledges":                                     {pledges + "?include=transactions", ""},
		"POST /api/v1/pledges":                                    {pledges, w.pledgeBody(w.a, "")},
		"GET /api/v1/pledges/{uuid}":                              {pledge, ""},
		"PUT /api/v1/pledges/{uuid}/actions/update":               {pledge + "/actions/update", `{}`},
		"PUT /api/v1/pledges/{uuid}/actions/{statusUpdateAction}": {pledge + "/actions/cancel", `{}`},
		"POST /api/v1/entity-access/actions/mark-processed":       {"/api/v1/entity-access/actions/mark-processed", fmt.Sprintf(`{"entries":[{"entityName":"person","entityUuid":%q,"processedAt":"2026-01-01"}]}`, w.person)},
		"GET /fundesk/v1":                                         {"/fundesk/v1", ""},
		"GET /fundesk/v1/queue":                                   {"/fundesk/v1/queue", ""},
		"GET /fundesk/v1/queue/calls":                             {"/fundesk/v1/queue/calls", ""},
		"GET /fundesk/v1/queue/leases":                            {"/fundesk/v1/queue/leases", ""},
		"GET /fundesk/v1/queue/deferrals":                         {"/fundesk/v1/queue/deferrals", ""},
		"GET /fundesk/v1/queue/agents":                            {"/fundesk/v1/queue/agents", ""},
		"POST /fundesk/v1/queue/take":                             {"/fundesk/v1/queue/take", take},
		"POST /fundesk/v1/queue/release":                          {"/fundesk/v1/queue/release", fmt.Sprintf(`{"userUuid":%q,"deferrals":true}`, user)},
		"POST /fundesk/v1/queue/leases/{uuid}/extend":             {"/fundesk/v1/queue/leases/" + w.lease.String() + "/extend", `{"leaseSeconds":60}`},
		"POST /fundesk/v1/queue/leases/{uuid}/release":            {"/fundesk/v1/queue/leases/" + w.lease.String() + "/release", `{}`},
		"PUT /fundesk/v1/queue/calls/{uuid}/later":                {queued + "/later", fmt.Sprintf(`{"notBefore":%q}`, apitype.NewTime(w.Clock.Now().Add(time.Hour)))},
		"POST /fundesk/v1/queue/calls/{uuid}/notes":               {queued + "/notes", `{"text":"x"}`},
		"PUT /fundesk/v1/queue/calls/{uuid}/lease":                {queued + "/lease", lease},
		"GET /fundesk/v1/settings":                                {"/fundesk/v1/settings", ""},
		"PUT /fundesk/v1/settings/{uuid}":                         {"/fundesk/v1/settings/" + w.a.organization.String(), `{}`},
		"GET /fundesk/v1/erasures":                                {"/fundesk/v1/erasures", ""},
		"GET /fundesk/v1/persons/{uuid}/export":                   {"/fundesk/v1/persons/" + w.person.String() + "/export", ""},
		"POST /fundesk/v1/persons/{uuid}/erase":                   {"/fundesk/v1/persons/" + w.person.String() + "/erase", `{"reason":"r"}`},
	}
}

// TestWhatRoutesShow asks every route of openapi.json with accounts that lack a permission to read, or all of
// them: no answer shows a field of a kind of record without the permission to read that, and each that shows a
// donor or a payer writes a line of the audit. A route that is new has no request here, and is told.
func TestWhatRoutesShow(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	servicetest.Check(t, json.Unmarshal(httpapi.OpenAPI, &document))
	shown := map[string]bool{}
	for path, item := range document.Paths {
		for method := range item {
			if method = strings.ToUpper(method); slices.Contains([]string{"GET", "POST", "PUT"}, method) {
				for _, without := range [][]service.Permission{nil, {service.PersonsRead}, {service.CallsRead, service.PledgesRead}} {
					whatRouteShows(t, method+" "+path, without, shown)
				}
			}
		}
	}
	for _, route := range []string{"GET /api/v1/persons", "GET /api/v1/calls", "GET /api/v1/pledges/{uuid}", "POST /fundesk/v1/queue/take"} {
		if !shown[route] {
			t.Errorf("%s shows no donor to an account that may read everything: the test sees nothing", route)
		}
	}
}

func whatRouteShows(t *testing.T, route string, without []service.Permission, shown map[string]bool) {
	t.Helper()
	w := newShownWorld(t)
	request, ok := w.requests()[route]
	if !ok {
		if len(without) == 0 {
			t.Errorf("%s has no request here", route)
		}
		return
	}
	permissions := slices.DeleteFunc(slices.Concat(service.Permissions, service.NamedPermissions), func(p service.Permission) bool { return slices.Contains(without, p) })
	token := w.Token(servicetest.May(permissions...))
	if route == "GET /fundesk/v1/queue/deferrals" {
		later := w.requests()["PUT /fundesk/v1/queue/calls/{uuid}/later"]
		w.Do(w.all, "PUT", later[0], later[1])
	}
	before := len(w.lines(t, service.AuditFilter{}))
	method, _, _ := strings.Cut(route, " ")
	answer := w.Do(token, method, request[0], request[1])
	if answer.Status/100 != 2 && len(without) == 0 && !strings.Contains(route, "/leases/{uuid}/") {
		t.Errorf("%s: got %d %s", route, answer.Status, answer.Body)
	}
	if route == "GET /fundesk/v1/persons/{uuid}/export" { // Its permission shows everything.
		without = nil
	}
	for canary, permission := range map[string]service.Permission{ofPerson: service.PersonsRead, ofCall: service.CallsRead, ofPledge: service.PledgesRead} {
		if slices.Contains(without, permission) && strings.Contains(string(answer.Body), canary) {
			t.Errorf("%s without %v: got %s", route, without, answer.Body)
		}
	}
	if !strings.Contains(string(answer.Body), ofPerson) {
		return
	}
	shown[route] = true
	if lines := len(w.lines(t, service.AuditFilter{})); lines == before {
		t.Errorf("%s shows a donor, and no line says so: %s", route, answer.Body)
	}
}
