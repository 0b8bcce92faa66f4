package page

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/widget"
)

// Ask asks which of some named choices is meant. Enter does nothing, and esc goes back to what was
// typed.
type Ask struct {
	Title   string
	Lines   []string
	Options []Option // Each with its key.
	Back    func()
	openAt  time.Time // When it takes a choice: one that opens by itself is to be seen first.
	now     func() time.Time
}

// Key implements Dialog.
func (a *Ask) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	name := msg.String()
	if name == "esc" || name == "ctrl+c" {
		a.Back()
		return Closes, nil
	}
	for _, o := range a.Options {
		if o.Key == name && (a.now == nil || !a.now().Before(a.openAt)) {
			return Closes, o.Run()
		}
	}
	return Stays, nil
}

// Hints implements Dialog.
func (a *Ask) Hints() []Hint {
	var hints []Hint
	for _, o := range a.Options {
		hints = append(hints, Hint{o.Key, o.Label})
	}
	return append(hints, Hint{"esc", "back"})
}

// View implements Dialog.
func (a *Ask) View(s Styles, width, _ int) (string, []string) {
	var lines []string
	for _, line := range a.Lines {
		lines = append(lines, widget.Wrap(s.say(line), width)...)
	}
	lines = append(lines, "")
	for _, o := range a.Options {
		lines = append(lines, widget.Fit(s.Key(o.Key)+" "+s.say(o.Label), width))
	}
	return a.Title, append(lines, s.Dim(s.say("esc goes back to what you typed")))
}
