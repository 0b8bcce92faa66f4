package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// heldBy returns how many leases an agent has.
func (w *world) heldBy(t *testing.T, user apitype.UUID) int {
	t.Helper()
	options := apitype.QueueLeaseListOptions{UserUUID: &user}
	all, err := apiclient.Decoded(w.client.Queue.Leases(t.Context(), options))
	servicetest.Check(t, err)
	return len(all.Leases)
}

// P gives the calls back in the same request and keeps typed text. The head shows the reason and the time. Keys that
// only look do not resume, and any other key does nothing else.
func TestPause(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.enter("n", "i", "h", "i", "esc")
	agent := *w.options.Agent
	if w.heldBy(t, agent) == 0 {
		t.Fatal("the agent holds nothing")
	}
	d.enter("P", "2")
	d.sees("paused · lunch 0:00 · any key resumes")
	if n := w.heldBy(t, agent); n != 0 || d.app.Day.Call != nil {
		t.Errorf("got %d leases and the call %v, want all given back", n, d.app.Day.Call)
	}
	w.Clock.Advance(4*time.Minute + 10*time.Second)
	d.send(ticked{})
	d.sees("paused · lunch 4:10")
	for _, key := range []string{"?", "esc", "2", "1", "!"} {
		if d.press(key); !d.app.Day.Pause.IsOn() {
			t.Fatalf("%s ended the pause", key)
		}
	}
	d.press("n")
	d.sees("the pause of 4:10 is over")
	if d.app.Day.Pause.IsOn() || d.app.Day.Call != nil {
		t.Errorf("got the call %v, want the key to resume and no more", d.app.Day.Call)
	}
	d.press("D")
	if d.app.Day.Call == nil || d.app.Day.Form().Notes != "hi" {
		t.Errorf("got the notes %q, want the draft", d.app.Day.Form().Notes)
	}
}

// A key that undoes a change ends a pause and undoes the change at once: the change is held only for seconds.
func TestUndoDuringAPause(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.press("n")
	d.enter("a", "P", "2")
	d.sees("paused · lunch", "u undoes it")
	d.press("u")
	if d.app.Day.Pause.IsOn() || !d.app.Day.IsOn(callID(1)) || d.app.Day.Changes.CanUndo() {
		t.Errorf("got the call %v, want the undone one and no pause:\n%s", d.app.Day.Call, d.text())
	}
	if n := w.heldBy(t, *w.options.Agent); n == 0 {
		t.Error("the service has no lease of the call")
	}
}

// A callback on the card stays the agent's own, with its time and its reason, through a pause. It comes first
// afterwards.
func TestPauseOnACallback(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.press("n")
	w.seen()
	d.press("b")
	d.typing("in 2 hours after dinner")
	d.press("enter")
	d.sendHeld(w)
	w.Clock.Advance(2 * time.Hour)
	d.enter("s", "n")
	d.sees("after dinner")
	callback := d.app.Day.Call.UUID
	d.enter("P", "1")
	options := apitype.QueueDeferralListOptions{UserUUID: w.options.Agent}
	page, err := w.client.Queue.Deferrals.List(t.Context(), options)
	servicetest.Check(t, err)
	own := apiclient.Rows(page, func(c apitype.Deferral) apitype.Deferral { return c })
	if len(own) != 1 || own[0].CallUUID != callback || deref(own[0].Reason) != "after dinner" {
		t.Errorf("got the callbacks %+v during the pause, want that of %s", own, callback)
	}
	d.enter("n", "n")
	if !d.app.Day.IsOn(callback) {
		t.Errorf("got %v after the pause, want the callback", d.app.Day.Call)
	}
	d.sees("after dinner")
}

// The answer to a pause takes the call from the Desk while a question about it is open. An answer to that question
// then does nothing.
func TestPauseDuringAQuestion(t *testing.T) {
	t.Parallel()
	for _, question := range []string{"f 0 1 0 0 enter", "c", "c /", "b 9 . 1 0 enter", "A", "X"} {
		for _, answer := range []string{"esc", "y", "1", "x enter y"} {
			for _, mayCall := range []bool{true, false} {
				t.Run(fmt.Sprint(question, ", ", answer, ", ", mayCall), func(t *testing.T) {
					t.Parallel()
					w := newQueueWorld(t)
					d := fixerOf(t, w)
					person := d.app.Day.Call.Person.Value()
					person.OptInPhone = &mayCall
					d.app.Day.Call.Person = apitype.Embed(person)
					d.press("P")
					_, answered := d.app.Update(keyPress("1"))
					d.enter(strings.Fields(question)...)
					d.run(answered, 0)
					d.enter(strings.Fields(answer)...)
					if sent := w.entries(t); len(sent) != 0 || d.app.Day.IsOn(callID(1)) {
						t.Errorf("got %q, want nothing done for the call that has left", sent)
					}
				})
			}
		}
	}
}

// The answer to a pause takes the call away while the agent types. The rest of the text is no command: it does not end
// the pause, and takes no call.
func TestPauseWhileTextIsTyped(t *testing.T) {
	t.Parallel()
	for name, begins := range map[string]string{"notes": "i", "a detail": "f5", "a callback": "b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newQueueWorld(t)
			d := newDriver(t, w.options)
			d.enter("n")
			w.seen()
			d.press("P")
			_, answered := d.app.Update(keyPress("1"))
			d.typing(begins + "wants a")
			d.run(answered, 0)
			for _, letter := range " new letter next season, yes" {
				w.Clock.Advance(200 * time.Millisecond)
				d.send(keyPress(string(letter)))
			}
			d.press("enter")
			if !d.app.Day.Pause.IsOn() || d.app.Day.Call != nil || d.app.Dialog != nil || len(w.entries(t)) != 0 {
				t.Errorf("got the call %v and %q, want the pause alone:\n%s", d.app.Day.Call, w.entries(t), d.text())
			}
			isTyped := func(draft outbox.Draft) bool { return draft.Notes == "wants a" }
			hasDraft := slices.ContainsFunc(d.app.Day.Changes.Drafts.All, isTyped)
			if hasDraft != (name == "notes") {
				t.Errorf("got the drafts %+v, want what was typed before", d.app.Day.Changes.Drafts.All)
			}
			w.seen()
			w.seen()
			d.press("n")
			if d.app.Day.Pause.IsOn() {
				t.Error("a key after the text did not end the pause")
			}
		})
	}
}

// A pause that the service refuses is not a pause, and the message explains it. A pause whose answer was lost may be
// one.
func TestPauseIsRefused(t *testing.T) {
	t.Parallel()
	for want, answer := range map[string]fault{
		"not paused":     withStatus(403),
		"perhaps paused": lost(nil),
	} {
		w, now := newQueueWorld(t), fault(nil)
		w.faulty(t, &now)
		d := newDriver(t, w.options)
		d.press("n")
		now = ofPath("/state", answer)
		d.enter("P", "1")
		if d.app.Day.Pause.IsOn() || d.app.Day.Call == nil {
			t.Error("the Desk pauses although the service did not accept it")
		}
		d.sees(want)
		now = nil
		d.enter("P", "1")
		if errors := d.app.Messages.Errors; !d.app.Day.Pause.IsOn() || len(errors) != 0 {
			t.Errorf("%s, then paused: got the errors %v, want none", want, errors)
		}
	}
}

// An agent who paused in another terminal gets no call here, and sees why.
func TestPausedElsewhere(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	reason := apitype.PauseCoaching
	request := apitype.UserStateRequest{State: apitype.UserPaused, Reason: &reason}
	_, err := w.client.Queue.SetState(t.Context(), *w.options.Agent, request)
	servicetest.Check(t, err)
	d := newDriver(t, w.options)
	d.press("n")
	d.sees("paused · coaching")
	d.enter("n", "n")
	if d.app.Day.Call == nil {
		t.Error("no call came after the pause")
	}
}

// A line from the supervisor is on the message line of each desk, once, and among the messages.
func TestLineToAllDesks(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.press("n")
	d.app.Messages.Fail("the lease of Anna Jansen has ended", nil)
	all := append(slices.Clone(service.Permissions), service.SettingsWrite)
	w.connect(t, t.TempDir(), servicetest.May(all...))
	w.options.Page = "floor"
	supervisor := newDriver(t, w.options)
	supervisor.press("t")
	supervisor.typing("from 16:00 win-back only")
	supervisor.press("enter")
	supervisor.sees("sent to all desks", "to all desks: from 16:00 win-back only")
	for range 3 * 60 {
		w.Clock.Advance(time.Second)
		d.send(ticked{})
	}
	d.sees("from 16:00 win-back only") // Before an older error, which x does not take unseen.
	d.press("x")
	d.sees("the lease of Anna Jansen has ended")
	d.lacks("from 16:00 win-back only")
	d.press("!")
	if n := strings.Count(d.text(), "from 16:00 win-back only"); n != 1 {
		t.Errorf("got the line %d times among the messages, want once:\n%s", n, d.text())
	}
	d.press("esc")
	supervisor.press("t")
	for range len("from 16:00 win-back only") {
		supervisor.press("backspace")
	}
	supervisor.press("enter")
	supervisor.sees("the message to all desks was removed")
	supervisor.lacks("to all desks: from")
}

// The length of a pause is of one clock: that of a service that is ahead or behind does not count.
func TestPauseIsCountedByOneClock(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		w := newQueueWorld(t)
		w.options.Now = func() time.Time { return w.Clock.Now().Add(ahead) }
		d := newDriver(t, w.options)
		d.enter("n", "P", "2")
		d.sees("paused · lunch 0:00")
		w.Clock.Advance(70 * time.Second)
		d.send(ticked{})
		d.sees("paused · lunch 1:10")
	}
}
