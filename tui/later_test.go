package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// typing types a text key by key.
func (d *driver) typing(text string) {
	d.t.Helper()
	for _, r := range text {
		d.press(string(r))
	}
}

// laterLine is a desk of a floor on Friday, 20 November 2026, 10:15 in the Netherlands, with the
// line of a callback open for Anna Jansen.
func laterLine(t *testing.T) (*world, *driver) {
	t.Helper()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.enter("n")
	w.seen()
	d.press("b")
	return w, d
}

// A callback is what was typed: each text is understood as the line below it says, and Enter saves
// that; what has two meanings, or is no time, is not saved.
func TestCallbackIsWhatWasTyped(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, typed string
		echo        string   // Below the line, while it is typed.
		keys        []string // After it.
		said        string   // "" where nothing is saved.
		stays       string   // What the screen asks where nothing is.
	}{
		{"as the agent's page teaches", "18:00", "Fri 20 Nov 18:00 there (17:00 here), for you · tab: for anybody", []string{"enter"}, "Fri 20 Nov 18:00 there (17:00 here), for you", ""},
		{"tomorrow", "tomorrow 14:00", "Sat 21 Nov 14:00 there", []string{"enter"}, "Sat 21 Nov 14:00 there (13:00 here), for you", ""},
		{"a weekday", "mon 10:30", "Mon 23 Nov 10:30 there", []string{"enter"}, "Mon 23 Nov 10:30", ""},
		{"a length", "in 3 hours", "Fri 20 Nov 13:15 there", []string{"enter"}, "Fri 20 Nov 13:15", ""},
		{"a date", "10 may", "Mon 10 May 2027 10:00 there", []string{"enter"}, "Mon 10 May 2027 10:00", ""},
		{"a date without Enter", "10 may", "Mon 10 May 2027 10:00 there", nil, "", "Mon 10 May 2027"},
		{"for anybody", "18:00", "for you", []string{"tab", "enter"}, "for anybody", ""},
		{"for anybody, and back", "18:00", "for you", []string{"tab", "tab", "enter"}, "for you", ""},
		{"nothing typed", "", "for you · tab: for anybody", []string{"enter"}, "Fri 20 Nov 12:15", ""},
		{"the second offer", "", "in 2 hours", []string{"down", "enter"}, "Sat 21 Nov 10:15", ""},
		{"the third offer", "", "in 2 hours", []string{"down", "down", "down", "enter"}, "Mon 23 Nov 10:00", ""},
		{"the offer above", "", "in 2 hours", []string{"down", "down", "up", "enter"}, "Sat 21 Nov 10:15", ""},
		{"two meanings", "9.10", "the time, Sat 21 Nov 09:10", []string{"enter"}, "", "Which time is meant?"},
		{"two meanings, the date", "9.10", "the date, Sat 9 Oct 2027", []string{"enter", "enter", "d"}, "Sat 9 Oct 2027 10:00", ""},
		{"two meanings, the time", "11.10", "the time, Fri 20 Nov 11:10", []string{"enter", "t"}, "Fri 20 Nov 11:10", ""},
		{"two meanings, back and better", "11.10", "the time", []string{"enter", "esc", " ", "u", "h", "r", "enter"}, "Fri 20 Nov 11:10", ""},
		{"no night", "1 uur", "Fri 20 Nov 13:00", []string{"enter", "enter"}, "", "Which time is meant?"},
		{"no time", "someday", "is no time", []string{"enter"}, "", "is no time"},
		{"over", "yesterday", "is past", []string{"enter"}, "", "is past"},
		{"outside calling hours", "22:00", "outside calling hours", []string{"enter", "enter"}, "", "Save it all the same?"},
		{"outside calling hours, all the same", "22:00", "outside calling hours", []string{"enter", "y"}, "Fri 20 Nov 22:00", ""},
		{"outside calling hours, no", "22:00", "outside calling hours", []string{"enter", "n"}, "", "when: 22:00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, d := laterLine(t)
			call := d.app.Day.Call.UUID
			d.typing(test.typed)
			d.sees(test.echo)
			d.enter(test.keys...)
			text := d.text()
			if test.said == "" {
				if !d.app.Day.IsOn(call) || !strings.Contains(text, test.stays) {
					t.Errorf("got:\n%s\nwant the call on the desk, and %q", text, test.stays)
				}
				return
			}
			if d.app.Day.IsOn(call) || !strings.Contains(text, "Anna Jansen, ") || !strings.Contains(text, test.said) {
				t.Errorf("got:\n%s\nwant Anna Jansen and %q", text, test.said)
			}
			if got := w.entries(t); !slices.Equal(got, []string{"call.later c0010000"}) || d.app.Dialog != nil {
				t.Errorf("got %q and %T, want the callback alone and no question", w.entries(t), d.app.Dialog)
			}
		})
	}
}

// What is pasted goes to the line; esc leaves the call as it was.
func TestCallbackLineTakesTextAlone(t *testing.T) {
	t.Parallel()
	_, d := laterLine(t)
	call := d.app.Day.Call.UUID
	d.send(tea.PasteMsg{Content: "tomorrow 18:00\na"})
	d.sees("when: tomorrow 18:00 a")
	d.enter("backspace", "backspace")
	d.sees("Sat 21 Nov 18:00 there (17:00 here)")
	d.press("esc")
	if !d.app.Day.IsOn(call) || d.app.Dialog != nil {
		t.Errorf("got %+v, want the call as it was", d.app.Day.Call)
	}
}
