package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// floor is a service with an organization that has waiting calls.
type floor struct {
	*servicetest.Harness
	t            *testing.T
	organization apitype.UUID
	token        string
	lead         string // Of a supervisor; empty until it is needed.
	users        []apitype.UUID
	base         time.Time
}

func newFloor(t *testing.T, h *servicetest.Harness) *floor {
	t.Helper()
	f := &floor{
		Harness: h,
		t:       t,
		users:   []apitype.UUID{apitype.NewUUID(), apitype.NewUUID(), apitype.NewUUID()},
		base:    h.Clock.Now(),
	}
	f.organization = f.OrganizationWith(service.Organization{
		OrganizationReference: apitype.OrganizationReference{Name: "A", Abbreviation: "A"},
		MaxCallAttempts:       new(3),
	})
	f.token = f.Token()
	return f
}

// onEngines runs a test of the queue on both engines.
func onEngines(t *testing.T, test func(t *testing.T, f *floor)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		if servicetest.OnPostgres() {
			t.Skip("it uses SQLite in any case")
		}
		test(t, newFloor(t, servicetest.New(t)))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, postgresFloor(t))
	})
}

// postgresFloor is a floor on PostgreSQL, for what happens at several processes at once.
func postgresFloor(t *testing.T) *floor {
	t.Helper()
	servicetest.NeedPostgres(t)
	return newFloor(t, servicetest.NewOn(t, servicetest.PostgresDatabase(t)))
}

// caller returns a new account that may do everything.
func (f *floor) caller() service.Caller { return service.Caller{Account: f.Account()} }

// pause lets a user pause.
func (f *floor) pause(user apitype.UUID) { f.setState(f.token, user, lunch) }

// ready ends the pause of a user.
func (f *floor) ready(user apitype.UUID) { f.setState(f.token, user, `{"state":"ready"}`) }

// officer returns a token that may export and erase persons.
func (f *floor) officer() string {
	return f.Token(servicetest.May(service.PersonsErase, service.PersonsRead))
}

// export returns what an officer gets of a person.
func (f *floor) export(person apitype.UUID) string {
	f.t.Helper()
	return string(f.Do(f.officer(), http.MethodGet, officePath(person)+"/export", "").Body)
}

// erase lets an officer erase a person.
func (f *floor) erase(person apitype.UUID) {
	f.t.Helper()
	f.Want(200, f.officer(), http.MethodPost, officePath(person)+"/erase", `{"reason":"r"}`)
}

// person makes a person with a language.
func (f *floor) person(language string) apitype.UUID {
	f.t.Helper()
	return f.donorWith(f.organization, `,"language":`+language)
}

// call makes a call that was requested so long ago.
func (f *floor) call(person apitype.UUID, age time.Duration, kind string) apitype.UUID {
	return f.created(
		"/api/v1/calls",
		fmt.Sprintf(`{"personUuid":%q,"requestedAt":%q,"type":%q}`, person, f.In(-age), kind),
	)
}

func (f *floor) created(path, body string) apitype.UUID {
	f.t.Helper()
	answer := f.Do(f.token, http.MethodPost, path, body)
	if answer.Status != http.StatusCreated {
		f.t.Fatalf("create at %s: %d %s", path, answer.Status, answer.Body)
	}
	return apitype.MustParseUUID(answer.Object()["uuid"].(string))
}

// take takes calls for a user.
func (f *floor) take(user apitype.UUID, more string) apitype.Taken {
	f.t.Helper()
	return f.takeAs(apitype.NewUUID(), user, more)
}

func (f *floor) takeAs(request, user apitype.UUID, more string) apitype.Taken {
	f.t.Helper()
	answer := f.Do(
		f.token,
		http.MethodPost,
		"/fundesk/v1/queue/take",
		fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q%s}`, request, user, more),
	)
	if answer.Status != http.StatusOK {
		f.t.Fatalf("take: %d %s", answer.Status, answer.Body)
	}
	var taken apitype.Taken
	answer.Decode(&taken)
	return taken
}

// want wants a change to have a status.
func (f *floor) want(status int, method, path, body string) {
	f.t.Helper()
	f.Want(status, f.token, method, path, body)
}

// state returns the counts of the queue.
func (f *floor) state(query string) apitype.QueueState {
	f.t.Helper()
	var state apitype.QueueState
	f.get("/fundesk/v1/queue" + query).Decode(&state)
	return state
}

// order returns the calls in the order of the queue, read by pages of two.
func (f *floor) order(query string) []apitype.UUID {
	f.t.Helper()
	path := "/fundesk/v1/queue/calls" + strings.Replace(query, "&", "?", 1)
	var ids []apitype.UUID
	for _, id := range walk(f.Harness, f.t, f.token, path, 2, false, nil) {
		ids = append(ids, apitype.MustParseUUID(id))
	}
	return ids
}

func callsOf(taken apitype.Taken) []apitype.UUID {
	var ids []apitype.UUID
	for _, lease := range taken.Leases {
		ids = append(ids, lease.CallUUID)
	}
	return ids
}

// act makes a change of a call with an action, and wants it accepted.
func (f *floor) act(call apitype.UUID, action, body string) {
	f.t.Helper()
	f.want(200, "PUT", callPath(call)+"/actions/"+action, body)
}

// update changes a person.
func (f *floor) update(person apitype.UUID, body string) {
	f.t.Helper()
	f.want(200, "PUT", personPath(person)+"/actions/update", body)
}

// later defers a call.
func (f *floor) later(call apitype.UUID, body string) {
	f.t.Helper()
	f.want(204, "PUT", queuePath(call)+"/later", body)
}

// release gives a lease back.
func (f *floor) release(lease apitype.UUID, body string) {
	f.t.Helper()
	f.want(204, "POST", leasePath(lease)+"/release", body)
}

// releaseUser gives back all leases of a user.
func (f *floor) releaseUser(user apitype.UUID) {
	f.t.Helper()
	f.want(200, "POST", "/fundesk/v1/queue/release", fmt.Sprintf(`{"userUuid":%q}`, user))
}

// get reads a path.
func (f *floor) get(path string) servicetest.Answer {
	f.t.Helper()
	return f.Do(f.token, http.MethodGet, path, "")
}

// leaseFor returns the body of a request for leases of a user.
func leaseFor(user apitype.UUID) string {
	return fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q}`, apitype.NewUUID(), user)
}

func callPath(id apitype.UUID) string       { return "/api/v1/calls/" + id.String() }
func personPath(id apitype.UUID) string     { return "/api/v1/persons/" + id.String() }
func pledgePath(id apitype.UUID) string     { return "/api/v1/pledges/" + id.String() }
func queuePath(call apitype.UUID) string    { return "/fundesk/v1/queue/calls/" + call.String() }
func officePath(person apitype.UUID) string { return "/fundesk/v1/persons/" + person.String() }
func leasePath(id apitype.UUID) string      { return "/fundesk/v1/queue/leases/" + id.String() }

// attempt adds an attempt of a user to a call, now.
func (f *floor) attempt(call, user apitype.UUID) apitype.Time {
	f.t.Helper()
	at := f.Now()
	f.act(call, "add-attempt", fmt.Sprintf(`{"userUuid":%q,"attemptAt":%q}`, user, at))
	return at
}

// choose leases a call for a user.
func (f *floor) choose(user, call apitype.UUID) (status int, lease apitype.Lease, problem apitype.Problem) {
	f.t.Helper()
	answer := f.Do(f.token, http.MethodPut, queuePath(call)+"/lease",
		fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"leaseSeconds":600}`, apitype.NewUUID(), user))
	if answer.Status == 200 {
		answer.Decode(&lease)
	} else {
		answer.Decode(&problem)
	}
	return answer.Status, lease, problem
}

// extend extends a lease.
func (f *floor) extend(lease apitype.UUID, body string) (int, apitype.Lease) {
	f.t.Helper()
	answer := f.Do(f.token, http.MethodPost, leasePath(lease)+"/extend", body)
	var extended apitype.Lease
	if answer.Status == http.StatusOK {
		answer.Decode(&extended)
	}
	return answer.Status, extended
}

// leases returns the live leases under a query.
func (f *floor) leases(query string) []apitype.Lease {
	f.t.Helper()
	answer := f.get("/fundesk/v1/queue/leases" + query)
	if answer.Status != http.StatusOK {
		f.t.Fatalf("leases%s: got %d %s", query, answer.Status, answer.Body)
	}
	var all apitype.Leases
	answer.Decode(&all)
	return all.Leases
}

// waitingCalls makes calls of as many persons, the oldest first.
func (f *floor) waitingCalls(n int) []apitype.UUID {
	f.t.Helper()
	var calls []apitype.UUID
	for i := range n {
		calls = append(calls, f.call(f.person("null"), time.Duration(90-i)*time.Hour, "happy_call"))
	}
	return calls
}

// donor makes a person with a mobile number.
func (f *floor) donor(number string) apitype.UUID {
	f.t.Helper()
	return f.donorWith(f.organization, fmt.Sprintf(`,"mobilePhoneNumber":%q`, number))
}

// optIn sets the opt-in of a person for phone.
func (f *floor) optIn(person apitype.UUID, phone string) {
	f.t.Helper()
	f.update(person, `{"optIns":{"phone":`+phone+`}}`)
}

// donorWith makes a donor with some members of a creation.
func (f *floor) donorWith(organization apitype.UUID, members string) apitype.UUID {
	f.t.Helper()
	return f.created(
		"/api/v1/persons",
		fmt.Sprintf(`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q%s}`,
			organization, organization, members),
	)
}

// pledge makes a pledge of a donor, with more members.
func (f *floor) pledge(donor apitype.UUID, more string) apitype.UUID {
	f.t.Helper()
	const text = `{"personUuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"createdAt":"2015-01-01",
		"initialDonationInterval":"monthly","initialDonationAmount":5,"recruiterUserUuid":%q,"startsAt":"2015-01-01"%s}`
	return f.created("/api/v1/pledges", fmt.Sprintf(text, donor, f.organization, f.organization, donor, more))
}

// completeWith completes a call of a person with a result.
func (f *floor) completeWith(person apitype.UUID, code string) {
	f.t.Helper()
	call := f.call(person, time.Hour, "happy_call")
	f.act(call, "complete", `{"result":{"resultCode":"`+code+`"}}`)
}
