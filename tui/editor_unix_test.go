//go:build unix

package tui

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"fundesk/apiclient/outbox"
)

// saver is an editor that saves at once, saves a copy when it is asked to end, and ends
// well when a file named go is there.
const saver = `#!/bin/sh
trap 'echo "typed later" > "$1.save"; exit 1' TERM HUP
trap 'echo interrupted' INT
echo "saved early" > "$1"
echo "the editor is there"
while [ ! -e "$(dirname "$0")/go" ]; do sleep 0.05; done
`

// What ends the program while an editor has the terminal ends the editor, which may save
// what it has; an interrupt is meant for the editor.
func TestEndingWhileAnEditorRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tests := []struct {
		name string
		end  func(t *testing.T, p *process, leave func())
		want []string // Either.
	}{
		{"asked to end", func(_ *testing.T, p *process, _ func()) { _ = p.command.Process.Signal(syscall.SIGTERM) }, []string{"typed later"}},
		{"hung up", func(_ *testing.T, p *process, _ func()) { _ = p.command.Process.Signal(syscall.SIGHUP) }, []string{"typed later"}},
		{"killed", func(_ *testing.T, p *process, _ func()) { _ = p.command.Process.Kill() }, []string{"saved early", "typed later"}}, // The terminal hangs up.
		{"interrupted", func(t *testing.T, p *process, leave func()) {
			t.Helper()
			p.write("\x03") // The terminal makes it a signal: nobody has told it otherwise.
			p.see("interrupted")
			leave()
			p.see("saved early")
			p.write("q")
			p.see("Quit?")
			p.write("y")
		}, []string{"saved early"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, scripts := t.TempDir(), t.TempDir()
			editor := filepath.Join(scripts, "editor")
			if err := os.WriteFile(editor, []byte(saver), 0o700); err != nil {
				t.Fatal(err)
			}
			leave := func() {
				if err := os.WriteFile(filepath.Join(scripts, "go"), nil, 0o600); err != nil {
					t.Error(err)
				}
			}
			t.Cleanup(leave)
			p := startRole(t, w.URL+" "+w.token+" "+dir, 100, 30, "VISUAL=", "EDITOR="+editor)
			p.see("take the next call")
			p.write("n")
			p.see("Anna Jansen", onCard(1))
			p.gone("checking")
			p.write("E")
			p.see("the editor is there")
			test.end(t, p, leave)
			select {
			case <-p.done:
			case <-time.After(patience):
				t.Fatalf("the program does not end:\n%s", p.text())
			}
			box, err := outbox.Open(dir, outbox.Options{BaseURL: w.URL, Account: "agent"})
			if err != nil {
				t.Fatal(err)
			}
			if err := box.RescueEdits(); err != nil {
				t.Fatal(err)
			}
			if draft, _, err := box.Draft(callID(1)); err != nil || !slices.Contains(test.want, draft.Notes) {
				t.Errorf("draft: got %q, %v, want %q", draft.Notes, err, test.want)
			}
		})
	}
}
