package tui

import (
	"errors"
	"testing"
)

// The text of an editor that failed stands on the desk, and the failure is said.
func TestFailedEditorIsSaidAndItsTextShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := newDriver(t, w.options)
	d.press("n")
	draft := d.app.Draft()
	draft.Notes = "as saved"
	d.send(d.app.desk.AfterEditor(draft, true, errors.New("exit status 1")))
	if got := d.app.Form.Notes; got != "as saved" {
		t.Errorf("notes: got %q, want what was saved", got)
	}
	if len(d.app.Errors) != 1 {
		t.Errorf("errors: got %q, want one", d.app.Errors)
	}
}
