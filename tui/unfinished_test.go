package tui

import (
	"slices"
	"testing"

	"fundesk/service"
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
		{[]string{"c", "/"}, "asks_for", "Result code: asks_for", "esc", ""},
		{[]string{"c", "/"}, "refused", "Result code: refused", "enter", "refused"},
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

// Text that was typed for a call which was still being read when the program ended is shown, once.
func TestTypedAheadSurvivesAClosedTerminal(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d, _ := slowDesk(t, w)
	d.enter("n", "i")
	d.typing("her wife calls back")
	servicetest.Check(t, d.app.Day.Changes.Drafts.Flush())

	for _, isShown := range []bool{true, false} {
		d, answer := slowDesk(t, w)
		answer()
		servicetest.Same(t, "errors", isShown, len(d.app.Messages.Errors) > 0)
		if isShown {
			d.sees("no call came for what you typed: iher wife calls back")
		}
		servicetest.Check(t, d.app.Day.Changes.Drafts.Flush())
	}
}

// Text that is typed ahead before the drafts are read comes from no earlier Desk.
func TestTypedAheadOfTheDraftsIsNotToldTwice(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d, answer := slowDesk(t, w)
	d.enter("n", "i")
	d.typing("her wife calls back")
	answer()
	servicetest.Same(t, "errors", 0, len(d.app.Messages.Errors))
	servicetest.Same(t, "notes", "her wife calls back", d.app.Day.Form().Notes)
	servicetest.Check(t, d.app.Day.Changes.Drafts.Flush())
	drafts, err := w.box.Drafts()
	servicetest.Check(t, err)
	servicetest.Same(t, "drafts", 1, len(drafts))
}

// A search for a donor and a message to all desks belong to no call. They are there again, too, until they are used or
// left.
func TestUnfinishedLinesOfNoCall(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		page, opens string
		typed       string
		says        string
		leaves      []string // The keys that use or leave the line.
	}{
		{"desk", "/", "jans", "find a donor: jans", []string{"esc"}},
		{"desk", "/", "jans", "find a donor: jans", []string{"ctrl+c"}},
		{"desk", "/", "jans", "find a donor: jans", []string{"enter"}},
		{"desk", "/", "jans", "find a donor: jans", []string{"ctrl+o"}},
		{"desk", "/", "jans", "find a donor: jans", []string{"backspace", "backspace", "backspace", "backspace"}},
		{"floor", "t", "team meeting at", "message to all desks: team meeting at", []string{"esc"}},
		{"floor", "t", "team meeting at", "message to all desks: team meeting at", []string{"enter"}},
	} {
		w := newQueueWorld(t)
		w.connect(t, t.TempDir(), servicetest.May(append(slices.Clone(service.Permissions), service.SettingsWrite)...))
		w.options.Page = test.page
		start := func() *driver {
			d := newDriver(t, w.options)
			d.size(120, 36)
			return d
		}
		end := func(d *driver) {
			servicetest.Check(t, d.app.Day.Changes.Drafts.Flush())
			d.app.Day.End()
		}
		d := start()
		d.press(test.opens)
		d.typing(test.typed)
		end(d)

		d = start()
		d.sees("not finished: " + test.says)
		d.lacks("draft that you have not sent")
		d.press(test.opens)
		d.sees(test.typed)
		d.enter(test.leaves...)
		end(d)

		d = start()
		d.lacks("not finished")
		d.press(test.opens)
		d.press("esc")
		end(d)
	}
}
