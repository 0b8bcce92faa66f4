//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// A sign-in keeps the refresh token in the keyring alone: no file, argument, environment, log or scrollback has it.
// Programs that renew at one time use it once, and a logout removes it there and at the provider.
// Promise P1: tokens are seen by the keyring, the process that sends a request, and the service.
func TestSignInInTheKeyring(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	need(t, "bash", "tmux", "dbus-run-session", "gnome-keyring-daemon")
	h := newSignInHome(t, 60)
	seen := h.watchProcesses(t)
	term := h.openTerminal(t, 120, 36)
	entered := 0
	enter := func(line, want string) string {
		t.Helper()
		entered++
		term.write(fmt.Sprintf("clear; echo line '%d'; %s; echo exit $?", entered, line))
		term.send("Enter")
		screen := term.wait(want, func(screen string) bool {
			_, after, found := strings.Cut(screen, fmt.Sprintf("line %d\n", entered))
			return found && strings.Contains(after, want)
		})
		return screen
	}
	term.write("PS1='with '' a bus> ' dbus-run-session -- bash --norc --noprofile")
	term.send("Enter")
	term.waitFor("with  a bus>")
	enter(unlockKeyring, "exit 0")
	entries := `dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets ` +
		`org.freedesktop.Secret.Service.SearchItems dict:string:string:service,fundesk,username,default | grep -c object`
	enter(entries, "0\nexit 1")
	shown := enter("fundesk auth login --no-browser --base-url "+h.url, "enter the code")
	servicetest.Check(t, h.provider.Approve(codeToEnter.FindStringSubmatch(shown)[1], "anneke"))
	term.waitFor("the session is in the keyring")
	term.waitFor("exit 0")
	enter(entries, "1\nexit 0")
	enter("fundesk auth status -o json --jq .tokenSource", `"keyring"`)

	before := h.provider.Renewals()
	enter(
		"for n in 1 2 3 4 5 6; do fundesk call list -q > a & fundesk call list -q > b; wait $! || break; sleep 0.5; done",
		"exit 0",
	)
	if got := h.provider.Renewals() - before; got == 0 || h.provider.Sessions() != 1 {
		t.Errorf("got %d renewals and %d sessions after pairs of commands, want one session that was renewed",
			got, h.provider.Sessions())
	}
	term.write("clear; fundesk tui")
	term.send("Enter")
	term.waitFor("take the next call")
	term.take()
	term.send("q")
	term.waitFor("with  a bus>")

	tokens := h.provider.RefreshTokens()
	if len(tokens) < 3 {
		t.Fatalf("got %d refresh tokens, want some rotations", len(tokens))
	}
	h.wantInNoFile(t, tokens)
	enter("fundesk auth logout", "exit 0")
	if got := h.provider.Sessions(); got != 0 {
		t.Errorf("got %d sessions at the provider after the logout, want none", got)
	}
	enter(entries, "0\nexit 1")
	enter("fundesk call list", "exit 4")
	wantNone(t, "the scrollback", term.tmux("capture-pane", "-p", "-S", "-", "-E", "-"), tokens)
	wantNone(t, "arguments or the environment", seen(), tokens)
	wantNone(t, "the log of the service", h.log(t), tokens)
	term.write("exit")
	term.send("Enter")
	h.wantNoDaemon(t)
	h.wantInNoFile(t, tokens)
}

// wantNone reports the tokens in a text. Access tokens are known by their beginning.
func wantNone(t *testing.T, where, text string, tokens []string) {
	t.Helper()
	for _, token := range append(tokens, "eyJ") {
		if strings.Contains(text, token) {
			t.Errorf("got a token in %s", where)
			return
		}
	}
	if len(text) < 100 {
		t.Errorf("got %q of %s: the test sees nothing", text, where)
	}
}

// wantInNoFile looks for tokens in the files of the home.
func (h *signInHome) wantInNoFile(t *testing.T, tokens []string) {
	t.Helper()
	read := 0
	servicetest.Check(t, filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // It ended in between.
		}
		data, _ := os.ReadFile(path)
		read++
		for _, token := range tokens {
			if strings.Contains(string(data), token) {
				t.Errorf("got a refresh token in %s", path)
			}
		}
		return nil
	}))
	if read < 5 {
		t.Errorf("read %d files: the test sees nothing", read)
	}
}

// watchProcesses collects the arguments and the environment of every process of this home, until the returned function
// is called.
func (h *signInHome) watchProcesses(t *testing.T) func() string {
	t.Helper()
	known := map[string]bool{}
	stop := make(chan struct{})
	done := make(chan struct{})
	var once sync.Once
	end := func() {
		once.Do(func() { close(stop) })
		<-done
	}
	t.Cleanup(end)
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			folders, _ := filepath.Glob("/proc/[0-9]*")
			for _, folder := range folders {
				environment, _ := os.ReadFile(folder + "/environ") // A process that has ended has none.
				if !strings.Contains(string(environment), "HOME="+h.dir+"\x00") {
					continue
				}
				arguments, _ := os.ReadFile(folder + "/cmdline")
				known[string(arguments)+"\n"+string(environment)] = true
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	return func() string {
		end()
		var all strings.Builder
		for text := range known {
			all.WriteString(text + "\n")
		}
		return all.String()
	}
}
