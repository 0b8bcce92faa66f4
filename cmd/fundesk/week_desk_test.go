//go:build unix

package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// weekLook is how long an agent waits for the screen to show the result of a key.
const weekLook = 4 * time.Second

// weekDesk is an agent at a Desk on a machine of its own.
type weekDesk struct {
	*week
	deskTerminal
	name    string
	home    home
	agent   string // The uuid of the user.
	shown   string // The donor on the card.
	shownAt int64  // When the card was first seen, in the order of all that happened.
	asleep  bool
}

// open starts the program unless it runs.
func (d *weekDesk) open() {
	if d.runs() {
		return
	}
	command := exec.CommandContext(context.Background(), filepath.Join(d.programs, "fundesk"), "tui")
	command.Env, command.Dir = d.home.env, d.home.dir
	if err := d.start(command, 80, 24); err != nil {
		d.Error(err)
		return
	}
	d.shown = ""
	d.see("1 Desk")
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
	case <-d.ended:
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
