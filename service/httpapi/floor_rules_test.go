package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// Types of calls that need an opt-in go only to donors who opted in.
// Promise S84: the settings of the organization say who may be called.
func TestOptInIsRequired(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		donors := map[string]apitype.UUID{}
		calls := map[string]apitype.UUID{}
		var order []string
		for _, optIn := range []string{"true", "null"} {
			for _, kind := range []string{"winback", "happy_call"} {
				name := kind + " " + optIn
				donors[name] = f.donorWith(f.organization, `,"optIns":{"phone":`+optIn+`}`)
				calls[name] = f.call(donors[name], time.Duration(10-len(order))*time.Hour, kind)
				order = append(order, name)
			}
		}
		of := func(names ...string) (ids []apitype.UUID) {
			for _, name := range names {
				ids = append(ids, calls[name])
			}
			return ids
		}
		f.callable("without rules", of(order...)...)
		f.setRules(apitype.OrganizationSettings{RequireOptIn: []apitype.CallType{"winback"}})
		f.callable("winback needs an opt-in", of("winback true", "happy_call true", "happy_call null")...)
		f.later(calls["winback null"], fmt.Sprintf(`{"notBefore":%q,"userUuid":null}`, f.In(time.Minute)))
		f.Clock.Advance(2 * time.Minute)
		f.callable("a callback needs it, too", of("winback true", "happy_call true", "happy_call null")...)
		f.later(calls["winback null"], `{"notBefore":null,"userUuid":null}`)
		f.optIn(donors["winback null"], "true")
		f.callable("the donor opted in", of(order...)...)
		f.update(donors["winback true"], `{"optIns":{"phone":null}}`)
		f.callable("another one took it back", of("happy_call true", "winback null", "happy_call null")...)
		f.setRules(apitype.OrganizationSettings{RequireOptIn: apitype.CallTypes})
		f.callable("every type needs it", of("happy_call true", "winback null")...)
		f.setRules(apitype.OrganizationSettings{})
		f.callable("no rules again", of(order...)...)
	})
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
			d.called = slices.Contains([]string{"no pledge", "an active pledge", "ended before, and a lead", "ended before, for another organization"}, d.name)
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
var zoneOf = map[string]string{"NL": "Europe/Amsterdam", "DE": "Europe/Berlin", "US": "America/New_York", "PT": "Europe/Lisbon"}

// isOpen reads the built-in hours plainly. Countries without hours have the home country's.
func isOpen(t *testing.T, country, home string, at time.Time) bool {
	t.Helper()
	zone, err := time.LoadLocation(zoneOf[country])
	servicetest.Check(t, err)
	local, days := at.In(zone), holidaysOf[country]
	if days == "" {
		days = holidaysOf[home]
	}
	if strings.Contains(days, local.Format(time.DateOnly)) {
		return false
	}
	switch hour := local.Hour(); local.Weekday() {
	case time.Sunday:
		return false
	case time.Saturday:
		return hour >= 10 && hour < 16
	default:
		return hour >= 9 && hour < 21
	}
}

// Calls are given in the hours of the donor's country: in each hour of a week, of the weeks in which clocks are moved,
// and on each public holiday.
// Promise S85: a take gives no call to a donor outside the hours of the donor's country.
func TestCallsAreGivenInHours(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, func(t *testing.T, f *floor) {
		f.Clock.Set(time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC))
		german := f.Organization("D")
		f.setRules(apitype.OrganizationSettings{Country: "NL"})
		f.setRulesOf(german, apitype.OrganizationSettings{Country: "DE"})
		anyHour := f.Organization("any hour")
		donors := []struct {
			owner         apitype.UUID
			home, country string // Country "" is at any hour.
			members       string
			call          apitype.UUID
		}{
			{f.organization, "NL", "NL", addressIn("NL"), apitype.UUID{}},
			{f.organization, "NL", "DE", addressIn("DE") + `,"mobilePhoneNumber":"+31612345678"`, apitype.UUID{}},
			{f.organization, "NL", "US", `,"phoneNumber":"+12125550100"`, apitype.UUID{}},
			{f.organization, "NL", "NL", ``, apitype.UUID{}},
			{german, "DE", "DE", ``, apitype.UUID{}},
			{german, "DE", "NL", `,"mobilePhoneNumber":"+31612345679","phoneNumber":"+4930123456"`, apitype.UUID{}},
			{german, "DE", "PT", addressIn("PT"), apitype.UUID{}},
			{anyHour, "", "", addressIn("NL"), apitype.UUID{}},
		}
		for i := range donors {
			d := &donors[i]
			d.call = f.call(f.donorWith(d.owner, d.members), time.Duration(100-i)*time.Hour, "happy_call")
		}
		every := 1
		if strings.HasSuffix(t.Name(), "postgres") { // SQLite shows each hour. 7 divides no number of hours of a day.
			every = 7
		}
		f.Serve(f.Service) // Too many to check each.
		checks := 0
		check := func(at time.Time) {
			t.Helper()
			checks++
			if checks%every != 0 {
				return
			}
			f.Clock.Set(at)
			var want []apitype.UUID
			for _, d := range donors {
				if d.country == "" || isOpen(t, d.country, d.home, at) {
					want = append(want, d.call)
				}
			}
			f.callable(at.String(), want...)
			if got := f.state(""); got.Closed != len(donors)-len(want) || (got.OpensAt == nil) != (got.Closed == 0) {
				t.Errorf("%s: got %d closed until %v, want %d", at, got.Closed, got.OpensAt, len(donors)-len(want))
			}
		}
		for _, monday := range []time.Time{
			time.Date(2026, 3, 23, 0, 30, 0, 0, time.UTC),
			time.Date(2026, 10, 19, 0, 30, 0, 0, time.UTC),
			time.Date(2026, 11, 23, 0, 30, 0, 0, time.UTC),
		} {
			for hour := range 7*24 + 2 {
				check(monday.Add(time.Duration(hour) * time.Hour))
			}
		}
		for _, days := range holidaysOf {
			for day := range strings.FieldsSeq(days) {
				noon, err := time.Parse(time.DateOnly, day)
				servicetest.Check(t, err)
				check(noon.Add(11 * time.Hour))
				check(noon.Add(35 * time.Hour))
			}
		}
	})
}

// A callback is given at its time whatever the hour, but for what else keeps a donor from being called.
// Promise S85: what waits for its hours is counted, with the time at which it can be given.
func TestCallbacksHaveNoHours(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.setRules(apitype.OrganizationSettings{Country: "NL"})
		night := time.Date(2026, 11, 27, 20, 30, 0, 0, time.UTC) // Friday, 21:30 in Amsterdam.
		f.Clock.Set(night)
		donor := f.donor("+31612345678")
		call, second := f.call(donor, 3*time.Hour, "happy_call"), f.call(f.donor("+31612345670"), 2*time.Hour, "winback")
		closed := func(what string, n int, opens string) {
			t.Helper()
			state := f.state("")
			got := "never"
			if state.OpensAt != nil {
				got = state.OpensAt.UTC().Format("Mon 15:04")
			}
			if state.Closed != n || got != opens {
				t.Errorf("%s: got %d closed until %s, want %d until %s", what, state.Closed, got, n, opens)
			}
		}
		f.callable("at night")
		closed("at night", 2, "Sat 09:00")
		later := func(at time.Time) {
			t.Helper()
			f.later(call, fmt.Sprintf(`{"notBefore":%q,"userUuid":null}`, apitype.NewTime(at)))
		}
		later(night.Add(time.Hour))
		closed("one is deferred", 1, "Sat 09:00")
		f.Clock.Advance(time.Hour)
		if got := f.take(f.users[0], ""); len(got.Leases) != 1 || got.Leases[0].CallUUID != call || got.Waiting != 0 {
			t.Fatalf("got %+v, want the callback and none that waits", got)
		}
		f.releaseUser(f.users[0])
		f.callable("given back, it is not a callback any more")
		closed("given back", 2, "Sat 09:00")
		later(f.Clock.Now().Add(time.Minute))
		f.optIn(donor, "false")
		f.Clock.Advance(2 * time.Minute)
		f.callable("an objection keeps a callback from being given")
		f.optIn(donor, "true")
		f.act(call, "add-attempt", `{}`)
		f.Clock.Advance(4*time.Hour + time.Minute)
		f.callable("after its rest a donor who was tried waits for hours")
		closed("after a rest", 2, "Sat 09:00")
		f.want(200, http.MethodPut, queuePath(second)+"/lease", leaseFor(f.users[1]))
		f.setRules(apitype.OrganizationSettings{Country: "NL", CallingHours: map[string]apitype.HoursOfDays{"NL": {Weekday: "-", Saturday: "-"}}})
		closed("no hours at all", 1, "never")
	})
}

// Rules that cannot be kept are refused, each by its place, and change nothing.
func TestRulesAreChecked(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		lead := f.Token(servicetest.For(f.organization), servicetest.May(service.CallsRead, service.SettingsWrite))
		path := settingsPath + "/" + f.organization.String()
		for body, want := range map[string][]string{
			`{"country":"nl"}`:                                  {"/country"},
			`{"country":"XX"}`:                                  {"/country"},
			`{"yearsAfterEnd":-1}`:                              {"/yearsAfterEnd"},
			`{"yearsAfterEnd":100}`:                             {"/yearsAfterEnd"},
			`{"requireOptIn":["winback","winback","later"]}`:    {"/requireOptIn/1", "/requireOptIn/2"},
			`{"holidays":["-NL","NL:2026-02-30","NL","-2026"]}`: {"/holidays/1", "/holidays/2", "/holidays/3"},
			`{"callingHours":{"NL":{"weekday":"00:00-24:01"}}}`: {"/callingHours/NL/weekday"},
		} {
			answer := f.Do(lead, "PUT", path, body)
			if answer.Status != 400 {
				t.Errorf("%s: got %d %s, want 400", body, answer.Status, answer.Body)
			} else if _, places := problemOf(t, answer); !cmp.Equal(places, want) {
				t.Errorf("%s: got %v, want %v", body, places, want)
			}
		}
		const whole = `{"country":"NL","holidays":["-NL","NL:2026-05-05"],"requireOptIn":["winback"],"yearsAfterEnd":3,` +
			`"callingHours":{"NL":{"weekday":"00:00-24:00","saturday":"-"}}}`
		f.Want(200, lead, "PUT", path, whole)
		var all apitype.Settings
		f.Do(lead, "GET", settingsPath, "").Decode(&all)
		want := apitype.OrganizationSettings{
			UUID: f.organization, Results: map[apitype.CallType][]apitype.ResultChoice{}, Scripts: map[string]string{},
			CallingHours: map[string]apitype.HoursOfDays{"NL": {Weekday: "00:00-24:00", Saturday: "-"}},
			RequireOptIn: []apitype.CallType{"winback"}, YearsAfterEnd: 3, Country: "NL", Holidays: []string{"-NL", "NL:2026-05-05"},
		}
		servicetest.Same(t, "read", []apitype.OrganizationSettings{want}, all.Organizations)
	})
}
