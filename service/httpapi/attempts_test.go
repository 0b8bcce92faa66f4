package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// describe sends the reason of an attempt.
func (f *floor) describe(call apitype.UUID, at apitype.Time, body string) servicetest.Answer {
	f.t.Helper()
	return f.Do(f.token, http.MethodPut, "/fundesk/v1/calls/"+call.String()+"/attempts/"+at.String(), body)
}

// rests sets the rests of reasons.
func (f *floor) rests(rests map[apitype.NotReached]string) {
	f.t.Helper()
	set := func(o *service.Organization) { o.Settings.NotReached = rests }
	if _, err := f.Service.SetOrganization(f.t.Context(), f.organization, set); err != nil {
		f.t.Fatal(err)
	}
}

// TestReasonsOfAttempts keeps the reason and the number of each attempt, and replaces them.
func TestReasonsOfAttempts(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		call := f.waitingCalls(1)[0]
		first := f.attempt(call, me)
		f.Clock.Advance(time.Minute)
		second := f.attempt(call, me)
		read := func() (all apitype.DescribedAttempts) {
			f.get("/fundesk/v1/calls/" + call.String() + "/attempts").Decode(&all)
			return all
		}
		for range 2 { // A repeat changes nothing.
			if answer := f.describe(call, first, `{"reason":"busy","number":"mobile"}`); answer.Status != 200 {
				t.Fatalf("got %d %s", answer.Status, answer.Body)
			}
		}
		want := apitype.DescribedAttempts{Attempts: []apitype.DescribedAttempt{
			{
				AttemptAt: first,
				UserUUID:  &me,
				Reason:    new(apitype.NotReachedBusy),
				Number:    new(apitype.PhoneMobile),
			},
			{AttemptAt: second, UserUUID: &me},
		}}
		servicetest.Same(t, "the attempts", want, read())
		listed := f.get("/api/v1/calls?attemptReasons=true")
		if !strings.Contains(string(listed.Body), `"attemptReasons":["busy"]`) {
			t.Errorf("got %s, want the reason on the edge", listed.Body)
		}
		f.describe(call, first, `{"reason":"voicemail"}`)
		want.Attempts[0].Reason, want.Attempts[0].Number = new(apitype.NotReachedVoicemail), nil
		servicetest.Same(t, "the attempts", want, read())
		var lines int
		for _, line := range auditOf(t, f.Harness) {
			if line.Operation == service.AuditCallReason && *line.Record == call {
				lines++
			}
		}
		if lines != 2 {
			t.Errorf("got %d lines of the audit, want one for each change", lines)
		}
		if answer := f.describe(call, f.In(time.Hour), `{}`); answer.Status != 404 {
			t.Errorf("got %d %s, want an unknown attempt not found", answer.Status, answer.Body)
		}
		for body, pointer := range map[string]string{`{"reason":"asleep"}`: "/reason", `{"number":"work"}`: "/number"} {
			answer := f.describe(call, first, body)
			if answer.Status != 400 || !strings.Contains(string(answer.Body), `"pointer":"`+pointer+`"`) {
				t.Errorf("%s: got %d %s, want 400 at %s", body, answer.Status, answer.Body, pointer)
			}
		}
		elsewhere := f.Token(servicetest.For(f.Organization("B")))
		path := "/fundesk/v1/calls/" + call.String() + "/attempts"
		f.Want(404, elsewhere, http.MethodGet, path, "")
		donor := apitype.MustParseUUID(f.get(callPath(call)).Object()["personUuid"].(string))
		if export := f.export(donor); !strings.Contains(export, `"reason":"voicemail"`) {
			t.Errorf("got %s, want the reason in the export", export)
		}
	})
}

// Promise S92: TestRestOfAReason offers a donor again when the rest of the reason is over, be it shorter or longer
// than 4 hours.
func TestRestOfAReason(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		f.rests(map[apitype.NotReached]string{apitype.NotReachedBusy: "30m", apitype.NotReachedVoicemail: "26h"})
		call := f.waitingCalls(1)[0]
		offered := func(want bool, after time.Duration, when string) {
			t.Helper()
			f.Clock.Advance(after)
			servicetest.Same(t, when+": waiting", want, f.state("").Waiting == 1)
			if got := len(f.order("&userUuid=" + other.String())); (got == 1) != want {
				t.Errorf("%s: got %d in the order, want %t", when, got, want)
			}
		}
		f.take(me, "")
		at := f.attempt(call, me)
		offered(false, time.Minute, "attempt without a reason")
		f.describe(call, at, `{"reason":"busy"}`)
		offered(false, 28*time.Minute, "within the rest")
		offered(true, time.Minute, "after the rest")
		if got := f.take(other, ""); len(got.Leases) != 1 {
			t.Errorf("got %+v, want the donor", got.Leases)
		}

		at = f.attempt(call, other)
		f.describe(call, at, `{"reason":"voicemail"}`)
		offered(false, 25*time.Hour, "within a long rest")
		f.describe(call, at, `{"reason":"no-answer"}`) // It has no rest of its own: 4 hours are over.
		offered(true, 0, "the reason was corrected")
		f.describe(call, at, `{"reason":"voicemail"}`)
		offered(true, time.Hour, "after a long rest")
	})
}

// TestRestLeavesOtherContacts keeps the 4 hours of a contact without a reason after a shorter rest.
func TestRestLeavesOtherContacts(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.rests(map[apitype.NotReached]string{apitype.NotReachedBusy: "30m"})
		call := f.waitingCalls(1)[0]
		f.attempt(call, f.users[0])
		f.Clock.Advance(time.Hour)
		f.describe(call, f.attempt(call, f.users[0]), `{"reason":"busy"}`)
		f.Clock.Advance(2*time.Hour + 59*time.Minute)
		if got := f.state("").Waiting; got != 0 {
			t.Error("got the donor within 4 hours of the first contact")
		}
		f.Clock.Advance(time.Minute)
		if got := f.state("").Waiting; got != 1 {
			t.Error("got no donor 4 hours after the first contact")
		}
	})
}

// TestReasonOfALateAttempt keeps the 4 hours of a contact without a reason, if an earlier attempt arrives after it
// with a reason of its own: that of a Desk that was cut off. The contact may be on another call of the donor.
func TestReasonOfALateAttempt(t *testing.T) {
	contacts := map[string]func(f *floor, same, other apitype.UUID){
		"attempt of the same call": func(f *floor, same, _ apitype.UUID) { f.attempt(same, f.users[1]) },
		"attempt of another call":  func(f *floor, _, other apitype.UUID) { f.attempt(other, f.users[1]) },
		"completion of another call": func(f *floor, _, other apitype.UUID) {
			f.act(other, "complete", "{}")
		},
	}
	for name, contact := range contacts {
		t.Run(name, func(t *testing.T) {
			onEngines(t, func(t *testing.T, f *floor) {
				f.rests(map[apitype.NotReached]string{apitype.NotReachedBusy: "30m"})
				person := f.person("null")
				call := f.call(person, 90*time.Hour, "happy_call")
				other := f.call(person, 80*time.Hour, "happy_call")
				waiting := f.state("").Waiting
				early := f.Now()
				f.Clock.Advance(time.Hour)
				contact(f, call, other)
				f.Clock.Advance(time.Minute)
				body := fmt.Sprintf(`{"userUuid":%q,"attemptAt":%q}`, f.users[0], early)
				f.act(call, "add-attempt", body)
				f.describe(call, early, `{"reason":"busy"}`)
				f.Clock.Advance(3*time.Hour + 58*time.Minute)
				servicetest.Same(t, "calls of the donor within 4 hours of the later contact", 0, f.state("").Waiting)
				f.Clock.Advance(time.Minute)
				if got := f.state("").Waiting; got == 0 || got > waiting {
					t.Errorf("got %d calls of the donor 4 hours after the later contact", got)
				}
			})
		})
	}
}

// TestRestOfAnAttemptWithASlowClock gives the contact of a lease the rest of its attempt's reason, although the clock
// of the Desk is an hour behind, and another call of the donor was attempted during the lease.
func TestRestOfAnAttemptWithASlowClock(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		for rest, other := range map[string]bool{"30m": false, "5h": true} {
			f.rests(map[apitype.NotReached]string{apitype.NotReachedBusy: rest})
			donor := f.person("null")
			call, second := f.call(donor, 2*time.Hour, "happy_call"), f.call(donor, time.Hour, "winback")
			behind := f.In(-time.Hour)
			f.take(f.users[0], "")
			f.Clock.Advance(time.Minute)
			if other {
				f.attempt(second, f.users[1])
			}
			f.act(call, "add-attempt", fmt.Sprintf(`{"userUuid":%q,"attemptAt":%q}`, f.users[0], behind))
			f.describe(call, behind, `{"reason":"busy"}`)
			life, err := time.ParseDuration(rest)
			servicetest.Check(t, err)
			f.Clock.Advance(life - 2*time.Minute)
			if got := f.state("").Waiting; got != 0 {
				t.Errorf("%s: got the donor within the rest of the lease's contact", rest)
			}
			f.Clock.Advance(time.Minute)
			if got := f.state("").Waiting; got == 0 {
				t.Errorf("%s: got no donor after the rest of the lease's contact", rest)
			}
			f.act(call, "cancel", "")
			f.act(second, "cancel", "")
		}
	})
}

// TestReasonOfACallback keeps the reason of a callback, and gives it with the lease to the agent who takes the call.
func TestReasonOfACallback(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		call := f.waitingCalls(1)[0]
		later := func(body string) string {
			return fmt.Sprintf(`{"notBefore":%q,"userUuid":%q%s}`, f.In(time.Hour), me, body)
		}
		reason := func(token string) *string {
			t.Helper()
			var page struct {
				Edges []struct{ Node apitype.Deferral }
			}
			f.Do(token, http.MethodGet, "/fundesk/v1/queue/deferrals", "").Decode(&page)
			if len(page.Edges) != 1 {
				t.Fatalf("got %d callbacks, want 1", len(page.Edges))
			}
			return page.Edges[0].Node.Reason
		}
		path := queuePath(call) + "/later"
		f.want(204, "PUT", path, later(`,"reason":"after work"`))
		if got := reason(f.token); got == nil || *got != "after work" {
			t.Errorf("got %v, want the reason", got)
		}
		if got := reason(f.Token(servicetest.May(service.CallsRead))); got != nil {
			t.Errorf("got %q without persons:read, want none", *got)
		}
		f.want(400, "PUT", path, later(fmt.Sprintf(`,"reason":%q`, strings.Repeat("a", 201))))
		f.want(400, "PUT", path, later(`,"reason":"a\nb"`))
		f.want(204, "PUT", path, later(""))
		if got := reason(f.token); got != nil {
			t.Errorf("got %q, want none", *got)
		}
		_, lease, _ := f.choose(me, call)
		f.release(lease.LeaseUUID, later(`,"reason":"dinner"`))
		if got := reason(f.token); got == nil || *got != "dinner" {
			t.Errorf("got %v, want the reason of the release", got)
		}

		_, lease, _ = f.choose(me, call)
		if lease.Reason == nil || *lease.Reason != "dinner" {
			t.Errorf("got %v in the lease, want the reason", lease.Reason)
		}
		if list := string(f.get("/fundesk/v1/queue/leases").Body); strings.Contains(list, "dinner") {
			t.Errorf("the list of leases shows the reason: %s", list)
		}
		f.token = f.Token(servicetest.May(service.CallsRead, service.CallsAttempt))
		if _, lease, _ := f.choose(me, call); lease.Reason != nil {
			t.Errorf("got %q in a lease without persons:read, want none", *lease.Reason)
		}
	})
}

// TestWorkOfAnAgent lists what a user did, with the reasons and results, and nothing of another organization. A
// callback for anybody is the work of the user whose lease it was, live or not.
func TestWorkOfAnAgent(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		calls := f.waitingCalls(6)
		taken := f.take(me, `,"count":6`).Leases
		var want []apitype.AgentWorkItem
		done := func(item apitype.AgentWorkItem) {
			item.Time, item.Type = f.Now(), "happy_call"
			want = append([]apitype.AgentWorkItem{item}, want...)
			f.Clock.Advance(time.Minute)
		}
		f.describe(calls[0], f.attempt(calls[0], me), `{"reason":"busy"}`)
		done(apitype.AgentWorkItem{
			Operation: apitype.WorkAttempt,
			CallUUID:  calls[0],
			Reason:    new(apitype.NotReachedBusy),
		})
		f.act(calls[1], "complete", fmt.Sprintf(`{"userUuid":%q,"result":{"resultCode":"A1"}}`, me))
		done(apitype.AgentWorkItem{Operation: apitype.WorkComplete, CallUUID: calls[1], ResultCode: new("A1")})
		f.act(calls[2], "cancel", `{}`)
		done(apitype.AgentWorkItem{Operation: apitype.WorkCancel, CallUUID: calls[2]})
		f.release(taken[3].LeaseUUID, `{}`)
		done(apitype.AgentWorkItem{Operation: apitype.WorkRelease, CallUUID: calls[3]})
		// For anybody.
		f.later(calls[4], fmt.Sprintf(`{"notBefore":%q,"leaseUuid":%q}`, f.In(time.Hour), taken[4].LeaseUUID))
		done(apitype.AgentWorkItem{Operation: apitype.WorkDefer, CallUUID: calls[4]})
		f.Clock.Advance(time.Hour)
		f.release(taken[5].LeaseUUID, fmt.Sprintf(`{"notBefore":%q,"replaces":{"notBefore":null}}`, f.In(time.Hour)))
		done(apitype.AgentWorkItem{Operation: apitype.WorkDefer, CallUUID: calls[5]})
		work := func(token, query string) []apitype.AgentWorkItem {
			t.Helper()
			var got apitype.AgentWork
			f.Do(token, http.MethodGet, "/fundesk/v1/queue/agents/"+me.String()+"/work"+query, "").Decode(&got)
			return got.Work
		}
		servicetest.Same(t, "the work", want, work(f.token, ""))
		servicetest.Same(t, "since", want[:2], work(f.token, "?since="+want[1].Time.String()))
		if got := work(f.Token(servicetest.For(f.Organization("B"))), ""); len(got) != 0 {
			t.Errorf("got %+v, want nothing of another organization", got)
		}
		f.want(400, "GET", "/fundesk/v1/queue/agents/"+me.String()+"/work?since=2026-01-01", "")
	})
}
