package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// deferred returns the time of a deferral, and its user.
func (f *floor) deferred(call apitype.UUID) (*apitype.Time, *apitype.UUID) {
	f.t.Helper()
	envelope := page(f.t, f.get("/fundesk/v1/queue/deferrals"))
	var user *apitype.UUID
	for _, edge := range envelope.Edges {
		if edge.Node["callUuid"] != call.String() {
			continue
		}
		parsed, err := apitype.ParseTime(edge.Node["notBefore"].(string))
		if err != nil {
			f.t.Fatal(err)
		}
		if text, ok := edge.Node["userUuid"].(string); ok {
			user = new(apitype.MustParseUUID(text))
		}
		return &parsed, user
	}
	return nil, nil
}

// TestDeferralReplaces refuses a deferral that was made against another one than there is now.
func TestDeferralReplaces(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		sunday := f.Clock.Now().Add(24 * time.Hour)
		tuesday := f.Clock.Now().Add(72 * time.Hour)
		friday := f.Clock.Now().Add(120 * time.Hour)
		body := func(at time.Time, more string) string {
			return fmt.Sprintf(`{"notBefore":%q%s}`, apitype.NewTime(at), more)
		}
		replacing := func(at *time.Time) string {
			if at == nil {
				return `,"replaces":{"notBefore":null}`
			}
			return fmt.Sprintf(`,"replaces":{"notBefore":%q}`, apitype.NewTime(*at))
		}
		mine := fmt.Sprintf(`,"userUuid":%q`, f.users[0])
		for _, test := range []struct {
			name   string
			before *time.Time // What is deferred now.
			body   string
			status int
			want   time.Time
		}{
			{"nothing was deferred", nil, body(sunday, mine+replacing(nil)), 204, sunday},
			{"a newer one", &tuesday, body(sunday, mine+replacing(nil)), 409, tuesday},
			{"the same one", &tuesday, body(friday, mine+replacing(&tuesday)), 204, friday},
			{"one that is gone", nil, body(friday, mine+replacing(&tuesday)), 409, time.Time{}},
			{"it is so already", &tuesday, body(tuesday, mine+replacing(&sunday)), 204, tuesday},
			{"so, but for another user", &tuesday, body(tuesday, replacing(&sunday)), 409, tuesday},
			{"put back, as shown", &tuesday, `{"notBefore":null` + replacing(&tuesday) + `}`, 204, time.Time{}},
			{"put back, changed", &tuesday, `{"notBefore":null` + replacing(&sunday) + `}`, 409, tuesday},
			{"put back already", nil, `{"notBefore":null` + replacing(&sunday) + `}`, 204, time.Time{}},
			{"without replaces", &tuesday, body(sunday, mine), 204, sunday},
		} {
			call := f.waitingCalls(1)[0]
			path := queuePath(call) + "/later"
			if test.before != nil {
				f.want(204, http.MethodPut, path, body(*test.before, mine))
			}
			if answer := f.Do(f.token, http.MethodPut, path, test.body); answer.Status != test.status {
				t.Errorf("%s: got %d %s, want %d", test.name, answer.Status, answer.Body, test.status)
			}
			got, _ := f.deferred(call)
			if test.want.IsZero() != (got == nil) || got != nil && !got.Equal(apitype.NewTime(test.want)) {
				t.Errorf("%s: got %v deferred, want %v", test.name, got, test.want)
			}
		}
		f.want(400, http.MethodPut, queuePath(f.waitingCalls(1)[0])+"/later",
			body(sunday, `,"replaces":{"notBefore":"x"}`))
	})
}

// TestReleaseOfEndedLeaseReplaces defers by a lease that has ended only what is as it was shown.
func TestReleaseOfEndedLeaseReplaces(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		later := f.In(24 * time.Hour)
		newer := f.In(72 * time.Hour)
		body := func(at apitype.Time, more string) string {
			return fmt.Sprintf(`{"notBefore":%q,"userUuid":%q,"replaces":{"notBefore":null}%s}`, at, me, more)
		}
		ended := func() (call, lease apitype.UUID) {
			call = f.waitingCalls(1)[0]
			_, held, _ := f.choose(me, call)
			f.Clock.Advance(time.Hour)
			return call, held.LeaseUUID
		}
		release := func(lease apitype.UUID) string { return leasePath(lease) + "/release" }

		call, lease := ended()
		f.want(204, http.MethodPost, release(lease), body(later, ""))
		f.want(204, http.MethodPost, release(lease), body(later, "")) // Its answer was lost.
		if at, user := f.deferred(call); at == nil || !at.Equal(later) || user == nil || *user != me {
			t.Errorf("got %v for %v, want the callback of the ended lease", at, user)
		}

		call, lease = ended()
		f.later(call, fmt.Sprintf(`{"notBefore":%q}`, newer))
		f.want(409, http.MethodPost, release(lease), body(later, ""))
		if at, _ := f.deferred(call); at == nil || !at.Equal(newer) {
			t.Errorf("got %v, want the newer callback", at)
		}
		// Without replaces, as before.
		f.want(204, http.MethodPost, release(lease), fmt.Sprintf(`{"notBefore":%q}`, later))
		if at, _ := f.deferred(call); at == nil || !at.Equal(newer) {
			t.Errorf("got %v, want the newer callback", at)
		}

		call, lease = ended()
		_, theirs, _ := f.choose(other, call)
		f.want(409, http.MethodPost, release(lease), body(later, ""))
		f.want(204, http.MethodPost, release(lease), body(later, fmt.Sprintf(`,"leaseUuid":%q`, theirs.LeaseUUID)))
		if at, _ := f.deferred(call); at == nil || !at.Equal(later) || len(f.leases("?userUuid="+other.String())) != 0 {
			t.Errorf("got %v, want the callback by the lease that was named", at)
		}

		call, lease = ended()
		f.act(call, "cancel", `{}`)
		f.want(409, http.MethodPost, release(lease), body(later, ""))
	})
}

// TestDeferralWhoseTimePassed makes a callback due now that waited at a client beyond its time. It is not refused, and
// does not fall back among the other calls. A repeat of it changes nothing.
func TestDeferralWhoseTimePassed(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		for _, test := range []struct {
			late       time.Duration
			forAnybody bool // It was due so long ago that any user may get it.
		}{
			{time.Millisecond, false},
			{20 * time.Minute, false},
			{40 * time.Minute, true},
			{400 * 24 * time.Hour, true},
		} {
			call := f.call(f.person("null"), time.Hour, "happy_call")
			f.waitingCalls(2) // They were requested earlier.
			body := fmt.Sprintf(`{"notBefore":%q,"userUuid":%q,"replaces":{"notBefore":null}}`,
				f.In(-test.late), f.users[0])
			path := queuePath(call) + "/later"
			f.want(204, http.MethodPut, path, body)
			f.want(204, http.MethodPut, path, body)
			other := f.take(f.users[1], "").Leases[0]
			if (other.CallUUID == call) != test.forAnybody {
				t.Errorf("%v late: another user got the callback: %v, want %v",
					test.late, other.CallUUID == call, test.forAnybody)
			}
			if test.forAnybody {
				continue
			}
			if got := f.take(f.users[0], "").Leases[0]; got.CallUUID != call || got.DueAt == nil {
				t.Errorf("%v late: its user got %v due at %v, want the callback first",
					test.late, got.CallUUID, got.DueAt)
			}
		}
		call := f.waitingCalls(1)[0]
		body := fmt.Sprintf(`{"notBefore":%q}`, f.In(-400*24*time.Hour-time.Millisecond))
		f.want(400, http.MethodPut, queuePath(call)+"/later", body)
	})
}

// TestDeferralByAHolderReplaces refuses the deferral of a lease's holder who has not seen the newest callback. A
// callback that the lease has used up counts as seen, shown or not.
func TestDeferralByAHolderReplaces(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		soon, newer, later := f.In(time.Minute), f.In(24*time.Hour), f.In(48*time.Hour)
		for _, test := range []struct {
			name   string
			before *apitype.Time // When the call was deferred before the lease.
			shown  *apitype.Time
			status int
		}{
			{"nothing was deferred", nil, nil, 204},
			{"the callback that was seen", &newer, &newer, 204},
			{"a newer callback", &newer, nil, 409},
			{"a callback that is gone", nil, &newer, 409},
			{"a callback that the lease used up", &soon, &soon, 204},
			{"the lease used one up", &soon, nil, 204},
		} {
			for _, path := range []string{"later", "release"} {
				call := f.waitingCalls(1)[0]
				if test.before != nil {
					f.later(call, fmt.Sprintf(`{"notBefore":%q,"userUuid":%q}`, test.before, other))
				}
				if test.before == &soon {
					f.Clock.Advance(2 * time.Minute)
				}
				_, held, _ := f.choose(me, call)
				method, target := http.MethodPost, leasePath(held.LeaseUUID)+"/release"
				if path == "later" {
					method, target = http.MethodPut, queuePath(call)+"/later"
				}
				body, err := json.Marshal(apitype.DeferRequest{
					NotBefore: &later,
					UserUUID:  &me,
					LeaseUUID: &held.LeaseUUID,
					Replaces:  &apitype.Replaces{NotBefore: test.shown},
				})
				servicetest.Check(t, err)
				answer := f.Do(f.token, method, target, string(body))
				if answer.Status != test.status {
					t.Errorf("%s, %s: got %d %s, want %d", test.name, path, answer.Status, answer.Body, test.status)
				}
				at, _ := f.deferred(call)
				want := &later
				if test.status != 204 {
					want = test.before
				}
				if (at == nil) != (want == nil) || at != nil && !at.Equal(*want) {
					t.Errorf("%s, %s: got %v deferred, want %v", test.name, path, at, want)
				}
				f.act(call, "cancel", `{}`)
			}
		}
	})
}
