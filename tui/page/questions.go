package page

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/desk"
	"fundesk/tui/widget"
)

// WhyNot says why an action of the desk does nothing now; "" when it does something.
func (d *Desk) WhyNot(id string) string {
	action, _ := desk.ActionOf(id)
	return desk.WithKeys(d.Say(action.Why(d.Day)), d.Host.KeyOf)
}

// Answer follows an answer. back opens again what was asked before a question that the agent leaves; nil: nothing was.
func (d *Desk) Answer(a desk.Answer, back func()) tea.Cmd {
	cmd := d.Host.Perform(a.Events)
	if a.Next != nil {
		d.ask(a.Next, back)
	}
	return cmd
}

// ask shows a question as a dialog.
func (d *Desk) ask(q *desk.Question, back func()) tea.Cmd {
	left := func() {
		if q.Left != nil {
			if next := q.Left(); next != nil {
				d.ask(next, back)
				return
			}
		}
		if back != nil {
			back()
		}
	}
	title, lines := Clean(q.Title), make([]string, len(q.Lines))
	for i, line := range q.Lines {
		lines[i] = strings.ReplaceAll(Clean(line), desk.FixSign, d.Styles.fixSign)
	}
	var options []Option
	for _, c := range q.Choices {
		o := Option{Key: c.Key, Label: Clean(c.Label), Why: c.Why, Run: func() tea.Cmd { return d.Answer(c.Pick(), back) }}
		if c.IsOn != nil {
			o.Label = d.onSign(*c.IsOn) + o.Label
		}
		options = append(options, o)
	}
	switch {
	case q.IsYesNo():
		d.Dialog = &Confirm{Title: title, Lines: lines, Yes: options[0].Run, No: left}
	case q.Typed != nil:
		p := &Prompt{Title: title, left: left, done: func(text string) (string, tea.Cmd) {
			a := q.Typed(text)
			return a.Wrong, d.Answer(a, back)
		}}
		p.Editor.SetValue(q.Value)
		d.Dialog = p
	case q.IsKeyed:
		d.Dialog = &Ask{Title: title, Lines: lines, Options: options, Back: left, now: d.Day.Now}
	default:
		choice := NewChoice(title, q.Hint, options)
		if q.IsLate {
			choice.openAt, choice.now = d.Day.Now().Add(unseen), d.Day.Now
		}
		d.Dialog = choice
	}
	return nil
}

// onSign returns the sign before what is turned on and off.
func (e *Env) onSign(on bool) string {
	if on {
		return e.Styles.OKSign + " "
	}
	return "  "
}

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
