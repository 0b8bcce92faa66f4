package desk_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
	"fundesk/tui/desk/disposition"
)

// Each Desk of an agent says once that a callback comes.
func TestCallbackIsToldOncePerDesk(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 5)
	own := apitype.NewUUID()
	due := apitype.NewTime(f.Clock.Now().Add(10 * time.Minute))
	f.must(http.MethodPut, "/fundesk/v1/queue/calls/"+f.calls[4].String()+"/later",
		fmt.Sprintf(`{"notBefore":%q,"userUuid":%q,"reason":"after work"}`, due, own))
	f.user = &own
	agents := []*agent{f.agent(t.TempDir()), f.agent(t.TempDir())}
	for _, a := range agents {
		a.perform(a.Next())
	}
	for range 9 * 60 {
		f.Clock.Advance(time.Second)
		for _, a := range agents {
			a.perform(a.Tick())
		}
	}
	for i, a := range agents {
		if got := strings.Count(strings.Join(a.told, "\n"), "after work"); got != 1 {
			t.Errorf("Desk %d told of the callback %d times, want once: %q", i, got, a.told)
		}
	}
}

// The list of callbacks follows what becomes of a callback's call, and the queue follows a pause that gives it back.
func TestCallbacksFollowTheirCall(t *testing.T) {
	t.Parallel()
	f := newFloor(t, 5)
	f.user = new(apitype.NewUUID())
	due := apitype.NewTime(f.Clock.Now().Add(time.Minute))
	f.must(http.MethodPut, "/fundesk/v1/queue/calls/"+f.calls[4].String()+"/later",
		fmt.Sprintf(`{"notBefore":%q,"userUuid":%q,"reason":"after work"}`, due, *f.user))
	a := f.agent(t.TempDir())
	a.pollFor(15 * time.Second)
	if len(a.Callbacks.All()) != 1 {
		t.Errorf("soon after the start: got the callbacks %v, want one", a.Callbacks.All())
	}
	f.Clock.Advance(2 * time.Minute)
	a.perform(a.Next())
	if a.Call == nil || a.Call.UUID != f.calls[4] || a.Card().CallbackReason != "after work" {
		t.Fatalf("got the call %v for %q, want the one that is due", a.Call, a.Card().CallbackReason)
	}

	a.perform(a.Pause.Start(apitype.PauseLunch))
	if next := a.Offers(1); len(next) != 1 || next[0].ID != f.calls[4] || len(a.Callbacks.All()) != 1 {
		t.Errorf("in the pause: got %v next and the callbacks %v, want the callback", next, a.Callbacks.All())
	}
	a.perform(a.Pause.End())

	a.perform(a.Next())
	a.perform(a.Skip())
	if a.Call == nil || a.Call.UUID == f.calls[4] || len(a.Callbacks.All()) != 0 {
		t.Errorf("after a skip: got the call %v and the callbacks %v, want another one and none",
			a.Call, a.Callbacks.All())
	}

	f.must(http.MethodPut, "/fundesk/v1/queue/calls/"+f.calls[4].String()+"/later",
		fmt.Sprintf(`{"notBefore":%q,"userUuid":%q}`, f.Clock.Now().Format(time.RFC3339), *f.user))
	a.pollFor(6 * time.Minute)
	if len(a.Callbacks.All()) != 1 {
		t.Fatalf("got the callbacks %v, want the new one", a.Callbacks.All())
	}
	a.perform(a.Take(f.calls[4]))
	a.perform(a.Finish(disposition.NotReached("")))
	a.sendHeld()
	if len(a.Callbacks.All()) != 0 {
		t.Errorf("after an attempt: got the callbacks %v, want none", a.Callbacks.All())
	}
}

// The card names the reason of any callback, also of another user's and on a Desk that starts with it.
func TestCardNamesTheReasonOfACallback(t *testing.T) {
	t.Parallel()
	for name, user := range map[string]*apitype.UUID{"for the agent": new(apitype.NewUUID()), "for anybody": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFloor(t, 3)
			f.user = cmp.Or(user, new(apitype.NewUUID()))
			body, err := json.Marshal(apitype.DeferRequest{
				NotBefore: new(apitype.NewTime(f.Clock.Now().Add(time.Minute))),
				UserUUID:  user,
				Reason:    new("after work"),
			})
			servicetest.Check(t, err)
			f.must(http.MethodPut, "/fundesk/v1/queue/calls/"+f.calls[2].String()+"/later", string(body))
			f.Clock.Advance(2 * time.Minute)
			a := f.agent(t.TempDir())
			a.perform(a.Next())
			if a.Call == nil || a.Call.UUID != f.calls[2] || a.Card().CallbackReason != "after work" {
				t.Errorf("got the call %v for %q, want the callback and its reason", a.Call, a.Card().CallbackReason)
			}
		})
	}
}

// A list of callbacks that is not whole says so, and where they all are.
func TestMoreCallbacksThanAreListed(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{100: "100", 101: "100+"} {
		f := newFloor(t, n)
		f.user = new(apitype.NewUUID())
		for i, call := range f.calls {
			due := apitype.NewTime(f.Clock.Now().Add(time.Hour + time.Duration(i)*time.Minute))
			f.must(http.MethodPut, "/fundesk/v1/queue/calls/"+call.String()+"/later",
				fmt.Sprintf(`{"notBefore":%q,"userUuid":%q}`, due, *f.user))
		}
		a := f.agent(t.TempDir())
		a.pollFor(15 * time.Second)
		if got := a.Callbacks.Count(); got != want {
			t.Errorf("of %d callbacks: got the number %s, want %s", n, got, want)
		}
		lines := strings.Join(a.Ask.AskCallbacks().Next.Lines, "\n")
		if isTold := strings.Contains(lines, "fundesk queue callbacks --all"); isTold != (n > 100) {
			t.Errorf("of %d callbacks: got %q above the list", n, lines)
		}
	}
}

// An agent whose lease has ended does not replace the callback that another agent agreed on since. A callback that was
// on the card is replaced, and one that an attempt on the card has used up.
func TestCallbackReplacesWhatWasOnTheCard(t *testing.T) {
	t.Parallel()
	later := func(f *floor, in time.Duration, reason string) disposition.Func {
		reading := apitype.TimeReading{At: f.Clock.Now().Add(in)}
		return disposition.Later(apitype.Callback{TimeReading: reading, Reason: reason}, true)
	}
	for name, test := range map[string]struct {
		before func(*floor, *agent)
		want   string
	}{
		"a newer one": {func(f *floor, _ *agent) {
			f.Clock.Advance(20 * time.Minute)
			b := f.agent(t.TempDir())
			b.perform(b.Take(f.calls[0]))
			b.perform(b.Finish(later(f, 48*time.Hour, "as promised")))
			b.sendHeld()
		}, "as promised"},
		"its own": {func(f *floor, a *agent) {
			a.perform(a.Finish(later(f, 24*time.Hour, "before")))
			a.sendHeld()
			a.perform(a.Take(f.calls[0]))
		}, "mine"},
		"its own, after an attempt": {func(f *floor, a *agent) {
			a.perform(a.Finish(later(f, 24*time.Hour, "before")))
			a.sendHeld()
			a.perform(a.Take(f.calls[0]))
			a.perform(a.Finish(disposition.NotReached(apitype.NotReachedNoSuchNumber)))
			a.sendHeld()
		}, "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFloor(t, 1)
			person := "/api/v1/persons/" + f.call(f.calls[0]).PersonUUID.String() + "/actions/update"
			f.must(http.MethodPut, person, `{"mobilePhoneNumber":"+31611111111","phoneNumber":"+31201234567"}`)
			a := f.agent(t.TempDir())
			a.perform(a.Next())
			test.before(f, a)
			if !a.IsOn(f.calls[0]) {
				t.Fatalf("got the call %v: %q", a.Call, a.told)
			}
			a.perform(a.Finish(later(f, time.Hour, "mine")))
			a.sendHeld()
			list := string(f.Do(f.token, http.MethodGet, "/fundesk/v1/queue/deferrals", "").Body)
			if !strings.Contains(list, `"reason":"`+test.want+`"`) {
				t.Errorf("got the callbacks %s, want the one %q; told %q", list, test.want, a.told)
			}
			if isRefused := a.heard("changed since"); isRefused != (test.want != "mine") {
				t.Errorf("got %q, want a refusal of what replaces another callback only", a.told)
			}
		})
	}
}
