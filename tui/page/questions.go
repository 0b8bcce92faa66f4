package page

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/card"
)

// WhyNot returns the reason why an action of the Desk does nothing now, or "".
func (d *Desk) WhyNot(id string) string {
	action, _ := ask.ActionOf(id)
	return d.whyNot(action)
}

func (d *Desk) whyNot(action ask.Action) string {
	return ask.WithKeys(d.Say(action.Why(d.Day)), d.Host.KeyOf)
}

// Answer follows an answer. back opens the earlier question again if the agent leaves this one. It may be nil.
func (d *Desk) Answer(a ask.Answer, back func()) tea.Cmd {
	cmd := d.Host.Perform(a.Events)
	if a.Next != nil {
		d.ask(a.Next, back)
	}
	return cmd
}

// ask shows a question as a dialog.
func (d *Desk) ask(q *ask.Question, back func()) tea.Cmd {
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
		lines[i] = strings.ReplaceAll(Clean(line), card.FixSign, d.Styles.fixSign)
	}
	var unseenYet late
	if q.IsLate {
		unseenYet = openedLate(d.Day.Now)
	}
	var options []Option
	for _, c := range q.Choices {
		o := Option{
			Key:   c.Key,
			Label: Clean(c.Label),
			Why:   c.Why,
			Run:   func() tea.Cmd { return d.Answer(c.Pick(), back) },
		}
		if c.IsOn != nil {
			o.Label = d.onSign(*c.IsOn) + o.Label
		}
		options = append(options, o)
	}
	switch {
	case q.IsYesNo():
		d.Dialog = &Confirm{
			Title: title,
			Lines: lines,
			Yes:   options[0].Run,
			No:    left,
		}
	case q.Typed != nil:
		p := &Prompt{
			Title: title,
			left:  func() tea.Cmd { left(); return nil },
			done: func(text string) (string, tea.Cmd) {
				a := q.Typed(text)
				return a.Wrong, d.Answer(a, back)
			},
		}
		p.Editor.SetValue(q.Value)
		if q.Line != "" {
			call := d.Day.Call.UUID
			p.keep = func(text string) { d.keepLine(call, q.Line, text) }
			p.Editor.SetValue(cmp.Or(d.Day.Form().Unfinished[q.Line], q.Value))
		}
		d.Dialog = p
	case q.IsKeyed:
		d.Dialog = &Confirm{
			Title:   title,
			Lines:   lines,
			options: options,
			No:      left,
			late:    unseenYet,
		}
	default:
		choice := NewChoice(title, q.Hint, options)
		choice.lines, choice.late = lines, unseenYet
		if q.StaysOpen {
			choice.cursor = noChoice
		}
		d.Dialog = choice
	}
	return nil
}

// onSign returns the sign of an option that is turned on or off.
func (e *Env) onSign(on bool) string {
	if on {
		return e.Styles.OKSign + " "
	}
	return "  "
}
