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

// routePermissions are the routes of openapi.json, and the permissions without which an account gets 403.
const routePermissions = `
	GET /api/v1/persons                                     persons:read
	POST /api/v1/persons                                    persons:create
	GET /api/v1/persons/{uuid}                              persons:read
	PUT /api/v1/persons/{uuid}/actions/update               persons:update
	GET /api/v1/calls                                       calls:read persons:read pledges:read
	POST /api/v1/calls                                      calls:create
	GET /api/v1/calls/{uuid}                                calls:read
	PUT /api/v1/calls/{uuid}/actions/add-attempt            calls:attempt
	PUT /api/v1/calls/{uuid}/actions/complete               calls:complete
	PUT /api/v1/calls/{uuid}/actions/cancel                 calls:cancel
	PUT /api/v1/calls/{uuid}/actions/expire                 calls:expire
	GET /api/v1/pledges                                     pledges:read
	POST /api/v1/pledges                                    pledges:create
	GET /api/v1/pledges/{uuid}                              pledges:read
	PUT /api/v1/pledges/{uuid}/actions/update               pledges:update
	PUT /api/v1/pledges/{uuid}/actions/{statusUpdateAction} pledges:act
	POST /api/v1/entity-access/actions/mark-processed       entities:mark
	GET /fundesk/v1
	GET /fundesk/v1/queue                                   calls:read
	GET /fundesk/v1/queue/calls                             calls:read
	GET /fundesk/v1/queue/leases                            calls:read
	GET /fundesk/v1/queue/deferrals                         calls:read
	GET /fundesk/v1/queue/agents                            calls:read
	GET /fundesk/v1/calls/{uuid}/attempts                   calls:read
	PUT /fundesk/v1/calls/{uuid}/attempts/{attemptAt}       calls:attempt
	GET /fundesk/v1/queue/agents/{uuid}/work                calls:read
	PUT /fundesk/v1/queue/users/{uuid}/state                calls:attempt
	GET /fundesk/v1/queue/message                           calls:read
	PUT /fundesk/v1/queue/message                           settings:write
	POST /fundesk/v1/queue/take                             calls:read calls:attempt
	POST /fundesk/v1/queue/release                          calls:read calls:attempt
	POST /fundesk/v1/queue/leases/{uuid}/extend             calls:read calls:attempt
	POST /fundesk/v1/queue/leases/{uuid}/release            calls:read calls:attempt
	PUT /fundesk/v1/queue/calls/{uuid}/later                calls:read calls:attempt
	POST /fundesk/v1/queue/calls/{uuid}/notes               calls:read calls:attempt
	PUT /fundesk/v1/queue/calls/{uuid}/lease                calls:read calls:attempt
	GET /fundesk/v1/calls/missing-checks                    calls:read
	GET /fundesk/v1/calls/{uuid}/checks                     calls:read
	PUT /fundesk/v1/calls/{uuid}/checks
	GET /fundesk/v1/persons/{uuid}/consents                 persons:read
	POST /fundesk/v1/persons/{uuid}/consents                persons:update
	POST /fundesk/v1/do-not-call/check                      calls:read
	POST /fundesk/v1/do-not-call                            settings:write
	POST /fundesk/v1/do-not-call/remove                     settings:write
	GET /fundesk/v1/settings                                calls:read
	PUT /fundesk/v1/settings/{uuid}                         calls:read settings:write
	GET /fundesk/v1/erasures                                persons:read
	GET /fundesk/v1/changes                                 changes:read
	GET /fundesk/v1/persons/{uuid}/export                   persons:erase persons:read
	POST /fundesk/v1/persons/{uuid}/erase                   persons:erase`

// needed returns the routes with the permissions that each of them needs.
func needed() map[string][]string {
	all := map[string][]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(routePermissions), "\n") {
		words := strings.Fields(line)
		all[words[0]+" "+words[1]] = words[2:]
	}
	return all
}

// path returns the path of a route on the records of the world.
func (w *shownWorld) path(route string) string {
	_, path, _ := strings.Cut(route, " ")
	id := map[string]apitype.UUID{
		"calls":    w.call,
		"persons":  w.person,
		"pledges":  w.pledge,
		"leases":   w.lease,
		"settings": w.a.organization,
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		switch part {
		case "{uuid}":
			parts[i] = id[parts[i-1]].String() // No record of a user is needed.
		case "{attemptAt}":
			parts[i] = w.attemptAt().String()
		case "{statusUpdateAction}":
			parts[i] = "cancel"
		}
	}
	return strings.Join(parts, "/") + shownQueries[route]
}

// shownQueries are the queries with which lists show the most.
var shownQueries = map[string]string{
	"GET /api/v1/calls":   "?include=person,personQualityResult,pledge,transactions",
	"GET /api/v1/pledges": "?include=transactions",
}

// bodies returns the body of each route that needs one. Other changes are asked for with an empty object.
func (w *shownWorld) bodies() map[string]string {
	lease := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"leaseSeconds":60}`, apitype.NewUUID(), apitype.NewUUID())
	blocked := fmt.Sprintf(`{"number":"+31612345678","organizationUuid":%q}`, w.a.organization)
	return map[string]string{
		"POST /api/v1/persons": w.personBody(w.a),
		"POST /api/v1/calls": fmt.Sprintf(`{"personUuid":%q,"relatedCaseUuid":%q,"requestedAt":"2026-01-01","type":"winback"}`,
			w.person, w.pledge),
		"POST /api/v1/pledges": w.pledgeBody(w.a, ""),
		"POST /api/v1/entity-access/actions/mark-processed": fmt.Sprintf(
			`{"entries":[{"entityName":"person","entityUuid":%q,"processedAt":"2026-01-01"}]}`, w.person),
		"PUT /fundesk/v1/queue/users/{uuid}/state": `{"state":"ready"}`,
		"PUT /fundesk/v1/queue/message": fmt.Sprintf(`{"organizationUuid":%q,"text":"x"}`,
			w.a.organization),
		"POST /fundesk/v1/queue/take": strings.Replace(lease, "{", `{"count":10,`, 1),
		"POST /fundesk/v1/queue/release": fmt.Sprintf(`{"userUuid":%q,"deferrals":true}`,
			apitype.NewUUID()),
		"POST /fundesk/v1/queue/leases/{uuid}/extend": `{"leaseSeconds":60}`,
		"PUT /fundesk/v1/queue/calls/{uuid}/later":    fmt.Sprintf(`{"notBefore":%q}`, w.In(time.Hour)),
		"POST /fundesk/v1/queue/calls/{uuid}/notes":   `{"text":"x"}`,
		"PUT /fundesk/v1/queue/calls/{uuid}/lease":    lease,
		"PUT /fundesk/v1/calls/{uuid}/checks":         `{"items":[]}`,
		"POST /fundesk/v1/persons/{uuid}/consents":    `{"channel":"sms","basis":"withdrawn","at":"2026-01-01"}`,
		"POST /fundesk/v1/do-not-call/check":          `{"number":"+31612345678"}`,
		"POST /fundesk/v1/do-not-call":                blocked,
		"POST /fundesk/v1/do-not-call/remove":         blocked,
		"POST /fundesk/v1/persons/{uuid}/erase":       `{"reason":"r"}`,
	}
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
	showing := []string{
		"GET /api/v1/persons",
		"GET /api/v1/calls",
		"GET /api/v1/pledges/{uuid}",
		"POST /fundesk/v1/queue/take",
	}
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
func (w *shownWorld) whatRouteShows(t *testing.T, route string) bool {
	t.Helper()
	permissions, ok := needed()[route]
	if !ok {
		t.Fatal("it has no permissions here")
	}
	if route == "GET /fundesk/v1/queue/deferrals" {
		const later = "PUT /fundesk/v1/queue/calls/{uuid}/later"
		w.Do(w.all, "PUT", w.path(later), w.bodies()[later])
	}
	method, _, _ := strings.Cut(route, " ")
	path, body := w.path(route), w.bodies()[route]
	if body == "" && method != http.MethodGet {
		body = `{}`
	}
	ask := func(without service.Permission) servicetest.Answer {
		token := w.Token(
			servicetest.May(slices.Concat(service.Permissions, service.NamedPermissions)...),
			servicetest.MayNot(without),
		)
		before := len(w.lines(t, service.AuditFilter{}))
		answer := w.Do(token, method, path, body)
		if strings.Contains(string(answer.Body), ofPerson) && len(w.lines(t, service.AuditFilter{})) == before {
			t.Errorf("without %q: it shows a donor, and no line says so: %s", without, answer.Body)
		}
		return answer
	}
	whole := ask("")
	if whole.Status/100 != 2 && !strings.Contains(route, "/leases/{uuid}/") {
		t.Errorf("got %d %s", whole.Status, whole.Body)
	}
	hidden := map[service.Permission]string{
		service.PersonsRead: ofPerson,
		service.CallsRead:   ofCall,
		service.PledgesRead: ofPledge,
	}
	if route == "GET /fundesk/v1/persons/{uuid}/export" { // Its permissions show everything.
		hidden = nil
	}
	for _, permission := range slices.Concat(service.Permissions, service.NamedPermissions) {
		answer := ask(permission)
		isNeeded := slices.Contains(permissions, string(permission))
		if (answer.Status == http.StatusForbidden) != isNeeded {
			t.Errorf("without %s: got %d %s, want it refused: %t", permission, answer.Status, answer.Body, isNeeded)
		}
		if canary := hidden[permission]; canary != "" && strings.Contains(string(answer.Body), canary) {
			t.Errorf("without %s: got %s", permission, answer.Body)
		}
	}
	return strings.Contains(string(whole.Body), ofPerson)
}
