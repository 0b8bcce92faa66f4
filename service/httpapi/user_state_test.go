package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/queue"
	"fundesk/service/servicetest"
)

// setState sets the state of a user.
func (f *floor) setState(token string, user apitype.UUID, body string) (apitype.UserState, servicetest.Answer) {
	f.t.Helper()
	answer := f.Do(token, http.MethodPut, "/fundesk/v1/queue/users/"+user.String()+"/state", body)
	var state apitype.UserState
	if answer.Status == http.StatusOK {
		answer.Decode(&state)
	}
	return state, answer
}

// agent returns a user as the list of agents has it, or nil.
func (f *floor) agent(token string, user apitype.UUID) *apitype.QueueAgent {
	f.t.Helper()
	var all apitype.QueueAgents
	f.Do(token, http.MethodGet, "/fundesk/v1/queue/agents", "").Decode(&all)
	for i := range all.Agents {
		if all.Agents[i].UserUUID == user {
			return &all.Agents[i]
		}
	}
	return nil
}

const lunch = `{"state":"paused","reason":"lunch"}`

// takeStatus returns the status of a take.
func (f *floor) takeStatus(user apitype.UUID) (int, servicetest.Answer) {
	f.t.Helper()
	answer := f.Do(f.token, http.MethodPost, "/fundesk/v1/queue/take",
		leaseFor(user))
	return answer.Status, answer
}

// Promise S90: TestPauseGivesLeasesBack frees the donors of a user who pauses, except those with a waiting change.
func TestPauseGivesLeasesBack(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		f.waitingCalls(3)
		taken := f.take(me, `,"count":3`).Leases
		f.extend(taken[2].LeaseUUID, `{"pending":true}`)
		state, _ := f.setState(f.token, me, lunch)
		want := apitype.UserState{
			UserUUID: me,
			State:    apitype.UserPaused,
			Reason:   new(apitype.PauseLunch),
			Since:    f.Now(),
			Released: 2,
		}
		servicetest.Same(t, "the pause", want, state)
		if got := f.leases(""); len(got) != 1 || got[0].LeaseUUID != taken[2].LeaseUUID {
			t.Errorf("got %+v, want only the pending lease", got)
		}
		if got := f.take(other, `,"count":3`); len(got.Leases) != 2 {
			t.Errorf("got %d leases, want both freed donors", len(got.Leases))
		}
		status, answer := f.takeStatus(me)
		if status != 409 || !strings.Contains(string(answer.Body), "fundesk queue ready") {
			t.Errorf("got %d %s, want 409 with the way out", status, answer.Body)
		}
	})
}

// callbacksOf returns the callbacks of a user.
func (f *floor) callbacksOf(user apitype.UUID) []apitype.Deferral {
	f.t.Helper()
	var page struct {
		Edges []struct{ Node apitype.Deferral }
	}
	f.get("/fundesk/v1/queue/deferrals?userUuid=" + user.String()).Decode(&page)
	var all []apitype.Deferral
	for _, edge := range page.Edges {
		all = append(all, edge.Node)
	}
	return all
}

// TestPauseKeepsACallback leaves a callback that a pause gives back with its time, its user and its reason, whether its
// user had seen it or not. It comes first after the pause, and a colleague gets another call.
func TestPauseKeepsACallback(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		f.waitingCalls(2)
		for _, isAhead := range []bool{true, false} {
			call := f.waitingCalls(1)[0]
			due := f.In(time.Hour)
			later := fmt.Sprintf(`{"notBefore":%q,"userUuid":%q,"reason":"after dinner"}`, due, me)
			f.later(call, later)
			f.Clock.Advance(time.Hour + time.Minute)
			taken := f.take(me, fmt.Sprintf(`,"ahead":%t`, isAhead)).Leases
			if len(taken) != 1 || taken[0].CallUUID != call {
				t.Fatalf("got %+v, want the callback", taken)
			}
			if export := f.export(taken[0].Call.Value().PersonUUID); !strings.Contains(export, "after dinner") {
				t.Errorf("ahead %t: got %s, want the kept reason in the export", isAhead, export)
			}
			f.pause(me)
			got := f.callbacksOf(me)
			if len(got) != 1 || got[0].CallUUID != call || !got[0].NotBefore.Equal(due) ||
				got[0].Reason == nil || *got[0].Reason != "after dinner" {
				t.Errorf("ahead %t: got %+v, want the callback of %s", isAhead, got, due)
			}
			if got := f.take(other, "").Leases; len(got) != 1 || got[0].CallUUID == call {
				t.Errorf("ahead %t: got %+v for a colleague, want another call", isAhead, got)
			}
			f.ready(me)
			if got := f.take(me, "").Leases; len(got) != 1 || got[0].CallUUID != call {
				t.Errorf("ahead %t: got %+v after the pause, want the callback", isAhead, got)
			}
			f.act(call, "cancel", `{}`)
		}
	})
}

// TestCallbackThatIsNotDueOutlivesALease opens the donor of a callback before its time, and gives the donor back in
// each way. The callback stays with its time, its user and its reason, until it is due or an attempt is made.
func TestCallbackThatIsNotDueOutlivesALease(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		for name, giveBack := range map[string]func(call, lease apitype.UUID){
			"released": func(_, lease apitype.UUID) {
				f.release(lease, "")
			},
			"expired": func(_, _ apitype.UUID) { f.Clock.Advance(16 * time.Minute) },
			"paused":  func(_, _ apitype.UUID) { f.setState(f.token, other, lunch) },
			"user released": func(_, _ apitype.UUID) {
				f.releaseUser(other)
			},
		} {
			call := f.waitingCalls(1)[0]
			due := f.In(time.Hour)
			later := fmt.Sprintf(`{"notBefore":%q,"userUuid":%q,"reason":"after dinner"}`, due, me)
			f.later(call, later)
			lease := func() (l apitype.Lease) {
				body := fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"leaseSeconds":900}`, apitype.NewUUID(), other)
				f.Do(f.token, http.MethodPut, queuePath(call)+"/lease", body).Decode(&l)
				return l
			}
			held := lease()
			export := f.export(held.Call.Value().PersonUUID)
			servicetest.Same(t, name+": callbacks in the export", 1, strings.Count(export, `"notBefore"`))
			giveBack(call, held.LeaseUUID)
			got := f.callbacksOf(me)
			if len(got) != 1 || got[0].CallUUID != call || !got[0].NotBefore.Equal(due) ||
				got[0].Reason == nil || *got[0].Reason != "after dinner" {
				t.Errorf("%s: got %+v, want the callback of %s", name, got, due)
			}
			lease()
			f.attempt(call, other)
			if got := f.callbacksOf(me); len(got) != 0 {
				t.Errorf("%s, then an attempt: got %+v, want no callback", name, got)
			}
			f.act(call, "cancel", `{}`)
		}
	})
}

// TestPauseDuringATake lets a user pause, and a colleague take the donor, before the take of the user is answered. The
// colleague's lease and the callback stay as they are.
func TestPauseDuringATake(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me, other := f.users[0], f.users[1]
		for _, isCallback := range []bool{false, true} {
			call := f.waitingCalls(1)[0]
			if isCallback {
				due := f.In(time.Hour)
				f.later(call, fmt.Sprintf(`{"notBefore":%q}`, due))
				f.Clock.Advance(time.Hour + time.Minute)
			}
			var theirs []apitype.Lease
			s := f.On(hooked{f.Store, once("after Write", func() {
				f.pause(me)
				theirs = f.take(other, "").Leases
			})})
			caller, request := f.caller(), apitype.TakeRequest{RequestUUID: apitype.NewUUID(), UserUUID: me}
			_, err := queue.New(s, nil).Take(t.Context(), caller, request)
			if err == nil || !strings.Contains(err.Error(), "pause") {
				t.Errorf("callback %t: got %v for the take, want the pause", isCallback, err)
			}
			if got := f.leases(""); len(theirs) != 1 || len(got) != 1 || got[0].LeaseUUID != theirs[0].LeaseUUID {
				t.Errorf("callback %t: got %+v, want the colleague's lease %+v", isCallback, got, theirs)
			}
			f.ready(me)
			f.act(call, "cancel", `{}`)
			next := f.waitingCalls(1)[0]
			answer, err := queue.New(f.Service, nil).Take(t.Context(), caller, request)
			servicetest.Report(t, err)
			var taken apitype.Taken
			servicetest.Report(t, json.Unmarshal(answer.JSON, &taken))
			servicetest.Same(t, "the refused request after the pause", []apitype.UUID{next}, callsOf(taken))
			f.act(next, "cancel", `{}`)
		}
	})
}

// TestReadyDuringATake lets a user pause before their take is answered, and be ready and repeat the take before it
// gives the call back. Both answers have the lease, which stays.
func TestReadyDuringATake(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		f.waitingCalls(1)
		caller, request := f.caller(), apitype.TakeRequest{RequestUUID: apitype.NewUUID(), UserUUID: me}
		take := func(s *service.Service) (leases []apitype.Lease) {
			answer, err := queue.New(s, nil).Take(t.Context(), caller, request)
			servicetest.Report(t, err)
			var taken apitype.Taken
			if err == nil {
				servicetest.Report(t, json.Unmarshal(answer.JSON, &taken))
			}
			return taken.Leases
		}
		// The pause itself gives nothing back: it is at another process, which has not come to that yet.
		f.Serve(f.On(hooked{f.Store, failAt("before Leases", errors.New("the process stopped"))}))
		var repeated []apitype.Lease
		pause := once("after Write", func() { f.setState(f.token, me, lunch) })
		isTaken := false
		first := take(f.On(hooked{f.Store, func(point string) error {
			if isTaken && point == "before Write" {
				isTaken = false
				f.ready(me)
				repeated = take(f.Service)
			}
			isTaken = isTaken || point == "after Write" && len(repeated) == 0
			return pause(point)
		}}))
		live := f.leases("")
		if len(repeated) != 1 || len(first) != 1 || len(live) != 1 || live[0].LeaseUUID != repeated[0].LeaseUUID ||
			live[0].LeaseUUID != first[0].LeaseUUID {
			t.Errorf("got %+v and %+v for the repeat, want the live lease of %+v", first, repeated, live)
		}
	})
}

// TestPauseDuringAReading lets a user pause while the answer to their take is read. The connection is lost then, and
// the answer is read again: the take is refused, and the call is free.
func TestPauseDuringAReading(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		f.waitingCalls(1)
		store := &losing{Store: f.Store, lose: sync.OnceFunc(func() { f.setState(f.token, me, lunch) })}
		answer, err := queue.New(f.On(store), nil).Take(t.Context(), f.caller(), apitype.TakeRequest{
			RequestUUID: apitype.NewUUID(), UserUUID: me,
		})
		if err == nil || !strings.Contains(err.Error(), "pause") {
			t.Errorf("got %s, %v for the take, want the pause", answer.JSON, err)
		}
		if got := f.leases(""); len(got) != 0 {
			t.Errorf("got %+v, want the call free", got)
		}
	})
}

// losing is a store that loses its connection at the end of each reading, and reads again.
type losing struct {
	service.Store
	lose func()
}

func (l *losing) Read(ctx context.Context, mode service.ReadMode, read func(service.Reader) error) error {
	if err := l.Store.Read(ctx, mode, read); err != nil {
		return err
	}
	l.lose()
	return l.Store.Read(ctx, mode, read)
}

// TestCallOpenedDuringAPause lets a user open a call, or be ready and take one, before a pause has given the leases
// back. The pause has ended by then, so the user keeps the lease.
func TestCallOpenedDuringAPause(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		for name, begin := range map[string]func(call apitype.UUID){
			"opened": func(call apitype.UUID) {
				f.want(200, "PUT", queuePath(call)+"/lease",
					leaseFor(me))
			},
			"ready": func(apitype.UUID) {
				f.ready(me)
				f.take(me, "")
			},
		} {
			call := f.waitingCalls(1)[0]
			s := f.On(hooked{f.Store, once("after Write", func() { begin(call) })})
			request := apitype.UserStateRequest{State: apitype.UserPaused, Reason: new(apitype.PauseLunch)}
			_, err := queue.New(s, nil).SetState(t.Context(), f.caller(), me, request)
			servicetest.Report(t, err)
			if got := f.leases(""); len(got) != 1 || got[0].CallUUID != call {
				t.Errorf("%s: got %+v, want the lease of %s", name, got, call)
			}
			if status, answer := f.takeStatus(me); status != 200 {
				t.Errorf("%s: got %d %s for a take, want the pause ended", name, status, answer.Body)
			}
			f.act(call, "cancel", `{}`)
		}
	})
}

// TestPauseBesideAnOpenedCall lets a user pause at another process while a call comes to their card: from a pending
// change, or as a new one. Neither sees the other. The user has the call, and the pause has ended.
func TestPauseBesideAnOpenedCall(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	points := map[string]string{"taken back": "after Lease", "created": "before InsertCall"}
	for name, open := range map[string]func(f *floor, q *queue.Queue, lease apitype.Lease) error{
		"taken back": func(f *floor, q *queue.Queue, lease apitype.Lease) error {
			request := apitype.ExtendRequest{Pending: new(false)}
			_, err := q.Extend(f.t.Context(), f.caller(), lease.LeaseUUID, request)
			return err
		},
		"created": func(f *floor, q *queue.Queue, _ apitype.Lease) error {
			request := apitype.CreateCallRequest{
				PersonUUID:  f.person("null"),
				RequestedAt: f.Now(),
				Type:        new(apitype.CallWinback),
			}
			_, err := q.CreateCall(f.t.Context(), f.caller(), request, f.users[0])
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := postgresFloor(t)
			me := f.users[0]
			f.waitingCalls(1)
			lease := f.take(me, "").Leases[0]
			if status, _ := f.extend(lease.LeaseUUID, `{"pending":true}`); status != http.StatusOK {
				t.Fatalf("got %d for the pending lease", status)
			}
			s := f.On(hooked{f.Store, once(points[name], func() { f.setState(f.token, me, lunch) })})
			servicetest.Check(t, open(f, queue.New(s, nil), lease))
			if status, answer := f.takeStatus(me); status != http.StatusOK {
				t.Errorf("got %d %s for a take, want the pause ended", status, answer.Body)
			}
		})
	}
}

// TestPauseEnds ends a pause by ready, by a call that the user opens, and after 12 hours. A pending lease is not a call
// that was opened.
func TestPauseEnds(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		me := f.users[0]
		calls := f.waitingCalls(4)
		since := func() apitype.Time { return f.Now() }
		lease := func(call apitype.UUID, pending bool) {
			f.want(200, "PUT", queuePath(call)+"/lease",
				fmt.Sprintf(`{"requestUuid":%q,"userUuid":%q,"pending":%t}`, apitype.NewUUID(), me, pending))
		}
		for name, end := range map[string]func(){
			"ready": func() { f.setState(f.token, me, `{"state":"ready"}`) },
			"lease": func() { lease(calls[0], false) },
			"time":  func() { f.Clock.Advance(12*time.Hour - time.Minute) },
		} {
			f.pause(me)
			paused := since()
			f.Clock.Advance(time.Minute)
			lease(calls[3], true)
			f.setState(f.token, me, lunch) // A repeat keeps the time.
			agent := f.agent(f.token, me)
			if agent.State != apitype.UserPaused || *agent.Reason != apitype.PauseLunch || !agent.Since.Equal(paused) {
				t.Errorf("%s: got %+v, want paused since %s", name, agent, paused)
			}
			if status, _ := f.takeStatus(me); status != 409 {
				t.Errorf("%s: got %d, want a pause", name, status)
			}
			end()
			if agent := f.agent(f.token, me); agent.State != apitype.UserReady ||
				agent.Reason != nil ||
				!agent.Since.Equal(since()) {
				t.Errorf("%s: got %+v, want ready since %s", name, agent, since())
			}
			if status, answer := f.takeStatus(me); status != 200 {
				t.Errorf("%s: got %d %s, want calls again", name, status, answer.Body)
			}
		}
	})
}

// TestPausedUserIsShown shows a user without any work, within the scope of organizations.
func TestPausedUserIsShown(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		elsewhere := f.Organization("B")
		here, there := f.Token(servicetest.For(f.organization)), f.Token(servicetest.For(elsewhere))
		colleague, err := f.Service.AddUser(t.Context(), service.User{
			RecruiterUser: apitype.RecruiterUser{Name: "Anneke"}, Organization: &f.organization,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, answer := f.setState(there, colleague.UUID, lunch); answer.Status != 404 {
			t.Errorf("got %d %s, want a user of another organization not found", answer.Status, answer.Body)
		}
		f.setState(here, colleague.UUID, lunch)
		f.setState(here, f.users[0], lunch) // Not known to the service.
		for _, user := range []apitype.UUID{colleague.UUID, f.users[0]} {
			if got := f.agent(here, user); got == nil || got.State != apitype.UserPaused || got.Taken != 0 {
				t.Errorf("got %+v, want the paused user without any work", got)
			}
			if got := f.agent(there, user); got != nil {
				t.Errorf("got %+v, want it hidden from another organization", got)
			}
		}
		if got := f.agent(here, colleague.UUID); got == nil || got.Name == nil || *got.Name != "Anneke" {
			t.Errorf("got %+v, want the name", got)
		}
	})
}

// TestStateRefusals refuses what is not a state, by its pointer, and an account that may not attempt calls.
func TestStateRefusals(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		for body, pointer := range map[string]string{
			`{}`:                                  "/state",
			`{"state":"away"}`:                    "/state",
			`{"state":"paused"}`:                  "/reason",
			`{"state":"paused","reason":"smoke"}`: "/reason",
			`{"state":"ready","reason":"lunch"}`:  "/reason",
			`{"state":"paused","until":"13:00"}`:  "/until",
		} {
			_, answer := f.setState(f.token, f.users[0], body)
			if answer.Status != 400 || !strings.Contains(string(answer.Body), `"pointer":"`+pointer+`"`) {
				t.Errorf("%s: got %d %s, want 400 at %s", body, answer.Status, answer.Body, pointer)
			}
		}
	})
}

// Promise S91: TestMessageToAllDesks shows the line of a supervisor to the accounts of its organization until
// midnight there.
func TestMessageToAllDesks(t *testing.T) {
	onEngines(t, func(t *testing.T, f *floor) {
		elsewhere := f.Organization("B")
		lead := f.Token(servicetest.May(service.CallsRead, service.SettingsWrite))
		send := func(token string, organization apitype.UUID, text string) servicetest.Answer {
			return f.Do(token, http.MethodPut, "/fundesk/v1/queue/message",
				fmt.Sprintf(`{"organizationUuid":%q,"text":%q,"userUuid":%q}`, organization, text, f.users[0]))
		}
		messages := func(token string) []apitype.QueueMessage {
			t.Helper()
			var all apitype.QueueMessages
			var state apitype.QueueState
			f.Do(token, http.MethodGet, "/fundesk/v1/queue/message", "").Decode(&all)
			f.Do(token, http.MethodGet, "/fundesk/v1/queue", "").Decode(&state)
			servicetest.Same(t, "message and state differ", all.Messages, state.Messages)
			return all.Messages
		}
		start := f.Now() // 10:00 in Amsterdam, a weekday.
		if answer := send(lead, f.organization, "Team meeting at 15:00"); answer.Status != 200 {
			t.Fatalf("got %d %s", answer.Status, answer.Body)
		}
		f.Clock.Advance(10 * time.Second)
		send(lead, f.organization, "Team meeting at 15:00") // A repeat.
		want := []apitype.QueueMessage{{
			OrganizationUUID: f.organization,
			Text:             "Team meeting at 15:00",
			At:               start,
			UserUUID:         &f.users[0],
		}}
		if diff := gocmp.Diff(want, messages(f.Token(servicetest.For(f.organization)))); diff != "" {
			t.Error(diff)
		}
		if got := messages(f.Token(servicetest.For(elsewhere))); len(got) != 0 {
			t.Errorf("got %+v, want nothing of another organization", got)
		}
		f.Clock.Advance(12*time.Hour - 11*time.Second)
		if got := messages(lead); len(got) != 1 {
			t.Errorf("got %+v, want it for 12 hours without a country", got)
		}
		f.Clock.Advance(time.Second)
		if got := messages(lead); len(got) != 0 {
			t.Errorf("got %+v, want it ended after 12 hours", got)
		}

		_, err := f.Service.SetOrganization(t.Context(), elsewhere, func(o *service.Organization) {
			o.Settings.Country = "NL"
		})
		if err != nil {
			t.Fatal(err)
		}
		zone, err := time.LoadLocation("Europe/Amsterdam")
		if err != nil {
			t.Fatal(err)
		}
		local := f.Clock.Now().In(zone)
		midnight := time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, zone)
		send(lead, elsewhere, "Quiz")
		f.Clock.Advance(midnight.Sub(f.Clock.Now()) - time.Second)
		if got := messages(lead); len(got) != 1 || got[0].Text != "Quiz" {
			t.Errorf("got %+v, want it until midnight", got)
		}
		f.Clock.Advance(time.Second)
		if got := messages(lead); len(got) != 0 {
			t.Errorf("got %+v, want it ended at midnight", got)
		}
		send(lead, elsewhere, "Bye")
		send(lead, elsewhere, "")
		if got := messages(lead); len(got) != 0 {
			t.Errorf("got %+v, want it ended by an empty text", got)
		}

		for body, pointer := range map[string]string{
			`{"text":"a"}`: "/organizationUuid",
			fmt.Sprintf(`{"organizationUuid":%q,"text":"a"}`,
				apitype.NewUUID()): "/organizationUuid",
			fmt.Sprintf(`{"organizationUuid":%q,"text":"a\nb"}`, f.organization):                       "/text",
			fmt.Sprintf(`{"organizationUuid":%q,"text":%q}`, f.organization, strings.Repeat("é", 201)): "/text",
		} {
			answer := f.Do(lead, http.MethodPut, "/fundesk/v1/queue/message", body)
			if answer.Status != 400 || !strings.Contains(string(answer.Body), `"pointer":"`+pointer+`"`) {
				t.Errorf("%s: got %d %s, want 400 at %s", body, answer.Status, answer.Body, pointer)
			}
		}
	})
}

// TestSignedInPersonPausesAlone lets a signed-in agent set only the own state.
func TestSignedInPersonPausesAlone(t *testing.T) {
	onEnginesSignedIn(t, func(t *testing.T, s *signedIn) {
		token := s.provider.Token(t, "anneke", nil)
		anneke, other := s.who(t, token), s.who(t, s.provider.Token(t, "joost", nil))
		if _, answer := s.setState(token, anneke.UUID, lunch); answer.Status != 200 {
			t.Errorf("got %d %s, want the own pause", answer.Status, answer.Body)
		}
		if _, answer := s.setState(token, other.UUID, lunch); answer.Status != 403 {
			t.Errorf("got %d %s, want 403 for a colleague's pause", answer.Status, answer.Body)
		}
	})
}
