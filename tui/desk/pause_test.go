package desk_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/event"
)

// isPaused reports whether the service has a pause of a user.
func (f *floor) isPaused(user apitype.UUID) bool {
	var all apitype.QueueAgents
	f.Do(f.token, http.MethodGet, "/fundesk/v1/queue/agents", "").Decode(&all)
	return slices.ContainsFunc(all.Agents, func(a apitype.QueueAgent) bool {
		return a.UserUUID == user && a.State == apitype.UserPaused
	})
}

// served lets the service do what events ask for. The answers are still under way.
func (a *agent) served(events []event.Event) (answers []event.Result) {
	for _, e := range events {
		if job, is := e.(event.Job); is {
			answers = append(answers, job(a.f.t.Context()))
		}
	}
	return answers
}

func (a *agent) receive(answers []event.Result) {
	for _, r := range answers {
		a.perform(a.Receive(r))
	}
}

// When the answers about a pause and a call cross, the key that came last decides. Desk and service agree: a paused
// agent holds no donor, and another one has the lease of the call on the desk.
func TestPauseCrossesACall(t *testing.T) {
	t.Parallel()
	pause := func(a *agent) []event.Event { return a.Pause.Start(apitype.PauseLunch) }
	for name, c := range map[string]struct {
		keys     func(a *agent, call apitype.UUID)
		isPaused bool
	}{
		"an undo during the pause": {keys: func(a *agent, _ apitype.UUID) {
			a.perform(pause(a))
			a.Keys.Touch(a.f.Clock.Now())
			a.perform(a.Changes.Undo())
		}},
		"an undo before the answer about the pause": {keys: func(a *agent, _ apitype.UUID) {
			paused := a.served(pause(a))
			a.Keys.Touch(a.f.Clock.Now())
			a.perform(a.Changes.Undo())
			a.receive(paused)
		}},
		"a pause that the service takes after the call that was opened later": {
			keys: func(a *agent, call apitype.UUID) {
				paused := pause(a)
				a.Keys.Touch(a.f.Clock.Now())
				a.perform(a.Take(call))
				a.perform(paused)
			},
		},
		"a pause that the service takes before the call that was opened earlier": {
			isPaused: true,
			keys: func(a *agent, call apitype.UUID) {
				opened := a.Take(call)
				a.Keys.Touch(a.f.Clock.Now())
				a.perform(pause(a))
				a.perform(opened)
			},
		},
		"an undo whose answer comes during the pause": {isPaused: true, keys: func(a *agent, _ apitype.UUID) {
			undone := a.Changes.Undo()
			a.Keys.Touch(a.f.Clock.Now())
			a.perform(pause(a))
			a.f.Clock.Advance(10 * time.Second)
			a.perform(undone)
			a.perform(a.Tick())
		}},
		"a key after two pauses": {keys: func(a *agent, _ apitype.UUID) {
			first, second := a.served(pause(a)), a.served(pause(a))
			a.receive(first)
			a.perform(a.Pause.End())
			a.receive(second)
			a.perform(a.Next())
		}},
		"a key while the pause is sent again": {keys: func(a *agent, call apitype.UUID) {
			opened := a.Take(call)
			a.Keys.Touch(a.f.Clock.Now())
			a.perform(pause(a))
			var again []event.Event
			for _, r := range a.served(opened) {
				again = append(again, a.Receive(r)...)
			}
			a.perform(a.Pause.End())
			if !a.Pause.IsOn() || !slices.Contains(a.told, "the pause ends once the service answers") {
				a.f.t.Errorf("got %q, want a word about the key", a.told)
			}
			a.perform(again)
			a.perform(a.Next())
		}},
		"a take before the pause, whose answer comes after it": {keys: func(a *agent, _ apitype.UUID) {
			taken := a.served(a.Skip())
			a.perform(pause(a))
			a.perform(a.Pause.End())
			a.receive(taken)
			a.perform(a.Next())
		}},
		"a reading of the agent's state beside the end of a pause": {keys: func(a *agent, _ apitype.UUID) {
			a.perform(pause(a))
			a.f.Clock.Advance(2 * time.Minute)
			ended := a.Pause.End()
			var read []event.Result
			for range 8 {
				read = append(read, a.served(a.Poll())...)
			}
			a.perform(ended)
			a.receive(read)
			a.perform(a.Next())
		}},
		"an older reading of the agent's state": {isPaused: true, keys: func(a *agent, _ apitype.UUID) {
			a.f.Clock.Advance(2 * time.Minute)
			var read []event.Result
			for range 8 {
				read = append(read, a.served(a.Poll())...)
			}
			a.perform(pause(a))
			a.receive(read)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFloor(t, 4)
			f.user = new(apitype.NewUUID())
			a := f.agent(t.TempDir())
			a.perform(a.Next())
			a.perform(a.Finish(disposition.NotReached("")))
			c.keys(a, f.calls[3])
			if got := f.isPaused(*f.user); got != c.isPaused || a.Pause.IsOn() != c.isPaused {
				t.Errorf("the service is paused %t, and the Desk %t, want %t", got, a.Pause.IsOn(), c.isPaused)
			}
			holds := func(l apitype.Lease) bool { return a.Call != nil && l.CallUUID == a.Call.UUID && !l.Pending }
			switch isHeld := slices.ContainsFunc(f.leases(), holds); {
			case c.isPaused && (a.Call != nil || len(f.leases()) > len(f.pending())):
				t.Errorf("got the call %v and the leases %v during a pause", a.Call, f.leases())
			case !c.isPaused && !isHeld:
				t.Errorf("got the call %v and the leases %v, want the lease of the call", a.Call, f.leases())
			}
		})
	}
}
