package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// TestQueueOrder shows the order: calls due for the user, calls due for any agent, then the oldest. The list, the
// counts and a take agree.
// Promise S33: a deferred call waits until it is due.
func TestQueueOrder(t *testing.T) { onEngines(t, testQueueOrder) }

func testQueueOrder(t *testing.T, f *floor) {
	var calls []apitype.UUID
	for i := range 6 {
		calls = append(calls, f.call(f.person("null"), time.Duration(10-i)*time.Hour, "happy_call"))
	}
	me, other := f.users[0], f.users[1]
	later := func(call apitype.UUID, in time.Duration, user string) {
		f.later(call, fmt.Sprintf(`{"notBefore":%q,"userUuid":%s}`, f.In(in), user))
	}
	later(calls[5], 20*time.Minute, `"`+me.String()+`"`)
	later(calls[4], 10*time.Minute, "null")
	later(calls[3], 15*time.Minute, `"`+other.String()+`"`)
	got := f.state("")
	if got.Waiting != 3 || got.Deferred != 3 || got.Due != 0 || got.ByType["happy_call"] != 3 ||
		got.ByLanguage[""] != 3 {
		t.Errorf("got %+v", got)
	}
	if next := f.take(f.users[2], `,"types":["winback"]`); len(next.Leases) != 0 || next.Waiting != 0 {
		t.Errorf("got %+v of another type", next)
	}
	f.Clock.Advance(25 * time.Minute)
	query := "&userUuid=" + me.String()
	servicetest.Same(t, "the order", []apitype.UUID{calls[5], calls[4], calls[0], calls[1], calls[2]}, f.order(query))
	if got := f.state("?userUuid=" + me.String()); got.Waiting != 5 || got.Due != 2 {
		t.Errorf("got %+v, want 5 that wait and 2 due", got)
	}
	f.Clock.Advance(21 * time.Minute) // 46 minutes: what was kept for the other is overdue by 31.
	want := []apitype.UUID{calls[5], calls[4], calls[3], calls[0], calls[1], calls[2]}
	servicetest.Same(t, "the order later", want, f.order(query))
	taken := f.take(me, `,"count":10`)
	servicetest.Same(t, "taken", want, callsOf(taken))
	if taken.Leases[0].DueAt == nil || taken.Leases[3].DueAt != nil || taken.Waiting != 0 {
		t.Errorf("got %v, %v and %d waiting", taken.Leases[0].DueAt, taken.Leases[3].DueAt, taken.Waiting)
	}
	if got := f.state(""); got.Waiting != 0 || got.Leased != 6 {
		t.Errorf("got %+v, want 6 leased", got)
	}
}

// TestQueueGivesNot gives no call of a donor who was opted out, not even at the same time, and one call of a donor at a
// time. What else the queue gives not is in TestQueueModel.
// Promise S34: who was opted out of the phone is in no queue.
func TestQueueGivesNot(t *testing.T) { onEngines(t, testQueueGivesNot) }

func testQueueGivesNot(t *testing.T, f *floor) {
	me := f.users[0]
	wants := func(what string, want ...apitype.UUID) {
		t.Helper()
		servicetest.Same(t, what, want, f.order(""))
		servicetest.Same(t, what+": waiting", len(want), f.state("").Waiting)
	}
	person := f.person("null")
	first, second := f.call(person, 3*time.Hour, "happy_call"), f.call(person, 2*time.Hour, "winback")
	wants("both", first, second)
	f.update(person, `{"optIns":{"phone":false}}`)
	wants("opted out")
	if got := f.take(me, ""); len(got.Leases) != 0 {
		t.Errorf("got %v of a person who opted out", got)
	}
	// As if the person opts out while a call is created: the two do not see each other.
	err := f.Store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
		rows, err := tx.QueueOfPerson(person)
		for _, row := range rows {
			row.OptedOut, row.Ready, row.EligibleAt = false, true, &row.RequestedAt
			err = errors.Join(err, tx.UpdateQueueRow(row))
		}
		return err
	})
	servicetest.Check(t, err)
	if got := f.take(me, ""); len(got.Leases) != 0 {
		t.Errorf("got %v of a person who opted out at the same time", got)
	}
	wants("opted out at the same time")
	f.update(person, `{"optIns":{"phone":true}}`)
	wants("opted in", first, second)
	lease := f.take(me, `,"count":2`)
	servicetest.Same(t, "two calls of one person", []apitype.UUID{first}, callsOf(lease))
	wants("leased")
}

// A take that comes again is known by its request for 24 hours, and gives nothing more. It gives nothing that the
// account sees no more.
func TestRepeatedTake(t *testing.T) { onEngines(t, testRepeatedTake) }

func testRepeatedTake(t *testing.T, f *floor) {
	account := f.Account(servicetest.For(f.organization))
	f.token = f.TokenOf(account)
	f.call(f.person("null"), time.Hour, "happy_call")
	request := apitype.NewUUID()
	if got := f.takeAs(request, f.users[0], ""); len(got.Leases) != 1 {
		t.Fatalf("got %+v, want a call", got)
	}
	got := f.takeAs(request, f.users[1], `,"count":9`)
	if len(got.Leases) != 1 || got.Leases[0].UserUUID != f.users[0] {
		t.Errorf("the same request for another user: got %+v, want the lease of the first one", got)
	}
	f.Clock.Advance(24*time.Hour - time.Millisecond)
	if got := f.takeAs(request, f.users[0], ""); len(got.Leases) != 0 {
		t.Errorf("within 24 hours: got %+v, want nothing more", got)
	}
	f.Clock.Advance(time.Millisecond)
	if got := f.takeAs(request, f.users[0], ""); len(got.Leases) != 1 {
		t.Errorf("after 24 hours: got %+v, want the call, as for any request", got)
	}
	other := f.Organization("B")
	_, err := f.Service.SetAccount(t.Context(), account.UUID, func(a *service.Account) error {
		a.Scope.Organizations = []apitype.UUID{other}
		return nil
	})
	servicetest.Check(t, err)
	if got := f.takeAs(request, f.users[0], ""); len(got.Leases) != 0 {
		t.Errorf("for another organization: got %+v, want nothing", got)
	}
}

// TestReturned shows that what a user gave back comes to them again last, and to others in its
// place.
func TestReturned(t *testing.T) { onEngines(t, testReturned) }

func testReturned(t *testing.T, f *floor) {
	me, other := f.users[0], f.users[1]
	var calls []apitype.UUID
	for i := range 3 {
		calls = append(calls, f.call(f.person("null"), time.Duration(9-i)*time.Hour, "happy_call"))
	}
	lease := f.take(me, "").Leases[0]
	f.release(lease.LeaseUUID, "")
	servicetest.Same(t, "to the same user", []apitype.UUID{calls[1], calls[2], calls[0]},
		f.order("&userUuid="+me.String()))
	servicetest.Same(t, "to another", calls, f.order("&userUuid="+other.String()))
	servicetest.Same(t, "taken", []apitype.UUID{calls[1], calls[2], calls[0]}, callsOf(f.take(me, `,"count":3`)))
	if got := f.state(""); got.Leased != 3 || got.Waiting != 0 {
		t.Errorf("got %+v", got)
	}
	f.Clock.Advance(16 * time.Minute)
	servicetest.Same(t, "10 minutes later", calls, f.order("&userUuid="+me.String()))
}

// TestQueueNarrowed shows that types, languages and organizations narrow the queue, for the
// list, the counts and a take alike.
func TestQueueNarrowed(t *testing.T) { onEngines(t, testQueueNarrowed) }

func testQueueNarrowed(t *testing.T, f *floor) {
	nl := f.call(f.person(`"nl"`), 9*time.Hour, "happy_call")
	de := f.call(f.person(`"de"`), 8*time.Hour, "winback")
	none := f.call(f.person(`null`), 7*time.Hour, "verification")
	foreign := f.Organization("B")
	narrow := f.Token(servicetest.For(foreign))
	for query, want := range map[string][]apitype.UUID{
		"":                                {nl, de, none},
		"&languages=de":                   {de, none},
		"&languages=DE&languages=fr":      {de, none},
		"&languages=nl&languages=de":      {nl, de, none},
		"&types=winback&types=happy_call": {nl, de},
		"&types=winback&languages=nl":     nil,
		"&owningOrganizationUuids=" + f.organization.String(): {nl, de, none},
		"&owningOrganizationUuids=" + foreign.String():        nil,
	} {
		servicetest.Same(t, query, want, f.order(query))
		if got := f.state("?" + query[min(1, len(query)):]); got.Waiting != len(want) {
			t.Errorf("%s: got %d waiting, want %d", query, got.Waiting, len(want))
		}
	}
	if got := page(t, f.Do(narrow, "GET", "/fundesk/v1/queue/calls", "")); len(got.Edges) != 0 {
		t.Errorf("got %d calls of another organization", len(got.Edges))
	}
	taken := f.take(f.users[0], `,"languages":["de"],"types":["winback","happy_call"],"owningOrganizationUuids":[]`)
	servicetest.Same(t, "taken", []apitype.UUID{de}, callsOf(taken))
	foreignLease := leasePath(taken.Leases[0].LeaseUUID)
	for _, action := range []string{"/extend", "/release"} {
		f.Want(404, narrow, "POST", foreignLease+action, "")
	}
	f.Want(404, narrow, "PUT", queuePath(nl)+"/later", "")
}

// TestQueueRefusals lists the refusals of the queue, with their pointers.
func TestQueueRefusals(t *testing.T) {
	t.Parallel()
	f := newFloor(t, servicetest.New(t))
	call := f.call(f.person("null"), time.Hour, "happy_call")
	take, later, lease := "/fundesk/v1/queue/take", queuePath(call)+"/later", leasePath(apitype.NewUUID())
	id := apitype.NewUUID().String()
	tests := []struct {
		name, method, path, body string
		status                   int
		places                   string // Separated by spaces.
	}{
		{"nothing", "POST", take, `{}`, 400, "/requestUuid /userUuid"},
		{
			name:   "bounds",
			method: "POST",
			path:   take,
			body: `{"requestUuid":"` + id + `","userUuid":"` + id +
				`","count":11,"leaseSeconds":29,"types":["x"],"languages":["xx"]}`,
			status: 400,
			places: "/count /leaseSeconds /types/0 /languages/0",
		},
		{"unknown field", "POST", take, `{"requestUuid":"` + id + `","userUuid":"` + id + `","n":1}`, 400, "/n"},
		{"400 days ago", "PUT", later, `{"notBefore":"2025-10-16T09:14:59.999Z"}`, 400, "/notBefore"},
		{"beyond 400 days", "PUT", later, `{"notBefore":"2027-12-25T09:15:00.001Z"}`, 400, "/notBefore"},
		{"400 days", "PUT", later, `{"notBefore":"2027-12-25T09:15:00Z"}`, 204, ""},
		{"unknown call", "PUT", "/fundesk/v1/queue/calls/" + id + "/later", `{}`, 404, ""},
		{"unknown lease", "POST", lease + "/extend", `{}`, 404, ""},
		{"unknown lease released", "POST", lease + "/release", `{}`, 404, ""},
		{"malformed lease", "POST", "/fundesk/v1/queue/leases/x/release", `{}`, 400, "uuid"},
		{
			name:   "release beyond 400 days",
			method: "POST",
			path:   lease + "/release",
			body:   `{"notBefore":"2027-12-25T09:15:01Z"}`,
			status: 400,
			places: "/notBefore",
		},
		{"unknown parameter", "GET", "/fundesk/v1/queue?first=1", "", 400, "first"},
		{"before", "GET", "/fundesk/v1/queue/calls?before=x", "", 400, "before"},
		{"cursor", "GET", "/fundesk/v1/queue/calls?after=x", "", 400, "after"},
		{"since", "GET", "/fundesk/v1/queue/agents?since=x", "", 400, "since"},
		{"type", "GET", "/fundesk/v1/queue?types=x", "", 400, "types"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answer := f.Do(f.token, test.method, test.path, test.body)
			if answer.Status != test.status {
				t.Fatalf("got %d %s, want %d", answer.Status, answer.Body, test.status)
			}
			servicetest.Same(t, "the extensions", httpapi.Announced, answer.Header.Get("Fundesk-Extensions"))
			if test.status >= 400 {
				_, places := problemOf(t, answer)
				servicetest.Same(t, "places", test.places, strings.Join(places, " "))
			}
		})
	}
	f.act(call, "complete", `{}`)
	f.want(409, "PUT", later, `{}`)
	got := string(f.get("/fundesk/v1").Body)
	if got != `{"extensions":["`+strings.ReplaceAll(httpapi.Announced, ", ", `","`)+`"],"version":"devel"}` {
		t.Errorf("got %s", got)
	}
}

// TestLongQueue counts a long queue: each take shows at once, and the count of a take ends at a thousand.
func TestLongQueue(t *testing.T) { onEngines(t, testLongQueue) }

func testLongQueue(t *testing.T, f *floor) {
	const calls = 3_001
	err := servicetest.Load(t.Context(), f.Service, func(add func(service.LoadRecord) error) (err error) {
		at := apitype.NewTime(f.base.Add(-time.Hour))
		for range calls {
			person := servicetest.NewPerson(f.organization, at)
			call := servicetest.NewCall(person.UUID, at)
			err = errors.Join(err, add(servicetest.Record(person)), add(servicetest.Record(call)))
		}
		return err
	})
	servicetest.Check(t, err)
	servicetest.Same(t, "waiting", calls, f.state("").Waiting)
	for range 2 {
		if taken := f.take(f.users[0], ""); len(taken.Leases) != 1 || taken.Waiting != 1000 {
			t.Errorf("got %d leases and %d waiting, want 1 and 1000", len(taken.Leases), taken.Waiting)
		}
	}
	for _, filters := range []string{"", "?types=happy_call"} {
		servicetest.Same(t, filters+": waiting", calls-2, f.state(filters).Waiting)
	}
}

// TestQueueForgets keeps leases for 92 days and no longer, and what agents did for 31.
// Promise S38: leases are kept for 92 days; what agents did is counted by the hour, for 31.
func TestQueueForgets(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, testQueueForgets)
}

func testQueueForgets(t *testing.T, f *floor) {
	const each = 105 // More than are deleted at one time.
	var persons []apitype.UUID
	for range each {
		persons = append(persons, f.person("null"))
		call := f.call(persons[len(persons)-1], time.Hour, "happy_call")
		f.take(f.users[0], "")
		f.act(call, "complete", fmt.Sprintf(`{"userUuid":%q}`, f.users[0]))
	}
	kept := func() (leases, completed int) {
		err := f.Store.Read(f.t.Context(), service.ReadSnapshot, func(r service.Reader) error {
			done, err := r.WorkDone(service.Scope{All: true}, nil, apitype.TimeFromMilli(0))
			for _, work := range done {
				completed += work.Completed
			}
			for _, person := range persons {
				kept, problem := r.Kept(person)
				leases += len(kept.Leases)
				err = errors.Join(err, problem)
			}
			return err
		})
		servicetest.Report(f.t, err)
		return leases, completed
	}
	f.tend(91*24*time.Hour + 23*time.Hour)
	if leases, completed := kept(); leases != each || completed != 0 {
		t.Errorf("before 92 days: got %d leases and %d completions, want %d and none", leases, completed, each)
	}
	persons = append(persons, f.person("null"))
	f.call(persons[len(persons)-1], time.Hour, "happy_call")
	f.take(f.users[0], "")
	f.tend(2 * time.Hour)
	if leases, completed := kept(); leases != 1 || completed != 0 {
		t.Errorf("after 92 days: got %d leases and %d completions, want the one of today", leases, completed)
	}
}

// tend lets time pass and does the periodic work.
func (f *floor) tend(after time.Duration) {
	f.t.Helper()
	f.Clock.Advance(after)
	_, err := f.Service.TendQueue(f.t.Context())
	servicetest.Check(f.t, err)
}

// TestAgentsAreCountedByTheHour asks for agents when most of what they did was counted by the hour, since
// each hour: the answers have what was done since, also those to an account that sees one organization.
func TestAgentsAreCountedByTheHour(t *testing.T) {
	servicetest.Slow(t)
	onEngines(t, testAgentsAreCountedByTheHour)
}

func testAgentsAreCountedByTheHour(t *testing.T, f *floor) {
	start := f.Clock.Now().Truncate(time.Hour)
	other := newFloor(t, f.Harness)
	moves := []struct {
		action, body string
		count        apitype.QueueAgent
	}{
		{"add-attempt", `{"userUuid":%q}`, apitype.QueueAgent{Attempts: 1}},
		{
			action: "complete",
			body:   `{"userUuid":%q,"result":{"resultCode":"reached"}}`,
			count:  apitype.QueueAgent{Completed: 1, ByResult: map[string]int{"reached": 1}},
		},
		{"complete", `{"userUuid":%q}`, apitype.QueueAgent{Completed: 1}},
		{"cancel", `{}`, apitype.QueueAgent{Cancelled: 1}},
		{"expire", `{}`, apitype.QueueAgent{Expired: 1}},
		{"release", `{}`, apitype.QueueAgent{Released: 1}},
	}
	type done struct {
		at    time.Time
		user  apitype.UUID
		floor *floor
		count apitype.QueueAgent
	}
	var all []done
	for n := range 40 {
		at, user, move := f, f.users[n%len(f.users)], moves[n%len(moves)]
		if n%4 == 0 {
			at = other
		}
		at.call(at.person("null"), 0, "happy_call")
		taken := at.take(user, fmt.Sprintf(`,"owningOrganizationUuids":[%q]`, at.organization)).Leases[0]
		body := strings.ReplaceAll(move.body, "%q", `"`+user.String()+`"`)
		if move.action == "release" {
			f.release(taken.LeaseUUID, body)
			f.act(taken.CallUUID, "cancel", `{}`)
		} else {
			f.want(http.StatusOK, "PUT", callPath(taken.CallUUID)+"/actions/"+move.action, body)
		}
		move.count.Taken = 1
		all = append(all, done{f.Clock.Now(), user, at, move.count})
		f.Clock.Advance(17 * time.Minute)
	}
	one := f.Token(servicetest.For(other.organization))
	for hour := range 13 {
		since := start.Add(time.Duration(hour) * time.Hour)
		for _, token := range []string{f.token, one} {
			want := map[apitype.UUID]apitype.QueueAgent{}
			for _, d := range all {
				if d.at.Before(since) || token == one && d.floor != other {
					continue
				}
				agent := want[d.user]
				agent.UserUUID, agent.LastSeenAt = d.user, apitype.NewTime(d.at)
				agent.State = apitype.UserReady
				agent.Taken, agent.Attempts, agent.Completed = agent.Taken+1, agent.Attempts+d.count.Attempts, agent.Completed+d.count.Completed
				agent.Cancelled, agent.Expired, agent.Released = agent.Cancelled+d.count.Cancelled, agent.Expired+d.count.Expired, agent.Released+d.count.Released
				if agent.ByResult == nil {
					agent.ByResult = map[string]int{}
				}
				for code, n := range d.count.ByResult {
					agent.ByResult[code] += n
				}
				want[d.user] = agent
			}
			var got apitype.QueueAgents
			f.Do(token, "GET", "/fundesk/v1/queue/agents?since="+apitype.NewTime(since).String(), "").Decode(&got)
			told := map[apitype.UUID]apitype.QueueAgent{}
			for _, agent := range got.Agents {
				told[agent.UserUUID] = agent
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Errorf("since %s, of one organization %t: %s", since, token == one, diff)
			}
		}
	}
}

// TestQueueMaximum changes an organization's maximum of attempts. Calls that have reached it are no longer given, and
// others are, at once.
// Promise S34: a call that had its attempts is in no queue.
func TestQueueMaximum(t *testing.T) { onEngines(t, testQueueMaximum) }

func testQueueMaximum(t *testing.T, f *floor) {
	call := f.call(f.person("null"), time.Hour, "happy_call")
	f.call(f.person("null"), time.Minute, "happy_call") // Without an attempt.
	for range 2 {
		f.act(call, "add-attempt", "{}")
	}
	f.Clock.Advance(5 * time.Hour)
	for _, step := range []struct {
		maximum *int
		waiting int
	}{{new(2), 1}, {new(3), 2}, {new(1), 1}, {nil, 2}, {new(2), 1}, {new(5), 2}} {
		if _, err := f.Service.SetOrganization(t.Context(), f.organization, func(o *service.Organization) {
			o.MaxCallAttempts = step.maximum
		}); err != nil {
			t.Fatal(err)
		}
		if got := f.state("").Waiting; got != step.waiting {
			t.Errorf("with a maximum of %v: got %d waiting, want %d", step.maximum, got, step.waiting)
		}
	}
	if got := callsOf(f.take(f.users[0], "")); !cmp.Equal(got, []apitype.UUID{call}) {
		t.Errorf("got %v, want %s", got, call)
	}
}

// TestAttemptBesideAMaximum changes an organization's maximum of attempts while another process records an attempt,
// before or after that read the organization. The call waits, and an attempt is accepted, exactly if fewer were made
// than the new maximum.
// Promise S34: an attempt goes by a maximum that no other request changes during it.
func TestAttemptBesideAMaximum(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	for name, row := range map[string]struct {
		from, to int
		seen     bool // The attempt has seen the organization.
		accepted int
		waiting  float64
	}{
		"raised before": {1, 5, false, http.StatusOK, 1}, "raised after": {1, 5, true, http.StatusOK, 1},
		"lowered before": {5, 1, false, http.StatusConflict, 0}, "lowered after": {5, 1, true, http.StatusConflict, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := servicetest.NewOn(t, servicetest.PostgresDatabase(t))
			owner := h.OrganizationWith(service.Organization{
				OrganizationReference: apitype.OrganizationReference{Name: "A", Abbreviation: "A"},
				MaxCallAttempts:       &row.from,
			})
			_, call, _ := h.LoadForChanges(owner)
			set := make(chan error, 1)
			point := "before OrganizationForShare"
			if row.seen {
				point = "after OrganizationForShare"
			}
			another := h.On(hooked{h.Store, once(point, func() {
				go func() {
					_, err := h.Service.SetOrganization(context.WithoutCancel(t.Context()), owner,
						func(o *service.Organization) { o.MaxCallAttempts = &row.to })
					set <- err
				}()
				if !row.seen {
					set <- <-set
					return
				}
				select {
				case err := <-set: // It did not wait for the attempt. The outcome is checked below.
					set <- err
				case <-time.After(200 * time.Millisecond):
				}
			})})
			_, err := another.AddAttempt(t.Context(), service.Caller{Account: h.Account()}, call, nil,
				apitype.AddAttemptRequest{})
			if err != nil {
				t.Fatal(err)
			}
			servicetest.Check(t, <-set)
			h.Clock.Advance(5 * time.Hour)
			token := h.Token()
			if state := h.Do(token, "GET", "/fundesk/v1/queue", "").Object(); state["waiting"] != row.waiting {
				t.Errorf("got %v, want %v waiting", state, row.waiting)
			}
			h.Want(row.accepted, token, "PUT", callPath(call)+"/actions/add-attempt", "{}")
		})
	}
}

// An attempt that is dated ahead counts when it came, not once more when its time has come.
func TestAttemptAheadRestsTheDonorOnce(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		person := f.person("null")
		first, second := f.call(person, 20*time.Hour, "happy_call"), f.call(person, 19*time.Hour, "winback")
		for _, hours := range []time.Duration{3, -5} {
			at := f.In(hours * time.Hour)
			f.act(first, "add-attempt", fmt.Sprintf(`{"attemptAt":%q}`, at))
			if hours > 0 {
				f.Clock.Advance(4*time.Hour + time.Second)
			}
		}
		if got := f.order(""); !slices.Contains(got, second) {
			t.Errorf("got %v, want %s, too: the last contact was four hours ago", got, second)
		}
	})
}

// A completion that is dated before its lease, by a computer with a wrong clock, rests the donor from the lease on.
func TestCompletionDatedBackRestsTheDonor(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		person := f.person("null")
		first, second := f.call(person, 20*time.Hour, "happy_call"), f.call(person, 19*time.Hour, "winback")
		f.take(f.users[0], "")
		f.act(first, "complete", fmt.Sprintf(`{"result":{"completedAt":%q}}`, f.In(-9*time.Hour)))
		f.Clock.Advance(4*time.Hour - time.Second)
		f.callable("within four hours")
		f.Clock.Advance(time.Second)
		f.callable("four hours later", second)
	})
}
