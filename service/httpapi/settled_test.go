package httpapi_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// lateStore lets every change wait an hour for its turn.
type lateStore struct {
	service.Store
	f *floor
}

func (l lateStore) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	if mode != service.WriteIsolated {
		return l.Store.Write(ctx, mode, change)
	}
	l.f.Clock.Advance(time.Hour)
	return l.Store.Write(ctx, service.WriteIsolated, change)
}

// TestLateChangesAreDatedLate shows that a change which waited has the time at which it was made: what
// was pulled meanwhile does not hide it.
func TestLateChangesAreDatedLate(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		rules, err := service.New(t.Context(), service.Options{Store: lateStore{f.Store, f}, Now: f.Clock.Now})
		servicetest.Check(t, err)
		f.Handler = httpapi.New(httpapi.Options{Service: rules, Now: f.Clock.Now})
		dated := func(what, field, method, path, body string) string {
			t.Helper()
			answer := f.Do(f.token, method, path, body)
			if answer.Status >= 300 {
				t.Fatalf("%s: %d %s", what, answer.Status, answer.Body)
			}
			if want := apitype.NewTime(f.Clock.Now()).String(); answer.Object()[field] != want {
				t.Errorf("%s: got %s %v, want %s, when it was made", what, field, answer.Object()[field], want)
			}
			return answer.Object()["uuid"].(string)
		}
		organizations := fmt.Sprintf(`"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%q`, f.organization, f.organization)
		person := dated("a person", "createdAt", "POST", "/api/v1/persons", "{"+organizations+"}")
		call := func() string {
			return "/api/v1/calls/" + dated("a call", "lastUpdatedAt", "POST", "/api/v1/calls",
				fmt.Sprintf(`{"personUuid":%q,"requestedAt":"2026-11-20T09:00:00Z","type":"winback"}`, person)) + "/actions/"
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

// TestSettled shows that lists name a time up to which nothing can come any more: a change that is not
// committed yet comes after it.
// Promise S70: lists name a time up to which nothing can come any more.
func TestSettled(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		call := f.call(f.person("null"), time.Hour, "winback")
		settled := func() apitype.Time {
			t.Helper()
			answer := f.Do(f.token, "GET", "/api/v1/calls?first=1", "")
			at, err := apitype.ParseTime(answer.Header.Get("Fundesk-Settled"))
			if err != nil {
				t.Fatalf("got the header %q: %v", answer.Header.Get("Fundesk-Settled"), err)
			}
			return at
		}
		var during apitype.Time
		err := f.Store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
			row, err := tx.Call(call, service.Scope{All: true})
			if err != nil {
				return err
			}
			time.Sleep(1500 * time.Millisecond) // Longer than what was found before is held to be true.
			during = settled()
			return tx.UpdateCall(row, false)
		})
		if now := apitype.NewTime(f.Clock.Now()); err != nil || now.Sub(during.Time) < 1500*time.Millisecond {
			t.Errorf("got %v, %s while a change was under way since 1.5 s, want a time before it (now %s)", err, during, now)
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

// skewed is a store whose clock is ahead.
type skewed struct {
	service.Store
	ahead time.Duration
}

func (s skewed) ClockAhead(context.Context) (time.Duration, error) { return s.ahead, nil }

// TestWrongClockIsNotReady takes a process out of service whose clock is not the database's.
func TestWrongClockIsNotReady(t *testing.T) {
	t.Parallel()
	f := newFloor(t, servicetest.New(t))
	for ahead, want := range map[time.Duration]int{30 * time.Second: 200, 31 * time.Second: 503, -31 * time.Second: 503} {
		rules, err := service.New(t.Context(), service.Options{Store: skewed{f.Store, ahead}, Now: f.Clock.Now})
		servicetest.Check(t, err)
		f.Handler = httpapi.New(httpapi.Options{Service: rules, Now: f.Clock.Now})
		if got := f.Do("", "GET", "/readyz", "").Status; got != want {
			t.Errorf("%s ahead: got %d, want %d", ahead, got, want)
		}
	}
}
