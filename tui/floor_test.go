package tui

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/page"
)

// floorWorld returns a service with an agent on a call, an idle one, and a due callback.
func floorWorld(t *testing.T) *world {
	t.Helper()
	w := newQueueWorld(t)
	take := func(user apitype.UUID) apitype.Lease {
		t.Helper()
		answer, err := apiclient.Decoded(w.client.Queue.Take(t.Context(), apitype.TakeRequest{
			RequestUUID: apitype.NewUUID(),
			UserUUID:    user,
		}))
		if err != nil || len(answer.Leases) != 1 {
			t.Fatalf("take: got %+v %v, want a lease", answer, err)
		}
		return answer.Leases[0]
	}
	busy, idle := *w.options.Agent, ids(0xe0, 3)
	reached := take(idle)
	change, err := apiclient.CompleteCallChange(reached.CallUUID, apitype.CompleteCallRequest{
		UserUUID: &idle, Result: &apitype.CallResultRequest{ResultCode: new("wants_to_stop")},
	})
	if err == nil {
		_, err = w.client.Send(t.Context(), change)
	}
	servicetest.Check(t, err)
	put := take(idle)
	if err := w.client.Queue.Release(t.Context(), put.LeaseUUID, apitype.DeferRequest{NotBefore: new(w.ago(-time.Minute))}); err != nil {
		t.Fatal(err)
	}
	take(busy) // The only other one.
	w.Clock.Advance(4 * time.Minute)
	w.options.Page = "floor"
	return w
}

// The floor as a supervisor sees it.
func TestGoldenFloor(t *testing.T) {
	t.Parallel()
	w := floorWorld(t)
	d := newDriver(t, w.options)
	screen := strings.Join(d.app.screen(), "\n")
	for _, name := range []string{"Jansen", "Straaten"} {
		if strings.Contains(screen, name) {
			t.Errorf("the floor shows %s, a donor", name)
		}
	}
	shot := start(t, w.options, 80, 24).see("4 min", "2 agents, 1 on a call", "a callback is due")
	golden(t, "floor-80x24", shot)
	for _, size := range [][2]int{{100, 30}, {120, 36}, {200, 50}} {
		d.size(size[0], size[1])
		d.enter("R", "j")
		golden(t, fmt.Sprintf("floor-%dx%d", size[0], size[1]), trailing.ReplaceAllString(d.text(), ""))
	}
}

// Where the agents leave room, the floor shows what the chosen one did today. Without room it reads nothing of that.
func TestFloorShowsTheDayOfTheChosenAgent(t *testing.T) {
	t.Parallel()
	w, asked := floorWorld(t), 0
	now := ofPath("/work", func(*http.Request) (*http.Response, error) {
		asked++
		return nil, nil
	})
	w.faulty(t, &now)
	d := newDriver(t, w.options)
	d.enter("R", "j")
	servicetest.Same(t, "at 80 columns", 0, asked)
	d.size(120, 36)
	d.enter("R", "k")
	d.sees("you · Today", "nothing yet")
	d.press("j")
	d.sees("e0030000 · Today", "09:15  verification  completed, wants to stop")
	d.lacks("you · Today")
}

// The floor names results as the settings do, also on a Desk that had no call yet.
func TestFloorNamesResults(t *testing.T) {
	t.Parallel()
	w := floorWorld(t)
	supervisor := w.Token(servicetest.May("calls:read", "settings:write"))
	settings := `{"results":{"verification":[{"code":"wants_to_stop","label":"no more calls","asksNotes":false}]}}`
	answer := w.Do(supervisor, http.MethodPut, "/fundesk/v1/settings/"+organizationID.String(), settings)
	if answer.Status != http.StatusOK && answer.Status != http.StatusNoContent {
		t.Fatalf("settings: got %d %s", answer.Status, answer.Body)
	}
	w.options.Agent = nil // A supervisor has no calls.
	d := newDriver(t, w.options)
	d.size(120, 36)
	d.sees("no more calls")
	d.lacks("wants to stop")
}

// Without a queue the floor explains this, and asks for nothing of one.
func TestFloorWithoutAQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Page = "floor"
	d := newDriver(t, w.options)
	if screen := strings.Join(d.app.screen(), "\n"); !strings.Contains(screen, "The service has no queue") {
		t.Errorf("got %s, want that there is no queue", screen)
	}
}

// A supervisor sees what an agent holds, and frees it after a question.
func TestFloorFreesAnAgent(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	gone := ids(0xe0, 3)
	_, err := w.client.Queue.Take(t.Context(), apitype.TakeRequest{RequestUUID: apitype.NewUUID(), UserUUID: gone})
	if err != nil {
		t.Fatal(err)
	}
	held := func() int {
		t.Helper()
		all, err := apiclient.Decoded(w.client.Queue.Leases(t.Context(), apitype.QueueLeaseListOptions{}))
		servicetest.Check(t, err)
		return len(all.Leases)
	}
	w.options.Page = "floor"
	now := fault(nil)
	w.faulty(t, &now)
	d := newDriver(t, w.options)
	before := held()
	d.enter("enter")
	d.sees("on the screen")
	d.lacks("Jansen")
	d.enter("esc", "X", "n")
	if held() != before {
		t.Error("a question that was declined freed a call")
	}
	now = ofPath("/release", lost(nil))
	d.enter("X", "y")
	d.sees("look at what e0030000 has, then release it again")
	now = nil
	d.enter("X", "y")
	d.enter("x")
	d.sees("released: 1 call of e0030000")
	servicetest.Same(t, "held()", before-1, held())
}

// The head counts the agent's day from the service, with this terminal's work since then. The service is asked once a
// minute. If it does not count, the head counts the session.
func TestHeadCountsTheAgentsDay(t *testing.T) {
	t.Parallel()
	for _, isTold := range []bool{true, false} {
		w, now := newQueueWorld(t), fault(nil)
		change, err := apiclient.AddAttemptChange(callID(2), apitype.AddAttemptRequest{
			UserUUID:  w.options.Agent,
			AttemptAt: new(apitype.NewTime(w.Clock.Now())),
		})
		if err == nil {
			_, err = w.client.Send(t.Context(), change) // From another computer.
		}
		servicetest.Check(t, err)
		asked := 0
		now = ofPath("/queue/agents", func(r *http.Request) (*http.Response, error) {
			if of := r.URL.Query().Get("userUuid"); of != w.options.Agent.String() {
				t.Errorf("got the work of %q, want that of the agent alone", of)
			}
			if asked++; isTold {
				return nil, nil
			}
			return withStatus(403)(r)
		})
		w.faulty(t, &now)
		d := fixerOf(t, w)
		d.size(140, 36)
		d.enter("c", "1", "8", "ctrl+s")
		d.sendHeld(w)
		for range 5 * 60 {
			w.Clock.Advance(time.Second)
			d.send(ticked{})
		}
		if asked < 2 || asked > 5 {
			t.Errorf("told %t: got %d requests in five minutes, want some, and one a minute at most", isTold, asked)
		}
		want := "1 called, 1 reached"
		if isTold {
			want = "2 called, 1 reached"
		}
		d.sees(want)
		d.lacks("403")
	}
}

// A line that a supervisor sent to several organizations is shown once, and whole.
func TestFloorShowsALineOnce(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	second := ids(0x10, 2)
	w.Load(service.LoadRecord{Kind: service.LoadOrganization, Data: service.LoadedOrganization{
		OrganizationReference: apitype.OrganizationReference{UUID: second, Name: "Bos", Abbreviation: "B"},
	}})
	text := "from 16:00 win-back only, and whoever speaks Frisian keeps to the callbacks of the morning until five"
	supervisor := w.Token(servicetest.May("calls:read", "settings:write"))
	for _, organization := range []apitype.UUID{organizationID, second} {
		body := `{"organizationUuid":"` + organization.String() + `","text":"` + text + `"}`
		if got := w.Do(supervisor, http.MethodPut, "/fundesk/v1/queue/message", body); got.Status/100 != 2 {
			t.Fatalf("got %d %s", got.Status, got.Body)
		}
	}
	w.options.Page = "floor"
	d := newDriver(t, w.options)
	d.size(80, 24)
	d.sees("until five")
	servicetest.Same(t, "lines to all desks", 1, strings.Count(d.text(), "to all desks: "))
}

// supervisorWorld returns floorWorld for an account that may send lines to all desks.
func supervisorWorld(t *testing.T, now *fault) *world {
	t.Helper()
	w := floorWorld(t)
	w.connect(t, t.TempDir(), servicetest.May(append(slices.Clone(service.Permissions), service.SettingsWrite)...))
	w.options.Page = "floor"
	w.faulty(t, now)
	return w
}

// A supervisor does not replace a line that another one sent after it was last read. What was typed is offered again.
func TestFloorKeepsTheLineOfAnother(t *testing.T) {
	t.Parallel()
	w := supervisorWorld(t, new(fault))
	d := newDriver(t, w.options)
	supervisor := w.Token(servicetest.May("calls:read", "settings:write"))
	const path = "/fundesk/v1/queue/message"
	body := `{"organizationUuid":"` + organizationID.String() + `","text":"fire drill at 15:00"}`
	if got := w.Do(supervisor, http.MethodPut, path, body); got.Status/100 != 2 {
		t.Fatalf("got %d %s", got.Status, got.Body)
	}
	d.press("t")
	d.typing("from 16:00 win-back only")
	d.enter("enter")
	d.sees("another message was sent meanwhile")
	if got := w.Do(supervisor, http.MethodGet, path, ""); !strings.Contains(string(got.Body), "fire drill") {
		t.Errorf("got %s, want the line of the other supervisor", got.Body)
	}
	d.enter("t")
	d.sees("from 16:00 win-back only")
	d.enter("enter")
	d.sees("to all desks: from 16:00 win-back only")
}

// A line that the service did not take is offered again: nothing that was typed is lost.
func TestFloorKeepsALineThatWasNotSent(t *testing.T) {
	t.Parallel()
	// The last one is no connection.
	for _, status := range []int{http.StatusForbidden, http.StatusServiceUnavailable} {
		down := fault(nil)
		w := supervisorWorld(t, &down)
		d := newDriver(t, w.options)
		d.press("t")
		d.typing("from 16:00 win-back only")
		down = withStatus(status)
		d.press("enter")
		d.sees("the message was not sent to all desks")
		down = nil
		d.enter("t")
		d.sees("from 16:00 win-back only")
		d.enter("enter")
		d.sees("to all desks: from 16:00 win-back only")
		d.lacks("not sent")
	}
}

// A message to all desks whose answer was lost may be there. The Desk does not say that it was not sent, and takes it
// for no message of another supervisor, even if it cannot be read at once.
func TestFloorIsUnsureOfALostMessage(t *testing.T) {
	t.Parallel()
	now := fault(nil)
	w := supervisorWorld(t, &now)
	d := newDriver(t, w.options)
	d.press("t")
	d.typing("from 16:00 win-back only")
	now = func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPut {
			now = lost(nil)
			_, err := w.Transport().RoundTrip(r)
			return nil, errors.Join(err, io.ErrUnexpectedEOF)
		}
		return nil, nil
	}
	d.enter("enter")
	d.sees("look at the message to all desks, then send it again")
	d.lacks("not sent")
	now = nil
	d.enter("t")
	d.typing(", please")
	d.enter("enter")
	d.sees("to all desks: from 16:00 win-back only, please")
	d.lacks("then send it again")
}

// What an agent did opens for the key that asked for it alone. After another key it does not, and the screen says so.
func TestDayOfAnAgentWaitsForNoOtherKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key  string
		page int
	}{{"1", page.DeskPage}, {"t", page.FloorPage}, {"j", page.FloorPage}} {
		w := floorWorld(t)
		d := newDriver(t, w.options)
		_, day := d.app.Update(keyPress("enter"))
		d.press(test.key)
		d.run(day, 0)
		if _, isOpen := d.app.Dialog.(*page.Text); isOpen || d.app.current != test.page {
			t.Errorf("%s: got page %d and\n%s\nwant no day of an agent", test.key, d.app.current, d.text())
		}
		d.sees("ask again")
	}
}

// The day of an agent opens while the supervisor begins a message. Its letters close nothing, and are no commands.
func TestTextOverTheDayOfAnAgentIsNoCommand(t *testing.T) {
	t.Parallel()
	for _, pause := range []time.Duration{80 * time.Millisecond, 700 * time.Millisecond} {
		w := floorWorld(t)
		d := newDriver(t, w.options)
		d.enter("enter")
		w.Clock.Advance(pause)
		for key := range strings.SplitSeq("tnX1q", "") {
			d.send(keyPress(key))
			w.Clock.Advance(80 * time.Millisecond)
		}
		d.send(keyPress("enter"))
		if _, isOpen := d.app.Dialog.(*page.Text); !isOpen || d.app.current != page.FloorPage {
			t.Errorf("after %s: got %T on page %d, want the day of the agent", pause, d.app.Dialog, d.app.current)
		}
		w.Clock.Advance(time.Second)
		d.press("q")
		if d.app.Dialog != nil {
			t.Errorf("after %s: got %T, want that q closes it after a pause", pause, d.app.Dialog)
		}
	}
}
