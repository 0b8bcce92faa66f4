package httpapi_test

import (
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

// listed are the uuids of all pages of a list, of two records each.
func (f *floor) listed(token, path string) (ids []string) {
	f.t.Helper()
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	for cursor := ""; ; {
		answer := f.Do(token, "GET", path+separator+"first=2"+cursor, "")
		if answer.Status != http.StatusOK {
			f.t.Fatalf("%s: got %d %s", path, answer.Status, answer.Body)
		}
		p := page(f.t, answer)
		for _, edge := range p.Edges {
			ids = append(ids, edge.Node["uuid"].(string))
			cursor = "&after=" + edge.Cursor
		}
		if !p.PageInfo.HasNextPage {
			return ids
		}
	}
}

// TestCallsOfPerson lists the calls to one person, with other filters and without, the most recent first.
func TestCallsOfPerson(t *testing.T) { onEngines(t, testCallsOfPerson) }

func testCallsOfPerson(t *testing.T, f *floor) {
	person, other := f.person("null"), f.person("null")
	var calls []string
	for i := range 5 {
		call := f.call(person, time.Duration(i+1)*time.Hour, "winback").String()
		f.call(other, time.Duration(i)*time.Hour, "winback")
		if calls = append(calls, call); i%2 == 1 {
			f.want(http.StatusOK, "PUT", "/api/v1/calls/"+call+"/actions/cancel", "{}")
		}
	}
	now := apitype.NewTime(f.Clock.Now())
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
		if diff := cmp.Diff(want, f.listed(f.token, list+query)); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	if got := f.listed(f.Token(servicetest.For(f.Organization("Elsewhere"))), list); got != nil {
		t.Errorf("got %v for an account that does not see the person", got)
	}
	f.want(http.StatusBadRequest, "GET", "/api/v1/calls?personUuid=x", "")
	f.want(http.StatusBadRequest, "GET", "/api/v1/pledges?personUuids="+person.String(), "")
}

// TestPersonsUpdatedAfter lists persons who were created or changed since a time. What changes nothing is
// no change, and a person who was erased is in the list of erasures alone, for accounts that saw them.
func TestPersonsUpdatedAfter(t *testing.T) { onEngines(t, testPersonsUpdatedAfter) }

func testPersonsUpdatedAfter(t *testing.T, f *floor) {
	var persons []string
	for range 7 {
		persons = append(persons, f.person("null").String())
		f.Clock.Advance(time.Second)
	}
	since := apitype.NewTime(f.Clock.Now())
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
		if _, err := f.Service.ErasePerson(t.Context(), apitype.MustParseUUID(person), service.EraseRequest{Reason: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(erased)
	own, foreign := f.Token(servicetest.For(f.organization)), f.Token(servicetest.For(f.Organization("Elsewhere")))
	unknown := service.ErasedPerson{UUID: apitype.NewUUID(), ErasedAt: apitype.TimeFromMilli(1)}
	if _, err := f.Service.ReplayErasures(t.Context(), []service.ErasedPerson{unknown}); err != nil {
		t.Fatal(err)
	}
	const erasures = "/fundesk/v1/erasures"
	for _, test := range []struct {
		name, token, path string
		want              []string
	}{
		{"changed", f.token, "/api/v1/persons?updatedAfter=" + since.String(), []string{created, persons[3], persons[1]}},
		{"changed, of one organization", own, "/api/v1/persons?updatedAfter=" + since.String(), []string{created, persons[3], persons[1]}},
		{"changed, of another one", foreign, "/api/v1/persons?updatedAfter=" + since.String(), nil},
		{"changed since the beginning", own, "/api/v1/persons?updatedAfter=1970-01-01", []string{created, persons[6], persons[5], persons[3], persons[1]}},
		{"erased", f.token, erasures, append(slices.Clone(erased), unknown.UUID.String())},
		{"erased, of one organization", own, erasures, erased},
		{"erased, of another one", foreign, erasures, nil},
	} {
		servicetest.Same(t, test.name, test.want, f.listed(test.token, test.path))
	}
	answer := f.Do(own, "GET", erasures+"?last=1", "")
	if node := page(t, answer).Edges[0].Node; len(node) != 2 || node["uuid"] != erased[2] || node["erasedAt"] == nil || answer.Header.Get("Fundesk-Settled") == "" {
		t.Errorf("got %s, want the uuid and the time of the first one", answer.Body)
	}
	for path, want := range map[string]int{erasures + "?since=now": 400, erasures + "?after=x": 400} {
		f.want(want, "GET", path, "")
	}
	if got := f.Do(f.Token(servicetest.May(service.CallsRead)), "GET", erasures, "").Status; got != http.StatusForbidden {
		t.Errorf("got %d without persons:read, want 403", got)
	}
}
