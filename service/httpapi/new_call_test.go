package httpapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// createFor creates a call whose lease is requested for a user.
func (f *floor) createFor(token, user, body string) servicetest.Answer {
	f.t.Helper()
	return f.createForAll(token, body, user)
}

// createForAll repeats the header for each of some users.
func (f *floor) createForAll(token, body string, users ...string) servicetest.Answer {
	f.t.Helper()
	request := httptest.NewRequestWithContext(f.t.Context(), http.MethodPost, "/api/v1/calls", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header[apitype.LeaseForHeader] = users
	return f.Send(request)
}

// newCall returns the body of a call's creation.
func (f *floor) newCall(person apitype.UUID) string {
	return fmt.Sprintf(`{"personUuid":%q,"requestedAt":%q,"type":"winback"}`, person, f.Now())
}

// TestNewCallIsLeased leases a new call in the transaction that creates it: the donor is on the line with its agent.
func TestNewCallIsLeased(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		person := f.person("null")
		answer := f.createFor(f.token, me.String(), f.newCall(person))
		if answer.Status != http.StatusCreated {
			t.Fatalf("got %d %s", answer.Status, answer.Body)
		}
		call := apitype.MustParseUUID(answer.Object()["uuid"].(string))
		leases := f.leases("")
		end := f.In(apitype.NewCallLease)
		if len(leases) != 1 ||
			leases[0].CallUUID != call ||
			leases[0].UserUUID != me ||
			!leases[0].ExpiresAt.Equal(end) {
			t.Fatalf("got the leases %+v, want one for the agent until %s", leases, end)
		}
		if taken := f.take(other, ""); len(taken.Leases) != 0 {
			t.Error("a colleague was given the new call")
		}
		status, opened, _ := f.choose(me, call)
		if status != http.StatusOK || opened.LeaseUUID != leases[0].LeaseUUID || opened.Ahead {
			t.Errorf("got %d %+v, want the same lease for the opened call", status, opened)
		}
		// An agent who never opens the call keeps the donor for a minute.
		f.createFor(f.token, me.String(), f.newCall(f.person("null")))
		f.Clock.Advance(apitype.NewCallLease + time.Second)
		if taken := f.take(other, ""); len(taken.Leases) != 1 {
			t.Error("a call that was not opened did not come back into the queue")
		}
	})
}

// TestNewCallLeavesOtherLeases creates the call without a lease if its person is in one, and of a call that does not
// wait.
func TestNewCallLeavesOtherLeases(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		person := f.person("null")
		held := f.call(person, time.Hour, "happy_call")
		lease := f.take(other, "").Leases[0]
		for _, user := range []apitype.UUID{me, other} {
			if answer := f.createFor(f.token, user.String(), f.newCall(person)); answer.Status != http.StatusCreated {
				t.Fatalf("got %d %s", answer.Status, answer.Body)
			}
			leases := f.leases("")
			if len(leases) != 1 || leases[0].LeaseUUID != lease.LeaseUUID || leases[0].CallUUID != held {
				t.Errorf("got %+v, want the colleague's lease alone", leases)
			}
		}
		completed := fmt.Sprintf(
			`{"personUuid":%q,"requestedAt":%q,"status":"completed","externalMetadata":{}}`,
			f.person("null"),
			f.Now(),
		)
		if answer := f.createFor(f.token, me.String(), completed); answer.Status != http.StatusCreated {
			t.Errorf("got %d %s", answer.Status, answer.Body)
		}
		for range apitype.MaxLeases + 1 {
			answer := f.createFor(f.token, me.String(), f.newCall(f.person("null")))
			if answer.Status != http.StatusCreated {
				t.Errorf("got %d %s", answer.Status, answer.Body)
			}
		}
		servicetest.Same(t, "leases of the agent", apitype.MaxLeases, len(f.leases("?userUuid="+me.String())))
	})
}

// TestNewCallForNoUser refuses a creation, whole, if its lease is not for one UUID. An account that may not lease gets
// the call alone.
func TestNewCallForNoUser(t *testing.T) {
	t.Parallel()
	f := newFloor(t, servicetest.New(t))
	person := f.person("null")
	for _, users := range [][]string{{"Anneke"}, {f.users[0].String(), f.users[1].String()}} {
		answer := f.createForAll(f.token, f.newCall(person), users...)
		if answer.Status != http.StatusBadRequest || !strings.Contains(string(answer.Body), apitype.LeaseForHeader) {
			t.Errorf("%v: got %d %s, want 400 that names the header", users, answer.Status, answer.Body)
		}
	}
	if ids := f.listed(f.token, "/api/v1/calls"); len(ids) != 0 {
		t.Errorf("got the calls %v of a refused creation", ids)
	}
	creator := f.Token(servicetest.MayNot(service.CallsAttempt))
	answer := f.createFor(creator, f.users[0].String(), f.newCall(person))
	if answer.Status != http.StatusCreated || len(f.leases("")) != 0 {
		t.Errorf("got %d %s and the leases %+v, want the call alone", answer.Status, answer.Body, f.leases(""))
	}
}

// TestNewCallOfASignedInPerson leases the new call for the person alone. Another user is refused, and nothing is
// created.
func TestNewCallOfASignedInPerson(t *testing.T) {
	onEnginesSignedIn(t, func(t *testing.T, s *signedIn) {
		token := s.provider.Token(t, "anneke", nil)
		anneke, other := s.who(t, token), s.who(t, s.provider.Token(t, "joost", nil))
		person := s.person("null")
		refused := s.createFor(token, other.UUID.String(), s.newCall(person))
		_, places := problemOf(t, refused)
		if refused.Status != http.StatusForbidden || !slices.Equal(places, []string{apitype.LeaseForHeader}) {
			t.Errorf("got %d at %q, want 403 at the header", refused.Status, places)
		}
		if ids := s.listed(s.token, "/api/v1/calls"); len(ids) != 0 {
			t.Errorf("got the calls %v of a refused creation", ids)
		}
		answer := s.createFor(token, anneke.UUID.String(), s.newCall(person))
		leases := s.leases("")
		if answer.Status != http.StatusCreated || len(leases) != 1 || leases[0].UserUUID != anneke.UUID {
			t.Errorf("got %d and the leases %+v, want one of the person", answer.Status, leases)
		}
	})
}

// TestNewCallAmongTakes creates calls while colleagues ask for work all the time: none of them is given a donor who is
// on the line.
func TestNewCallAmongTakes(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		var persons []apitype.UUID
		for range 30 {
			persons = append(persons, f.person("null"))
		}
		var takers sync.WaitGroup
		done := make(chan struct{})
		for _, user := range f.users[1:] {
			takers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					answer := f.Do(f.token, http.MethodPost, "/fundesk/v1/queue/take",
						leaseFor(user))
					if answer.Status != http.StatusOK || !strings.HasPrefix(string(answer.Body), `{"leases":[]`) {
						t.Errorf("got %d %s, want no call", answer.Status, answer.Body)
						return
					}
				}
			})
		}
		for _, person := range persons {
			answer := f.createFor(f.token, f.users[0].String(), f.newCall(person))
			if answer.Status != http.StatusCreated {
				t.Errorf("got %d %s", answer.Status, answer.Body)
			}
			call := apitype.MustParseUUID(answer.Object()["uuid"].(string))
			f.act(call, "complete", `{"result":{"resultCode":"thanked"}}`)
		}
		close(done)
		takers.Wait()
	})
}
