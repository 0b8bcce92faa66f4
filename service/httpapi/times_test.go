package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// restart lets another process serve the database.
func (f *floor) restart() {
	f.t.Helper()
	rules, err := service.New(f.t.Context(), service.Options{Store: f.Store, Now: f.Clock.Now})
	servicetest.Check(f.t, err)
	f.Handler = httpapi.New(httpapi.Options{Service: rules, Now: f.Clock.Now})
}

// settled waits until lists name a settled time that is not before another one.
func (f *floor) settled(least apitype.Time) (at apitype.Time) {
	f.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		header := f.Do(f.token, http.MethodGet, "/api/v1/calls?first=1", "").Header.Get(apitype.SettledHeader)
		at, err := apitype.ParseTime(header)
		if err == nil && !at.Before(least.Time) {
			return at
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("got the header %q for 20 s, want %s or later", header, least)
		}
	}
}

// TestTimeNeverGoesBack puts the clock back by a second to an hour: each change gets a time that is not before the
// highest, so that a client which goes on from a settled time sees it. Leases go by the clock.
// Promise S70: lists name a time up to which nothing can come any more.
func TestTimeNeverGoesBack(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		token := f.Token(servicetest.May(append(slices.Clone(service.Permissions), service.PersonsErase)...))
		person := f.person("null")
		call := f.call(person, time.Hour, "winback")
		organizations := fmt.Sprintf(`"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q`, f.organization, f.organization)
		pledge := f.created("/api/v1/pledges", fmt.Sprintf(`{%s,"personUuid":%q,"recruiterUserUuid":%q,"createdAt":"2026-11-20T09:00:00Z",`+
			`"startsAt":"2026-12-01","recruitmentType":"d2d","initialDonationAmount":10,"initialDonationInterval":"monthly"}`, organizations, person, f.users[0]))
		amount := 10
		for _, back := range []time.Duration{time.Second, 10 * time.Second, time.Minute, time.Hour} {
			before := f.settled(apitype.NewTime(f.Clock.Now().Add(-3 * time.Second)))
			f.Clock.Advance(-back)
			f.restart()
			taken := f.take(f.users[0], "")
			if len(taken.Leases) > 0 && taken.Leases[0].ExpiresAt.After(f.Clock.Now().Add(16*time.Minute)) {
				t.Errorf("%s back: got a lease until %s, want it by the clock", back, taken.Leases[0].ExpiresAt)
			}
			amount++
			erased := f.person("null")
			for _, change := range []struct{ list, method, path, body string }{
				{"/api/v1/persons?updatedAfter=", "PUT", "/api/v1/persons/" + person.String() + "/actions/update", fmt.Sprintf(`{"name":{"firstName":"A%d"}}`, amount)},
				{"/api/v1/calls?updatedAfter=", "PUT", "/api/v1/calls/" + call.String() + "/actions/add-attempt", `{}`},
				{"/api/v1/calls?updatedAfter=", "PUT", "/api/v1/calls/" + f.call(person, time.Hour, "winback").String() + "/actions/complete", `{}`},
				{"/api/v1/pledges?updatedAfter=", "PUT", "/api/v1/pledges/" + pledge.String() + "/actions/update", fmt.Sprintf(`{"donationAmount":%d}`, amount)},
				{"/fundesk/v1/erasures?after=", "POST", "/fundesk/v1/persons/" + erased.String() + "/erase", `{"reason":"asked"}`},
			} {
				answer := f.Do(token, change.method, change.path, change.body)
				if answer.Status == 409 { // It has its three attempts.
					continue
				}
				if answer.Status != 200 {
					t.Fatalf("%s: got %d %s", change.path, answer.Status, answer.Body)
				}
				if change.method == "POST" {
					at, err := apitype.ParseTime(answer.Object()["erasedAt"].(string))
					if err != nil || at.Before(before.Time) {
						t.Errorf("%s back: erased at %s, want %s or later", back, at, before)
					}
					continue
				}
				list := f.Do(token, http.MethodGet, change.list+url.QueryEscape(before.String())+"&first=500", "")
				found := false
				for _, edge := range page(t, list).Edges {
					found = found || edge.Node["uuid"] == answer.Object()["uuid"]
				}
				if !found {
					t.Errorf("%s back: %s is not listed after %s", back, change.path, before)
				}
			}
			f.settled(before)
			answer := f.Do(f.token, http.MethodGet, "/api/v1/pledges?first=1", "")
			if at, err := apitype.ParseTime(answer.Header.Get(apitype.SettledHeader)); err != nil || at.Before(before.Time) {
				t.Errorf("%s back: got %s of pledges, want %s or later", back, at, before)
			}
		}
	})
}

// TestSettledWithAnotherName keeps the settled time before an open change whatever the name of the database, or
// PGAPPNAME, says of the application.
func TestSettledWithAnotherName(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	database := servicetest.Clusters("", servicetest.NewServer(t))
	named, err := url.Parse(database)
	servicetest.Check(t, err)
	values := named.Query()
	values.Set("application_name", "crm")
	named.RawQuery = values.Encode()
	f := newFloor(t, servicetest.NewOn(t, named.String()))
	call := f.call(f.person("null"), time.Hour, "winback")
	before := f.settled(apitype.Time{})
	err = f.Store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
		row, err := tx.Call(call, service.Scope{All: true})
		if err != nil {
			return err
		}
		f.Clock.Advance(time.Minute)
		if during := f.settled(before); during.After(f.Clock.Now().Add(-time.Minute)) {
			t.Errorf("got %s while a change was open since %s", during, f.Clock.Now().Add(-time.Minute))
		}
		return tx.UpdateCall(row, false)
	})
	servicetest.Check(t, err)
	f.Clock.Advance(time.Minute)
	f.settled(apitype.NewTime(f.Clock.Now().Add(-2 * time.Second)))
}
