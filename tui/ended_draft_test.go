package tui

import (
	"net/http"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// A call that the agent cancels or expires leaves its words as a draft, and no choices, which could never be sent. The
// question says so, and names an opt-out that is not saved; an undo brings all of it back.
func TestDraftOfAnEndedCall(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ key, notes string }{
		{"X", ""},
		{"X", "never again"},
		{"e", ""},
		{"e", "never again"},
	} {
		w := newQueueWorld(t)
		w.options.Results = map[apitype.CallType][]apitype.ResultChoice{
			apitype.CallVerification: {
				{Code: "wants_to_stop", Label: "no more calls", Effect: new(apitype.EffectOptOut)},
			},
		}
		d := newDriver(t, w.options)
		d.size(120, 36)
		d.enter("n", "c", "1")
		hasWords := test.notes != ""
		if hasWords {
			d.press("i")
			d.typing(test.notes)
			d.press("esc")
		}
		end := func() {
			w.Clock.Advance(2 * time.Second)
			d.press(test.key)
			d.sees(`"no more calls (opt-out)" is not saved by this.`)
			if hasWords {
				d.sees("What you typed is not sent with it; it stays as a draft.")
			}
			d.press("y")
		}
		call := d.app.Day.Call.UUID
		end()
		d.press("u")
		form := d.app.Day.Form()
		if !d.app.Day.IsOn(call) || form.Notes != test.notes || form.ResultCode != "wants_to_stop" {
			t.Fatalf("%s, undone: got %+v, want the call with its result and notes", test.key, form)
		}
		end()
		if err := d.app.Day.Changes.Drafts.Flush(); err != nil {
			t.Fatal(err)
		}
		if drafts, err := w.box.Drafts(); err != nil || len(drafts) != 1 {
			t.Fatalf("%s: got the drafts %+v, %v, want one while the change is held", test.key, drafts, err)
		}
		d.sendHeld(w)
		d.app.Day.Changes.Written()
		drafts, err := w.box.Drafts()
		if err != nil || (len(drafts) != 0) != hasWords {
			t.Errorf("%s after %q: got the drafts %+v, %v", test.key, test.notes, drafts, err)
		}
	}
}

// The offer for a call that another program has cancelled says that Enter takes the next one.
func TestOfferAfterACallThatEndedElsewhere(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.size(120, 36)
	d.press("n")
	w.Clock.Advance(2 * time.Second)
	d.press("j")
	w.change(t, "/api/v1/calls/"+callID(1).String()+"/actions/cancel")
	for range 4 {
		d.untilPoll(w)
	}
	d.sees("Anna Jansen: cancelled elsewhere: enter takes the next call")
	servicetest.Same(t, "errors", 0, len(d.app.Messages.Errors))
	w.Clock.Advance(2 * time.Second)
	d.press("enter")
	if d.app.Day.Call == nil || d.app.Day.IsOn(callID(1)) {
		t.Errorf("got %v, want the next call", d.app.Day.Call)
	}
}

// A donor whose data is erased while the agent types is named nowhere on the screen. No message says that another agent
// may call.
func TestErasedWhileTheAgentTypes(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.size(120, 36)
	d.enter("n", "i")
	d.typing("asks for a letter")
	d.press("esc")
	_, err := w.Privacy.Erase(t.Context(), personID(1), apitype.EraseRequest{Reason: "asked on the phone"})
	servicetest.Check(t, err)
	for range 6 {
		d.untilPoll(w)
	}
	d.sees("the donor's data was erased", "asks for a letter")
	d.lacks("another agent may call", "Jansen")
}

// A call that another program cancels while the agent types says so, and keeps the words. It does not say that another
// agent may call: whichever of the call and the leases is read first.
func TestEndedElsewhereWithWords(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.size(120, 36)
	d.enter("n", "i")
	d.typing("asks for a letter")
	d.press("esc")
	call := d.app.Day.Call.UUID
	answer := w.Do(w.Token(), http.MethodPut, "/api/v1/calls/"+call.String()+"/actions/cancel", `{}`)
	if answer.Status != http.StatusOK {
		t.Fatalf("cancel: got %d %s", answer.Status, answer.Body)
	}
	for range 6 {
		d.untilPoll(w)
	}
	d.sees("cancelled elsewhere; what you typed stays here", "asks for a letter")
	d.lacks("another agent may call")
	servicetest.Same(t, "errors", 1, len(d.app.Messages.Errors))
}
