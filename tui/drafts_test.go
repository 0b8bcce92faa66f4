package tui

import (
	"testing"

	"fundesk/apiclient/outbox"
)

// A draft that is opened again may be changed like one's own.
func TestOpenedDraftIsChangedNotJoined(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.box.SaveDraft(callID(1), outbox.Draft{Call: callID(1), Notes: "typed before"}); err != nil {
		t.Fatal(err)
	}
	d := newDriver(t, w.options)
	d.press("n")
	d.press("i")
	d.press("backspace")
	if err := d.app.Autosave.Flush(); err != nil {
		t.Fatal(err)
	}
	if draft, _, _ := w.box.Draft(callID(1)); draft.Notes != "typed befor" {
		t.Errorf("draft: got %q, want the changed one", draft.Notes)
	}
}

// ctrl+z stops the program for as long as somebody likes: what was typed is on disk before.
func TestSuspendingSavesWhatWasTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := newDriver(t, w.options)
	for _, key := range []string{"n", "i", "h", "e", "r", "e", "ctrl+z"} {
		d.press(key)
	}
	if draft, found, err := w.box.Draft(d.app.Call.UUID); err != nil || !found || draft.Notes != "here" {
		t.Errorf("got %q %v %v on disk, want what was typed", draft.Notes, found, err)
	}
}
