package desk

import (
	"maps"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// Narrow limits the next calls to some types and languages. The call on the Desk stays.
func (d *Day) Narrow(filter apitype.QueueFilter) []Event {
	if problems := filter.Validate(); len(problems) > 0 {
		d.fail("the calls are as before", problems)
		return d.drain()
	}
	d.Filter = filter
	if l := d.leases.ahead(); l != nil {
		d.leases.releaseLease(l.CallUUID)
	}
	d.leases.none, d.leases.upcoming, d.NoneLeft = false, nil, false
	if d.leases.usable {
		d.leases.readQueue()
	}
	d.serve()
	return d.drain()
}

// NarrowedTo returns which calls the agent takes, or an empty text for all.
func (d *Day) NarrowedTo() string {
	var types, languages []string
	for _, kind := range d.Filter.Types {
		types = append(types, d.Say(render.Words(string(kind))))
	}
	for _, language := range d.Filter.Languages {
		languages = append(languages, d.Say(render.Language(language)))
	}
	parts := []string{strings.Join(types, ", "), strings.Join(languages, ", ")}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " · ")
}

// knownLanguages returns the languages that the agent may choose: the agent's own and the queue's.
func (d *Day) knownLanguages() []string {
	known := slices.Concat(d.Filter.Languages, d.Languages)
	if state := d.leases.state; state != nil {
		known = slices.AppendSeq(known, maps.Keys(state.ByLanguage))
	}
	slices.Sort(known)
	return slices.DeleteFunc(slices.Compact(known), func(language string) bool { return language == "" })
}

// Toggled returns a list with a value more, or without it.
func Toggled[T comparable](all []T, value T) []T {
	if slices.Contains(all, value) {
		return slices.DeleteFunc(slices.Clone(all), func(other T) bool { return other == value })
	}
	return append(slices.Clone(all), value)
}

// Narrow offers the types and languages of the calls that the agent takes; each choice holds at once, and the next
// one may follow.
func (q *Questions) Narrow() *Question {
	ask := &Question{Title: q.Say("Calls that you take"), Hint: q.Say("none chosen means all")}
	then := func(events []Event) Answer { return Answer{Events: events, Next: q.Narrow()} }
	add := func(name string, isOn bool, to apitype.QueueFilter) {
		ask.Choices = append(
			ask.Choices,
			Choice{Label: q.Say(name), IsOn: &isOn, Pick: func() Answer { return then(q.day.Narrow(to)) }},
		)
	}
	for _, kind := range apitype.CallTypes {
		to := q.Filter
		to.Types = Toggled(to.Types, kind)
		add(render.Words(string(kind)), slices.Contains(q.Filter.Types, kind), to)
	}
	for _, language := range q.day.knownLanguages() {
		to := q.Filter
		to.Languages = Toggled(to.Languages, language)
		add(render.Language(language), slices.Contains(q.Filter.Languages, language), to)
	}
	if q.day.NarrowedTo() != "" {
		everything := func() Answer { return then(q.day.Narrow(apitype.QueueFilter{})) }
		ask.Choices = append(ask.Choices, Choice{Key: "x", Label: q.Say("everything"), Pick: everything})
	}
	language := &Question{Title: "Language, two letters such as nl", Typed: func(text string) Answer {
		f := apitype.QueueFilter{Languages: []string{strings.TrimSpace(text)}}
		if problems := f.Validate(); len(problems) > 0 {
			return Answer{Wrong: q.Say(problems[0].Message)}
		}
		all := q.Filter
		if !slices.Contains(all.Languages, f.Languages[0]) {
			all.Languages = Toggled(all.Languages, f.Languages[0])
		}
		return then(q.day.Narrow(all))
	}}
	ask.Choices = append(
		ask.Choices,
		Choice{Key: "/", Label: q.Say("another language…"), Pick: func() Answer { return Answer{Next: language} }},
	)
	return ask
}
