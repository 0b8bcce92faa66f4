//go:build unix

package tui

import (
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"fundesk/service/servicetest"
)

// A shell that another process makes stop the program sets the terminal for itself, and draws on it.
// When the program continues, the terminal is raw again, all is drawn, and a key is a key.
func TestContinuedProgramSetsTheTerminalUpAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := startProcess(t, w.URL, w.Token(), t.TempDir())
	p.see("take the next call")
	p.write("n")
	p.see("Anna Jansen", onCard(1))
	before := p.gone("checking…")
	raw, err := term.GetState(int(p.tty.Fd()))
	servicetest.Check(t, err)
	master, shell, err := pty.Open()
	servicetest.Check(t, err)
	defer func() { _, _ = master.Close(), shell.Close() }()
	cooked, err := term.GetState(int(shell.Fd()))
	servicetest.Check(t, err)
	servicetest.Check(t, p.command.Process.Signal(syscall.SIGSTOP))
	servicetest.Check(t, term.Restore(int(p.tty.Fd()), cooked))
	p.mu.Lock()
	_, _ = p.screen.Write([]byte("\x1b[?1049l\x1b[5;5H[1]+  Stopped  fundesk"))
	p.mu.Unlock()
	servicetest.Check(t, p.command.Process.Signal(syscall.SIGCONT))
	p.until(func(screen string) bool {
		now, err := term.GetState(int(p.tty.Fd()))
		return err == nil &&
			reflect.DeepEqual(now, raw) &&
			strings.Contains(screen, onCard(1)) &&
			!strings.Contains(screen, "Stopped")
	}, []string{"the terminal raw, and all that was there:\n" + before})
	p.write("i")
	p.see("leave notes")
}
