//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

const (
	escapeKey   = "\x1b"
	eraseKey    = "\x15"
	completeKey = "\x13"
)

// weekLook is how long an agent waits for the screen to show the result of a key.
const weekLook = 4 * time.Second

// weekDesk is an agent at a Desk on a machine of its own.
type weekDesk struct {
	*week
	name    string
	home    home
	agent   string // The uuid of the user.
	command *exec.Cmd
	tty     *os.File
	gone    chan struct{} // Closed when the program has ended.
	shown   string        // The donor on the card.
	shownAt int64         // When the card was first seen, in the order of all that happened.
	asleep  bool

	screenMu sync.Mutex
	screen   *vt.Emulator
}

// open starts the program unless it runs.
func (d *weekDesk) open() {
	if d.command != nil && d.runs() {
		return
	}
	command := exec.CommandContext(context.Background(), filepath.Join(d.programs, "fundesk"), "tui")
	command.Env, command.Dir = d.home.env, d.home.dir
	tty, err := pty.StartWithSize(command, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		d.Error(err)
		return
	}
	screen, gone := vt.NewEmulator(80, 24), make(chan struct{})
	d.screenMu.Lock()
	d.command, d.tty, d.gone, d.screen, d.shown = command, tty, gone, screen, ""
	d.screenMu.Unlock()
	go func() { _, _ = io.Copy(io.Discard, screen) }() // What a terminal would answer.
	go d.draw(command, tty, screen, gone)
	d.see("1 Desk")
}

// draw takes what the program writes to the screen, until it ends.
func (d *weekDesk) draw(command *exec.Cmd, tty *os.File, screen *vt.Emulator, gone chan struct{}) {
	defer close(gone)
	buffer := make([]byte, 4096)
	for {
		n, err := tty.Read(buffer)
		d.screenMu.Lock()
		_, _ = screen.Write(buffer[:n])
		d.screenMu.Unlock()
		if err != nil {
			_ = command.Wait()
			_ = tty.Close()
			return
		}
	}
}

// runs reports whether the program runs.
func (d *weekDesk) runs() bool {
	select {
	case <-d.gone:
		return false
	default:
		return true
	}
}

// kill ends the program at once.
func (d *weekDesk) kill() {
	if d.command == nil {
		return
	}
	_ = d.command.Process.Kill()
	<-d.gone
}

// quit ends the program as an agent does.
func (d *weekDesk) quit() {
	d.rouse()
	d.write(escapeKey)
	d.await(func(screen string) bool { return dialogOf(screen) == "" && !strings.Contains(screen, "leave notes") })
	d.write("q")
	d.await(func(screen string) bool { return strings.Contains(screen, "Quit?") })
	if d.runs() {
		d.write("y")
	}
	select {
	case <-d.gone:
	case <-time.After(weekLook):
		d.Logf("%s does not quit:\n%s", d.name, d.look())
		d.kill()
	}
}

// sleep stops the program, as a laptop does whose lid is closed; wake lets it go on.
func (d *weekDesk) sleep() {
	d.asleep = true
	_ = d.command.Process.Signal(syscall.SIGSTOP)
}

func (d *weekDesk) wake() {
	_ = d.command.Process.Signal(syscall.SIGCONT)
	d.asleep = false
}

func (d *weekDesk) write(text string) { _, _ = d.tty.WriteString(text) }

func (d *weekDesk) look() string {
	d.screenMu.Lock()
	defer d.screenMu.Unlock()
	return d.screen.String()
}

// await waits for a screen; false when the program ends before, or it does not come in time.
func (d *weekDesk) await(comes func(screen string) bool) bool {
	deadline := time.NewTimer(weekLook)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if comes(d.look()) {
			return true
		}
		select {
		case <-d.gone:
			return false
		case <-deadline.C:
			return false
		case <-tick.C:
		}
	}
}

// see waits until the screen shows one of the texts and returns which; "" if none comes.
func (d *weekDesk) see(texts ...string) (which string) {
	d.await(func(screen string) bool {
		for _, text := range texts {
			if strings.Contains(screen, text) {
				which = text
				return true
			}
		}
		return false
	})
	return which
}

var donorOnScreen = regexp.MustCompile(`Quist\d{4}`)

// cardOf returns the donor on the card of a screen; empty without a card.
func cardOf(screen string) string {
	rows := strings.Split(screen, "\n")
	if len(rows) < 4 || !strings.Contains(rows[1], "attempt ") {
		return ""
	}
	return donorOnScreen.FindString(rows[2])
}

// messageOf returns the message line, which may be above the keys or at the end.
func messageOf(screen string) string {
	rows := strings.Split(strings.TrimRight(screen, "\n "), "\n")
	return strings.Join(rows[max(0, len(rows)-3):], "\n")
}

// dialogOf returns the title of the dialog of a screen; empty without one.
func dialogOf(screen string) string {
	_, after, isOpen := strings.Cut(screen, "╭─ ")
	if !isOpen {
		return ""
	}
	title, _, _ := strings.Cut(after, " ─")
	return title
}

// warningsOf returns what the card warns of.
func warningsOf(screen string) []string {
	var warnings []string
	for line := range strings.SplitSeq(screen, "\n") {
		if _, text, isWarning := strings.Cut(line, "▲ "); isWarning {
			warnings = append(warnings, strings.TrimSpace(text))
		}
	}
	return warnings
}
