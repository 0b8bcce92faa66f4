package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// TestPendingLeaseLasts keeps the donor of a change that waits from every agent for 24 hours, its own included.
func TestPendingLeaseLasts(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		f.waitingCalls(1)
		request := apitype.NewUUID()
		lease := f.takeAs(request, me, "").Leases[0]
		status, pending := f.extend(lease.LeaseUUID, `{"pending":true}`)
		want := f.In(24 * time.Hour)
		if status != 200 || !pending.Pending || !pending.ExpiresAt.Equal(want) {
			t.Fatalf("got %d %+v, want a pending lease until %s", status, pending, want)
		}
		f.Clock.Advance(23 * time.Hour)
		if _, kept := f.extend(lease.LeaseUUID, `{"leaseSeconds":60}`); !kept.Pending || !kept.ExpiresAt.Equal(want) {
			t.Errorf("got %+v, want the same end after a plain extension", kept)
		}
		for _, user := range []apitype.UUID{me, other} {
			if got := f.take(user, ""); len(got.Leases) != 0 {
				t.Errorf("got %+v, want nothing while the change waits", got.Leases)
			}
		}
		if got := f.takeAs(request, me, ""); len(got.Leases) != 0 {
			t.Errorf("got %+v, want the pending lease not given again", got.Leases)
		}
		if got := f.leases(""); len(got) != 1 || !got[0].Pending {
			t.Errorf("got %+v, want the pending lease in the list", got)
		}
		f.Clock.Advance(time.Hour)
		if got := f.take(other, ""); len(got.Leases) != 1 {
			t.Errorf("got %+v, want the donor after 24 hours", got.Leases)
		}
	})
}

// TestPendingLeaseEnds ends it with the change and by its release, and by that of its user only on request.
func TestPendingLeaseEnds(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		ends := map[string]func(call, lease apitype.UUID){
			"attempt": func(call, _ apitype.UUID) {
				f.act(call, "add-attempt", `{}`)
			},
			"complete": func(call, _ apitype.UUID) {
				f.act(call, "complete", `{}`)
			},
			"cancel": func(call, _ apitype.UUID) { f.act(call, "cancel", `{}`) },
			"expire": func(call, _ apitype.UUID) { f.act(call, "expire", `{}`) },
			"release": func(_, lease apitype.UUID) {
				f.release(lease, `{}`)
			},
			"later": func(call, lease apitype.UUID) {
				f.later(call, fmt.Sprintf(`{"notBefore":%q,"leaseUuid":%q}`, f.In(time.Hour), lease))
			},
			"user": func(_, _ apitype.UUID) {
				f.want(200, "POST", "/fundesk/v1/queue/release", fmt.Sprintf(`{"userUuid":%q,"pending":true}`, me))
			},
		}
		for name, end := range ends {
			call := f.waitingCalls(1)[0]
			_, lease, _ := f.choose(me, call)
			f.extend(lease.LeaseUUID, `{"pending":true}`)
			f.want(200, "POST", "/fundesk/v1/queue/release", fmt.Sprintf(`{"userUuid":%q,"deferrals":true}`, me))
			if got := f.leases("?userUuid=" + me.String()); len(got) != 1 {
				t.Errorf("%s: got %+v, want the pending lease after the release of its user", name, got)
			}
			end(call, lease.LeaseUUID)
			if got := f.leases("?userUuid=" + me.String()); len(got) != 0 {
				t.Errorf("%s: got %+v, want no lease", name, got)
			}
		}
	})
}

// TestPendingLeaseIsNoCard counts it neither among the ten leases of its user nor as the call on the card.
func TestPendingLeaseIsNoCard(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		calls := f.waitingCalls(13)
		for _, call := range calls[:2] { // One of them was never taken before.
			answer := f.Do(f.token, http.MethodPut, queuePath(call)+"/lease",
				fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"pending":true}`, apitype.NewUUID(), me))
			if answer.Status != 200 || answer.Object()["pending"] != true || answer.Object()["ahead"] != false {
				t.Fatalf("got %d %s, want a pending lease", answer.Status, answer.Body)
			}
		}
		var all apitype.QueueAgents
		f.get("/fundesk/v1/queue/agents").Decode(&all)
		if agent := all.Agents[0]; agent.CallUUID != nil || agent.Taken != 0 {
			t.Errorf("got %+v, want no card, and nothing taken", agent)
		}
		if got := f.take(me, `,"count":10`); len(got.Leases) != 10 {
			t.Errorf("got %d leases, want 10 beside those that are pending", len(got.Leases))
		}
		_, _, problem := f.choose(me, calls[12])
		if problem.Status != 409 {
			t.Errorf("got %+v, want the eleventh refused", problem)
		}
		answer := f.Do(f.token, http.MethodPut, queuePath(calls[12])+"/lease",
			fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"pending":true}`, apitype.NewUUID(), me))
		if answer.Status != 200 {
			t.Errorf("got %d %s, want a pending one beside ten", answer.Status, answer.Body)
		}
	})
}

// TestPendingLeaseIsTakenBack makes the pending lease of an undone change plain, without a moment in which the donor is
// free. It ends a pause, as an opened call does.
func TestPendingLeaseIsTakenBack(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		f.waitingCalls(1)
		lease := f.take(me, "").Leases[0]
		f.extend(lease.LeaseUUID, `{"pending":true}`)
		state := "/fundesk/v1/queue/users/" + me.String() + "/state"
		f.want(200, "PUT", state, `{"state":"paused","reason":"lunch"}`)
		status, plain := f.extend(lease.LeaseUUID, `{"pending":false}`)
		want := f.In(apitype.DefaultLease)
		if status != 200 || plain.Pending || plain.LeaseUUID != lease.LeaseUUID || !plain.ExpiresAt.Equal(want) {
			t.Errorf("got %d %+v, want a plain lease until %s", status, plain, want)
		}
		if got := f.take(other, ""); len(got.Leases) != 0 {
			t.Errorf("got %+v, want nothing for another user", got.Leases)
		}
		f.Clock.Advance(apitype.DefaultLease)
		if got := f.take(me, ""); len(got.Leases) != 1 {
			t.Errorf("got %+v, want the call after the end of the lease, for a user who pauses no more", got.Leases)
		}
	})
}

// TestPendingLeaseStays keeps the pending lease of one call when its user opens another call of the donor.
func TestPendingLeaseStays(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		person := f.person("null")
		first, second := f.call(person, 3*time.Hour, "happy_call"), f.call(person, 2*time.Hour, "winback")
		_, lease, _ := f.choose(me, first)
		f.extend(lease.LeaseUUID, `{"pending":true}`)
		status, again, _ := f.choose(me, first)
		if status != 200 || !again.Pending || again.LeaseUUID != lease.LeaseUUID {
			t.Errorf("got %d %+v, want the pending lease", status, again)
		}
		status, _, problem := f.choose(me, second)
		if status != 409 || problem.Lease == nil || problem.Lease.UserUUID != me {
			t.Errorf("got %d %+v, want 409 and the holder", status, problem)
		}
		if got := f.leases("?personUuid=" + person.String()); len(got) != 1 || got[0].CallUUID != first {
			t.Errorf("got %+v, want the lease of the first call", got)
		}
	})
}

// TestLeasesOfUserAndPerson lists the leases of a user and that of a person, with any holder, in one answer.
func TestLeasesOfUserAndPerson(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		persons := []apitype.UUID{f.person("null"), f.person("null"), f.person("null")}
		var held []apitype.Lease
		for i, user := range []apitype.UUID{me, other, other} {
			_, lease, _ := f.choose(user, f.call(persons[i], 3*time.Hour, "happy_call"))
			held = append(held, lease)
			f.Clock.Advance(time.Second)
		}
		foreign := f.Organization("B")
		for _, test := range []struct {
			name, query string
			want        []apitype.Lease
		}{
			{"all", "", held},
			{"of a user", "?userUuid=" + me.String(), held[:1]},
			{"of a person", "?personUuid=" + persons[1].String(), held[1:2]},
			{"of both", "?userUuid=" + me.String() + "&personUuid=" + persons[1].String(), held[:2]},
			{"of one's own person", "?userUuid=" + me.String() + "&personUuid=" + persons[0].String(), held[:1]},
			{"of a free person", "?userUuid=" + me.String() + "&personUuid=" + f.person("null").String(), held[:1]},
			{"of an unknown user", "?userUuid=" + apitype.NewUUID().String(), nil},
		} {
			got := f.leases(test.query)
			if len(got) != len(test.want) {
				t.Errorf("%s: got %+v, want %d", test.name, got, len(test.want))
				continue
			}
			for i := range got {
				if got[i].LeaseUUID != test.want[i].LeaseUUID {
					t.Errorf("%s: got %+v, want %+v", test.name, got[i], test.want[i])
				}
			}
		}
		answer := f.Do(f.Token(servicetest.For(foreign)), http.MethodGet,
			"/fundesk/v1/queue/leases?personUuid="+persons[0].String(), "")
		var none apitype.Leases
		answer.Decode(&none)
		if len(none.Leases) != 0 {
			t.Errorf("got %+v, want nothing for another organization", none.Leases)
		}
		f.want(400, http.MethodGet, "/fundesk/v1/queue/leases?userUuid=x", "")
	})
}
