package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// setRules puts the rules of the floor's organization.
func (f *floor) setRules(s apitype.OrganizationSettings) {
	f.t.Helper()
	f.setRulesOf(f.organization, s)
}

func (f *floor) setRulesOf(organization apitype.UUID, s apitype.OrganizationSettings) {
	f.t.Helper()
	body, err := json.Marshal(s)
	servicetest.Check(f.t, err)
	if f.lead == "" {
		f.lead = f.Token(servicetest.May(service.CallsRead, service.SettingsWrite))
	}
	f.Want(200, f.lead, "PUT", settingsPath+"/"+organization.String(), string(body))
}

// addressIn returns the member of a creation with an address in a country.
func addressIn(country string) string {
	return fmt.Sprintf(`,"address":{"street":"A","houseNumber":"1","zipCode":"1","city":"B","country":%q}`, country)
}

// callable holds the list, the counts and a take against the calls that may be given now, in order. The take gives
// all of them back. Each call is of another donor.
func (f *floor) callable(what string, want ...apitype.UUID) {
	f.t.Helper()
	servicetest.Same(f.t, what+": the list", want, f.order(""))
	servicetest.Same(f.t, what+": waiting", len(want), f.state("").Waiting)
	user := apitype.NewUUID()
	taken := f.take(user, `,"count":10`)
	servicetest.Same(f.t, what+": taken", want, callsOf(taken))
	f.releaseUser(user)
}

// A donor with a last pledge that ended long ago is not called. Other organizations' pledges do not count.
// Promise S84: the end of the last pledge ends the calls.
func TestYearsAfterTheEnd(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		other := f.Organization("B")
		pledge := func(person, owner apitype.UUID, more string) apitype.UUID {
			return f.created("/api/v1/pledges", fmt.Sprintf(`{"personUuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,"createdAt":"2015-01-01",
				"initialDonationInterval":"monthly","initialDonationAmount":5,"recruiterUserUuid":%q,"startsAt":"2015-01-01"%s}`, person, owner, owner, person, more))
		}
		external := func(status, more string) string {
			return fmt.Sprintf(`,"externalSource":{"name":"crm","identifier":"1"},"status":%q%s`, status, more)
		}
		type donor struct {
			name   string
			called bool
			person apitype.UUID
			call   apitype.UUID
		}
		donors := []*donor{
			{name: "no pledge", called: true},
			{name: "an active pledge", called: true},
			{name: "ended within the years", called: true},
			{name: "ended to the day", called: true},
			{name: "ended before", called: false},
			{name: "ended before, and another within the years", called: true},
			{name: "ended before, and a lead", called: true},
			{name: "ended before, for another organization", called: true},
			{name: "cancelled before it was to end", called: true},
		}
		pledges := [][]string{
			nil,
			{external("active", "")},
			{external("cancelled", `,"cancelledAt":"2024-05-01"`)},
			{external("cancelled", `,"cancelledAt":"2023-11-20T09:15:00Z"`)},
			{external("cancelled", `,"cancelledAt":"2023-11-20T09:14:59Z"`)},
			{external("dropped", `,"droppedAt":"2020-01-01"`), external("fulfilled", `,"endsAt":"2025-01-01"`)},
			{external("cancelled", `,"cancelledAt":"2020-01-01"`), ""},
			{external("cancelled", `,"cancelledAt":"2020-01-01"`)},
			{external("cancelled", `,"cancelledAt":"2020-01-01","endsAt":"2025-01-01"`)},
		}
		callable := func(what string) {
			t.Helper()
			var want []apitype.UUID
			for _, d := range donors {
				if d.called {
					want = append(want, d.call)
				}
			}
			f.callable(what, want...)
		}
		for i, d := range donors {
			d.person = f.person("null")
			owner := f.organization
			if d.name == "ended before, for another organization" {
				owner = other
			}
			make := func() {
				for _, more := range pledges[i] {
					pledge(d.person, owner, more)
				}
			}
			if i%2 == 0 { // The pledges come before the call, or after.
				make()
			}
			d.call = f.call(d.person, time.Duration(20-i)*time.Hour, "winback")
			if i%2 == 1 {
				make()
			}
		}
		f.setRules(apitype.OrganizationSettings{YearsAfterEnd: 3})
		callable("three years")
		late := donors[4]
		again := pledge(late.person, f.organization, external("active", ""))
		late.called = true
		callable("a new pledge")
		f.want(200, "PUT", pledgePath(again)+"/actions/cancel", ``)
		callable("which was cancelled now")
		f.Clock.Advance(4 * 365 * 24 * time.Hour)
		for _, d := range donors {
			d.called = slices.Contains(
				[]string{"no pledge", "an active pledge", "ended before, and a lead", "ended before, for another organization"},
				d.name,
			)
		}
		callable("four years later")
		f.setRules(apitype.OrganizationSettings{YearsAfterEnd: 99})
		for _, d := range donors {
			d.called = true
		}
		callable("after a longer time is allowed")
	})
}

// A consent for phone that is newer than the end of the last pledge lifts it, until it is withdrawn or another pledge
// ends.
// Promise S84: a newer consent lifts the end of the last pledge.
func TestConsentLiftsTheEnd(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.setRules(apitype.OrganizationSettings{YearsAfterEnd: 1})
		person := f.person("null")
		call := f.call(person, time.Hour, "winback")
		pledge := func(ended string) {
			f.created("/api/v1/pledges", fmt.Sprintf(`{"personUuid":%q,"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q,
				"createdAt":"2015-01-01","initialDonationInterval":"monthly","initialDonationAmount":5,"recruiterUserUuid":%q,
				"startsAt":"2015-01-01","externalSource":{"name":"crm","identifier":"1"},"status":"cancelled","cancelledAt":%q}`,
				person, f.organization, f.organization, person, ended))
		}
		consent := func(basis, channel, at string) {
			f.want(201, "POST", "/fundesk/v1/persons/"+person.String()+"/consents",
				fmt.Sprintf(`{"channel":%q,"basis":%q,"source":"form","at":%q}`, channel, basis, at))
		}
		for _, step := range []struct {
			name     string
			do       func()
			isCalled bool
		}{
			{"an end long ago", func() { pledge("2022-01-01") }, false},
			{"a consent before the end", func() { consent("consent", "phone", "2021-12-31") }, false},
			{"a consent for another channel", func() { consent("consent", "email", "2024-01-01") }, false},
			{"a relation is not a consent", func() { consent("customer", "phone", "2024-01-01") }, false},
			{"a consent after the end", func() { consent("consent", "phone", "2024-02-01") }, true},
			{"an objection before it", func() { consent("withdrawn", "phone", "2023-01-01") }, true},
			{"a relation after it", func() { consent("customer", "phone", "2024-03-01") }, true},
			{"another end after it", func() { pledge("2025-01-01") }, false},
			{"a consent after that", func() { consent("consent", "phone", "2025-02-01") }, true},
			{"an objection", func() { consent("withdrawn", "phone", "2025-03-01") }, false},
		} {
			step.do()
			if step.isCalled {
				f.callable(step.name, call)
			} else {
				f.callable(step.name)
			}
		}
	})
}

// The public holidays of two years, as the governments publish them.
var holidaysOf = map[string]string{
	"NL": "2026-01-01 2026-04-03 2026-04-05 2026-04-06 2026-04-27 2026-05-05 2026-05-14 2026-05-24 2026-05-25 2026-12-25 2026-12-26 " +
		"2027-01-01 2027-03-26 2027-03-28 2027-03-29 2027-04-27 2027-05-05 2027-05-06 2027-05-16 2027-05-17 2027-12-25 2027-12-26",
	"DE": "2026-01-01 2026-04-03 2026-04-06 2026-05-01 2026-05-14 2026-05-25 2026-10-03 2026-12-25 2026-12-26 " +
		"2027-01-01 2027-03-26 2027-03-29 2027-05-01 2027-05-06 2027-05-17 2027-10-03 2027-12-25 2027-12-26",
}

// zoneOf has the zones of the countries of these tests.
var zoneOf = map[string]string{
	"NL": "Europe/Amsterdam",
	"DE": "Europe/Berlin",
	"US": "America/New_York",
	"PT": "Europe/Lisbon",
}

// Calls that wait for hours of which there are none are counted, and open at no time.
func TestNoHoursAtAll(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.call(f.donor("+31612345678"), time.Hour, "winback")
		f.setRules(apitype.OrganizationSettings{
			Country:      "NL",
			CallingHours: map[string]apitype.HoursOfDays{"NL": {Weekday: "-", Saturday: "-"}},
		})
		f.callable("no hours at all")
		if state := f.state(""); state.Closed != 1 || state.OpensAt != nil {
			t.Errorf("got %d closed until %v, want 1 until no time", state.Closed, state.OpensAt)
		}
	})
}

// Rules that cannot be kept are refused, each by its place, and change nothing.
func TestRulesAreChecked(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		lead := f.Token(servicetest.For(f.organization), servicetest.May(service.CallsRead, service.SettingsWrite))
		path := settingsPath + "/" + f.organization.String()
		for body, want := range map[string]string{
			`{"country":"nl"}`:                                  "/country",
			`{"country":"XX"}`:                                  "/country",
			`{"yearsAfterEnd":-1}`:                              "/yearsAfterEnd",
			`{"yearsAfterEnd":100}`:                             "/yearsAfterEnd",
			`{"requireOptIn":["winback","winback","later"]}`:    "/requireOptIn/1 /requireOptIn/2",
			`{"holidays":["-NL","NL:2026-02-30","NL","-2026"]}`: "/holidays/1 /holidays/2 /holidays/3",
			`{"callingHours":{"NL":{"weekday":"00:00-24:01"}}}`: "/callingHours/NL/weekday",
		} {
			answer := f.Do(lead, "PUT", path, body)
			if answer.Status != 400 {
				t.Errorf("%s: got %d %s, want 400", body, answer.Status, answer.Body)
				continue
			}
			_, places := problemOf(t, answer)
			servicetest.Same(t, body, want, strings.Join(places, " "))
		}
		const whole = `{"country":"NL","holidays":["-NL","NL:2026-05-05"],"requireOptIn":["winback"],"yearsAfterEnd":3,` +
			`"callingHours":{"NL":{"weekday":"00:00-24:00","saturday":"-"}}}`
		f.Want(200, lead, "PUT", path, whole)
		var all apitype.Settings
		f.Do(lead, "GET", settingsPath, "").Decode(&all)
		want := apitype.OrganizationSettings{
			UUID:          f.organization,
			Results:       map[apitype.CallType][]apitype.ResultChoice{},
			Scripts:       map[string]string{},
			CallingHours:  map[string]apitype.HoursOfDays{"NL": {Weekday: "00:00-24:00", Saturday: "-"}},
			RequireOptIn:  []apitype.CallType{"winback"},
			YearsAfterEnd: 3,
			Country:       "NL",
			Holidays:      []string{"-NL", "NL:2026-05-05"},
		}
		servicetest.Same(t, "read", []apitype.OrganizationSettings{want}, all.Organizations)
	})
}

// TestChangesBesideALoad changes donors, or what their organization allows, while a load runs that has calls of them,
// after it has read them. What lets the donors be called lets the loaded calls wait, too.
func TestChangesBesideALoad(t *testing.T) {
	const number = "+31612345678"
	limit := func(f *floor, attempts int) {
		set := func(o *service.Organization) { o.MaxCallAttempts = &attempts }
		_, err := f.Service.SetOrganization(context.WithoutCancel(t.Context()), f.organization, set)
		servicetest.Report(t, err)
	}
	for name, test := range map[string]struct {
		before, beside func(f *floor, donor apitype.UUID)
	}{
		"opted in": {
			func(f *floor, donor apitype.UUID) {
				f.update(donor, `{"mobilePhoneNumber":null}`)
				f.optIn(donor, "false")
			},
			func(f *floor, donor apitype.UUID) { f.optIn(donor, "true") },
		},
		"unblocked": { // The load runs again.
			func(f *floor, _ apitype.UUID) { f.block("", number) },
			func(f *floor, _ apitype.UUID) { f.block("/remove", number) },
		},
		"a new pledge": {
			func(f *floor, donor apitype.UUID) {
				f.pledge(donor,
					`,"externalSource":{"name":"crm","identifier":"1"},"status":"cancelled","cancelledAt":"2016-01-01"`)
			},
			func(f *floor, donor apitype.UUID) { f.pledge(donor, ``) },
		},
		"more attempts": {
			func(f *floor, _ apitype.UUID) { limit(f, 1) },
			func(f *floor, _ apitype.UUID) { limit(f, 3) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := postgresFloor(t)
			f.setRules(apitype.OrganizationSettings{YearsAfterEnd: 3})
			donor := f.donor(number)
			test.before(f, donor)
			f.Clock.Advance(time.Hour) // The load begins later.
			call := servicetest.NewCall(donor, f.In(-24*time.Hour))
			call.AttemptsCount, call.Attempts = 1, apitype.Embed([]apitype.CallAttempt{
				{AttemptAt: call.RequestedAt, CreatedAt: call.RequestedAt},
			})
			began := f.Now()
			servicetest.Check(t, servicetest.Load(t.Context(), f.Service, func(add func(service.LoadRecord) error) error {
				err := add(service.LoadRecord{Kind: service.LoadCall, Data: call})
				test.beside(f, donor)
				return err
			}))
			servicetest.Check(t, f.Service.LookAgain(t.Context(), began))
			servicetest.Same(t, "taken", []apitype.UUID{call.UUID}, callsOf(f.take(f.users[0], "")))
		})
	}
}

// block blocks a number for the organization of the floor, or with /remove lifts its blocks.
func (f *floor) block(remove, number string) {
	f.t.Helper()
	if f.lead == "" {
		f.lead = f.Token(servicetest.May(service.CallsRead, service.SettingsWrite))
	}
	f.Want(204, f.lead, "POST", "/fundesk/v1/do-not-call"+remove,
		fmt.Sprintf(`{"number":%q,"organizationUuid":%q}`, number, f.organization))
}
