package page

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
)

// AskNarrow offers the types and languages of the calls that the agent takes; each choice
// holds at once, and the next one may follow.
func (d *Desk) AskNarrow() tea.Cmd {
	var options []Option
	for _, c := range d.Day.NarrowChoices() {
		sign := "  "
		if c.Chosen {
			sign = d.Styles.OKSign + " "
		}
		options = append(options, Option{Label: sign + Clean(c.Name), Run: func() tea.Cmd { return d.narrowed(d.Day.Toggle(c)) }})
	}
	if d.Day.NarrowedTo() != "" {
		options = append(options, Option{Key: "x", Label: "everything", Run: func() tea.Cmd { return d.narrowed(d.Day.Narrow(apitype.QueueFilter{})) }})
	}
	options = append(options, Option{Key: "/", Label: "another language…", Run: d.typeLanguage})
	d.Dialog = NewChoice("Calls that you take", "none chosen is all of them", options)
	return nil
}

// narrowed offers the next choice.
func (d *Desk) narrowed(events []desk.Event) tea.Cmd {
	cmd := d.Host.Perform(events)
	d.AskNarrow()
	return cmd
}

func (d *Desk) typeLanguage() tea.Cmd {
	d.Dialog = &Prompt{Title: "Language, two letters such as nl", done: func(text string) (string, tea.Cmd) {
		f := apitype.QueueFilter{Languages: []string{strings.TrimSpace(text)}}
		if problems := f.Validate(); len(problems) > 0 {
			return problems[0].Message, nil
		}
		all := d.Day.Filter
		if !slices.Contains(all.Languages, f.Languages[0]) {
			all.Languages = desk.Toggled(all.Languages, f.Languages[0])
		}
		return "", d.narrowed(d.Day.Narrow(all))
	}}
	return nil
}
