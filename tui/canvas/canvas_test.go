package canvas

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// terminal keeps what was written to it, and takes nothing while it is held.
type terminal struct {
	screen  *vt.Emulator
	written []string
	held    chan struct{} // Nil: it takes everything.
}

func newTerminal(width, height int) *terminal {
	return &terminal{screen: vt.NewEmulator(width, height)}
}

func (m *terminal) Write(b []byte) (int, error) {
	if m.held != nil {
		<-m.held
	}
	m.written = append(m.written, string(b))
	return m.screen.Write(b)
}

// text is the screen without the spaces after its lines.
func (m *terminal) text() string {
	lines := strings.Split(m.screen.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// begun is a canvas that has heard all about its terminal and is on the alternate
// screen.
func begun(t *testing.T, m *terminal, width, height int) *Canvas {
	t.Helper()
	c := New(m, false)
	c.Hear(tea.EnvMsg{"TERM=xterm-256color"})
	c.Hear(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	c.Hear(tea.WindowSizeMsg{Width: width, Height: height})
	send(t, c, ansi.SetModeAltScreenSaveCursor)
	return c
}

// send writes as the library does.
func send(t *testing.T, c *Canvas, text string) {
	t.Helper()
	if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("write: got %d bytes (%v), want %d", n, err, len(text))
	}
}

func TestDrawsOnTheAlternateScreenAlone(t *testing.T) {
	t.Parallel()
	m := newTerminal(20, 3)
	c := New(m, false)
	draw := func(content, want string) {
		t.Helper()
		c.Show(content)
		c.draw()
		if got := m.text(); got != want {
			t.Errorf("screen after %q: got %q, want %q", content, got, want)
		}
	}
	send(t, c, "$ fundesk tui")
	draw("early", "$ fundesk tui")
	c.Hear(tea.EnvMsg{"TERM=xterm-256color"})
	c.Hear(tea.WindowSizeMsg{Width: 20, Height: 3})
	send(t, c, ansi.SetModeAltScreenSaveCursor)
	draw("colours are not known", "")
	c.Hear(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	draw("one\ntwo\nthree", "one\ntwo\nthree")
	draw("one\n2", "one\n2")
	send(t, c, ansi.ResetModeAltScreenSaveCursor)
	draw("an editor has it now", "$ fundesk tui")
	send(t, c, ansi.SetModeAltScreenSaveCursor)
	if got, want := m.text(), "an editor has it now"; got != want {
		t.Errorf("screen when it is back: got %q, want %q", got, want)
	}
	send(t, c, ansi.SetModeAltScreenSaveCursor+ansi.ResetModeAltScreenSaveCursor)
	draw("over", "$ fundesk tui")
}

func TestWhatTheLibraryClearsIsDrawnAgain(t *testing.T) {
	t.Parallel()
	m := newTerminal(12, 2)
	c := begun(t, m, 12, 2)
	c.Show("\x1b[1mbold\x1b[m\nplain")
	c.draw()
	before := len(m.written)
	send(t, c, ansi.EraseEntireScreen)
	if got, want := m.text(), "bold\nplain"; got != want {
		t.Errorf("screen: got %q, want %q", got, want)
	}
	if got := len(m.written) - before; got != 1 {
		t.Errorf("writes: got %d, want 1: nobody sees the empty screen", got)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	m := newTerminal(10, 2)
	c := begun(t, m, 10, 2)
	for _, size := range [][2]int{{10, 2}, {30, 5}, {1, 1}, {4, 9}, {0, 0}, {120, 40}} {
		width, height := size[0], size[1]
		if width > 0 {
			m.screen.Resize(width, height)
		}
		c.Hear(tea.WindowSizeMsg{Width: width, Height: height})
		line := strings.Repeat("x", width)
		content := strings.TrimSuffix(strings.Repeat(line+"\n", height), "\n")
		c.Show(content)
		c.draw()
		if got := m.text(); width > 0 && got != content {
			t.Errorf("%dx%d: got %q, want %q", width, height, got, content)
		}
	}
}

func TestSameFrameSendsNothing(t *testing.T) {
	t.Parallel()
	m := newTerminal(10, 2)
	c := begun(t, m, 10, 2)
	c.Show("one\ntwo")
	c.draw()
	before := len(m.written)
	c.Show("one\ntwo")
	c.draw()
	if got := m.written[before:]; len(got) != 0 {
		t.Errorf("written: got %q, want nothing", got)
	}
	c.Show("one\ntwa")
	c.draw()
	if got := strings.Join(m.written[before:], ""); !strings.Contains(got, "a") || strings.ContainsAny(got, "netw") {
		t.Errorf("written: got %q, want the letter that changed", got)
	}
}

func TestFramesAreOnePieceWhereTheTerminalCan(t *testing.T) {
	t.Parallel()
	for value, want := range map[ansi.ModeSetting]bool{ansi.ModeReset: true, ansi.ModeNotRecognized: false, ansi.ModePermanentlyReset: false} {
		m := newTerminal(10, 2)
		c := begun(t, m, 10, 2)
		c.Hear(tea.ModeReportMsg{Mode: ansi.ModeSynchronizedOutput, Value: value})
		c.Show("one")
		c.draw()
		last := m.written[len(m.written)-1]
		if got := strings.HasPrefix(last, ansi.SetModeSynchronizedOutput) && strings.HasSuffix(last, ansi.ResetModeSynchronizedOutput); got != want {
			t.Errorf("report %d: got %q, want one piece: %v", value, last, want)
		}
	}
}

// A terminal that takes nothing does not keep the program from going on, and shows the
// latest frame once it does.
func TestSlowTerminalGetsTheLatestFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newTerminal(10, 2)
		c := begun(t, m, 10, 2)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m.held = make(chan struct{})
		go c.Run(ctx)
		for i := range 1000 {
			c.Show(fmt.Sprint("frame ", i))
			if i == 0 {
				synctest.Wait() // The first is on its way.
			}
		}
		before := len(m.written)
		close(m.held)
		time.Sleep(time.Second) // Of the test's clock: until there is nothing left to draw.
		cancel()
		synctest.Wait()
		if got := m.text(); got != "frame 999" {
			t.Errorf("screen: got %q, want the latest frame", got)
		}
		if got := len(m.written) - before; got != 2 {
			t.Errorf("writes: got %d, want that of the first and of the latest frame", got)
		}
	})
}

// A frame is there at once after a few others, and after any number of frames that show what is
// there already; many frames come no faster than the eye.
func TestFrameWaitsForNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newTerminal(20, 2)
		c := begun(t, m, 20, 2)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.Run(ctx)
		began := time.Now()
		c.Show("clock")
		synctest.Wait()
		for range 100 {
			c.Show("saved")
			synctest.Wait()
		}
		c.Show("a key")
		synctest.Wait()
		if got := m.text(); got != "a key" || time.Since(began) != 0 {
			t.Errorf("screen after %v: got %q, want the key's frame at once", time.Since(began), got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		began = time.Now()
		before := len(m.written)
		for i := range 1000 {
			c.Show(fmt.Sprint("frame ", i))
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if got := len(m.written) - before; got < 120 || got > 125 {
			t.Errorf("frames in %v: got %d, want 120 and the few that come at once", time.Since(began), got)
		}
		cancel()
		synctest.Wait()
	})
}

// What is on the alternate screen is erased before that is left: a terminal that was resized would
// bring it back.
func TestNothingStaysOnTheScreenThatIsLeft(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := New(&out, false)
	for _, written := range []string{ansi.SetModeAltScreenSaveCursor, ansi.ResetModeAltScreenSaveCursor} {
		if n, err := c.Write([]byte(written)); n != len(written) || err != nil {
			t.Fatalf("got %d, %v, want all of it written", n, err)
		}
	}
	if want := ansi.EraseEntireScreen + ansi.ResetModeAltScreenSaveCursor; !strings.HasSuffix(out.String(), want) {
		t.Errorf("got %q, want it to end with %q", out.String(), want)
	}
}
