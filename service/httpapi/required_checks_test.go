package httpapi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// missing reads the calls that lack checks, the last completion first, each as its identifier and what it lacks.
func (f *floor) missing(token string) []string {
	f.t.Helper()
	var found []string
	for cursor := ""; ; {
		var page struct {
			PageInfo struct {
				HasNextPage bool
				EndCursor   string
			}
			Edges []struct{ Node apitype.MissingChecks }
		}
		f.Do(token, "GET", "/fundesk/v1/calls/missing-checks?first=1"+cursor, "").Decode(&page)
		for _, edge := range page.Edges {
			found = append(found, edge.Node.CallUUID.String()+" "+strings.Join(edge.Node.Missing, ","))
		}
		if !page.PageInfo.HasNextPage {
			return found
		}
		cursor = "&after=" + page.PageInfo.EndCursor
	}
}

// A call that is completed without required checks is never refused. It is marked until they are there, and the mark
// ends with the donor.
// Promise S82: calls that lack required checks are marked.
func TestRequiredChecks(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		lead := f.Token(servicetest.For(f.organization), servicetest.May(service.CallsRead, service.SettingsWrite))
		settings := settingsPath + "/" + f.organization.String()
		require := func(required string) int {
			return f.Do(lead, "PUT", settings, `{"requiredChecks":`+required+`}`).Status
		}
		donor := f.donor("+31612345678")
		complete := func(kind string, checks ...string) string {
			f.Clock.Advance(time.Minute)
			call := f.call(donor, time.Hour, kind)
			f.check(call, checks...)
			f.act(call, "complete", fmt.Sprintf(`{"userUuid":%q}`, f.users[0]))
			return call.String()
		}
		before := complete("verification")
		for _, wrong := range []string{
			`{"hello":["iban"]}`, `{"verification":["shoe"]}`, `{"verification":["iban","iban"]}`,
			`["iban"]`, `{"verification":"iban"}`,
		} {
			servicetest.Same(t, wrong, 400, require(wrong))
		}
		if got := require(`{"verification":["objection","iban"]}`); got != 200 {
			t.Fatalf("got %d", got)
		}
		neither := complete("verification")
		one := complete("verification", "objection", "mobile")
		both := complete("verification", "iban", "objection")
		other := complete("winback")
		want := []string{one + " iban", neither + " objection,iban"}
		if diff := cmp.Diff(want, f.missing(f.token)); diff != "" {
			t.Errorf("of %s (before), %s (all), %s (another type) (-want +got):\n%s", before, both, other, diff)
		}
		// Other settings do not change marks, and checks that come later do.
		require(`null`)
		f.check(apitype.MustParseUUID(neither), "objection")
		f.check(apitype.MustParseUUID(one), "iban")
		want = []string{one + " objection", neither + " iban"}
		servicetest.Same(t, "after later checks", want, f.missing(f.token))
		f.check(apitype.MustParseUUID(one), "objection", "iban")
		if got := f.missing(f.token); !slices.Equal(got, want[1:]) {
			t.Errorf("got %q, want %q: the other one has its checks", got, want[1:])
		}
		scoped := f.Token(servicetest.For(f.Organization("B")))
		if got := f.missing(scoped); len(got) != 0 {
			t.Errorf("another organization sees %q", got)
		}
		both2 := f.Token(servicetest.For(f.Organization("C"), f.organization))
		if got := f.missing(both2); len(got) != 1 {
			t.Errorf("an account of two organizations sees %q, want one call", got)
		}
		f.erase(donor)
		if got := f.missing(f.token); len(got) != 0 {
			t.Errorf("marks outlive the donor: %q", got)
		}
	})
}

// check puts the checks of a call.
func (f *floor) check(call apitype.UUID, names ...string) {
	f.t.Helper()
	var items []string
	for _, name := range names {
		items = append(items, fmt.Sprintf(`{"name":%q,"at":%q}`, name, f.Now()))
	}
	if len(items) > 0 {
		f.want(200, "PUT", "/fundesk/v1/calls/"+call.String()+"/checks", `{"items":[`+strings.Join(items, ",")+`]}`)
	}
}
