package page

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
)

// AskNarrow offers the types and languages of the calls that the agent takes; each choice
// holds at once, and the next one may follow.
func (d *Desk) AskNarrow() tea.Cmd {
	var options []Option
	add := func(chosen bool, label string, toggle func(f *apitype.QueueFilter)) {
		sign := "  "
		if chosen {
			sign = d.Styles.OKSign + " "
		}
		options = append(options, Option{Label: sign + label, Run: func() tea.Cmd { return d.narrow(toggle) }})
	}
	for _, kind := range apitype.CallTypes {
		add(slices.Contains(d.Filter.Types, kind), render.Words(string(kind)), func(f *apitype.QueueFilter) { f.Types = desk.Toggled(f.Types, kind) })
	}
	for _, language := range d.KnownLanguages() {
		add(slices.Contains(d.Filter.Languages, language), languageName(language), func(f *apitype.QueueFilter) { f.Languages = desk.Toggled(f.Languages, language) })
	}
	if d.NarrowedTo() != "" {
		options = append(options, Option{Key: "x", Label: "everything", Run: func() tea.Cmd {
			return d.narrow(func(f *apitype.QueueFilter) { *f = apitype.QueueFilter{} })
		}})
	}
	options = append(options, Option{Key: "/", Label: "another language…", Run: d.typeLanguage})
	d.Dialog = NewChoice("Calls that you take", "none chosen is all of them", options)
	return nil
}

func (d *Desk) narrow(change func(f *apitype.QueueFilter)) tea.Cmd {
	filter := d.Filter
	change(&filter)
	cmd := d.Perform(d.Narrow(filter))
	d.AskNarrow()
	return cmd
}

func (d *Desk) typeLanguage() tea.Cmd {
	d.Dialog = &Prompt{Title: "Language, two letters such as nl", done: func(text string) (string, tea.Cmd) {
		f := apitype.QueueFilter{Languages: []string{strings.TrimSpace(text)}}
		if problems := f.Validate(); len(problems) > 0 {
			return problems[0].Message, nil
		}
		return "", d.narrow(func(all *apitype.QueueFilter) {
			if !slices.Contains(all.Languages, f.Languages[0]) {
				all.Languages = desk.Toggled(all.Languages, f.Languages[0])
			}
		})
	}}
	return nil
}
