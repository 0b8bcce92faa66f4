package tui

import (
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
)

// The profile says the results of a type of call: their digits, words, and which of them asks
// for notes. A whole call is four keys.
func TestResultsOfTheProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Results = map[apitype.CallType][]apitype.ResultChoice{
		apitype.CallVerification: {{Code: "abroad", AsksNotes: true}, {Code: "wants_to_stop", Effect: new(apitype.EffectOptOut)}, {Code: "ok", Label: "all is right"}},
		apitype.CallWinback:      {{Code: "back"}},
	}
	d := newDriver(t, w.options)
	d.enter("n", "c", "1")
	w.seen()
	d.sees("[1 abroad]  2 wants to stop (opt-out)  3 all is right")
	d.lacks("back")
	d.enter("esc", "ctrl+s")
	if text := d.text(); len(w.entries(t)) != 0 || !strings.Contains(text, "abroad asks for them: i") {
		t.Fatalf("got %q and:\n%s\nwant that notes are asked for", w.entries(t), text)
	}
	d.enter("c", "3", "8", "ctrl+s")
	entry := w.entries(t)
	if len(entry) != 1 || !strings.Contains(d.text(), "all is right: Anna Jansen, sent in 5 s") {
		t.Errorf("got %q and:\n%s\nwant the result sent in four keys", entry, d.text())
	}
}

// A result that was being chosen is none of the call that comes instead.
func TestChoiceGoesWithItsCall(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.enter("n", "c")
	d.run(d.app.Perform(d.app.Day.Skip()), 0) // As when somebody else was faster.
	d.enter("1", "2")
	if call := d.app.Day.Call; call == nil || call.UUID == callID(1) || !d.app.Day.Form.Draft().IsEmpty() {
		t.Errorf("got %+v with %+v, want the next call without a result", call, d.app.Day.Form)
	}
}
