package httpapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// named makes the first user known to the service.
func (f *floor) named(name string) {
	f.t.Helper()
	err := f.Store.Write(f.t.Context(), service.WriteIsolated, func(tx service.Tx) error {
		return tx.InsertUser(service.User{
			RecruiterUser: apitype.RecruiterUser{UUID: f.users[0], Identifier: "a1", Name: name},
		})
	})
	servicetest.Check(f.t, err)
}

// TestChosenCallIsLeased shows that an opened call belongs to its agent alone, even if the queue would not give it, and
// that another agent reads who has the donor.
func TestChosenCallIsLeased(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.named("Anneke")
		anneke, bert := f.users[0], f.users[1]
		person := f.person("null")
		first, second := f.call(person, 3*time.Hour, "happy_call"), f.call(person, 2*time.Hour, "winback")
		for _, attempt := range []apitype.UUID{first, first, first} { // The organization's maximum, a minute ago.
			f.act(attempt, "add-attempt", `{}`)
		}
		f.update(person, `{"optIns":{"phone":false}}`)
		f.later(first, fmt.Sprintf(`{"notBefore":%q}`, f.In(time.Hour)))
		status, lease, _ := f.choose(anneke, first)
		if status != 200 || lease.CallUUID != first || lease.Ahead || lease.Name == nil || *lease.Name != "Anneke" ||
			lease.Call.Value().UUID != first {
			t.Fatalf("got %d %+v, want Anneke's lease with its call", status, lease)
		}
		f.Clock.Advance(time.Minute)
		for _, call := range []apitype.UUID{first, second} {
			status, _, problem := f.choose(bert, call)
			want := &apitype.LeaseHolder{
				UserUUID:  anneke,
				Name:      new("Anneke"),
				TakenAt:   lease.TakenAt,
				ExpiresAt: lease.ExpiresAt,
			}
			if diff := cmp.Diff(want, problem.Lease); status != 409 || diff != "" {
				t.Errorf("got %d, the holder: %s", status, diff)
			}
		}
		// The same agent: the call again, and the other call of the donor.
		if status, again, _ := f.choose(anneke, first); status != 200 ||
			again.LeaseUUID != lease.LeaseUUID ||
			!again.ExpiresAt.After(lease.ExpiresAt.Time) {
			t.Errorf("got %d %+v, want the same lease for longer", status, again)
		}
		status, moved, _ := f.choose(anneke, second)
		if status != 200 || moved.CallUUID != second {
			t.Errorf("got %d %+v, want the other call", status, moved)
		}
		f.want(404, "POST", leasePath(lease.LeaseUUID)+"/extend", `{}`)
		var leases apitype.Leases
		f.get("/fundesk/v1/queue/leases").Decode(&leases)
		if len(leases.Leases) != 1 || leases.Leases[0].CallUUID != second || leases.Leases[0].Name == nil {
			t.Errorf("got %+v, want one lease, with a name", leases.Leases)
		}
		// It ends by itself, and then it is anybody's.
		f.Clock.Advance(time.Hour)
		if status, _, _ := f.choose(bert, second); status != 200 {
			t.Errorf("got %d after the lease has ended", status)
		}
		f.act(first, "cancel", `{}`)
		status, _, problem := f.choose(bert, first)
		if status != 409 || problem.Lease != nil || problem.Detail != "the call is cancelled and waits no more" {
			t.Errorf("got %d %+v of a cancelled call", status, problem)
		}
	})
}

// TestUnseenCallbackOutlivesAMove opens a call of a donor whose callback was taken ahead and not shown yet. The
// callback stays due, for its user and with its reason. One that was shown is used up.
func TestUnseenCallbackOutlivesAMove(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		for _, isAhead := range []bool{true, false} {
			donor := f.person("null")
			kept, other := f.call(donor, 3*time.Hour, "happy_call"), f.call(donor, time.Hour, "winback")
			due := f.In(time.Hour)
			later := fmt.Sprintf(`{"notBefore":%q,"userUuid":%q,"reason":"after dinner"}`, due, me)
			f.later(kept, later)
			f.Clock.Advance(time.Hour + time.Minute)
			servicetest.Same(t, "taken", []apitype.UUID{kept}, callsOf(f.take(me, fmt.Sprintf(`,"ahead":%t`, isAhead))))
			if status, lease, _ := f.choose(me, other); status != 200 || lease.CallUUID != other {
				t.Errorf("ahead %t: got %d %+v, want the other call", isAhead, status, lease)
			}
			got := f.callbacksOf(me)
			isKept := len(got) == 1 && got[0].CallUUID == kept && got[0].NotBefore.Equal(due) &&
				got[0].Reason != nil && *got[0].Reason == "after dinner"
			if isKept != isAhead {
				t.Errorf("ahead %t: got %+v, want the callback kept: %t", isAhead, got, isAhead)
			}
			for _, call := range []apitype.UUID{kept, other} {
				f.act(call, "cancel", `{}`)
			}
		}
	})
}

// TestAheadIsNotTaken counts agents by the calls that they saw.
func TestAheadIsNotTaken(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.named("Anneke")
		for i := range 3 {
			f.call(f.person("null"), time.Duration(9-i)*time.Hour, []string{"happy_call", "winback", "verification"}[i])
		}
		agent := func() apitype.QueueAgent {
			var all apitype.QueueAgents
			f.get("/fundesk/v1/queue/agents").Decode(&all)
			return all.Agents[0]
		}
		shown := f.take(f.users[0], "").Leases[0]
		f.Clock.Advance(time.Minute)
		ahead := f.take(f.users[0], `,"ahead":true`).Leases[0]
		got := agent()
		if shown.Ahead || !ahead.Ahead || got.Taken != 1 || *got.CallUUID != shown.CallUUID ||
			*got.Type != "happy_call" || *got.Name != "Anneke" {
			t.Errorf("got %+v, want the call on the screen", got)
		}
		f.release(ahead.LeaseUUID, "")
		if got := agent(); got.Taken != 1 || got.Released != 0 {
			t.Errorf("got %+v, want nothing given back that was never shown", got)
		}
		next := f.take(f.users[0], `,"ahead":true,"types":["verification"]`).Leases[0]
		f.want(200, "POST", leasePath(next.LeaseUUID)+"/extend", `{"ahead":true}`)
		f.release(shown.LeaseUUID, "")
		f.Clock.Advance(time.Minute)
		if got := agent(); got.CallUUID != nil || got.Released != 1 {
			t.Errorf("got %+v, want no call on the screen", got)
		}
		var lease apitype.Lease
		f.Do(f.token, "POST", leasePath(next.LeaseUUID)+"/extend", `{"ahead":false}`).Decode(&lease)
		if got := agent(); lease.Ahead ||
			got.Taken != 2 ||
			*got.CallUUID != next.CallUUID ||
			!got.TakenAt.Equal(f.Now()) {
			t.Errorf("got %+v, %+v, want the next call on the screen since now", lease, got)
		}
	})
}

// TestMostLeases holds a user to ten leases, and frees them all at once.
func TestMostLeases(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		f.named("Anneke")
		var calls []apitype.UUID
		for i := range 13 {
			calls = append(calls, f.call(f.person("null"), time.Duration(40-i)*time.Hour, "happy_call"))
		}
		me, other := f.users[0], f.users[1]
		if got := f.take(me, `,"count":8`); len(got.Leases) != 8 {
			t.Fatalf("got %d leases, want 8", len(got.Leases))
		}
		if got := f.take(me, `,"count":8`); len(got.Leases) != 2 || got.Waiting != 3 {
			t.Errorf("got %d more and %d waiting, want 2 and 3", len(got.Leases), got.Waiting)
		}
		status, _, problem := f.choose(me, calls[12])
		if status != 409 || problem.Detail != "the user holds 10 calls already; release one" {
			t.Errorf("got %d %+v of the eleventh call", status, problem)
		}
		if got := f.take(other, `,"count":2`); len(got.Leases) != 2 {
			t.Errorf("got %d for another user, want 2", len(got.Leases))
		}
		f.later(calls[12], fmt.Sprintf(`{"notBefore":%q,"userUuid":%q}`, f.In(time.Hour), me))
		callbacks := func(query string) (all []apitype.Deferral) {
			for _, edge := range page(t, f.get("/fundesk/v1/queue/deferrals?first=1"+query)).Edges {
				d := apitype.Deferral{CallUUID: apitype.MustParseUUID(edge.Node["callUuid"].(string))}
				if name, ok := edge.Node["name"].(string); ok {
					d.Name = &name
				}
				all = append(all, d)
			}
			return all
		}
		got := callbacks("&userUuid=" + me.String())
		if len(got) != 1 || got[0].CallUUID != calls[12] || *got[0].Name != "Anneke" {
			t.Errorf("got %+v, want the callback", got)
		}
		later := func() (mine, theirs int) {
			var all apitype.QueueAgents
			f.get("/fundesk/v1/queue/agents").Decode(&all)
			for _, agent := range all.Agents {
				if agent.UserUUID == me {
					mine = agent.Deferred
				} else {
					theirs += agent.Deferred
				}
			}
			return mine, theirs
		}
		if mine, theirs := later(); mine != 1 || theirs != 0 {
			t.Errorf("got %d callbacks kept for the user and %d for others, want 1 and none", mine, theirs)
		}
		var released apitype.ReleasedUser
		f.Do(f.token, "POST", "/fundesk/v1/queue/release", fmt.Sprintf(`{"userUuid":%q}`, me)).Decode(&released)
		if released != (apitype.ReleasedUser{Leases: 10}) || len(callbacks("&userUuid="+me.String())) != 1 {
			t.Errorf("got %+v, want ten leases, and the callback kept", released)
		}
		f.Do(f.token, "POST", "/fundesk/v1/queue/release",
			fmt.Sprintf(`{"userUuid":%q,"deferrals":true}`, me)).Decode(&released)
		if released != (apitype.ReleasedUser{Deferrals: 1}) ||
			len(callbacks("&userUuid="+me.String())) != 0 ||
			len(callbacks("")) != 1 {
			t.Errorf("got %+v, want the callback open to every user", released)
		}
		if mine, theirs := later(); mine != 0 || theirs != 0 {
			t.Errorf("got %d and %d callbacks of users, want none for a user alone", mine, theirs)
		}
		servicetest.Same(t, "leased", 2, f.state("").Leased)
	})
}

// TestAgentsWithinAMonth counts agents no further back than 31 days: all that was done since is read.
func TestAgentsWithinAMonth(t *testing.T) {
	t.Parallel()
	f := newFloor(t, servicetest.New(t))
	for before, want := range map[time.Duration]int{31 * 24 * time.Hour: 200, 31*24*time.Hour + time.Minute: 400} {
		path := "/fundesk/v1/queue/agents?since=" + f.In(-before).String()
		if got := f.get(path); got.Status != want {
			t.Errorf("%s ago: got %d %s, want %d", before, got.Status, got.Body, want)
		}
	}
}

// TestNumberOfTwoCharities warns an agent of a number that was called lately, for any donor. An erasure and four hours
// end the warning.
func TestNumberOfTwoCharities(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, func(t *testing.T, f *floor) {
		const shared = "+31612345678"
		donor := func(body string) (person, call apitype.UUID) {
			person = f.person("null")
			f.update(person, body)
			return person, f.call(person, time.Hour, "happy_call")
		}
		_, theirs := donor(`{"phoneNumber":"` + shared + `"}`)
		a, b := f.organization, f.Organization("B") // Another charity.
		f.organization = b
		person, ours := donor(`{"mobilePhoneNumber":"` + shared + `","phoneNumber":"+31201234567"}`)
		_, elsewhere := donor(`{"mobilePhoneNumber":"+31201234599"}`)
		all := f.token
		// contacted returns the answer to an account that sees one of the charities.
		contacted := func(sees, call apitype.UUID) *apitype.Time {
			t.Helper()
			f.token = f.Token(servicetest.For(sees))
			defer func() { f.token = all }()
			status, lease, problem := f.choose(f.users[0], call)
			if status != 200 {
				t.Fatalf("got %d %+v", status, problem)
			}
			f.release(lease.LeaseUUID, "")
			return lease.NumberContactedAt
		}
		if at := contacted(b, ours); at != nil {
			t.Errorf("got %s before any call", at)
		}
		f.act(ours, "add-attempt", `{}`)
		if at := contacted(b, f.call(person, time.Hour, "winback")); at == nil {
			t.Error("got no word of an attempt on the donor's other call")
		}
		if at := contacted(a, theirs); at == nil {
			t.Error("got no word of an attempt for the other charity")
		}
		f.Clock.Advance(time.Minute)
		now := f.Now()
		f.act(theirs, "complete", `{}`)
		f.Clock.Advance(time.Hour)
		if at := contacted(b, ours); at == nil || !at.Equal(now) {
			t.Errorf("got %v, want the other charity's call at %s", at, now)
		}
		if at := contacted(b, elsewhere); at != nil {
			t.Errorf("got %s for another number", at)
		}
		f.Clock.Advance(3 * time.Hour)
		if at := contacted(b, ours); at != nil {
			t.Errorf("got %s after four hours", at)
		}
		f.act(ours, "complete", `{}`)
		f.organization = a
		_, again := donor(`{"mobilePhoneNumber":"` + shared + `"}`)
		if at := contacted(a, again); at == nil {
			t.Error("got no word of a completed call for the other charity")
		}
		f.erase(person)
		if at := contacted(a, again); at != nil {
			t.Errorf("got %s of a person who was erased", at)
		}
	})
}

// TestNotesForTheNextAgent leaves notes with a waiting call. The next agent with the call reads them, and no list shows
// them.
// Promise S65: a note is given with the next lease, in no list, and goes with its call.
func TestNotesForTheNextAgent(t *testing.T) { onEngines(t, testNotesForTheNextAgent) }

func testNotesForTheNextAgent(t *testing.T, f *floor) {
	donor := f.person(`"nl"`)
	call := f.call(donor, time.Hour, "happy_call")
	anneke, joost := apitype.NewUUID(), apitype.NewUUID()
	path := callPath(call) + "/actions/add-attempt"
	notes := queuePath(call) + "/notes"
	leave := func(text string) {
		t.Helper()
		f.want(204, "POST", notes, `{"text":`+quoted(text)+`}`)
	}
	if taken := f.take(anneke, ""); len(taken.Leases) != 1 || taken.Leases[0].Note != nil {
		t.Fatalf("got %+v before any note", taken)
	}
	f.want(200, "PUT", path, `{}`)
	leave("wife says: call Tuesday 18:00")
	leave("wife says: call Tuesday 18:00") // The answer was lost: it is sent again.
	f.Clock.Advance(5 * time.Hour)

	request := apitype.NewUUID()
	taken := f.takeAs(request, joost, "")
	if len(taken.Leases) != 1 || noteOf(taken.Leases[0]) != "wife says: call Tuesday 18:00" {
		t.Fatalf("got %+v for the next agent", taken)
	}
	again := f.takeAs(request, joost, "")
	if len(again.Leases) != 1 || noteOf(again.Leases[0]) != noteOf(taken.Leases[0]) {
		t.Errorf("got %+v for the same request", again)
	}
	if list := string(f.get("/fundesk/v1/queue/leases").Body); strings.Contains(list, "wife") {
		t.Errorf("the list of leases shows the note: %s", list)
	}
	f.want(200, "PUT", path, `{}`)
	leave("answering machine")
	both := "wife says: call Tuesday 18:00\nanswering machine"
	if _, lease, _ := f.choose(anneke, call); noteOf(lease) != both {
		t.Errorf("got %q for an agent who opens the call", noteOf(lease))
	}
	if got := f.export(donor); !strings.Contains(got, quoted(both)) {
		t.Errorf("the export has no note: %s", got)
	}
	tooLong := f.Do(f.token, "POST", notes, `{"text":"`+strings.Repeat("x", apitype.MaxNotes+1)+`"}`)
	if tooLong.Status != 400 || !strings.Contains(string(tooLong.Body), "/text") {
		t.Errorf("got %d %s for a note that is too long", tooLong.Status, tooLong.Body)
	}
	f.want(200, "POST", "/fundesk/v1/queue/release", `{"userUuid":"`+anneke.String()+`"}`)
	f.act(call, "complete", `{}`)
	if got := f.export(donor); !strings.Contains(got, `"notes":[]`) {
		t.Errorf("a note outlives its call: %s", got)
	}
}

// TestOldestNotesGo fills the notes of a call. The oldest lines go when there is no room.
func TestOldestNotesGo(t *testing.T) { onEngines(t, testOldestNotesGo) }

func testOldestNotesGo(t *testing.T, f *floor) {
	call := f.call(f.person("null"), time.Hour, "happy_call")
	notes := queuePath(call) + "/notes"
	long := strings.Repeat("é", apitype.MaxNotes-6)
	for _, text := range []string{"first", long, "last"} {
		f.want(204, "POST", notes, `{"text":`+quoted(text)+`}`)
	}
	if _, lease, _ := f.choose(apitype.NewUUID(), call); noteOf(lease) != long+"\nlast" {
		t.Errorf("got %d bytes of notes, want those of the last two", len(noteOf(lease)))
	}
}

func noteOf(lease apitype.Lease) string {
	if lease.Note == nil {
		return ""
	}
	return *lease.Note
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}
