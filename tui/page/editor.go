package page

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/outbox"
)

// editorPatience is how long an editor that was asked to end may take.
const editorPatience = 5 * time.Second

// notesEditor hands the notes of a draft to $EDITOR in a file of ours alone, while the
// library has let go of the terminal. What the editor saved counts however it ended, and
// is a draft on disk when Run returns.
type notesEditor struct {
	run     func(path string) error
	box     *outbox.Outbox
	save    func(outbox.Draft) error
	draft   outbox.Draft
	changed bool // By the editor.
}

// Run implements tea.ExecCommand.
func (e *notesEditor) Run() error {
	edit, err := e.box.Edit(e.draft)
	if err != nil {
		return err
	}
	ended := e.run(edit.Path)
	notes, changed, err := edit.Saved(ended == nil)
	if err == nil && changed {
		e.draft.Notes, e.changed = notes, true
		if e.save(e.draft) != nil {
			return errors.Join(ended, edit.Leave()) // It says why, and tries again.
		}
	}
	return errors.Join(ended, err, edit.Close(ended == nil))
}

// SetStdin implements tea.ExecCommand. The editor is given the terminal itself, not our
// reader and writer of it: the library would copy from that until another key comes,
// long after the editor has ended.
func (e *notesEditor) SetStdin(io.Reader) {}

// SetStdout implements tea.ExecCommand.
func (e *notesEditor) SetStdout(io.Writer) {}

// SetStderr implements tea.ExecCommand.
func (e *notesEditor) SetStderr(io.Writer) {}

// AfterEditor shows what an editor saved. It is on disk already.
func (d *Desk) AfterEditor(draft outbox.Draft, changed bool, err error) Result {
	return func() tea.Cmd {
		switch {
		case err != nil && changed:
			d.Fail("the editor failed, and what it had saved was taken", err)
		case err != nil:
			d.Fail("cannot edit the notes", err)
		}
		if changed {
			d.Edited(draft)
		}
		return d.Perform(nil)
	}
}

// EditNotes hands the notes to $EDITOR.
func (d *Desk) EditNotes() tea.Cmd {
	command := os.Getenv("VISUAL")
	if command == "" {
		command = os.Getenv("EDITOR")
	}
	args := strings.Fields(command)
	if len(args) == 0 {
		d.Sayf("set $EDITOR to write notes in an editor; %s writes them here", d.KeyOf(ActNotes))
		return nil
	}
	e := &notesEditor{box: d.Outbox, save: d.Autosave.Save, draft: d.Draft(), run: func(path string) error {
		return d.runEditor(d.Ctx, append(args, path))
	}}
	return tea.Exec(e, func(err error) tea.Msg { return d.AfterEditor(e.draft, e.changed, err) })
}

func (e *Env) runEditor(ctx context.Context, args []string) error {
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = e.In, e.Out, os.Stderr
	if e.In == nil {
		command.Stdin = os.Stdin
	}
	if e.Out == nil {
		command.Stdout = os.Stdout
	}
	// An editor loads plugins: the token is none of their business.
	command.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "FUNDESK_TOKEN=") })
	if err := e.Editor.start(command); err != nil {
		return err
	}
	defer e.Editor.ended()
	return command.Wait()
}

// RunningEditor is the editor that has the terminal, if one has. It is safe for
// concurrent use.
type RunningEditor struct {
	mu      sync.Mutex
	process *os.Process // Nil: none has.
}

// start starts the editor; a signal that comes meanwhile waits.
func (r *RunningEditor) start(command *exec.Cmd) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := command.Start(); err != nil {
		return err
	}
	r.process = command.Process
	return nil
}

func (r *RunningEditor) ended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.process = nil
}

// IsRunning reports whether an editor has the terminal.
func (r *RunningEditor) IsRunning() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.process != nil
}

// End asks the editor to end as this program was asked: it may save what it has. One that
// does not end is killed.
func (r *RunningEditor) End(by os.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	process := r.process
	if process == nil {
		return
	}
	if process.Signal(by) != nil {
		_ = process.Kill() // It has ended, or the system has no such signals.
		return
	}
	time.AfterFunc(editorPatience, func() { _ = process.Kill() })
}
