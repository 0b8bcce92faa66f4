package desk

import (
	"maps"
	"os"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/event"
)

// Narrow limits the next calls to some types and languages. The call on the Desk stays.
func (d *Day) Narrow(filter apitype.QueueFilter) []event.Event {
	if problems := filter.Validate(); len(problems) > 0 {
		d.Fail("the calls are as before", problems)
		return d.Drain()
	}
	d.Filter = filter
	d.Leases.ReleaseAhead()
	d.setNoneLeft(false)
	if d.Leases.HasQueue {
		d.Leases.ReadQueue()
	}
	d.serve()
	return d.Drain()
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

// KnownLanguages returns the languages that the agent may choose: the agent's own and the queue's. An agent of a
// profile without languages has those of the locale.
func (d *Day) KnownLanguages() []string {
	own := d.Languages
	if own == nil {
		own = localeLanguages(os.Getenv)
	}
	known := slices.Concat(d.Filter.Languages, own)
	if state := d.Leases.State; state != nil {
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
