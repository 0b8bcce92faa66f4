package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/outbox"
	"fundesk/service/servicetest"
	"fundesk/tui/page"
	"fundesk/tui/widget"
)

// unreadDesk is a desk that has read nothing yet.
func unreadDesk(t *testing.T, w *world) *driver {
	t.Helper()
	a, err := newApp(t.Context(), w.options)
	servicetest.Check(t, err)
	a.tick, a.Spinner = func() tea.Cmd { return nil }, widget.Spinner{}
	return &driver{t: t, app: a}
}

// slowDesk is a desk whose first reading has not come back; answer lets it.
func slowDesk(t *testing.T, w *world) (d *driver, answer func()) {
	t.Helper()
	d = unreadDesk(t, w)
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
	if got, want := d.app.Day.Form.Notes, "aXs世 pasted"; got != want {
		t.Errorf("notes: got %q, want %q", got, want)
	}
	if entries, _, err := w.box.List(); err != nil || len(entries) != 0 {
		t.Errorf("outbox: got %v %v, want nothing", entries, err)
	}
}

// A draft that is still being read is not written over by what is typed meanwhile.
func TestTypingWaitsForTheDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	servicetest.Check(t, w.box.SaveDraft(callID(1), outbox.Draft{Notes: "of yesterday"}))
	d := unreadDesk(t, w)
	a := d.app
	drafts := a.Perform(a.Day.Changes.ReadOutbox())
	d.run(a.Perform(a.Day.Begin()), 0)
	d.enter("n", "i", "!")
	d.run(drafts, 0)
	if got, want := a.Day.Form.Notes, "of yesterday!"; got != want {
		t.Errorf("notes: got %q, want %q", got, want)
	}
}

// A call that nobody has seen is not completed, whatever was typed.
func TestTypedAheadNeverEndsACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d, answer := slowDesk(t, w)
	d.enter("n", "c", "1", "i", "x", "ctrl+s", "y")
	answer()
	if call := d.app.Day.Call; call == nil || call.UUID != callID(1) {
		t.Fatalf("call: got %v, want the first, still there", call)
	}
	if got := d.app.Day.Form; got.Code != "reached" || got.Notes != "x" {
		t.Errorf("form: got %q %q, want what was typed before ctrl+s", got.Code, got.Notes)
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

// In a terminal that is too small nothing happens that cannot be seen; text goes on.
func TestTooSmallRunsNoKeys(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	small, large := tea.WindowSizeMsg{Width: 59, Height: 15}, tea.WindowSizeMsg{Width: 80, Height: 24}
	d.press("n")
	d.send(small)
	d.enter("a", "X", "y", "s", "2", "c", "1", "ctrl+s")
	if d.app.current != page.DeskPage || d.app.Dialog != nil || d.app.Day.Call.UUID != callID(1) {
		t.Errorf("got page %d with %v and call %s, want nothing changed", d.app.current, d.app.Dialog, d.app.Day.Call.UUID)
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
	if got := d.app.Day.Form.Notes; got != "hi" {
		t.Errorf("notes: got %q, want hi", got)
	}
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
