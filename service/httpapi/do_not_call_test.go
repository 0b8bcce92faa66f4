package httpapi_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// isBlocked asks whether a number is blocked.
func (f *floor) isBlocked(number string) bool {
	f.t.Helper()
	var state apitype.NumberState
	answer := f.Do(f.token, "POST", "/fundesk/v1/do-not-call/check", fmt.Sprintf(`{"number":%q}`, number))
	if answer.Status != 200 {
		f.t.Fatalf("got %d %s", answer.Status, answer.Body)
	}
	answer.Decode(&state)
	return state.Blocked
}

// given returns whether the queue gives a call, among all that it has.
func (f *floor) given(call apitype.UUID) bool {
	f.t.Helper()
	user := apitype.NewUUID()
	for _, lease := range f.take(user, `,"count":10`).Leases {
		if lease.CallUUID == call {
			return true
		}
	}
	return false
}

// A donor who was created without an opt-in objects by an update, too.
func TestObjectionOfADonorWithoutOptIn(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		const number = "+31612345678"
		person := f.created("/api/v1/persons", fmt.Sprintf(
			`{"owningOrganizationUuid":%q,"recruitingOrganizationUuid":%[1]q,"mobilePhoneNumber":%q,"optIns":{"phone":false}}`,
			f.organization,
			number,
		))
		other := f.call(f.donor(number), time.Hour, "happy_call")
		f.update(person, `{"language":"nl"}`)
		if f.isBlocked(number) {
			t.Error("an update of the language blocked the number")
		}
		f.optIn(person, "false")
		if !f.isBlocked(number) || f.given(other) {
			t.Error("the number is not blocked, or another donor with it is given")
		}
		at := f.In(-time.Minute)
		f.want(201, "POST", "/fundesk/v1/persons/"+person.String()+"/consents",
			fmt.Sprintf(`{"channel":"phone","basis":"consent","source":"form","at":%q}`, at))
		if !f.isBlocked(number) {
			t.Error("an older consent lifted the objection")
		}
	})
}

// An objection blocks the number for every donor of the organization, and only the donor's own opt-in lifts it.
// Promise S79: an opt-out is by number.
func TestObjectionsHoldForTheNumber(t *testing.T) {
	const number = "+31612345678"
	ways := map[string]func(f *floor, person apitype.UUID){
		"a result": func(f *floor, person apitype.UUID) {
			f.setEffects()
			call := f.call(person, time.Hour, "happy_call")
			f.act(call, "complete", `{"result":{"resultCode":"stop"}}`)
		},
		"an update": func(f *floor, person apitype.UUID) { f.optIn(person, "false") },
	}
	for name, object := range ways {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, f *floor) {
				first, second := f.donor(number), f.donor(number)
				object(f, first)
				if !f.isBlocked(number) || f.isBlocked("+31687654321") {
					t.Error("the objection does not hold for the number, or for another one too")
				}
				later := f.donor(number) // Also a donor who comes later.
				for _, person := range []apitype.UUID{second, later} {
					if f.given(f.call(person, time.Hour, "winback")) {
						t.Error("the queue gave a call to a blocked number")
					}
				}
				f.optIn(second, "true")
				if !f.isBlocked(number) {
					t.Error("the opt-in of another donor lifted the objection")
				}
				f.optIn(first, "true")
				if f.isBlocked(number) {
					t.Error("the donor's own opt-in did not lift the objection")
				}
				if !f.given(f.call(second, 30*time.Hour, "happy_call")) {
					t.Error("the queue gives no call after the objection was lifted")
				}
			})
		})
	}
}

// Calls to a blocked number are neither listed nor counted, whichever way it came to be blocked or unblocked.
func TestBlockedCallsDoNotWait(t *testing.T) {
	const number, other = "+31612345678", "+4915112345678"
	onEngines(t, func(t *testing.T, f *floor) {
		lead := f.Token(servicetest.For(f.organization), servicetest.May("settings:write", "calls:read"))
		block := func(path, number string) {
			t.Helper()
			body := fmt.Sprintf(`{"number":%q,"organizationUuid":%q}`, number, f.organization)
			f.Want(204, lead, "POST", "/fundesk/v1/do-not-call"+path, body)
		}
		change := func(person apitype.UUID, body string) {
			t.Helper()
			f.update(person, body)
		}
		first, second := f.donor(number), f.donor(number)
		calls := []apitype.UUID{f.call(first, 3*time.Hour, "happy_call"), f.call(second, 2*time.Hour, "winback")}
		late := f.donor(other)
		calls = append(calls, f.call(late, time.Hour, "winback"))
		wait := func(when string, want ...apitype.UUID) {
			t.Helper()
			got, count := f.order(""), f.state("").Waiting
			if !slices.Equal(got, want) || count != len(want) {
				t.Errorf("%s: got %v and %d waiting, want %v", when, got, count, want)
			}
		}
		wait("at first", calls...)
		block("", number)
		wait("after a block", calls[2])
		change(late, `{"mobilePhoneNumber":"`+number+`"}`)
		wait("after a donor got the number")
		change(late, `{"phoneNumber":"`+number+`","mobilePhoneNumber":"`+other+`"}`)
		wait("with another number beside it")
		change(late, `{"phoneNumber":null}`)
		wait("without the number", calls[2])
		calls = append(calls, f.call(second, 30*time.Minute, "happy_call"))
		wait("after a new call", calls[2])
		f.Clock.Advance(48 * time.Hour)
		wait("two days later", calls[2])
		block("/remove", number)
		wait("after the block was removed", calls...)

		f.optIn(first, "false")
		wait("after an objection", calls[2])
		change(first, `{"mobilePhoneNumber":"+31687654321"}`)
		wait("after that donor has another number", calls[2])
		f.optIn(first, "true")
		wait("after the objection was lifted", calls...)
	})
}

// What lifts an objection after the clock went back leaves a leased donor of the household to the lease: leases go by the
// clock, whatever the time of the change.
func TestLeasesOutliveLiftedObjections(t *testing.T) {
	const number = "+31612345678"
	ways := map[string]func(f *floor, person apitype.UUID){
		"an update": func(f *floor, person apitype.UUID) { f.optIn(person, "true") },
		"a consent": func(f *floor, person apitype.UUID) {
			at := f.In(4 * time.Minute) // The time of the objection.
			f.want(201, "POST", consentsPath(person), fmt.Sprintf(`{"channel":"phone","basis":"consent","source":"form","at":%q}`, at))
		},
	}
	for name, lift := range ways {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, f *floor) {
				first, second := f.donor(number), f.donor(number)
				call := f.call(second, 3*time.Hour, "happy_call")
				now := f.Clock.Now()
				f.Clock.Advance(4 * time.Minute)
				f.optIn(first, "false")
				f.Clock.Set(now)
				if status, _, problem := f.choose(f.users[0], call); status != 200 {
					t.Fatalf("got %d %+v", status, problem)
				}
				lift(f, first)
				servicetest.Same(t, "waiting", 0, f.state("").Waiting)
				f.Clock.Advance(11 * time.Minute)
				servicetest.Same(t, "waiting after the lease", 1, f.state("").Waiting)
			})
		})
	}
}

// Calls that a take has marked as ready are not counted if the clock goes back before their time.
func TestQueueIsCountedByTheClock(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.call(f.person("null"), time.Hour, "happy_call")
		first := f.take(f.users[0], "").Leases[0]
		leased := f.Clock.Now()
		f.Clock.Advance(time.Hour)
		f.call(f.person("null"), 2*time.Hour, "happy_call")
		f.take(f.users[1], "")
		if got := f.order(""); len(got) != 1 {
			t.Fatalf("got %v, want the call whose lease has ended", got)
		}
		f.Clock.Set(leased.Add(time.Minute))
		if list, count := f.order(""), f.state("").Waiting; len(list) != count || slices.Contains(list, first.CallUUID) {
			t.Errorf("got %v listed and %d waiting, want as many, without the leased one", list, count)
		}
	})
}

// A donor who died, and a household with the same number: the number stays open.
func TestNoContactBlocksNoNumber(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.setEffects()
		const number = "+31612345678"
		call := f.call(f.donor(number), time.Hour, "happy_call")
		f.act(call, "complete", `{"result":{"resultCode":"died"}}`)
		if f.isBlocked(number) {
			t.Error("the number of a donor who died is blocked")
		}
	})
}

// A supervisor blocks and unblocks numbers of their organizations.
func TestNumbersAreBlockedByHand(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		const number = "+31612345678"
		donor, user := f.donor(number), apitype.NewUUID()
		call := f.call(donor, time.Hour, "happy_call")
		lead := f.Token(servicetest.For(f.organization), servicetest.May("settings:write", "calls:read"))
		body := fmt.Sprintf(`{"number":%q,"organizationUuid":%q}`, number, f.organization)
		for _, step := range []struct {
			path, body string
			want       int
			blocked    bool
		}{
			{"", body, 204, true},
			{"", body, 204, true},
			{"/remove", body, 204, false},
			{"/remove", body, 204, false},
			{"", `{"number":"0612345678","organizationUuid":"` + f.organization.String() + `"}`, 400, false},
			{"", `{"number":"+31612345678","organizationUuid":"` + apitype.NewUUID().String() + `"}`, 400, false},
			{"", `{"number":"+31612345678"}`, 400, false},
		} {
			f.Want(step.want, lead, "POST", "/fundesk/v1/do-not-call"+step.path, step.body)
			if got := f.isBlocked(number); got != step.blocked {
				t.Errorf("after %s %s: got blocked %t, want %t", step.path, step.body, got, step.blocked)
			}
			opened := leaseFor(user)
			var lease apitype.Lease
			f.Do(f.token, "PUT", queuePath(call)+"/lease", opened).Decode(&lease)
			var leases apitype.Leases
			f.get("/fundesk/v1/queue/leases?personUuid=" + donor.String()).Decode(&leases)
			if told := leases.NumberBlocked; lease.NumberBlocked != step.blocked || told == nil || *told != step.blocked {
				t.Errorf("after %s %s: got %+v and %+v, want the card told %t", step.path, step.body, lease, leases, step.blocked)
			}
		}
	})
}
