//go:build unix

package tui

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"fundesk/apiclient"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/desk"
)

// crashRole makes the test binary play the program that is ended: its value is the
// address of the service, the token and the folder of the outbox.
const crashRole = "FUNDESK_TEST_CRASH"

// panicText makes the program panic when it is pasted.
const panicText = "panic!"

// crashDesk runs the desk in the terminal that it was given.
func crashDesk() {
	var base, token, dir string
	_, _ = fmt.Sscan(os.Getenv(crashRole), &base, &token, &dir)
	client, err := apiclient.New(apiclient.Options{BaseURL: base, Token: staticToken(token)})
	if err == nil {
		var box *outbox.Outbox
		box, err = outbox.Open(dir, outbox.Options{BaseURL: base, Account: "agent"})
		if err == nil {
			err = run(context.Background(), Options{Profile: "crash", Options: desk.Options{
				Client: client,
				Outbox: box,
				Agent:  new(oldestFirst),
			}}, tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
				if paste, ok := msg.(tea.PasteMsg); ok && paste.Content == panicText {
					panic(panicText)
				}
				return msg
			}))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process is the desk in a process of its own, in a pseudo-terminal.
type process struct {
	terminal
	command *exec.Cmd
	tty     *os.File
}

func startProcess(t testing.TB, base, token, dir string) *process {
	t.Helper()
	return startRole(t, base+" "+token+" "+dir, 100, 30)
}

// startRole starts the test binary in a role, in a pseudo-terminal of width by height.
func startRole(t testing.TB, role string, width, height int, environment ...string) *process {
	t.Helper()
	p := &process{command: exec.CommandContext(t.Context(), os.Args[0])}
	p.command.Env = slices.Concat(os.Environ(), []string{crashRole + "=" + role, "TERM=xterm-256color"}, environment)
	tty, err := pty.StartWithSize(p.command, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)})
	servicetest.Check(t, err)
	// A file that can be closed while it is read: its number once more, not blocking.
	number, err := syscall.Dup(int(tty.Fd()))
	if err == nil {
		err = syscall.SetNonblock(number, true)
	}
	servicetest.Check(t, err)
	_ = tty.Close()
	p.tty = os.NewFile(uintptr(number), "pty")
	p.terminal = terminal{
		t:      t,
		screen: vt.NewEmulator(width, height),
		wrote:  make(chan struct{}, 1),
		done:   make(chan error, 1),
	}
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := p.tty.Read(buffer)
			if n > 0 {
				_, _ = p.Write(buffer[:n])
			}
			if err != nil {
				p.done <- p.command.Wait()
				return
			}
		}
	}()
	// What the emulator answers to the program's questions.
	go func(screen *vt.Emulator) {
		buffer := make([]byte, 1024)
		for {
			n, err := screen.Read(buffer)
			if err != nil {
				return
			}
			_, _ = p.tty.Write(buffer[:n])
		}
	}(p.screen)
	t.Cleanup(p.close)
	return p
}

// close ends the program and lets go of its screen: a long test starts many.
func (p *process) close() {
	_ = p.tty.Close()
	_ = p.command.Process.Kill()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.screen == nil {
		return
	}
	if answers, ok := p.screen.InputPipe().(io.Closer); ok {
		_ = answers.Close() // Ends its reader; closing the screen would race with it.
	}
	p.after.Reset()
	p.screen = nil // It holds megabytes.
}

func (p *process) write(text string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// randomText is text that an agent may type: words, accents, wide characters.
func randomText(random *rand.Rand, length int) string {
	letters := []rune("abcdefghijklmnopqrstuvwxyz     ,.éüßç世界你好0123456789XAeq?:/")
	text := make([]rune, length)
	for i := range text {
		text[i] = letters[random.IntN(len(letters))]
	}
	return strings.TrimSpace(string(text))
}

// Whatever ends the program, what was typed and seen is on disk.
func TestNothingTypedIsLost(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	w := newWorld(t)
	// A machine that runs all tests at once keeps no promise of half a second; how long the
	// program itself waits is tested with a clock of its own.
	longest, most := 400, patience
	if *rounds > shortRounds {
		longest, most = 2001, 500*time.Millisecond
	}
	endings := []struct {
		name string
		end  func(p *process)
	}{
		{"killed", func(p *process) { _ = p.command.Process.Kill() }},
		{"hung up", func(p *process) { _ = p.command.Process.Signal(syscall.SIGHUP) }},
		{"asked to end", func(p *process) { _ = p.command.Process.Signal(syscall.SIGTERM) }},
		{"terminal closed", func(p *process) { _ = p.tty.Close() }},
		{"panic", func(p *process) { p.write("\x1b[200~" + panicText + "\x1b[201~") }},
	}
	for i, ending := range endings {
		t.Run(ending.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(i), 7))
			dir := t.TempDir()
			box, err := outbox.Open(dir, outbox.Options{BaseURL: w.URL, Account: "agent"})
			servicetest.Check(t, err)
			t.Cleanup(func() {
				if draft, _, err := box.Draft(callID(1)); t.Failed() {
					t.Logf("the draft on disk ends in %q (%v)", tail(draft.Notes), err)
				}
			})
			want := ""
			for range *rounds {
				if len(want) > 8000 { // A service takes 20,000 characters.
					want = ""
					if box.DeleteDraft(callID(1)) != nil {
						t.Fatal("the draft cannot be erased")
					}
				}
				p := startProcess(t, w.URL, w.Token(), dir)
				p.see("take the next call")
				p.write("n")
				p.see("Anna Jansen", onCard(1))
				p.write("i")
				p.see("leave notes")
				typed := randomText(random, 200+random.IntN(longest-200))
				switch half := len(typed) / 2; random.IntN(3) {
				case 0:
					p.write("\x1b[200~" + typed + "\x1b[201~")
				case 1:
					for !utf8.RuneStart(typed[half]) {
						half++
					}
					p.write(typed[:half] + "\x1b[200~" + typed[half:] + "\x1b[201~")
				default:
					p.write(typed)
				}
				want += typed
				// The last of it is on screen: the program has it.
				p.until(func(screen string) bool {
					return strings.Contains(unwrap(screen), tail(want))
				}, []string{tail(want)})
				if ending.name == "killed" {
					// Nothing can be done at that moment: what was typed half a second
					// before has to be there.
					waitForDraft(t, box, want, most)
				}
				ending.end(p)
				select {
				case <-p.done:
				case <-time.After(patience):
					t.Fatalf("the program does not end:\n%s", p.text())
				}
				draft, _, err := box.Draft(callID(1))
				if err != nil || draft.Notes != want {
					t.Fatalf("draft: got %q (%v), want %q", draft.Notes, err, want)
				}
				p.close()
			}
		})
	}
}

// unwrap returns the text of the right pane of a screen without its line breaks.
func unwrap(screen string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(screen, "\n") {
		_, right, _ := strings.Cut(line, "│ ")
		b.WriteString(strings.TrimRight(right, " "))
	}
	return strings.ReplaceAll(b.String(), " ", "")
}

// tail returns the end of a text without spaces.
func tail(text string) string {
	runes := []rune(strings.ReplaceAll(text, " ", ""))
	return string(runes[max(len(runes)-30, 0):])
}

func waitForDraft(t *testing.T, box *outbox.Outbox, want string, most time.Duration) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < most; <-tick.C {
		if draft, _, err := box.Draft(callID(1)); err == nil && draft.Notes == want {
			return
		}
	}
	t.Errorf("the draft was not on disk within %s", most)
}

// A killed terminal leaves its call to the agent's next one, and to no other agent.
func TestKilledTerminalLeavesItsCall(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	dir := t.TempDir()
	first := startProcess(t, w.URL, w.Token(), dir)
	first.see("take the next call")
	first.write("n")
	first.see("Anna Jansen", "mobile")
	servicetest.Check(t, first.command.Process.Kill())
	<-first.done

	other := startProcess(t, w.URL, w.Token(), t.TempDir())
	other.see("take the next call")
	other.write("n")
	other.until(func(screen string) bool {
		return strings.Contains(screen, "mobile") || strings.Contains(screen, "No requested call")
	}, []string{"what is left"})
	if screen := other.text(); strings.Contains(screen, "Anna Jansen") {
		t.Fatalf("another agent was given the call of the killed terminal:\n%s", screen)
	}

	second := startProcess(t, w.URL, w.Token(), dir)
	second.see("take the next call")
	second.write("n")
	second.see("Anna Jansen", "mobile")
}
