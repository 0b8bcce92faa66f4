package httpapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// listed returns the uuids of all pages of a list, of two records each.
func (f *floor) listed(token, path string) []string {
	f.t.Helper()
	return walk(f.Harness, f.t, token, path, 2, false, nil)
}

// TestCallsOfPerson lists the calls to one person, with other filters and without, the most recent first.
func TestCallsOfPerson(t *testing.T) { onEngines(t, testCallsOfPerson) }

func testCallsOfPerson(t *testing.T, f *floor) {
	person, other := f.person("null"), f.person("null")
	var calls []string
	for i := range 5 {
		call := f.call(person, time.Duration(i+1)*time.Hour, "winback").String()
		f.call(other, time.Duration(i)*time.Hour, "winback")
		calls = append(calls, call)
		if i%2 == 1 {
			f.want(http.StatusOK, "PUT", "/api/v1/calls/"+call+"/actions/cancel", "{}")
		}
	}
	now := f.Now()
	f.Clock.Advance(time.Minute)
	f.want(http.StatusOK, "PUT", "/api/v1/calls/"+calls[4]+"/actions/cancel", "{}")
	list := "/api/v1/calls?personUuid=" + person.String()
	for query, want := range map[string][]string{
		"":                              calls,
		"&status=cancelled":             {calls[1], calls[3], calls[4]},
		"&updatedAfter=" + now.String(): calls[4:],
		"&externalApplicationName=null&externalReferenceId=null&status=requested": {calls[0], calls[2]},
		"&owningOrganizationUuid=" + apitype.NewUUID().String():                   nil,
	} {
		servicetest.Same(t, query, want, f.listed(f.token, list+query))
	}
	if got := f.listed(f.Token(servicetest.For(f.Organization("Elsewhere"))), list); got != nil {
		t.Errorf("got %v for an account that does not see the person", got)
	}
	f.want(http.StatusBadRequest, "GET", "/api/v1/calls?personUuid=x", "")
	f.want(http.StatusBadRequest, "GET", "/api/v1/pledges?personUuids="+person.String(), "")
}

// TestStatusNamedTwice lists each call once, by pages of one too, however often a request names its status.
func TestStatusNamedTwice(t *testing.T) { onEngines(t, testStatusNamedTwice) }

func testStatusNamedTwice(t *testing.T, f *floor) {
	f.Serve(f.Service) // openapi.json has 100 values at most.
	person := f.person("null")
	var calls []string
	for i := range 3 {
		calls = append(calls, f.call(person, time.Duration(i+1)*time.Hour, "winback").String())
	}
	f.want(http.StatusOK, "PUT", "/api/v1/calls/"+calls[1]+"/actions/cancel", "{}")
	for _, query := range []string{
		"status=requested&status=cancelled&status=requested",
		"status=cancelled" + strings.Repeat("&status=requested", 1000),
	} {
		servicetest.Same(
			t,
			"the calls of "+query[:40],
			calls,
			walk(f.Harness, t, f.token, "/api/v1/calls?"+query, 1, false, nil),
		)
	}
}

// TestPersonsUpdatedAfter lists persons who were created or changed since a time. A request without effect is no
// change. An erased person is only in the list of erasures, for accounts that saw the person.
func TestPersonsUpdatedAfter(t *testing.T) { onEngines(t, testPersonsUpdatedAfter) }

func testPersonsUpdatedAfter(t *testing.T, f *floor) {
	var persons []string
	for range 7 {
		persons = append(persons, f.person("null").String())
		f.Clock.Advance(time.Second)
	}
	since := f.Now()
	f.Clock.Advance(time.Second)
	update := func(person, body string) {
		t.Helper()
		f.want(http.StatusOK, "PUT", "/api/v1/persons/"+person+"/actions/update", body)
	}
	update(persons[1], `{"name":{"lastName":"A"}}`)
	update(persons[3], `{"mandate":{"id":"m"}}`)
	update(persons[4], `{"name":{"lastName":"A"}}`)
	update(persons[5], `{}`)
	created := f.person("null").String()
	erased := []string{persons[4], persons[0], persons[2]}
	for _, person := range erased {
		f.Clock.Advance(time.Second)
		_, err := f.Privacy.Erase(t.Context(), apitype.MustParseUUID(person), apitype.EraseRequest{Reason: "r"})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(erased)
	own, foreign := f.Token(servicetest.For(f.organization)), f.Token(servicetest.For(f.Organization("Elsewhere")))
	unknown := service.ErasedPerson{UUID: apitype.NewUUID(), ErasedAt: apitype.TimeFromMilli(1)}
	if _, err := f.Privacy.ReplayErasures(t.Context(), []service.ErasedPerson{unknown}); err != nil {
		t.Fatal(err)
	}
	const erasures = "/fundesk/v1/erasures"
	for _, test := range []struct {
		name, token, path string
		want              []string
	}{
		{
			name:  "changed",
			token: f.token,
			path:  "/api/v1/persons?updatedAfter=" + since.String(),
			want:  []string{created, persons[3], persons[1]},
		},
		{
			name:  "changed, of one organization",
			token: own,
			path:  "/api/v1/persons?updatedAfter=" + since.String(),
			want:  []string{created, persons[3], persons[1]},
		},
		{"changed, of another one", foreign, "/api/v1/persons?updatedAfter=" + since.String(), nil},
		{
			name:  "changed since the beginning",
			token: own,
			path:  "/api/v1/persons?updatedAfter=1970-01-01",
			want:  []string{created, persons[6], persons[5], persons[3], persons[1]},
		},
		{"erased", f.token, erasures, append(slices.Clone(erased), unknown.UUID.String())},
		{"erased, of one organization", own, erasures, erased},
		{"erased, of another one", foreign, erasures, nil},
	} {
		servicetest.Same(t, test.name, test.want, f.listed(test.token, test.path))
	}
	answer := f.Do(own, "GET", erasures+"?last=1", "")
	patience := servicetest.Patience(t, 10*time.Second)
	for begun := time.Now(); answer.Header.Get("Fundesk-Settled") == "" && time.Since(begun) < patience; {
		f.Clock.Advance(time.Second) // PostgreSQL's own work may hold the settled time back.
		answer = f.Do(own, "GET", erasures+"?last=1", "")
	}
	node := page(t, answer).Edges[0].Node
	if len(node) != 2 ||
		node["uuid"] != erased[2] ||
		node["erasedAt"] == nil ||
		answer.Header.Get("Fundesk-Settled") == "" {
		t.Errorf("got %s, want the uuid and the time of the first one", answer.Body)
	}
	for path, want := range map[string]int{erasures + "?since=now": 400, erasures + "?after=x": 400} {
		f.want(want, "GET", path, "")
	}
}

// TestLoadedPaymentsArrive loads a payment of a pledge that was there before, also when the clock was put back. The
// pledge is among those that changed since the settled time. It ended when it ended.
func TestLoadedPaymentsArrive(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		donor := f.person("null")
		pledge := f.pledge(donor, `,"externalSource":{"name":"crm","identifier":"1"},"status":"dropped"`)
		f.setRules(apitype.OrganizationSettings{YearsAfterEnd: 3})
		call := f.call(donor, time.Hour, "winback")
		f.callable("within the years", call)
		for _, passed := range []time.Duration{4 * 365 * 24 * time.Hour, -time.Minute} {
			f.Clock.Advance(3 * time.Second)
			before := f.settled(f.In(-2 * time.Second))
			f.Clock.Advance(passed)
			f.restart()
			paid := servicetest.NewTransaction(pledge, donor, apitype.NewTime(f.base))
			paid.PersonUUID = nil // It follows from the pledge.
			f.LoadAll(paid)
			got := page(t, f.get("/api/v1/pledges?updatedAfter="+url.QueryEscape(before.String()))).Edges
			if len(got) != 1 || got[0].Node["uuid"] != pledge.String() {
				t.Errorf("%s later: got %v updated after %s, want the pledge", passed, got, before)
			}
			f.callable(fmt.Sprintf("%s later", passed))
			f.Clock.Advance(time.Minute)
		}
	})
}

// TestLoadRefusesEachMistake loads a person, a pledge, a call and a transaction, one of them with a mistake. The error
// names its line, and nothing is kept. Values close to a mistake are loaded.
func TestLoadRefusesEachMistake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const (
		person, pledge, call, paid = "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c02", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c03", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c04", "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c05"
		nobody                     = "6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c99"
		notValid                   = ": the request has values that are not valid: "
	)
	ours, theirs := w.a.organization.String(), w.b.organization.String()
	lines := []string{
		`{"kind":"person","data":{"uuid":"` + person + `","owningOrganizationUuid":"` + ours +
			`","recruitingOrganizationUuid":"` + theirs +
			`","createdAt":"2026-11-20","mandate":{"id":"M","createdAt":"2026-11-20"},"iban":"NL91 abna 0417 1643 00"}}`,
		`{"kind":"pledge","data":{"uuid":"` + pledge + `","personUuid":"` + person +
			`","status":"active","startsAt":"2026-12-01","createdAt":"2026-11-20","owningOrganizationUuid":"` + ours +
			`","recruitingOrganizationUuid":"` + theirs +
			`","initialDonationAmount":5,"donationAmount":5,"initialDonationInterval":"monthly","recruiterUserUuid":"` + user + `","preferredPaymentDay":28,"focusAreaUuids":["` + w.a.focusArea.String() + `"]}}`,
		`{"kind":"call","data":{"uuid":"` + call + `","status":"requested","type":"winback","requestedAt":"2026-11-20","personUuid":"` + person + `","relatedCaseUuid":"` + pledge + `","callingOrganizationUuid":"` + theirs + `","deferredUntil":"2026-11-30","deferredForUserUuid":"` + user + `"}}`,
		`{"kind":"transaction","data":{"uuid":"` + paid + `","pledgeUuid":"` + pledge + `","personUuid":"` + person +
			`","amount":5,"createdAt":"2026-11-20"}}`,
	}
	load := func(line int, old, changed string) error {
		return servicetest.Load(t.Context(), w.Service, func(add func(service.LoadRecord) error) error {
			for i, text := range lines {
				if i == line {
					if !strings.Contains(text, old) {
						t.Errorf("line %d has no %s", line+1, old)
					}
					text = strings.Replace(text, old, changed, 1)
				}
				record, err := service.DecodeLoadRecord([]byte(text))
				if err != nil {
					return err
				}
				record.Line = i + 1
				if err := add(record); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, test := range []struct {
		line         int // Of the mistake; from 0.
		old, changed string
		want         string // The line in the error. Empty if there is no error.
	}{
		{
			old:     `"owningOrganizationUuid":"` + ours,
			changed: `"owningOrganizationUuid":"` + nobody,
			want:    "owningOrganizationUuid names no organization",
		},
		{
			old:     `"recruitingOrganizationUuid":"` + theirs,
			changed: `"recruitingOrganizationUuid":"` + nobody,
			want:    "recruitingOrganizationUuid names no organization",
		},
		{0, `"uuid":"` + person + `",`, ``, "uuid is required"},
		{0, `"createdAt":"2026-11-20","mandate"`, `"mandate"`, "createdAt is required"},
		{0, `"id":"M","createdAt":"2026-11-20"`, `"id":"M"`, "mandate.createdAt is required"},
		{0, `"uuid"`, `"personUuid":"` + nobody + `","uuid"`, "personUuid must equal uuid"},
		{
			old:     `"uuid"`,
			changed: `"owningOrganization":{"uuid":"` + theirs + `","name":"A","abbreviation":"A"},"uuid"`,
			want:    "owningOrganization.uuid must equal owningOrganizationUuid",
		},
		{0, `NL91`, `NL92`, "iban is not a valid IBAN: its check digits do not match"},
		{
			line:    1,
			old:     `"owningOrganizationUuid":"` + ours,
			changed: `"owningOrganizationUuid":"` + nobody,
			want:    "owningOrganizationUuid names no organization",
		},
		{
			line:    1,
			old:     `"recruitingOrganizationUuid":"` + theirs,
			changed: `"recruitingOrganizationUuid":"` + nobody,
			want:    "recruitingOrganizationUuid names no organization",
		},
		{1, `"uuid":"` + pledge + `",`, ``, "uuid is required"},
		{1, `"active"`, `"done"`, "status must be one of lead, active, dropped, cancelled, fulfilled"},
		{1, `"startsAt":"2026-12-01",`, ``, "startsAt is required"},
		{1, `"createdAt":"2026-11-20",`, ``, "createdAt is required"},
		{1, `,"recruiterUserUuid":"` + user + `"`, ``, "recruiterUserUuid is required"},
		{1, `"monthly"`, `""`, "initialDonationInterval is required"},
		{1, `"personUuid":"` + person + `",`, ``, "person.uuid is required"},
		{1, `"personUuid":"` + person, `"personUuid":"` + nobody, "person.uuid names no person"},
		{
			line:    1,
			old:     `"preferredPaymentDay":28`,
			changed: `"preferredPaymentDay":0`,
			want:    "preferredPaymentDay must be a whole number from 1 to 28",
		},
		{
			line:    1,
			old:     `"preferredPaymentDay":28`,
			changed: `"preferredPaymentDay":29`,
			want:    "preferredPaymentDay must be a whole number from 1 to 28",
		},
		{
			line:    1,
			old:     w.a.focusArea.String(),
			changed: w.b.focusArea.String(),
			want:    "focusAreaUuids names no focus area of the owning organization",
		},
		{1, w.a.focusArea.String(), nobody, "focusAreaUuids names no focus area of the owning organization"},
		{2, `"uuid":"` + call + `",`, ``, "uuid is required"},
		{
			line:    2,
			old:     `"requested"`,
			changed: `"done"`,
			want:    "status must be one of requested, completed, cancelled, expired; deferredUntil is only for a call that is requested",
		},
		{2, `"winback"`, `"other"`, "type must be one of verification, happy_call, winback"},
		{2, `"requestedAt":"2026-11-20",`, ``, "requestedAt is required"},
		{2, `"personUuid":"` + person, `"personUuid":"` + nobody, "personUuid names no person"},
		{
			line:    2,
			old:     `"relatedCaseUuid":"` + pledge,
			changed: `"relatedCaseUuid":"` + nobody,
			want:    "relatedCaseUuid names no pledge of this person",
		},
		{
			line:    2,
			old:     `"personUuid":"` + person,
			changed: `"personUuid":"` + w.b.person.String(),
			want:    "relatedCaseUuid names no pledge of this person",
		},
		{
			line:    2,
			old:     `"callingOrganizationUuid":"` + theirs,
			changed: `"callingOrganizationUuid":"` + nobody,
			want:    "callingOrganizationUuid names no organization",
		},
		{2, `"requested"`, `"completed"`, "deferredUntil is only for a call that is requested"},
		{2, `"deferredUntil":"2026-11-30",`, ``, "deferredForUserUuid needs deferredUntil"},
		{3, `"uuid":"` + paid + `",`, ``, "uuid is required"},
		{3, `,"createdAt":"2026-11-20"`, ``, "createdAt is required"},
		{3, `"pledgeUuid":"` + pledge, `"pledgeUuid":"` + nobody, "pledgeUuid names no pledge"},
		{3, `"personUuid":"` + person, `"personUuid":"` + nobody, "personUuid must be the person of the pledge"},
	} {
		err := load(test.line, test.old, test.changed)
		refusal, ok := errors.AsType[*service.Error](err)
		if !ok ||
			refusal.Kind != service.Invalid ||
			!strings.HasSuffix(err.Error(), notValid+test.want) ||
			!strings.HasPrefix(err.Error(), "line "+string(rune('1'+test.line))+":") {
			t.Errorf("line %d with %s: got %v, want %q", test.line+1, test.changed, err, test.want)
		}
	}
	w.Want(404, w.all, "GET", "/api/v1/persons/"+person, "")
	servicetest.Report(t, load(1, `"preferredPaymentDay":28`, `"preferredPaymentDay":1`))
	if got := w.get("/api/v1/persons/" + person); got.Status != 200 || got.Object()["iban"] != "NL91ABNA0417164300" {
		t.Errorf("got %d %s, want the person", got.Status, got.Body)
	}
	loaded, given := w.get("/api/v1/calls/"+call).Object(), w.get("/api/v1/pledges/"+pledge).Object()
	if loaded["lastUpdatedAt"] != "2026-11-20T00:00:00.000Z" ||
		given["updatedAt"] != "2026-11-20T00:00:00.000Z" ||
		given["donationInterval"] != "monthly" {
		t.Errorf("got %v and %v, want what was left out as it follows from the rest", loaded, given)
	}
	areas, _ := given["focusAreas"].([]any)
	if len(areas) != 1 || areas[0].(map[string]any)["uuid"] != w.a.focusArea.String() {
		t.Errorf("got the areas %v, want the one that was named", given["focusAreas"])
	}
	err := load(-1, "", "")
	if err == nil || err.Error() != "line 1: a person with this uuid already exists: uuid is already taken" {
		t.Errorf("again: got %v", err)
	}
}
