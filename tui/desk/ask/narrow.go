package ask

import (
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/queue"
)

// Narrow offers the types and languages of the calls that the agent takes; each choice holds at once, and the next
// one may follow.
func (q *Questions) Narrow() *Question {
	ask := &Question{Title: q.Say("Calls that you take"), Hint: q.Say("none chosen means all"), StaysOpen: true}
	then := func(events []event.Event) Answer { return Answer{Events: events, Next: q.Narrow()} }
	add := func(name string, isOn bool, to apitype.QueueFilter) {
		ask.Choices = append(
			ask.Choices,
			Choice{Label: q.Say(name), IsOn: &isOn, Pick: func() Answer { return then(q.day.Narrow(to)) }},
		)
	}
	for _, kind := range apitype.CallTypes {
		to := q.day.Filter
		to.Types = toggled(to.Types, kind)
		add(render.Words(string(kind)), slices.Contains(q.day.Filter.Types, kind), to)
	}
	for _, language := range queue.KnownLanguages(q.day.Filter, q.day.Languages, q.day.Leases.State) {
		to := q.day.Filter
		to.Languages = toggled(to.Languages, language)
		add(render.Language(language), slices.Contains(q.day.Filter.Languages, language), to)
	}
	if queue.FilterText(q.day.Texts, q.day.Filter) != "" {
		everything := func() Answer { return then(q.day.Narrow(apitype.QueueFilter{})) }
		ask.Choices = append(ask.Choices, Choice{Key: "x", Label: q.Say("everything"), Pick: everything})
	}
	language := &Question{Title: "Language, two letters such as nl", Typed: func(text string) Answer {
		f := apitype.QueueFilter{Languages: []string{strings.TrimSpace(text)}}
		if problems := f.Validate(); len(problems) > 0 {
			return Answer{Wrong: q.Say(problems[0].Message)}
		}
		all := q.day.Filter
		if !slices.Contains(all.Languages, f.Languages[0]) {
			all.Languages = toggled(all.Languages, f.Languages[0])
		}
		return then(q.day.Narrow(all))
	}}
	ask.Choices = append(
		ask.Choices,
		Choice{Key: "/", Label: q.Say("another language…"), Pick: func() Answer { return Answer{Next: language} }},
	)
	return ask
}

// toggled returns a list with a value more, or without it.
func toggled[T comparable](all []T, value T) []T {
	if slices.Contains(all, value) {
		return slices.DeleteFunc(slices.Clone(all), func(other T) bool { return other == value })
	}
	return append(slices.Clone(all), value)
}
