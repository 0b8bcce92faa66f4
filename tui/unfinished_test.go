package tui

import (
	"testing"

	"fundesk/service/servicetest"
	"fundesk/tui/desk/entry"
)

// A line that was neither entered nor left when the program ends is there again: the call says so, and the keys that
// opened the line go on with it. A line that is entered or left is not kept.
func TestUnfinishedLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		opens  []string
		typed  string
		says   string
		enters string // The key that enters or leaves the line.
		left   string // What the draft has then.
	}{
		{[]string{"b"}, "tomorrow 18:00 ask for the daugh", "callback: tomorrow 18:00 ask for the daugh", "esc", ""},
		{[]string{"b"}, "somewh", "callback: somewh", "ctrl+c", ""},
		{[]string{"b"}, "18:00", "callback: 18:00", "enter", ""},
		{[]string{"f", "1"}, "0611223344", "mobile: 0611223344", "enter", "1 correction"},
		{[]string{"f", "3"}, "anna@", "e-mail: anna@", "esc", ""},
		{[]string{"f", "3"}, "anna@", "e-mail: anna@", "ctrl+r", ""},
		{[]string{"f", "3"}, "anna@", "e-mail: anna@", "ctrl+x", "1 correction"},
	} {
		w := newQueueWorld(t)
		start := func() *driver {
			d := newDriver(t, w.options)
			d.size(120, 36)
			return d
		}
		d := start()
		d.press("n")
		w.seen()
		d.enter(test.opens...)
		call := d.app.Day.Call.UUID
		d.typing(test.typed)
		servicetest.Check(t, d.app.Day.Changes.Drafts.Flush())
		d.app.Day.End()
		draft, _, err := w.box.Draft(call)
		servicetest.Check(t, err)
		servicetest.Same(t, "the draft", "1 unfinished line", entry.DraftText(d.app.Day.Texts, draft))

		d = start()
		d.press("D")
		d.sees("not finished: " + test.says)
		w.seen()
		d.enter(test.opens...)
		d.sees(test.typed)
		d.press(test.enters)
		servicetest.Check(t, d.app.Day.Changes.Drafts.Flush())
		d.app.Day.End()
		draft, _, err = w.box.Draft(call)
		servicetest.Check(t, err)
		servicetest.Same(t, "the draft after "+test.enters, test.left, entry.DraftText(d.app.Day.Texts, draft))
	}
}
