package page

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/ask"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/entry"
	"fundesk/tui/widget"
)

// askedLater asks in one line of text when a donor is called again. An empty line offers times.
type askedLater struct {
	picker
	desk    *Desk
	call    apitype.UUID
	offers  []card.LaterOffer
	anybody bool
	wrong   string // Why the typed text was not saved.
}

// AskLater asks when the donor is called again, in the donor's own time.
func (d *Desk) AskLater() tea.Cmd {
	ask := func() ask.Answer {
		l := &askedLater{desk: d, call: d.Day.Call.UUID, offers: d.Day.Card().LaterOffers()}
		l.Editor.SetValue(d.Day.Form().Unfinished[entry.CallbackLine])
		d.Dialog = l
		return ask.Answer{}
	}
	return d.Answer(d.Questions.OnceEnding(ask), nil)
}

// Key implements Dialog.
func (l *askedLater) Key(msg tea.KeyPressMsg) (Fate, tea.Cmd) {
	switch name := msg.String(); {
	case !l.desk.Day.IsOn(l.call):
		return Closes, nil // The call left the Desk while the question was open.
	case name == "esc", name == "ctrl+c":
		l.keep("")
		return Closes, nil
	case name == "enter":
		return l.accept()
	case name == "tab":
		l.anybody = !l.anybody
	case l.isOffering() && l.move(name, len(l.offers)):
	default:
		l.Editor.Update(msg)
		l.wrong = ""
		l.keep(l.text())
	}
	return Stays, nil
}

// keep puts the typed text into the draft of the call. An empty one was entered or left.
func (l *askedLater) keep(typed string) { l.desk.keepLine(l.call, entry.CallbackLine, typed) }

func (l *askedLater) text() string { return strings.TrimSpace(l.Editor.Value()) }

// isOffering reports whether nothing is typed.
func (l *askedLater) isOffering() bool { return l.text() == "" }

// Paste implements Paster.
func (l *askedLater) Paste(text string) tea.Cmd {
	l.Editor.Insert(text)
	l.wrong = ""
	l.keep(l.text())
	return nil
}

// accept saves the time, or asks which one is meant; outside calling hours it asks once.
func (l *askedLater) accept() (Fate, tea.Cmd) {
	put := func(c apitype.Callback) ask.Answer { return l.desk.Questions.Later(c, !l.anybody) }
	var a ask.Answer
	if l.isOffering() {
		a = put(card.At(l.offers[l.cursor].At))
	} else if a = l.desk.Questions.ReadLater(l.text(), put); a.Wrong != "" {
		l.wrong = a.Wrong
		return Stays, nil
	}
	return Closes, l.desk.Answer(a, func() { l.desk.Dialog = l })
}

// Hints implements Dialog.
func (l *askedLater) Hints() []Hint {
	who := "for any agent"
	if l.anybody {
		who = "for you"
	}
	hints := []Hint{{"enter", "save"}, {"tab", who}, {"esc", "close"}}
	if l.isOffering() {
		hints = append(hints, Hint{"up", "and down choose"})
	}
	return hints
}

// View implements Dialog.
func (l *askedLater) View(s Styles, width, _ int) (string, []string) {
	title := l.desk.Say("Call back later")
	if !l.desk.Day.IsOn(l.call) {
		return title, []string{l.desk.Say("the call is no longer here")}
	}
	lines := []string{
		l.desk.Say("when") + ": " + l.Editor.Line(max(width-render.Width(l.desk.Say("when")+": "), 2), s.cursor),
	}
	tell := func(role paint, text string) {
		for _, line := range widget.Wrap(text, width) {
			lines = append(lines, role(line))
		}
	}
	if l.isOffering() {
		label := 0
		for _, o := range l.offers {
			label = max(label, render.Width(l.desk.Say(o.Label))+2)
		}
		for i, o := range l.offers {
			line := "  " + widget.Fit(l.desk.Say(o.Label), label) + l.desk.Day.Card().BothTimes(o.At)
			if l.desk.Day.Card().OutsideHours(o.At) != "" {
				line += ", " + l.desk.Say("outside calling hours")
			}
			line = widget.Fit(line, min(width, max(render.Width(line), 56)))
			if i == l.cursor {
				line = s.chosen(line)
			}
			lines = append(lines, line)
		}
		tell(s.Dim, l.desk.Say("or type 18:00, tomorrow 18:00 after dinner, fri 10:30, 24-12 14:00, in 2 hours"))
		tell(s.plain, l.forWhom(l.desk.Day.Card().LaterEcho(card.At(l.offers[l.cursor].At), !l.anybody)))
		return title, lines
	}
	read, err := l.desk.Day.Card().ReadLater(l.text())
	ambiguous, isAmbiguous := errors.AsType[*apitype.AmbiguousCallback](err)
	switch {
	case l.wrong != "":
		tell(s.Bad, l.wrong)
	case isAmbiguous:
		for _, c := range ambiguous.Callbacks {
			tell(s.Warn, Clean(l.desk.Day.Card().ReadingText(c))+"?")
		}
		tell(s.Dim, l.desk.Say("Enter asks which one you mean"))
	case err != nil:
		tell(s.Dim, l.desk.Say(err.Error()))
	default:
		tell(s.plain, l.forWhom(Clean(l.desk.Day.Card().LaterEcho(read, !l.anybody))))
		if wrong := l.desk.Day.Card().WrongReason(read.Reason); wrong != "" {
			tell(s.Bad, l.desk.Say(wrong))
		}
		if l.desk.Day.Card().OutsideHours(read.At) != "" {
			tell(s.Warn, s.WarnSign+" "+l.desk.Say("outside calling hours: Enter asks"))
		}
	}
	return title, lines
}

// forWhom adds what tab does.
func (l *askedLater) forWhom(echo string) string {
	if l.anybody {
		return echo + " · tab: " + l.desk.Say("for you")
	}
	return echo + " · tab: " + l.desk.Say("for any agent")
}
