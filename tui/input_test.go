package tui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
)

// slowly gives its pieces with a second between them.
type slowly struct{ pieces []string }

func (s *slowly) Read(p []byte) (int, error) {
	time.Sleep(time.Second) // Of a test's clock.
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.pieces[0])
	s.pieces = s.pieces[1:]
	return n, nil
}

// heardFrom is what the library makes of an input.
func heardFrom(in io.Reader) string {
	events, heard := make(chan uv.Event), make(chan string)
	go func() {
		text := ""
		for event := range events {
			switch event := event.(type) {
			case uv.KeyPressEvent:
				if event.Text == "" {
					text += "<" + event.String() + ">"
				}
				text += event.Text
			case uv.PasteEvent:
				text += "[" + event.Content + "]"
			case uv.PasteStartEvent, uv.PasteEndEvent:
			default:
				text += fmt.Sprintf("{%T %v}", event, event)
			}
		}
		heard <- text
	}()
	_ = uv.NewTerminalReader(in, "xterm-256color").StreamEvents(context.Background(), events)
	close(events)
	return <-heard
}

// Text arrives as the network cuts it: in the middle of a character, and of the marks
// around a paste, with the rest a second later.
func TestTypedTextArrivesHoweverItIsCut(t *testing.T) {
	t.Parallel()
	const typed, want = "aß世🙂ïd\x1b[200~你ß好é\x1b[201~ç\x1b[1;5Az", "aß世🙂ïd[你ß好é]ç<ctrl+up>z"
	synctest.Test(t, func(t *testing.T) {
		for i := 1; i < len(typed); i++ {
			before, after := typed[:i], typed[i:]
			outside := strings.HasPrefix(after, "[200~") || strings.HasPrefix(after, "200~") || strings.HasPrefix(after, "[1;5A") || strings.HasPrefix(after, "1;5A")
			if outside {
				continue // Esc, and esc with a bracket, are keys where nothing comes after them.
			}
			if got := heardFrom(&wholeInput{in: &slowly{[]string{before, after}}}); got != want {
				t.Errorf("%q, later %q: got %q, want %q", before, after, got, want)
			}
		}
	})
}

func TestInputEndsWithWhatItHas(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"", "a", "a\xc3", "\x1b[200~text\x1b[20", "\x1b[1;", "\xc3\xc3\xc3a"} {
		got, err := io.ReadAll(iotest.OneByteReader(&wholeInput{in: iotest.OneByteReader(iotest.DataErrReader(strings.NewReader(typed)))}))
		if err != nil || string(got) != typed {
			t.Errorf("%q: got %q (%v), want all of it", typed, got, err)
		}
	}
}
