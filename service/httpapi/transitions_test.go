package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/httpapi"
	"fundesk/service/servicetest"
)

// The tables below are the rules as the interface and the decisions say them, written
// out apart from those that the service uses: a line for each state, a column for each
// move. "moves" ends in the move's state, "same" is a repeat that changes nothing, "adds"
// records an attempt, and "409" is refused by the state. Spec gaps: C1, C2, C4, G1.
const (
	managedCalls = `
		          complete cancel expire add-attempt
		requested moves    moves  moves  adds
		completed same     409    409    409
		cancelled 409      same   409    409
		expired   409      409    same   409`
	externalCalls = `
		          complete cancel expire add-attempt
		requested moves    moves  moves  adds
		completed same     moves  moves  adds
		cancelled moves    same   moves  adds
		expired   moves    moves  same   adds`
	// By state, whether it is released, and whether its end has come.
	managedPledges = `
		                       activate drop  cancel fulfill
		lead/cooling/open      409      moves 409    409
		lead/cooling/ended     409      moves 409    409
		lead/released/open     moves    409   moves  409
		lead/released/ended    moves    409   moves  409
		active/released/open   same     409   moves  409
		active/released/ended  same     409   moves  moves
		dropped/cooling/open   409      same  409    409
		dropped/cooling/ended  409      same  409    409
		cancelled/released/open  409    409   same   409
		cancelled/released/ended 409    409   same   409
		fulfilled/released/open  409    409   409    same
		fulfilled/released/ended 409    409   409    same`
	externalPledges = `
		                       activate drop  cancel fulfill
		lead/cooling/open      moves    moves moves  moves
		active/released/open   same     moves moves  moves
		dropped/cooling/open   moves    same  moves  moves
		cancelled/released/ended moves  moves same   moves
		fulfilled/released/ended moves  moves moves  same`
)

// transition is one field of a table.
type transition struct{ state, move, outcome string }

func transitions(table string) (all []transition) {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	moves := strings.Fields(lines[0])
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		for i, outcome := range fields[1:] {
			all = append(all, transition{fields[0], moves[i], outcome})
		}
	}
	return all
}

// target is the state that a move ends in.
var target = map[string]string{
	"complete": "completed", "cancel": "cancelled", "expire": "expired",
	"activate": "active", "drop": "dropped", "fulfill": "fulfilled",
}

// TestTransitions walks state × move × mode × permission over the whole service.
func TestTransitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	permissions := map[string]service.Permission{
		"complete": service.CallsComplete, "cancel": service.CallsCancel, "expire": service.CallsExpire, "add-attempt": service.CallsAttempt,
		"pledge": service.PledgesAct,
	}
	tokens := map[string]string{}
	for move, permission := range permissions {
		tokens[move] = w.Token(servicetest.MayNot(permission))
	}
	for _, mode := range []struct {
		name  string
		table string
		path  string
		load  func(w *world, state string) apitype.UUID
	}{
		{"service-managed call", managedCalls, "/api/v1/calls/", func(w *world, state string) apitype.UUID { return w.callIn(state, false) }},
		{"external call", externalCalls, "/api/v1/calls/", func(w *world, state string) apitype.UUID { return w.callIn(state, true) }},
		{"service-managed pledge", managedPledges, "/api/v1/pledges/", func(w *world, state string) apitype.UUID { return w.pledgeIn(state, false) }},
		{"external pledge", externalPledges, "/api/v1/pledges/", func(w *world, state string) apitype.UUID { return w.pledgeIn(state, true) }},
	} {
		for _, tr := range transitions(mode.table) {
			t.Run(fmt.Sprint(mode.name, " ", tr.state, " ", tr.move), func(t *testing.T) {
				path := mode.path + mode.load(w, tr.state).String()
				without := tokens[tr.move]
				if strings.HasSuffix(mode.name, "pledge") {
					without = tokens["pledge"]
				}
				before := w.Do(w.all, "GET", path, "")
				if got := w.Do(without, "PUT", path+"/actions/"+tr.move, ""); got.Status != http.StatusForbidden {
					t.Errorf("without the permission: got %d, want 403", got.Status)
				}
				w.Clock.Advance(time.Second)
				got := w.Do(w.all, "PUT", path+"/actions/"+tr.move, "")
				after := w.Do(w.all, "GET", path, "")
				tr.check(t, before, got, after)
			})
		}
	}
}

// check compares what a move did with what the table says.
func (tr transition) check(t *testing.T, before, got, after servicetest.Answer) {
	t.Helper()
	state, _, _ := strings.Cut(tr.state, "/")
	status, changed := http.StatusOK, true
	attempts, counted := before.Object()["attemptsCount"].(float64)
	switch tr.outcome {
	case "moves":
		state = target[tr.move]
	case "same":
		changed = false
	case "409":
		status, changed = http.StatusConflict, false
	case "adds":
		attempts++
	}
	if got.Status != status {
		t.Fatalf("got %d %s, want %d", got.Status, got.Body, status)
	}
	record := after.Object()
	if record["status"] != state || (counted && record["attemptsCount"] != attempts) {
		t.Errorf("got %v with %v attempts, want %s with %v", record["status"], record["attemptsCount"], state, attempts)
	}
	if (before.Header.Get("ETag") != after.Header.Get("ETag")) != changed {
		t.Errorf("got revision %s after %s, want a change: %v", after.Header.Get("ETag"), before.Header.Get("ETag"), changed)
	}
	if problem := got.Object(); status == http.StatusConflict && !strings.Contains(fmt.Sprint(problem["detail"]), state) {
		t.Errorf("got the detail %q, want the status %s named", problem["detail"], state)
	}
}

// callIn loads a call in a state.
func (w *world) callIn(state string, external bool) apitype.UUID {
	c := service.LoadedCall{}
	c.UUID, c.PersonUUID, c.Status, c.Type = apitype.NewUUID(), w.a.person, apitype.CallStatus(state), "winback"
	at := apitype.NewTime(servicetest.Start.Add(-time.Hour))
	c.RequestedAt, c.LastUpdatedAt = at, at
	switch state {
	case "completed":
		c.CompletedAt = &at
	case "cancelled":
		c.CancelledAt = &at
	case "expired":
		c.ExpiredAt = &at
	}
	if external {
		c.ExternalMetadata = apitype.Embed(apitype.CallExternalMetadata{ApplicationName: new("dialler")})
	}
	w.Load(service.LoadRecord{Kind: service.LoadCall, Data: c})
	return c.UUID
}

// pledgeIn loads a pledge in a state, which says too whether it is released and ended.
func (w *world) pledgeIn(state string, external bool) apitype.UUID {
	parts := strings.Split(state, "/")
	p := service.LoadedPledge{PersonUUID: &w.a.person}
	p.UUID, p.Status = apitype.NewUUID(), apitype.PledgeStatus(parts[0])
	p.CreatedAt = apitype.NewTime(servicetest.Start.Add(-time.Hour))
	p.UpdatedAt, p.StartsAt = p.CreatedAt, p.CreatedAt
	p.OwningOrganizationUUID, p.RecruitingOrganizationUUID, p.RecruiterUserUUID = w.a.organization, w.a.organization, apitype.MustParseUUID(user)
	p.InitialDonationAmount, p.DonationAmount = apitype.Cents(500), apitype.Cents(500)
	p.InitialDonationInterval, p.DonationInterval = "monthly", "monthly"
	released, ends := p.CreatedAt, p.CreatedAt
	if parts[1] == "cooling" {
		released = apitype.NewTime(servicetest.Start.AddDate(1, 0, 0))
	}
	if parts[2] == "open" {
		ends = apitype.NewTime(servicetest.Start.AddDate(1, 0, 0))
	}
	p.ReleasedAt, p.EndsAt = apitype.Embed(released), &ends
	if external {
		p.ExternalSource = apitype.Embed(apitype.ExternalSource{Name: "x", Identifier: "y"})
	}
	w.Load(service.LoadRecord{Kind: service.LoadPledge, Data: p})
	return p.UUID
}

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
	servicetest.SlowUnlessRaced(t)
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
		f.settled(apitype.Time{})
		var during apitype.Time
		err := f.Store.Write(t.Context(), service.WriteIsolated, func(tx service.Tx) error {
			row, err := tx.Call(call, service.Scope{All: true})
			if err != nil {
				return err
			}
			f.Clock.Advance(1500 * time.Millisecond) // Longer than what was found before is held to be true.
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

// TestReleasesComeAfterSettled asks a process whose clock is behind the database's for what was released. A pledge
// that it does not show as released yet comes after the time that it names, or a client that goes on from there
// would never see it.
// Promise S70: lists name a time up to which nothing can come any more.
func TestReleasesComeAfterSettled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rules, err := service.New(t.Context(), service.Options{Store: skewed{w.Store, 20 * time.Second}, Now: w.Clock.Now})
	servicetest.Check(t, err)
	w.Handler = httpapi.New(httpapi.Options{Service: rules, Now: w.Clock.Now})
	w.Clock.Advance(service.DefaultCoolingOff - 10*time.Second)
	since := "2026-01-01"
	for _, want := range []int{0, 1, 0} {
		answer := w.Do(w.a.token, "GET", "/api/v1/pledges?releasedAfter="+since, "")
		if got := len(page(t, answer).Edges); got != want {
			t.Errorf("got %d pledges released after %s, want %d", got, since, want)
		}
		since = answer.Header.Get("Fundesk-Settled")
		w.Clock.Advance(time.Minute)
	}
}

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
