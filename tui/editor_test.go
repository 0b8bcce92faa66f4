package tui

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"fundesk/apiclient/outbox"
	"fundesk/tui/desk"
)

func openBox(t *testing.T, dir string) *outbox.Outbox {
	t.Helper()
	box, err := outbox.Open(dir, outbox.Options{BaseURL: "https://a.example", Account: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// What an editor saved is kept however it ended, and what it left alone stays.
func TestNotesOfTheEditor(t *testing.T) {
	t.Parallel()
	errEnded := errors.New("signal: hangup")
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	for _, test := range []struct {
		name string
		edit func(path string) error
		ends error
		want string // The notes kept; "" where none are to be told of.
	}{
		{"saved", write("as saved\n"), nil, "as saved"},
		{"saved nothing", func(string) error { return nil }, nil, ""},
		{"stopped after saving", write("as saved\n"), errEnded, "as saved"},
		{"stopped before saving", func(string) error { return nil }, errEnded, ""},
		{"stopped while saving", write(""), errEnded, ""},
		{"stopped with a copy beside it", func(path string) error { return os.WriteFile(path+".save", []byte("typed\n"), 0o600) }, errEnded, "typed"},
		{"saved in another encoding", write("M\xfcller\n"), nil, "M?ller"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			box := openBox(t, t.TempDir())
			k := desk.NewAutosave(box)
			draft := outbox.Draft{Call: callID(1), ResultCode: "reached", Notes: "as before"}
			var folder string
			e := &notesEditor{
				box: box, save: k.Save, notes: editedNotes{draft: draft},
				run: func(path string) error {
					folder = filepath.Dir(path)
					if text, err := os.ReadFile(path); err != nil || string(text) != "as before\n" {
						t.Errorf("the editor's file: got %q, %v, want the notes", text, err)
					}
					return errors.Join(test.edit(path), test.ends)
				},
			}
			if err := e.Run(); !errors.Is(err, test.ends) {
				t.Errorf("got %v, want %v", err, test.ends)
			}
			kept, found, err := box.Draft(callID(1))
			if err != nil || found != (test.want != "") || e.notes.changed != found {
				t.Errorf("kept: got %v (changed %v, %v), want %v", found, e.notes.changed, err, test.want != "")
			}
			if found && (kept.Notes != test.want || kept.ResultCode != "reached") {
				t.Errorf("kept: got %s: %q, want %q", kept.ResultCode, kept.Notes, test.want)
			}
			if _, err := os.Stat(folder); !os.IsNotExist(err) {
				t.Errorf("the folder of the notes: got %v, want none", err)
			}
		})
	}
}

// The text of an editor that failed stands on the desk, and the failure is said.
func TestFailedEditorIsSaidAndItsTextShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := newDriver(t, w.options)
	d.press("n")
	draft := d.app.Draft()
	draft.Notes = "as saved"
	d.send(result{to: deskPage, value: editedNotes{draft: draft, changed: true}, err: errors.New("exit status 1")})
	if got := d.app.desk.notes.Value(); got != "as saved" {
		t.Errorf("notes: got %q, want what was saved", got)
	}
	if len(d.app.errors) != 1 {
		t.Errorf("errors: got %q, want one", d.app.errors)
	}
}
