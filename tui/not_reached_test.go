package tui

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// attempts returns the attempts of a call with their reasons, as the service has them.
func (w *world) attempts(t *testing.T, call apitype.UUID) string {
	t.Helper()
	all, err := apiclient.Decoded(w.client.Attempts(t.Context(), call))
	servicetest.Check(t, err)
	var texts []string
	for _, a := range all.Attempts {
		text := "none"
		if a.Reason != nil {
			text = string(*a.Reason)
		}
		if a.Number != nil {
			text += " " + string(*a.Number)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// A records why the donor was not reached, as one group that one key takes back.
func TestNotReachedWithReason(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.enter("n", "d")
	call := d.app.Day.Call.UUID
	w.Clock.Advance(time.Second)
	d.enter("A", "2")
	d.sees("not reached, busy: Anna Jansen")
	servicetest.Same(t, "entries", 2, len(w.entries(t)))
	d.press("u")
	if len(w.entries(t)) != 0 || !d.app.Day.IsOn(call) {
		t.Errorf("got %q, want both taken back", w.entries(t))
	}
	w.Clock.Advance(time.Second)
	d.enter("A", "3")
	d.sendHeld(w)
	servicetest.Same(t, "attempts", "voicemail mobile", w.attempts(t, call))
}

// A number that does not exist is struck out, and the card stays as long as another one was not tried. The record is
// not changed, and taking the attempt back gives the number back.
func TestNoSuchNumber(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	path := "/api/v1/persons/" + personID(1).String() + "/actions/update"
	if got := w.Do(w.token, http.MethodPut, path, `{"phoneNumber":"+31201234567"}`); got.Status != http.StatusOK {
		t.Fatalf("got %d %s", got.Status, got.Body)
	}
	d := newDriver(t, w.options)
	d.enter("n", "d")
	call := d.app.Day.Call.UUID
	w.Clock.Advance(time.Second)
	d.enter("A", "4")
	if !d.app.Day.IsOn(call) || !d.app.Day.Card().IsStruck("mobile") {
		t.Fatalf("got:\n%s\nwant the card with the mobile number struck out", d.text())
	}
	d.sees("no such number  mobile called ", "home  d dials")
	for _, width := range []int{80, 100, 120, 200} { // Next to what is held.
		d.size(width, 24)
		d.sees("the card stays, and the home number is next", "◷ not r")
	}
	d.press("u")
	if d.app.Day.Card().IsStruck("mobile") {
		t.Error("undone: the number is still struck out")
	}
	w.Clock.Advance(2 * time.Second)
	d.enter("A", "4")
	d.sendHeld(w)
	d.press("d")
	w.Clock.Advance(2 * time.Second)
	d.enter("A", "1")
	if d.app.Day.IsOn(call) {
		t.Error("the card stays after the last number")
	}
	d.sendHeld(w)
	if got, want := w.attempts(t, call), "no-such-number mobile, no-answer home"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An agent who dials by hand loses no number, either: the first key is about the number that the card names, and the
// next one about the other.
func TestNoSuchNumberDialledByHand(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	path := "/api/v1/persons/" + personID(1).String() + "/actions/update"
	if got := w.Do(w.token, http.MethodPut, path, `{"phoneNumber":"+31201234567"}`); got.Status != http.StatusOK {
		t.Fatalf("got %d %s", got.Status, got.Body)
	}
	d := newDriver(t, w.options)
	d.press("n")
	call := d.app.Day.Call.UUID
	for n, isOn := range []bool{true, false} {
		w.Clock.Advance(2 * time.Second)
		d.enter("A", "4")
		if d.app.Day.IsOn(call) != isOn {
			t.Fatalf("key %d: got the call on the desk %t, want %t:\n%s", n+1, !isOn, isOn, d.text())
		}
		d.sendHeld(w)
	}
	if got, want := w.attempts(t, call), "no-such-number mobile, no-such-number home"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The reason of a callback is in the agent's list and on the card, and a bell announces it once.
func TestCallbackWithReason(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.send(keyPress("n"))
	w.seen()
	d.press("b")
	d.typing("in 2 hours after dinner")
	d.sees("after dinner")
	d.press("enter")
	d.sendHeld(w)
	d.press("C")
	d.sees("Anna Jansen · after dinner")
	d.press("esc")
	w.Clock.Advance(2*time.Hour - 2*time.Minute)
	for range 3 {
		d.send(ticked{})
		w.Clock.Advance(time.Second)
	}
	d.press("!")
	servicetest.Same(t, "announcements", 1, strings.Count(d.text(), "07  callback: 11:15 Anna"))
}

// A detail of two lines is shown whole, or not at all, at each height of the screen.
func TestWrappedDetailIsNotCut(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.press("n")
	seen, hidden := 0, 0
	for height := 16; height <= 36; height++ {
		d.size(120, height)
		first, second := strings.Contains(d.text(), "social security number"), strings.Contains(d.text(), "•••••••89")
		if first != second {
			t.Errorf("height %d: got the first line %t and the second %t:\n%s", height, first, second, d.text())
		}
		if first {
			seen++
		} else {
			hidden++
		}
	}
	if seen == 0 || hidden == 0 {
		t.Errorf("got the detail at %d heights, and not at %d, want some of each", seen, hidden)
	}
}
