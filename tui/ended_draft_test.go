package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
)

// A call that the agent cancels or expires leaves no draft, which could never be sent. The question says so, and names
// an opt-out that is not saved; an undo brings all of it back.
func TestEndedCallLeavesNoDraft(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"X", "e"} {
		w := newQueueWorld(t)
		w.options.Results = map[apitype.CallType][]apitype.ResultChoice{
			apitype.CallVerification: {{Code: "wants_to_stop", Label: "no more calls", Effect: new(apitype.EffectOptOut)}},
		}
		d := newDriver(t, w.options)
		d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
		d.enter("n", "c", "1", "i")
		d.typing("never again")
		end := func() {
			d.press("esc")
			w.Clock.Advance(2 * time.Second)
			d.press(key)
			d.sees("What you typed is not sent with it.", `"no more calls (opt-out)" is not saved by this.`)
			d.press("y")
		}
		call := d.app.Day.Call.UUID
		end()
		d.press("u")
		if form := d.app.Day.Form(); !d.app.Day.IsOn(call) || form.Notes != "never again" || form.ResultCode != "wants_to_stop" {
			t.Fatalf("%s, undone: got %+v, want the call with its result and notes", key, form)
		}
		end()
		w.Clock.Advance(6 * time.Second)
		d.deliverOutbox(w)
		d.app.Day.Changes.Written()
		if drafts, err := w.box.Drafts(); err != nil || len(drafts) != 0 {
			t.Errorf("%s: got the drafts %v, %v, want none", key, drafts, err)
		}
	}
}
