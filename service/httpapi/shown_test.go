package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
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

// attemptAt returns the time of an attempt of the call, so long ago that the donor does not rest.
func (w *shownWorld) attemptAt() apitype.Time {
	return apitype.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
}

func newShownWorld(t *testing.T) *shownWorld {
	t.Helper()
	w := &shownWorld{world: newWorld(t), person: apitype.NewUUID(), call: apitype.NewUUID(), pledge: apitype.NewUUID()}
	noted, err := service.New(t.Context(), service.Options{Store: w.Store, Now: w.Clock.Now, AuditReads: true})
	servicetest.Check(t, err)
	w.Service, w.Handler = noted, httpapi.New(httpapi.Options{Service: noted, Now: w.Clock.Now})
	at, o := w.In(-time.Hour), w.a.organization
	canary := new(ofPerson)
	person := servicetest.NewPerson(o, at)
	person.UUID = w.person
	person.AcademicTitle, person.Initials, person.FirstName = canary, canary, canary
	person.LastNamePrefix, person.LastName, person.Email = canary, canary, new(ofPerson+"@example.org")
	address := apitype.Address{Street: ofPerson, HouseNumber: "1", ZipCode: "1", City: ofPerson, Country: "NL"}
	person.Address = apitype.Embed(address)
	pledge := servicetest.NewPledge(w.person, o, at)
	pledge.UUID, pledge.RecruitingLocationLabel = w.pledge, new(ofPledge)
	pledge.ExternalMetadata = new(apitype.Object(`{"x":"` + ofPledge + `"}`))
	transaction := servicetest.NewTransaction(w.pledge, w.person, at)
	transaction.Name, transaction.IBAN, transaction.Description, transaction.Method = canary, canary, canary, new("m")
	call := servicetest.NewCall(w.person, at)
	call.UUID, call.RelatedCaseUUID, call.Notes = w.call, &w.pledge, new(ofCall)
	call.Attempts = apitype.Embed([]apitype.CallAttempt{{AttemptAt: w.attemptAt(), CreatedAt: w.attemptAt()}})
	w.LoadAll(person, pledge, call, transaction)
	w.lease = apitype.NewUUID()
	return w
}

// requests returns a request of each route, by method and path of openapi.json, which shows what it can.
func (w *shownWorld) requests() map[string][2]string {
	user, calls, persons, pledges := apitype.NewUUID(), "/api/v1/calls", "/api/v1/persons", "/api/v1/pledges"
	call, person, pledge, queued := calls+"/"+w.call.String(), persons+"/"+w.person.String(), pledges+"/"+w.pledge.String(), queuePath(w.call)
	lease := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"leaseSeconds":60}`, apitype.NewUUID(), user)
	take := strings.Replace(lease, "{", `{"count":10,`, 1)
	blocked := fmt.Sprintf(`{"number":"+31612345678","organizationUuid":%q}`, w.a.organization)
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
		"GET /fundesk/v1/calls/{uuid}/attempts":                   {"/fundesk/v1" + strings.TrimPrefix(call, "/api/v1") + "/attempts", ""},
		"PUT /fundesk/v1/calls/{uuid}/attempts/{attemptAt}":       {"/fundesk/v1" + strings.TrimPrefix(call, "/api/v1") + "/attempts/" + w.attemptAt().String(), `{}`},
		"GET /fundesk/v1/queue/agents/{uuid}/work":                {"/fundesk/v1/queue/agents/" + user.String() + "/work", ""},
		"PUT /fundesk/v1/queue/users/{uuid}/state":                {"/fundesk/v1/queue/users/" + user.String() + "/state", `{"state":"ready"}`},
		"GET /fundesk/v1/queue/message":                           {"/fundesk/v1/queue/message", ""},
		"PUT /fundesk/v1/queue/message":                           {"/fundesk/v1/queue/message", fmt.Sprintf(`{"organizationUuid":%q,"text":"x"}`, w.a.organization)},
		"POST /fundesk/v1/queue/take":                             {"/fundesk/v1/queue/take", take},
		"POST /fundesk/v1/queue/release":                          {"/fundesk/v1/queue/release", fmt.Sprintf(`{"userUuid":%q,"deferrals":true}`, user)},
		"POST /fundesk/v1/queue/leases/{uuid}/extend":             {leasePath(w.lease) + "/extend", `{"leaseSeconds":60}`},
		"POST /fundesk/v1/queue/leases/{uuid}/release":            {leasePath(w.lease) + "/release", `{}`},
		"PUT /fundesk/v1/queue/calls/{uuid}/later":                {queued + "/later", fmt.Sprintf(`{"notBefore":%q}`, w.In(time.Hour))},
		"POST /fundesk/v1/queue/calls/{uuid}/notes":               {queued + "/notes", `{"text":"x"}`},
		"PUT /fundesk/v1/queue/calls/{uuid}/lease":                {queued + "/lease", lease},
		"GET /fundesk/v1/calls/missing-checks":                    {"/fundesk/v1/calls/missing-checks", ""},
		"GET /fundesk/v1/calls/{uuid}/checks":                     {"/fundesk/v1" + strings.TrimPrefix(call, "/api/v1") + "/checks", ""},
		"PUT /fundesk/v1/calls/{uuid}/checks":                     {"/fundesk/v1" + strings.TrimPrefix(call, "/api/v1") + "/checks", `{"items":[]}`},
		"GET /fundesk/v1/persons/{uuid}/consents":                 {"/fundesk/v1/persons/" + w.person.String() + "/consents", ""},
		"POST /fundesk/v1/persons/{uuid}/consents":                {"/fundesk/v1/persons/" + w.person.String() + "/consents", `{"channel":"sms","basis":"withdrawn","at":"2026-01-01"}`},
		"POST /fundesk/v1/do-not-call/check":                      {"/fundesk/v1/do-not-call/check", `{"number":"+31612345678"}`},
		"POST /fundesk/v1/do-not-call":                            {"/fundesk/v1/do-not-call", blocked},
		"POST /fundesk/v1/do-not-call/remove":                     {"/fundesk/v1/do-not-call/remove", blocked},
		"GET /fundesk/v1/settings":                                {"/fundesk/v1/settings", ""},
		"PUT /fundesk/v1/settings/{uuid}":                         {"/fundesk/v1/settings/" + w.a.organization.String(), `{}`},
		"GET /fundesk/v1/erasures":                                {"/fundesk/v1/erasures", ""},
		"GET /fundesk/v1/changes":                                 {"/fundesk/v1/changes", ""},
		"GET /fundesk/v1/persons/{uuid}/export":                   {"/fundesk/v1/persons/" + w.person.String() + "/export", ""},
		"POST /fundesk/v1/persons/{uuid}/erase":                   {"/fundesk/v1/persons/" + w.person.String() + "/erase", `{"reason":"r"}`},
	}
}

// needed are the permissions without which an account gets 403, by method and path of openapi.json.
var needed = map[string]string{
	"GET /api/v1/persons":                                     "persons:read",
	"POST /api/v1/persons":                                    "persons:create",
	"GET /api/v1/persons/{uuid}":                              "persons:read",
	"PUT /api/v1/persons/{uuid}/actions/update":               "persons:update",
	"GET /api/v1/calls":                                       "calls:read persons:read pledges:read",
	"POST /api/v1/calls":                                      "calls:create",
	"GET /api/v1/calls/{uuid}":                                "calls:read",
	"PUT /api/v1/calls/{uuid}/actions/add-attempt":            "calls:attempt",
	"PUT /api/v1/calls/{uuid}/actions/complete":               "calls:complete",
	"PUT /api/v1/calls/{uuid}/actions/cancel":                 "calls:cancel",
	"PUT /api/v1/calls/{uuid}/actions/expire":                 "calls:expire",
	"GET /api/v1/pledges":                                     "pledges:read",
	"POST /api/v1/pledges":                                    "pledges:create",
	"GET /api/v1/pledges/{uuid}":                              "pledges:read",
	"PUT /api/v1/pledges/{uuid}/actions/update":               "pledges:update",
	"PUT /api/v1/pledges/{uuid}/actions/{statusUpdateAction}": "pledges:act",
	"POST /api/v1/entity-access/actions/mark-processed":       "entities:mark",
	"GET /fundesk/v1/queue":                                   "calls:read",
	"GET /fundesk/v1/queue/calls":                             "calls:read",
	"GET /fundesk/v1/queue/leases":                            "calls:read",
	"GET /fundesk/v1/queue/deferrals":                         "calls:read",
	"GET /fundesk/v1/queue/agents":                            "calls:read",
	"GET /fundesk/v1/calls/{uuid}/attempts":                   "calls:read",
	"PUT /fundesk/v1/calls/{uuid}/attempts/{attemptAt}":       "calls:attempt",
	"GET /fundesk/v1/queue/agents/{uuid}/work":                "calls:read",
	"PUT /fundesk/v1/queue/users/{uuid}/state":                "calls:attempt",
	"GET /fundesk/v1/queue/message":                           "calls:read",
	"PUT /fundesk/v1/queue/message":                           "settings:write",
	"POST /fundesk/v1/queue/take":                             "calls:read calls:attempt",
	"POST /fundesk/v1/queue/release":                          "calls:read calls:attempt",
	"POST /fundesk/v1/queue/leases/{uuid}/extend":             "calls:read calls:attempt",
	"POST /fundesk/v1/queue/leases/{uuid}/release":            "calls:read calls:attempt",
	"PUT /fundesk/v1/queue/calls/{uuid}/later":                "calls:read calls:attempt",
	"POST /fundesk/v1/queue/calls/{uuid}/notes":               "calls:read calls:attempt",
	"PUT /fundesk/v1/queue/calls/{uuid}/lease":                "calls:read calls:attempt",
	"GET /fundesk/v1/calls/missing-checks":                    "calls:read",
	"GET /fundesk/v1/calls/{uuid}/checks":                     "calls:read",
	"GET /fundesk/v1/persons/{uuid}/consents":                 "persons:read",
	"POST /fundesk/v1/persons/{uuid}/consents":                "persons:update",
	"POST /fundesk/v1/do-not-call/check":                      "calls:read",
	"POST /fundesk/v1/do-not-call":                            "settings:write",
	"POST /fundesk/v1/do-not-call/remove":                     "settings:write",
	"PUT /fundesk/v1/settings/{uuid}":                         "calls:read settings:write",
	"GET /fundesk/v1/settings":                                "calls:read",
	"GET /fundesk/v1/erasures":                                "persons:read",
	"GET /fundesk/v1/changes":                                 "changes:read",
	"GET /fundesk/v1/persons/{uuid}/export":                   "persons:erase persons:read",
	"POST /fundesk/v1/persons/{uuid}/erase":                   "persons:erase",
}

// TestWhatRoutesShow asks every route of openapi.json with accounts that lack one permission: it is refused if
// the route needs that one, and no answer shows a field of a kind of record without the permission to read that.
// Each answer that shows a donor or a payer writes a line of the audit. A route that is new fails here until it
// has a request. Spec gaps: A2, R3.
func TestWhatRoutesShow(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	var document struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	servicetest.Check(t, json.Unmarshal(httpapi.OpenAPI, &document))
	showing := []string{"GET /api/v1/persons", "GET /api/v1/calls", "GET /api/v1/pledges/{uuid}", "POST /fundesk/v1/queue/take"}
	for path, item := range document.Paths {
		for method := range item {
			route := strings.ToUpper(method) + " " + path
			if method == "parameters" || strings.HasPrefix(path, "/signatures") || !strings.Contains(path, "/v1") {
				continue
			}
			t.Run(route, func(t *testing.T) {
				t.Parallel()
				showsDonor := newShownWorld(t).whatRouteShows(t, route)
				if !showsDonor && slices.Contains(showing, route) {
					t.Error("it shows no donor to an account that may read everything: the test sees nothing")
				}
			})
		}
	}
}

// whatRouteShows reports whether a route shows a donor to an account that has all permissions.
func (w *shownWorld) whatRouteShows(t *testing.T, route string) (showsDonor bool) {
	t.Helper()
	request, ok := w.requests()[route]
	if !ok {
		t.Fatal("it has no request here")
	}
	if route == "GET /fundesk/v1/queue/deferrals" {
		later := w.requests()["PUT /fundesk/v1/queue/calls/{uuid}/later"]
		w.Do(w.all, "PUT", later[0], later[1])
	}
	method, _, _ := strings.Cut(route, " ")
	ask := func(without service.Permission) servicetest.Answer {
		permissions := slices.Concat(service.Permissions, service.NamedPermissions)
		permissions = slices.DeleteFunc(permissions, func(p service.Permission) bool { return p == without })
		token := w.Token(servicetest.May(permissions...))
		before := len(w.lines(t, service.AuditFilter{}))
		answer := w.Do(token, method, request[0], request[1])
		if strings.Contains(string(answer.Body), ofPerson) && len(w.lines(t, service.AuditFilter{})) == before {
			t.Errorf("without %q: it shows a donor, and no line says so: %s", without, answer.Body)
		}
		return answer
	}
	whole := ask("")
	if whole.Status/100 != 2 && !strings.Contains(route, "/leases/{uuid}/") {
		t.Errorf("got %d %s", whole.Status, whole.Body)
	}
	hidden := map[service.Permission]string{service.PersonsRead: ofPerson, service.CallsRead: ofCall, service.PledgesRead: ofPledge}
	if route == "GET /fundesk/v1/persons/{uuid}/export" { // Its permissions show everything.
		hidden = nil
	}
	for _, permission := range slices.Concat(service.Permissions, service.NamedPermissions) {
		answer := ask(permission)
		isNeeded := slices.Contains(strings.Fields(needed[route]), string(permission))
		if (answer.Status == http.StatusForbidden) != isNeeded {
			t.Errorf("without %s: got %d %s, want it refused: %t", permission, answer.Status, answer.Body, isNeeded)
		}
		if canary := hidden[permission]; canary != "" && strings.Contains(string(answer.Body), canary) {
			t.Errorf("without %s: got %s", permission, answer.Body)
		}
	}
	return strings.Contains(string(whole.Body), ofPerson)
}
