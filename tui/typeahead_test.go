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

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/page"
	"fundesk/tui/widget"
)

// unreadDesk returns a desk that has read nothing yet.
func unreadDesk(t *testing.T, w *world) *driver {
	t.Helper()
	a, err := newApp(t.Context(), w.options)
	servicetest.Check(t, err)
	a.tick, a.Spinner = func() tea.Cmd { return nil }, widget.Spinner{}
	return &driver{t: t, app: a}
}

// slowDesk returns a desk with an unanswered first reading. answer completes it.
func slowDesk(t *testing.T, w *world) (*driver, func()) {
	t.Helper()
	d := unreadDesk(t, w)
	reading := d.app.Init()
	return d, func() { d.run(reading, 0) }
}

func TestWhatIsTypedAheadWaitsForTheCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d, answer := slowDesk(t, w)
	d.enter("n", "i", "a", "X", "s", "世")
	d.send(tea.PasteMsg{Content: " pasted"})
	if screen := strings.Join(d.app.screen(), "\n"); !strings.Contains(screen, "6 keys wait for it") {
		t.Errorf("screen: got no word of what was typed:\n%s", screen)
	}
	answer()
	if call := d.app.Day.Call; call == nil || call.UUID != callID(1) {
		t.Fatalf("call: got %v, want the first", call)
	}
	if got, want := d.app.Day.Form().Notes, "aXs世 pasted"; got != want {
		t.Errorf("notes: got %q, want %q", got, want)
	}
	if entries, _, err := w.box.List(); err != nil || len(entries) != 0 {
		t.Errorf("outbox: got %v %v, want nothing", entries, err)
	}
}

// Text that was typed ahead reaches the notes of a donor whom another agent has, and the card names that agent.
func TestTypedAheadForADonorOfAnotherAgent(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	request := apitype.LeaseRequest{RequestUUID: apitype.NewUUID(), UserUUID: ids(0xe0, 3)}
	_, err := w.client.Queue.Lease(t.Context(), callID(4), request)
	servicetest.Check(t, err)
	d := newDriver(t, w.options)
	reading := d.app.Perform(d.app.Day.Take(callID(4)))
	d.enter("i", "s", "i", "c", "k")
	d.run(reading, 0)
	if got := d.app.Day.Form().Notes; got != "sick" {
		t.Errorf("notes: got %q, want what was typed\n%s", got, d.text())
	}
}

// A draft that is still being read is not overwritten by typing.
func TestTypingWaitsForTheDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	servicetest.Check(t, w.box.SaveDraft(callID(1), outbox.Draft{Notes: "of yesterday"}))
	d := unreadDesk(t, w)
	a := d.app
	drafts := a.Perform(a.Day.Changes.Refresh())
	d.run(a.Perform(a.Day.Begin()), 0)
	d.enter("n", "i", "!")
	d.run(drafts, 0)
	if got, want := a.Day.Form().Notes, "of yesterday!"; got != want {
		t.Errorf("notes: got %q, want %q", got, want)
	}
}

// A call that no agent has seen is not completed, whatever was typed.
func TestTypedAheadNeverEndsACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d, answer := slowDesk(t, w)
	d.enter("n", "c", "1", "i", "x", "ctrl+s", "y")
	answer()
	if call := d.app.Day.Call; call == nil || call.UUID != callID(1) {
		t.Fatalf("call: got %v, want the first, still there", call)
	}
	if got := d.app.Day.Form(); got.ResultCode != "reached" || got.Notes != "x" {
		t.Errorf("form: got %q %q, want what was typed before ctrl+s", got.ResultCode, got.Notes)
	}
	if len(d.app.Messages.Errors) != 1 || !strings.Contains(d.app.Messages.Errors[0].Text, "not used: y") {
		t.Errorf("errors: got %q, want the text that was not used", d.app.Messages.Errors)
	}
	if entries, _, err := w.box.List(); err != nil || len(entries) != 0 {
		t.Errorf("outbox: got %v %v, want nothing", entries, err)
	}
}

func TestTypedAheadWithoutACallIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	network := &flaky{RoundTripper: w.Transport()}
	w.through(t, network)
	network.down.Store(true)
	d, answer := slowDesk(t, w)
	d.enter("n", "i", "o", "k")
	answer()
	if len(d.app.Messages.Errors) != 1 || !strings.Contains(d.app.Messages.Errors[0].Text, "ok") {
		t.Errorf("errors: got %q, want the text that no call came for", d.app.Messages.Errors)
	}
}

// In a terminal that is too small no key runs unseen; typed text continues.
func TestTooSmallRunsNoKeys(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	small, large := tea.WindowSizeMsg{Width: 59, Height: 15}, tea.WindowSizeMsg{Width: 80, Height: 24}
	d.press("n")
	d.send(small)
	d.enter("a", "X", "y", "s", "2", "c", "1", "ctrl+s")
	if d.app.current != page.DeskPage || d.app.Dialog != nil || d.app.Day.Call.UUID != callID(1) {
		t.Errorf("got page %d with %v and call %s, want nothing changed",
			d.app.current, d.app.Dialog, d.app.Day.Call.UUID)
	}
	ends := func() bool { return strings.HasPrefix(d.app.Messages.Text, "sending what is held") }
	if ends() {
		t.Error("got the program to end, want that of q alone")
	}
	d.send(large)
	d.enter("c", "1", "i")
	d.send(small)
	d.enter("h", "i", "ctrl+s")
	d.send(large)
	servicetest.Same(t, "notes", "hi", d.app.Day.Form().Notes)
	if entries, _, err := w.box.List(); err != nil || len(entries) != 0 {
		t.Errorf("outbox: got %v %v, want nothing", entries, err)
	}
	d.enter("esc", "X")
	d.send(small)
	if d.press("q"); ends() {
		t.Error("got the program to end with a question open, want that nobody answers it unseen")
	}
	d.send(large)
	d.press("n")
	d.send(small)
	if d.press("q"); !ends() {
		t.Errorf("got %q, want that q ends the program", d.app.Messages.Text)
	}
}

// In a terminal that is too small, what is typed into an open line goes on, too. ctrl+c closes the line as elsewhere,
// and does not end the program with it.
func TestTooSmallKeepsTheTextOfALine(t *testing.T) {
	t.Parallel()
	small, large := tea.WindowSizeMsg{Width: 59, Height: 15}, tea.WindowSizeMsg{Width: 80, Height: 24}
	for _, test := range []struct{ name, keys, want string }{
		{"a callback", "b", "18:30 at supper"},
		{"a correction", "f 3", "18:30 at supper"},
		{"the search for a donor", "/", "18:30 at supper"},
	} {
		w := newQueueWorld(t)
		d := newDriver(t, w.options)
		d.press("n")
		w.seen()
		d.enter(strings.Fields(test.keys)...)
		d.send(small)
		d.typing("18:30 at supperr")
		d.press("backspace")
		d.send(large)
		if !strings.Contains(d.text(), test.want) || strings.Contains(d.text(), "supperr") {
			t.Errorf("%s: got\n%s\nwant %q", test.name, d.text(), test.want)
		}
		d.send(small)
		d.press("ctrl+c")
		isEnding := strings.HasPrefix(d.app.Messages.Text, "sending what is held")
		if d.app.Dialog != nil || isEnding {
			t.Errorf("%s: got %v and %q, want the line closed alone", test.name, d.app.Dialog, d.app.Messages.Text)
		}
	}
}

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

// heardFrom returns the library's reading of an input.
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
			outside := strings.HasPrefix(after, "[200~") ||
				strings.HasPrefix(after, "200~") ||
				strings.HasPrefix(after, "[1;5A") ||
				strings.HasPrefix(after, "1;5A")
			if outside {
				continue // Esc, and esc with a bracket, are keys if nothing follows them.
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
		got, err := io.ReadAll(iotest.OneByteReader(&wholeInput{
			in: iotest.OneByteReader(iotest.DataErrReader(strings.NewReader(typed))),
		}))
		if err != nil || string(got) != typed {
			t.Errorf("%q: got %q (%v), want all of it", typed, got, err)
		}
	}
}

// Text that was meant for the card answers no question that came up while the agent typed.
func TestTypedTextAnswersNoQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := newDriver(t, w.options)
	d.press("n")
	w.Clock.Advance(time.Second)
	d.press("X")
	d.sees("Cancel the call")
	d.enter("h", "e", " ", "s", "a", "y", "s", " ", "n", "o")
	d.sees("Cancel the call")
	if entries, _, err := w.box.List(); err != nil || len(entries) != 0 {
		t.Errorf("outbox: got %v %v, want nothing", entries, err)
	}
	w.Clock.Advance(time.Second)
	d.press("y")
	if entries, _, err := w.box.List(); err != nil || len(entries) != 1 {
		t.Errorf("outbox: got %v %v, want the call cancelled after a pause", entries, err)
	}
}
