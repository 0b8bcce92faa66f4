package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// programs holds the two programs, built once for all tests of this package. With the race detector, a race ends them
// with exit code 66.
var programs string

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	folder, err := os.MkdirTemp("", "fundesk-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	// Without the tables of a debugger a program is linked in half the time.
	args := []string{
		"build", "-ldflags=-w", "-o", folder + string(filepath.Separator), "fundesk/cmd/fundesk",
		"fundesk/cmd/fundeskd",
	}
	build := exec.Command("go", args...)
	if servicetest.IsRaced { // Except those of SQLite, as in .ci/run.
		build.Args = slices.Insert(build.Args, 2, "-race", "-gcflags=modernc.org/sqlite/lib=-race=false")
		build.Env = append(os.Environ(), "CGO_ENABLED=1")
	}
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the programs: %v\n%s", err, out)
		return 1
	}
	programs = folder
	return m.Run()
}

// patience is how long a test waits for a quick event on a machine that may be busy or stall. It only ends a test that
// hangs.
const patience = 2 * time.Minute

// need skips the test when a program is not installed; in CI it must be.
func need(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is not installed", name)
			}
			t.Skipf("%s is not installed", name)
		}
	}
}

// home is an empty machine of one user: folders of its own, the two programs first in
// the path, and nothing else of the environment.
type home struct {
	dir string
	env []string
}

func newHome(t *testing.T) home {
	t.Helper()
	dir, err := os.MkdirTemp("", "fundesk-home-")
	servicetest.Check(t, err)
	// A program that was just hung up on may still write its last words.
	t.Cleanup(func() {
		for deadline := time.Now().Add(patience); os.RemoveAll(dir) != nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("%s cannot be removed", dir)
				return
			}
		}
	})
	return home{dir: dir, env: []string{
		"HOME=" + dir,
		"XDG_DATA_HOME=" + filepath.Join(dir, ".local", "share"), // As by default: no installed service is looked for.
		"PATH=" + programs + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
		"TZ=UTC",
		"GORACE=atexit_sleep_ms=0", // Each command would end a second later.
	}}
}

// run runs a shell line and returns what it printed and its exit code.
func (h home) run(t *testing.T, line string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), servicetest.Patience(t, 2*patience)) // Some build.
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Env, cmd.Dir = h.env, h.dir
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatalf("%s: %v", line, err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// must is run for a line that ends well; it returns its output without the last line
// break.
func (h home) must(t *testing.T, line string) string {
	t.Helper()
	stdout, stderr, code := h.run(t, line)
	if code != 0 {
		t.Fatalf("%s: exit %d\n%s%s", line, code, stdout, stderr)
	}
	return strings.TrimSuffix(stdout, "\n")
}

// terminal is a tmux server of its own with one window that runs a shell.
type terminal struct {
	t      *testing.T
	home   home
	socket string
}

// openTerminal opens a terminal of that size; it is closed with the test.
func (h home) openTerminal(t *testing.T, width, height int) *terminal {
	t.Helper()
	need(t, "tmux", "bash")
	term := &terminal{t: t, home: h, socket: filepath.Join(h.dir, "tmux")}
	term.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height),
		"bash --norc --noprofile")
	t.Cleanup(func() {
		kill := exec.Command("tmux", "-S", term.socket, "kill-server")
		_ = kill.Run()
	})
	return term
}

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	cmd := exec.CommandContext(term.t.Context(), "tmux", append([]string{"-S", term.socket}, args...)...)
	cmd.Env, cmd.Dir = term.home.env, term.home.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// send types keys in tmux's names: Enter, Escape, C-s, or a letter.
func (term *terminal) send(keys ...string) {
	term.t.Helper()
	term.tmux(append([]string{"send-keys"}, keys...)...)
}

// write types a text as it is.
func (term *terminal) write(text string) {
	term.t.Helper()
	term.tmux("send-keys", "-l", text)
}

// screen returns the text of the terminal.
func (term *terminal) screen() string {
	term.t.Helper()
	return term.tmux("capture-pane", "-p")
}

// wait waits until the screen is as wanted. A picture that was taken while the program drew may
// have parts of two frames: a screen counts if the next picture is the same.
func (term *terminal) wait(what string, wanted func(screen string) bool) string {
	term.t.Helper()
	deadline := time.NewTimer(servicetest.Patience(term.t, patience))
	defer deadline.Stop()
	tick := time.NewTicker(100 * time.Millisecond) // Each picture starts a program.
	defer tick.Stop()
	for {
		screen := term.screen()
		if wanted(screen) && screen == term.screen() {
			return screen
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			term.t.Fatalf("the screen never showed %s:\n%s", what, screen)
		}
	}
}

// waitFor waits until the screen shows a text.
func (term *terminal) waitFor(text string) string {
	term.t.Helper()
	return term.wait(text, func(screen string) bool { return strings.Contains(screen, text) })
}
