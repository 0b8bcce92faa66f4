package httpapi_test

import (
	"net/http"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// epoch returns the epoch that each list of an account names.
func (f *floor) epoch(token string) string {
	f.t.Helper()
	var epoch string
	for _, list := range []string{"/api/v1/persons", "/api/v1/calls", "/api/v1/pledges", "/fundesk/v1/erasures"} {
		answer := f.Do(token, http.MethodGet, list+"?first=1", "")
		if answer.Status == http.StatusForbidden {
			continue
		}
		got := answer.Header.Get(apitype.EpochHeader)
		if epoch == "" {
			epoch = got
		}
		if got == "" || got != epoch {
			f.t.Errorf("%s: got the epoch %q, want one, and that of the other lists (%q)", list, got, epoch)
		}
	}
	return epoch
}

// TestEpoch changes the epoch of copies with what makes them wrong, and with nothing else.
// Promise S74: what makes a copy wrong changes its epoch.
func TestEpoch(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		account := f.Account(servicetest.For(f.organization))
		token := f.TokenOf(account)
		before := f.epoch(token)
		step := func(name string, want bool, do func()) {
			t.Helper()
			do()
			after := f.epoch(token)
			if (after != before) != want {
				t.Errorf("%s: got %q after %q, want another one: %t", name, after, before, want)
			}
			before = after
		}
		set := func(change func(*service.Account)) {
			t.Helper()
			_, err := f.Service.SetAccount(t.Context(), account.UUID, func(a *service.Account) error {
				change(a)
				return nil
			})
			servicetest.Check(t, err)
		}
		another := f.Organization("B")
		step("a change", false, func() { f.call(f.person("null"), time.Hour, "winback") })
		step("another process", false, f.restart)
		step("a load", true, func() { f.LoadForChanges(f.organization) })
		step("more organizations", true, func() {
			set(func(a *service.Account) { a.Scope.Organizations = []apitype.UUID{f.organization, another} })
		})
		step("fewer organizations", true, func() {
			set(func(a *service.Account) { a.Scope.Organizations = []apitype.UUID{f.organization} })
		})
		rights := []service.Permission{service.PersonsRead, service.CallsRead}
		step("without pledges:read", true, func() { set(func(a *service.Account) { a.Permissions = rights }) })
		step("with a right to change", false, func() {
			set(func(a *service.Account) { a.Permissions = append(rights, service.CallsAttempt) })
		})
		step("a reset of the clock", true, func() {
			_, err := f.Service.ResetClock(t.Context())
			servicetest.Check(t, err)
		})
		if other := f.epoch(f.Token(servicetest.For(f.Organization("C")))); other == before {
			t.Error("got the same epoch for an account of another organization")
		}
	})
}

// TestResetClock gives what lies ahead of the clock the present time, so that later changes come after it again.
func TestResetClock(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		right := f.Clock.Now()
		f.Clock.Set(right.Add(48 * time.Hour))
		person, call, pledge := f.LoadForChanges(f.organization)
		f.update(person, `{"name":{"firstName":"A"}}`)
		f.act(call, "add-attempt", `{}`)
		f.want(200, http.MethodPut, pledgePath(pledge)+"/actions/update", `{"donationAmount":11}`)
		created := f.person("null")
		f.Clock.Set(right)
		_, _, isMuch, err := f.Service.TimesAhead(t.Context())
		if err != nil || !isMuch {
			t.Errorf("got %t, %v, want a database that is ahead", isMuch, err)
		}
		n, err := f.Service.ResetClock(t.Context())
		if err != nil || n < 4 {
			t.Fatalf("got %d, %v, want the records that lie ahead", n, err)
		}
		if _, _, isMuch, err := f.Service.TimesAhead(t.Context()); err != nil || isMuch {
			t.Errorf("got %t, %v, want none that is ahead", isMuch, err)
		}
		now := apitype.NewTime(right).String()
		for path, field := range map[string]string{
			callPath(call):      "lastUpdatedAt",
			pledgePath(pledge):  "updatedAt",
			personPath(created): "createdAt",
		} {
			if got := f.get(path).Object()[field]; got != now {
				t.Errorf("%s: got %s %v, want %s", path, field, got, now)
			}
		}
		f.Clock.Advance(time.Second)
		answer := f.Do(f.token, http.MethodPut, pledgePath(pledge)+"/actions/update", `{"donationAmount":12}`)
		servicetest.Same(t, "a change at", f.Now().String(), answer.Object()["updatedAt"])
	})
}
