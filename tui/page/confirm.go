package page

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/render"
	"fundesk/tui/widget"
)

// Confirm asks before something that cannot be taken back lightly: y does it, n and esc do not. With options it
// asks which of them is meant. Enter does nothing.
type Confirm struct {
	Title   string
	Lines   []string
	Yes     func() tea.Cmd
	No      func()   // Nil closes the dialog.
	options []Option // In place of Yes, each with its key.
	late    late
}

// Key implements Dialog.
func (c *Confirm) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	name := msg.String()
	if name == "esc" || name == "ctrl+c" || name == "n" && c.Yes != nil {
		if c.No != nil {
			c.No()
		}
		return Closes, nil
	}
	if c.late.isUnseen() {
		return Stays, nil
	}
	if name == "y" && c.Yes != nil {
		return Closes, c.Yes()
	}
	for _, o := range c.options {
		if o.Key == digitOf(name) {
			return Closes, o.Run()
		}
	}
	return Stays, nil
}

// Answers reports whether a key is an answer.
func (c *Confirm) Answers(key string) bool {
	isOption := slices.ContainsFunc(c.options, func(o Option) bool { return o.Key == digitOf(key) })
	return isOption || c.Yes != nil && (key == "y" || key == "n")
}

// Hints implements Dialog.
func (c *Confirm) Hints() []Hint {
	if c.Yes != nil {
		return []Hint{{"y", "yes"}, {"n", "no"}}
	}
	hints := []Hint{{"esc", "back"}} // First: the labels may be long.
	for _, o := range c.options {
		hints = append(hints, Hint{o.Key, o.Label})
	}
	return hints
}

// View implements Dialog.
func (c *Confirm) View(s Styles, width, _ int) (string, []string) {
	var lines []string
	for _, line := range c.Lines {
		lines = append(lines, widget.Wrap(s.say(line), width)...)
	}
	lines = append(lines, "")
	if c.Yes != nil {
		return c.Title, append(lines, s.Key("y")+" "+s.say("yes")+"   "+s.Key("n")+" "+s.say("no"))
	}
	for _, o := range c.options {
		sign := s.Key(o.Key) + " "
		for _, part := range widget.Wrap(s.say(o.Label), width-render.Width(sign)) {
			lines = append(lines, sign+part)
			sign = widget.Fit("", render.Width(sign))
		}
	}
	return c.Title, lines
}

// unseen is the time during which a dialog that opened by itself accepts no answer.
const unseen = 600 * time.Millisecond

// late is the time from which a dialog that opened by itself accepts an answer, so that it is seen first. The zero
// value accepts at any time.
type late struct {
	now   func() time.Time
	until time.Time
}

// openedLate returns the state of a dialog that opens by itself at this moment.
func openedLate(now func() time.Time) late { return late{now, now().Add(unseen)} }

// isUnseen reports whether a key was meant for what was there before. After such a key the dialog waits again: the key
// may be held down, or belong to a text.
func (l *late) isUnseen() bool {
	if l.now == nil || !l.now().Before(l.until) {
		return false
	}
	l.wait()
	return true
}

// wait lets a dialog that opened by itself ignore what follows without a pause.
func (l *late) wait() {
	if l.now != nil {
		l.until = l.now().Add(unseen)
	}
}
