package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// restart lets another process serve the database.
func (f *floor) restart() {
	f.t.Helper()
	f.Serve(f.On(f.Store))
}

// settled waits until lists name a settled time that is not before another one.
func (f *floor) settled(least apitype.Time) apitype.Time {
	f.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		header := f.get("/api/v1/calls?first=1").Header.Get(apitype.SettledHeader)
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
		organizations := fmt.Sprintf(`"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q`,
			f.organization, f.organization)
		pledge := f.created("/api/v1/pledges", fmt.Sprintf(`{%s,"personUuid":%q,"recruiterUserUuid":%q,"createdAt":"2026-11-20T09:00:00Z",`+
			`"startsAt":"2026-12-01","recruitmentType":"d2d","initialDonationAmount":10,"initialDonationInterval":"monthly"}`, organizations, person, f.users[0]))
		amount := 10
		for _, back := range []time.Duration{time.Second, 10 * time.Second, time.Minute, time.Hour} {
			before := f.settled(f.In(-3 * time.Second))
			f.Clock.Advance(-back)
			f.restart()
			taken := f.take(f.users[0], "")
			if len(taken.Leases) > 0 && taken.Leases[0].ExpiresAt.After(f.Clock.Now().Add(16*time.Minute)) {
				t.Errorf("%s back: got a lease until %s, want it by the clock", back, taken.Leases[0].ExpiresAt)
			}
			amount++
			erased := f.person("null")
			for _, change := range []struct{ list, method, path, body string }{
				{
					list:   "/api/v1/persons?updatedAfter=",
					method: "PUT",
					path:   personPath(person) + "/actions/update",
					body:   fmt.Sprintf(`{"name":{"firstName":"A%d"}}`, amount),
				},
				{"/api/v1/calls?updatedAfter=", "PUT", callPath(call) + "/actions/add-attempt", `{}`},
				{
					list:   "/api/v1/calls?updatedAfter=",
					method: "PUT",
					path:   callPath(f.call(person, time.Hour, "winback")) + "/actions/complete",
					body:   `{}`,
				},
				{
					list:   "/api/v1/pledges?updatedAfter=",
					method: "PUT",
					path:   pledgePath(pledge) + "/actions/update",
					body:   fmt.Sprintf(`{"donationAmount":%d}`, amount),
				},
				{
					list:   "/fundesk/v1/erasures?after=",
					method: "POST",
					path:   "/fundesk/v1/persons/" + erased.String() + "/erase",
					body:   `{"reason":"asked"}`,
				},
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
			answer := f.get("/api/v1/pledges?first=1")
			at, err := apitype.ParseTime(answer.Header.Get(apitype.SettledHeader))
			if err != nil || at.Before(before.Time) {
				t.Errorf("%s back: got %s of pledges, want %s or later", back, at, before)
			}
		}
	})
}

// TestEffectNeverGoesBack completes a call with an effect on the donor after the clock was put back. The change of the
// donor has the time of the completion, so that no consumer misses it.
// Promise S70: lists name a time up to which nothing can come any more.
func TestEffectNeverGoesBack(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.setEffects()
		token := f.Token(follower())
		person := f.person("null")
		call := f.call(person, time.Hour, "winback")
		f.allChanges(token, "")
		before, start := f.settled(apitype.Time{}), changes(t, f.Harness, token, "").Next
		f.Clock.Advance(-time.Minute)
		f.restart()
		f.act(call, "complete", `{"result":{"resultCode":"stop"}}`)
		list := f.get("/api/v1/persons?updatedAfter=" + url.QueryEscape(before.String()))
		if got := page(t, list).Edges; len(got) != 1 || got[0].Node["uuid"] != person.String() {
			t.Errorf("got %v updated after %s, want the donor", got, before)
		}
		f.Clock.Advance(time.Minute)
		c, p := call.String()[:4], person.String()[:4]
		got := briefChanges(f.allChanges(token, start))
		slices.Sort(got) // Both have one time.
		servicetest.Same(t, "changes", []string{"call complete " + c, "person opt-out " + p}, got)
	})
}

// TestSettledWithAnotherName keeps the settled time before an open change, under any application name from the
// database's name or PGAPPNAME.
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
	f.settled(f.In(-2 * time.Second))
}

// TestSettled shows that lists name a time up to which nothing can come any more: a change that is not
// committed yet comes after it.
// Promise S70: lists name a time up to which nothing can come any more.
func TestSettled(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	onEngines(t, func(t *testing.T, f *floor) {
		call := f.call(f.person("null"), time.Hour, "winback")
		settled := func() apitype.Time {
			t.Helper()
			answer := f.get("/api/v1/calls?first=1")
			at, err := apitype.ParseTime(answer.Header.Get("Fundesk-Settled"))
			if err != nil {
				t.Fatalf("got the header %q: %v", answer.Header.Get("Fundesk-Settled"), err)
			}
			return at
		}
		f.settled(apitype.Time{})
		var during apitype.Time
		err := f.Store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
			row, err := tx.Call(call, service.Scope{All: true})
			if err != nil {
				return err
			}
			f.Clock.Advance(1500 * time.Millisecond) // Longer than what was found before is held to be true.
			during = settled()
			return tx.UpdateCall(row, false)
		})
		if now := f.Now(); err != nil || now.Sub(during.Time) < 1500*time.Millisecond {
			t.Errorf("got %v, %s while a change was under way since 1.5 s, want a time before it (now %s)",
				err, during, now)
		}
		for deadline := time.Now().Add(20 * time.Second); ; {
			if at := settled(); f.Clock.Now().Sub(at.Time) < 1400*time.Millisecond {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("got %s for 20 s after the change, want a time close to now", at)
			}
		}
	})
}

// skewed is a store with a clock that is ahead.
type skewed struct {
	service.Store
	ahead time.Duration
}

func (s skewed) ClockAhead(context.Context) (time.Duration, error) { return s.ahead, nil }

// TestReleasesComeAfterSettled asks a process for releases while its clock is behind the database's. A pledge that it
// does not yet show as released comes after the settled time, or a client that goes on from there would never see it.
// Promise S70: lists name a time up to which nothing can come any more.
func TestReleasesComeAfterSettled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Serve(w.On(skewed{w.Store, 20 * time.Second}))
	w.Clock.Advance(service.DefaultCoolingOff - 10*time.Second)
	since := "2026-01-01"
	for _, want := range []int{0, 1, 0} {
		answer := w.Do(w.a.token, "GET", "/api/v1/pledges?releasedAfter="+since, "")
		// PostgreSQL may count a transaction of another database that ends just now. The next look does not.
		for range 4 {
			if answer.Header.Get("Fundesk-Settled") != "" {
				break
			}
			w.Clock.Advance(2 * time.Second)
			answer = w.Do(w.a.token, "GET", "/api/v1/pledges?releasedAfter="+since, "")
		}
		if got := len(page(t, answer).Edges); got != want {
			t.Errorf("got %d pledges released after %s, want %d", got, since, want)
		}
		since = answer.Header.Get("Fundesk-Settled")
		w.Clock.Advance(time.Minute)
	}
}

// TestWrongClockIsNotReady takes a process out of service if its clock differs from the database's.
func TestWrongClockIsNotReady(t *testing.T) {
	t.Parallel()
	f := newFloor(t, servicetest.New(t))
	for ahead, want := range map[time.Duration]int{
		30 * time.Second:  200,
		31 * time.Second:  503,
		-31 * time.Second: 503,
	} {
		f.Serve(f.On(skewed{f.Store, ahead}))
		if got := f.Do("", "GET", "/readyz", "").Status; got != want {
			t.Errorf("%s ahead: got %d, want %d", ahead, got, want)
		}
	}
}

// TestLateChangesAreDatedLate shows that a change which waited has the time of its commit. A pull in between does not
// hide it.
func TestLateChangesAreDatedLate(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.Serve(f.On(hooked{f.Store, at("before Write", func() { f.Clock.Advance(time.Hour) })}))
		dated := func(what, field, method, path, body string) string {
			t.Helper()
			answer := f.Do(f.token, method, path, body)
			if answer.Status >= 300 {
				t.Fatalf("%s: %d %s", what, answer.Status, answer.Body)
			}
			if want := f.Now().String(); answer.Object()[field] != want {
				t.Errorf("%s: got %s %v, want %s, when it was made", what, field, answer.Object()[field], want)
			}
			return answer.Object()["uuid"].(string)
		}
		organizations := fmt.Sprintf(`"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q`,
			f.organization, f.organization)
		person := dated("a person", "createdAt", "POST", "/api/v1/persons", "{"+organizations+"}")
		call := func() string {
			return "/api/v1/calls/" + dated("a call", "lastUpdatedAt", "POST", "/api/v1/calls",
				fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20T09:00:00Z","type":"winback"}`,
					person)) + "/actions/"
		}
		attempted := call()
		dated("an attempt", "lastUpdatedAt", "PUT", attempted+"add-attempt", `{}`)
		dated("a completion", "lastUpdatedAt", "PUT", attempted+"complete", `{}`)
		dated("a cancellation", "lastUpdatedAt", "PUT", call()+"cancel", `{}`)
		dated("an expiry", "lastUpdatedAt", "PUT", call()+"expire", `{}`)
		pledge := "/api/v1/pledges/" + dated("a pledge", "updatedAt", "POST", "/api/v1/pledges", fmt.Sprintf(`{%s,"personUuid":%q,"recruiterUserUuid":%q,"createdAt":"2026-11-20T09:00:00Z",`+
			`"startsAt":"2026-12-01","recruitmentType":"d2d","initialDonationAmount":10,"initialDonationInterval":"monthly"}`, organizations, person, f.users[0])) + "/actions/"
		dated("an update", "updatedAt", "PUT", pledge+"update", `{"donationAmount":12}`)
		dated("an activation", "updatedAt", "PUT", pledge+"activate", ``)
	})
}
