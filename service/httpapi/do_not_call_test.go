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

// A donor who asks that the number is removed, too, objects to calls of that number.
func TestObjectionThatRemovesTheNumber(t *testing.T) {
	const mobile, home, other = "+31612345678", "+31201234567", "+31687654321"
	onEngines(t, func(t *testing.T, f *floor) {
		person := f.donorWith(f.organization, fmt.Sprintf(`,"mobilePhoneNumber":%q,"phoneNumber":%q`, mobile, home))
		twin := f.call(f.donor(mobile), time.Hour, "happy_call")
		f.callable("before", twin)
		f.update(person, fmt.Sprintf(`{"optIns":{"phone":false},"mobilePhoneNumber":null,"phoneNumber":%q}`, other))
		for _, number := range []string{mobile, home, other} {
			if !f.isBlocked(number) {
				t.Errorf("%s is not blocked", number)
			}
		}
		f.callable("after the objection")
		f.optIn(person, "true")
		f.callable("after the opt-in", twin)
	})
}

// A donor with two numbers is not called while one of them is blocked.
func TestOneOfTwoNumbersIsBlocked(t *testing.T) {
	const number, other = "+31612345678", "+4915112345678"
	onEngines(t, func(t *testing.T, f *floor) {
		lead := f.Token(servicetest.For(f.organization), servicetest.May("settings:write", "calls:read"))
		body := fmt.Sprintf(`{"number":%q,"organizationUuid":%q}`, number, f.organization)
		f.Want(204, lead, "POST", "/fundesk/v1/do-not-call", body)
		donor := f.donor(number)
		call := f.call(donor, time.Hour, "winback")
		f.callable("with the number")
		f.update(donor, `{"phoneNumber":"`+number+`","mobilePhoneNumber":"`+other+`"}`)
		f.callable("with another number beside it")
		f.update(donor, `{"phoneNumber":null}`)
		f.callable("without the number", call)
	})
}

// A number is the same with and without the zero of national numbers after the code of its country.
// Promise S79: an objection holds for the number.
func TestNumberInTwoSpellings(t *testing.T) {
	const plain, zero = "+31612345678", "+310612345678"
	for _, spellings := range [][2]string{{plain, zero}, {zero, plain}} {
		t.Run(spellings[0], func(t *testing.T) {
			onEngines(t, func(t *testing.T, f *floor) {
				objector := f.donor(spellings[0])
				call := f.call(f.donor(spellings[1]), time.Hour, "happy_call")
				f.callable("before", call)
				f.optIn(objector, "false")
				f.callable("after the objection")
				f.call(f.donor(spellings[1]), time.Hour, "happy_call")
				f.callable("as a new donor")
				if !f.isBlocked(plain) || !f.isBlocked(zero) {
					t.Error("got a spelling that is not blocked")
				}
				lead := f.Token(servicetest.For(f.organization), servicetest.May("settings:write", "calls:read"))
				f.Want(204, lead, "POST", "/fundesk/v1/do-not-call/remove",
					fmt.Sprintf(`{"number":%q,"organizationUuid":%q}`, spellings[1], f.organization))
				if f.isBlocked(plain) || f.isBlocked(zero) {
					t.Error("got a spelling that is still blocked")
				}
			})
		})
	}
}

// What lifts an objection after the clock went back leaves a leased donor of the household to the lease: leases go by
// the clock, whatever the time of the change.
func TestLeasesOutliveLiftedObjections(t *testing.T) {
	const number = "+31612345678"
	ways := map[string]func(f *floor, person apitype.UUID){
		"an update": func(f *floor, person apitype.UUID) { f.optIn(person, "true") },
		"a consent": func(f *floor, person apitype.UUID) {
			at := f.In(4 * time.Minute) // The time of the objection.
			f.want(201, "POST", consentsPath(person),
				fmt.Sprintf(`{"channel":"phone","basis":"consent","source":"form","at":%q}`, at))
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
		list, count := f.order(""), f.state("").Waiting
		if len(list) != count || slices.Contains(list, first.CallUUID) {
			t.Errorf("got %v listed and %d waiting, want as many, without the leased one", list, count)
		}
	})
}

// An older consent does not lift what a supervisor blocked since. A newer one does.
// Promise S81: the newest word of the donor decides an opt-in.
func TestOlderConsentLiftsNoNumberBlockedByHand(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		const number = "+31612345678"
		donor := f.donor(number)
		call := f.call(donor, time.Hour, "happy_call")
		lead := f.Token(servicetest.For(f.organization), servicetest.May("settings:write", "calls:read"))
		block := func() {
			f.t.Helper()
			body := fmt.Sprintf(`{"number":%q,"organizationUuid":%q}`, number, f.organization)
			f.Want(204, lead, "POST", "/fundesk/v1/do-not-call", body)
		}
		block()
		f.addConsent(donor, "phone consent", 1)
		if !f.isBlocked(number) || f.given(call) {
			t.Error("a consent from before the block lifted it")
		}
		f.Clock.Advance(4 * time.Hour)
		block()
		f.addConsent(donor, "phone consent", -2)
		if !f.isBlocked(number) || f.given(call) {
			t.Error("a consent from before the number was blocked again lifted the block")
		}
		f.addConsent(donor, "phone consent", -4)
		if f.isBlocked(number) || !f.given(call) {
			t.Error("a consent from after the block did not lift it")
		}
	})
}

// An update that lifts a block has a line in the audit, also if the donor was opted in before.
// Promise S44: each change has a line in the audit.
func TestLiftedBlockIsInTheAudit(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		const number = "+31612345678"
		donor := f.donor(number)
		f.optIn(donor, "true")
		lead := f.Token(servicetest.For(f.organization), servicetest.May("settings:write", "calls:read"))
		body := fmt.Sprintf(`{"number":%q,"organizationUuid":%q}`, number, f.organization)
		f.Want(204, lead, "POST", "/fundesk/v1/do-not-call", body)
		before := len(f.linesAbout(donor))
		f.update(donor, `{"name":{"lastName":"Stein"},"optIns":{"phone":true}}`)
		f.optIn(donor, "true")
		if f.isBlocked(number) {
			t.Fatal("the update did not lift the block")
		}
		added := f.linesAbout(donor)[before:]
		if len(added) != 2 || added[1].Fields != "optInPhone" {
			t.Errorf("got the lines %+v, want one of the name and one of optInPhone", added)
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
			told := leases.NumberBlocked
			if lease.NumberBlocked != step.blocked || told == nil || *told != step.blocked {
				t.Errorf("after %s %s: got %+v and %+v, want the card told %t",
					step.path, step.body, lease, leases, step.blocked)
			}
		}
	})
}
