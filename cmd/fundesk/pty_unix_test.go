//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

const (
	escapeKey   = "\x1b"
	eraseKey    = "\x15"
	completeKey = "\x13"
)

// deskTerminal is a terminal with a Desk. The Desk may end or be killed at any moment, and be started again.
type deskTerminal struct {
	patience time.Duration // How long an agent looks at a screen before trying again.
	command  *exec.Cmd     // Nil before the first start.
	tty      *os.File
	ended    chan struct{} // Closed when the program has ended.

	screenMu sync.Mutex
	screen   *vt.Emulator
}

// start starts a program on an empty screen.
func (d *deskTerminal) start(command *exec.Cmd, width, height uint16) error {
	tty, err := pty.StartWithSize(command, &pty.Winsize{Rows: height, Cols: width})
	if err != nil {
		return err
	}
	screen, ended := vt.NewEmulator(int(width), int(height)), make(chan struct{})
	d.screenMu.Lock()
	d.command, d.tty, d.ended, d.screen = command, tty, ended, screen
	d.screenMu.Unlock()
	go func() { _, _ = io.Copy(io.Discard, screen) }() // What a terminal would answer.
	go d.draw(command, tty, screen, ended)
	return nil
}

// draw takes what the program writes to the screen, until it ends.
func (d *deskTerminal) draw(command *exec.Cmd, tty *os.File, screen *vt.Emulator, ended chan struct{}) {
	defer close(ended)
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
func (d *deskTerminal) runs() bool {
	if d.command == nil {
		return false
	}
	select {
	case <-d.ended:
		return false
	default:
		return true
	}
}

// kill ends the program at once.
func (d *deskTerminal) kill() {
	if d.command == nil {
		return
	}
	_ = d.command.Process.Kill()
	<-d.ended
}

func (d *deskTerminal) write(text string) { _, _ = d.tty.WriteString(text) }

func (d *deskTerminal) look() string {
	d.screenMu.Lock()
	defer d.screenMu.Unlock()
	return d.screen.String()
}

func (d *deskTerminal) shows(text string) bool { return strings.Contains(d.look(), text) }

// await waits for a screen; false when the program ends before, or it does not come in time.
func (d *deskTerminal) await(comes func(screen string) bool) bool {
	deadline := time.NewTimer(d.patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if comes(d.look()) {
			return true
		}
		select {
		case <-d.ended:
			return false
		case <-deadline.C:
			return false
		case <-tick.C:
		}
	}
}

// see waits until the screen shows one of the texts and returns which; "" if none comes.
func (d *deskTerminal) see(texts ...string) string {
	var which string
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
