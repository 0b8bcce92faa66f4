package canvas_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/tui/canvas"
)

// counter counts keys, and ends at "q".
type counter struct {
	keys   int
	canvas *canvas.Canvas
}

func (c counter) Init() tea.Cmd { return nil }

func (c counter) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	c.canvas.Hear(msg)
	if key, pressed := msg.(tea.KeyPressMsg); pressed {
		if key.Text == "q" {
			return c, tea.Quit
		}
		c.keys++
	}
	return c, nil
}

func (c counter) View() tea.View {
	c.canvas.Show(fmt.Sprintf("count:%d.", c.keys))
	view := tea.NewView(canvas.Blank)
	view.AltScreen = true
	return view
}

// output is all that was written, and presses a key for each of the first frames.
type output struct {
	mu      sync.Mutex
	written bytes.Buffer
	frames  int
	press   chan string
}

const frames = 20

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written.Write(b)
	if bytes.Contains(b, []byte(".")) || bytes.Contains(b, fmt.Append(nil, o.frames)) {
		o.frames++
		switch {
		case o.frames < frames:
			o.press <- "x"
		case o.frames == frames:
			o.press <- "q"
		}
	}
	return len(b), nil
}

// The library clears a screen at every tick of its clock unless it believes it drawn;
// and it gives the terminal back after the last frame.
func TestLibraryLeavesTheScreenAlone(t *testing.T) {
	t.Parallel()
	in, keys := io.Pipe()
	o := &output{press: make(chan string, frames)}
	go func() {
		for key := range o.press {
			_, _ = io.WriteString(keys, key)
		}
	}()
	defer close(o.press)
	c := canvas.New(o, true)
	go c.Run(t.Context())
	program := tea.NewProgram(counter{canvas: c}, tea.WithContext(t.Context()), tea.WithFPS(120), tea.WithInput(in), tea.WithOutput(c.Output()),
		tea.WithWindowSize(40, 5), tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignalHandler())
	model, err := program.Run()
	if err != nil {
		t.Fatal(err)
	}
	if got := model.(counter).keys; got != frames-1 {
		t.Errorf("keys: got %d, want %d", got, frames-1)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	text := o.written.String()
	if got := strings.Count(text, ansi.EraseEntireScreen); got > 4 {
		t.Errorf("the screen was cleared %d times in %d frames, want at its beginning and its end alone", got, frames)
	}
	if _, after, left := strings.Cut(text, ansi.ResetModeAltScreenSaveCursor); !left || strings.Contains(after, "count") || !strings.Contains(text, ansi.SetModeTextCursorEnable) {
		t.Errorf("written: got %q, want the terminal given back after the last frame", text)
	}
}
