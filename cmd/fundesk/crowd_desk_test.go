//go:build unix

package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// deskPatience is how long an agent looks at a screen before trying again.
const deskPatience = 10 * time.Second

// deskMost is how long an agent tries to complete one call.
const deskMost = 2 * patience

// deskNotes returns the notes of a call that was completed in a terminal.
func deskNotes(id string) string { return "spoke with " + id + ", Grüße 世界" }

// crowdDesk is an agent at a terminal of the crowd. The program may be killed at any
// moment; the agent then opens it again and goes on.
type crowdDesk struct {
	*crowd
	deskTerminal
}

// sit completes calls in a terminal, done after each, until ctx ends: an open terminal sends
// what others have left. A call that the other terminal has is for the agent there.
func (c *crowd) sit(ctx context.Context, calls chan int, done func()) {
	d := &crowdDesk{crowd: c, deskTerminal: deskTerminal{patience: deskPatience}}
	defer d.kill()
	for d.open() {
		select {
		case <-ctx.Done():
			return
		case <-d.ended:
		case n := <-calls:
			if d.workCall(ctx, crowdCall(n).String()) {
				done()
			} else {
				calls <- n
			}
		}
	}
}

// open starts the program unless it runs.
func (d *crowdDesk) open() bool {
	if d.runs() {
		return true
	}
	command := exec.CommandContext(d.Context(), filepath.Join(programs, "fundesk"), "tui")
	command.Env, command.Dir = d.home.env, d.home.dir
	if err := d.start(command, 100, 30); err != nil {
		d.Error(err)
		return false
	}
	if after, ok := d.mayKill(); ok {
		time.AfterFunc(after*deskSlower, func() { _ = command.Process.Kill() })
	}
	return true
}

// deskSlower is the factor by which an agent at a terminal is slower than a command line.
const deskSlower = 40

// workCall completes a call, as often as it takes until it is safe; false when the agent's
// other terminal has it.
func (d *crowdDesk) workCall(ctx context.Context, id string) bool {
	change := id + " complete"
	for began := time.Now(); ; {
		if ctx.Err() != nil || !d.open() {
			return true
		}
		if d.complete(id) || d.isSafe(id) {
			break
		}
		if d.shows(openElsewhere) {
			return false
		}
		if time.Since(began) > deskMost {
			d.Errorf("%s: cannot be completed at the terminal:\n%s", id, d.look())
			return true
		}
	}
	d.crowd.mu.Lock()
	defer d.crowd.mu.Unlock()
	d.sure[change] = true
	d.typed[id] = true
	return true
}

// openElsewhere is the message for a call that is open in the agent's other terminal.
const openElsewhere = "is already open in another terminal"

// complete completes a call at the terminal, and reports whether the program confirmed it.
func (d *crowdDesk) complete(id string) bool {
	d.write(escapeKey)
	if d.shows("x dismisses") {
		d.write("x")
	}
	if d.see("6 Stats") == "" {
		return false
	}
	d.write("2")
	if d.see("Status      Since") == "" {
		return false
	}
	// Typing narrows the list at once. Only the filter shows that the list was read for it.
	const filtered = "  / c0000000"
	if d.shows(filtered) {
		d.write(escapeKey)
		if !d.await(func(screen string) bool { return !strings.Contains(screen, filtered) }) {
			return false
		}
	}
	d.write("/")
	if d.see("Filter calls") == "" {
		return false
	}
	d.write(eraseKey + id + "\r")
	if d.see("read"+filtered) == "" {
		return false
	}
	d.write("w")
	if d.see("no number is known", openElsewhere) != "no number is known" {
		return false
	}
	if !d.choose() {
		return false
	}
	d.write("i")
	if d.see("leave notes") == "" {
		return false
	}
	d.write("\x05" + eraseKey + deskNotes(id)) // A draft of before may be there.
	if d.see("57 characters") == "" {
		return false
	}
	time.Sleep(time.Second) // The call is to be seen before it is ended.
	d.write(completeKey)
	return d.see("reached: "+crowdName(apitype.MustParseUUID(id))+", sent in") != ""
}

// choose chooses the result, from a list where codes are known.
func (d *crowdDesk) choose() bool {
	d.write("c")
	asked := d.see("/ another", "Result code", "Another agent has this donor")
	if asked == "Another agent has this donor" { // A terminal that was killed.
		d.write("y")
		asked = d.see("/ another", "Result code")
	}
	switch asked {
	case "/ another":
		d.write("/")
		if d.see("Result code") == "" {
			return false
		}
	case "":
		return false
	}
	d.write(eraseKey + "reached\r")
	if d.see("sends reached", "A new result code") == "A new result code" {
		d.write("y")
	}
	return d.see("sends reached") != ""
}

// isSafe reports whether a completion is on disk or at the service, even without a visible confirmation.
func (d *crowdDesk) isSafe(id string) bool {
	for _, args := range [][]string{{"outbox", "list", "-o", "ndjson"}, {"call", "get", id, "-o", "json"}} {
		command := exec.CommandContext(d.Context(), filepath.Join(programs, "fundesk"), args...)
		command.Env, command.Dir = d.home.env, d.home.dir
		out, _ := command.Output() // A network that flaps: asked again later.
		text := string(out)
		if strings.Contains(text, "call.complete") && strings.Contains(text, id) {
			return true
		}
		if strings.Contains(text, deskNotes(id)) {
			return true
		}
	}
	return false
}
