package tui

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// stoppedTerminal takes nothing until it goes on.
type stoppedTerminal struct {
	goesOn  chan struct{}
	mu      sync.Mutex
	written bytes.Buffer
}

func (s *stoppedTerminal) Write(b []byte) (int, error) {
	<-s.goesOn
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.Write(b)
}

func (s *stoppedTerminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.String()
}

// counted is a model that shows how many messages it had.
type counted struct{ n int }

func (c *counted) Init() tea.Cmd { return nil }

func (c *counted) Update(tea.Msg) (tea.Model, tea.Cmd) {
	c.n++
	return c, nil
}

func (c *counted) View() tea.View {
	return tea.NewView(fmt.Sprintf("frame %d%s", c.n, strings.Repeat(" ", 4000)))
}

// A stopped terminal delays no writer, little waits for it, and it shows the latest frame when it goes on.
func TestStoppedTerminalGetsTheLatestFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		terminal := &stoppedTerminal{goesOn: make(chan struct{})}
		told := 0
		out := &output{terminal: terminal, ends: t.Context(), caughtUp: func() { told++ }}
		model := &paced{Model: new(counted), out: out}
		shown := ""
		show := func() {
			model.Update(nil)
			if frame := model.View().Content; frame != shown {
				shown = frame
				_, _ = out.Write([]byte(frame))
			}
		}
		for range 1000 {
			show()
		}
		if got := len(out.waiting); got > farBehind+5000 {
			t.Errorf("waiting: got %d bytes, want about %d", got, farBehind)
		}
		close(terminal.goesOn)
		synctest.Wait()
		if told != 1 {
			t.Fatalf("told of the catching up: got %d times, want once", told)
		}
		show()
		synctest.Wait()
		if got := strings.TrimSpace(terminal.text()); !strings.HasSuffix(got, "frame 1001") {
			t.Errorf("written last: got %q, want frame 1001", got[max(0, len(got)-20):])
		}
	})
}

// The program waits until the alternate screen is left, but not for a stopped terminal after a second signal.
func TestLeavingTheScreenIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		terminal := &stoppedTerminal{goesOn: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		out := &output{terminal: terminal, ends: ctx}
		isLeft := false
		go func() {
			_, _ = out.Write([]byte(ansi.ResetModeAltScreenSaveCursor))
			isLeft = true
		}()
		synctest.Wait()
		if isLeft {
			t.Error("got the screen left before the terminal took it")
		}
		cancel()
		synctest.Wait()
		if isLeft {
			t.Error("got no time for the terminal")
		}
		time.Sleep(lastWait)
		synctest.Wait()
		if !isLeft {
			t.Error("got a program that waits for a stopped terminal")
		}
		close(terminal.goesOn)
		synctest.Wait()
	})
}

// What was on the alternate screen is erased before that is left: a terminal that was resized would bring it back.
func TestNothingStaysOnTheScreenThatIsLeft(t *testing.T) {
	t.Parallel()
	var terminal bytes.Buffer
	out := &output{terminal: &terminal, ends: t.Context()}
	n, err := out.Write([]byte(ansi.ResetModeAltScreenSaveCursor))
	if n != len(ansi.ResetModeAltScreenSaveCursor) || err != nil {
		t.Fatalf("got %d, %v, want all of it written", n, err)
	}
	if got, want := terminal.String(), ansi.EraseEntireScreen+ansi.ResetModeAltScreenSaveCursor; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
