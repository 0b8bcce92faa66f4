package tui

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/outbox"
)

// editedNotes is what came back from $EDITOR.
type editedNotes struct {
	draft   outbox.Draft
	changed bool
}

// notesEditor hands the notes of a draft to $EDITOR in a file of ours alone, while the
// library has let go of the terminal. What the editor saved counts however it ended,
// and is with the keeper when run returns: the terminal that closed on the editor ends
// the program, too.
type notesEditor struct {
	run   func(path string) error
	keep  func(outbox.Draft)
	notes editedNotes
}

// Run implements tea.ExecCommand.
func (e *notesEditor) Run() error {
	folder, err := os.MkdirTemp("", "fundesk-notes-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "notes.txt")
	before := e.notes.draft.Notes
	if before != "" {
		before += "\n" // As editors end a file.
	}
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		return err
	}
	ended := e.run(path)
	saved, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// An editor that was stopped may have emptied the file in order to write it.
	if string(saved) == before || (ended != nil && len(saved) == 0) {
		return ended
	}
	e.notes.changed = true
	e.notes.draft.Notes = strings.TrimRight(strings.ToValidUTF8(string(saved), "?"), "\n")
	e.keep(e.notes.draft)
	return ended
}

// SetStdin implements tea.ExecCommand. The editor is given the terminal itself, not our
// reader and writer of it: the library would copy from that until another key comes,
// long after the editor has ended.
func (e *notesEditor) SetStdin(io.Reader) {}

// SetStdout implements tea.ExecCommand.
func (e *notesEditor) SetStdout(io.Writer) {}

// SetStderr implements tea.ExecCommand.
func (e *notesEditor) SetStderr(io.Writer) {}

// editNotes hands the notes to $EDITOR.
func (d *desk) editNotes() tea.Cmd {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	fields := strings.Fields(editor)
	if len(fields) == 0 {
		d.sayf("set $EDITOR to write notes in an editor; %s writes them here", d.keyOf(actNotes))
		return nil
	}
	e := &notesEditor{keep: d.keeper.put, notes: editedNotes{draft: d.draft()}, run: func(path string) error {
		return d.runEditor(d.ctx, append(fields, path))
	}}
	return tea.Exec(e, func(err error) tea.Msg { return result{to: deskPage, value: e.notes, err: err} })
}

func (s *shell) runEditor(ctx context.Context, words []string) error {
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stdin, command.Stdout, command.Stderr = s.In, s.Out, os.Stderr
	if s.In == nil {
		command.Stdin = os.Stdin
	}
	if s.Out == nil {
		command.Stdout = os.Stdout
	}
	// An editor loads plugins: the token is none of their business.
	command.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "FUNDESK_TOKEN=") })
	return command.Run()
}

// onEdited shows what the editor saved. It is with the keeper already.
func (d *desk) onEdited(edited editedNotes, err error) tea.Cmd {
	switch {
	case err != nil && edited.changed:
		d.fail("the editor failed, and what it had saved was taken", err)
	case err != nil:
		d.fail("cannot edit the notes", err)
	}
	if edited.changed && d.isOnScreen(edited.draft.Call) {
		d.form.notes.SetValue(edited.draft.Notes)
		d.keep()
	}
	return nil
}
