package page

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
)

// mostHistory is how many filters of a list are remembered: in memory alone, they may hold
// names.
const mostHistory = 50

// AskFilter opens the field for the filter. What is typed narrows the list at once, which reads on
// until the screen is full, and Enter asks the service.
func (l *List[T]) AskFilter() tea.Cmd {
	p := &Prompt{Title: l.Say("Filter %s", l.Say(l.name)), help: l.hint, history: l.filters, complete: l.completions}
	p.Editor.SetValue(l.filter)
	p.changed = func(text string) (string, tea.Cmd) {
		t, err := parseFilter(l.Say, text, l.Day.Now(), l.fields)
		cmd := l.narrow(t.terms)
		if err == nil && !strings.HasSuffix(text, "=") {
			_, err = l.parse(text)
		}
		if err == nil || len(l.completions(text)) > 0 { // The last word is the beginning of a field or of a value.
			return "", cmd
		}
		return err.Error(), cmd
	}
	p.left = func() { l.narrow(nil) }
	p.done = func(text string) (string, tea.Cmd) {
		if _, err := l.parse(text); err != nil {
			return err.Error(), nil
		}
		if text = strings.TrimSpace(text); text != "" {
			l.filters = append(slices.DeleteFunc(l.filters, func(other string) bool { return other == text }), text)
			l.filters = l.filters[max(len(l.filters)-mostHistory, 0):]
		}
		return "", l.setFilter(text)
	}
	l.Dialog = p
	return nil
}

// narrow shows those of the rows that have some words.
func (l *List[T]) narrow(terms []string) tea.Cmd {
	l.arranged.terms = terms
	l.arrange()
	if l.searchN = 0; l.wantsFound() {
		return tea.Batch(l.fetchMore(), l.cursorMoved())
	}
	return l.cursorMoved()
}

// wantsFound reports whether a filter that looks at what was read reads on: until something is found, and
// then until the screen is full, within reason.
func (l *List[T]) wantsFound() bool {
	narrows := l.query.keep != nil || len(l.arranged.terms) > 0
	return narrows && l.More && (l.searchN < listSearchMax || len(l.shown()) == 0) && len(l.shown()) < l.table.Cursor()+2*l.table.Height()
}

// SetFilter shows the records of a filter, with none of them in front.
func (l *List[T]) SetFilter(text string) tea.Cmd {
	l.stack = nil
	return l.setFilter(text)
}

func (l *List[T]) setFilter(text string) tea.Cmd {
	q, err := l.parse(text)
	if err != nil {
		l.Messages.Fail("cannot filter", err)
		return nil
	}
	l.query, l.filter, l.arranged.terms = q, strings.TrimSpace(text), nil
	l.table.Place(0, 0)
	return l.restart()
}

// filterField is what a filter may name, and the values that it takes; nil for any.
type filterField struct {
	name   string
	values []string
}

// filterFields returns the filters that a user may type. What a list embeds is its own choice.
func filterFields[O any](filters []apitype.Filter[O]) (fields []filterField) {
	for _, f := range filters {
		if f.Name != "include" {
			fields = append(fields, filterField{f.Name, f.Values()})
		}
	}
	return fields
}

func fieldNames(fields []filterField) (names []string) {
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// completions returns how the last word of a filter may go on: fields, or the values of one.
func (l *List[T]) completions(text string) (all []string) {
	last := text[strings.LastIndex(text, " ")+1:]
	if last == "" {
		return nil
	}
	add := func(candidate string) {
		if len(candidate) > len(last) && strings.EqualFold(candidate[:len(last)], last) {
			all = append(all, text[:len(text)-len(last)]+candidate)
		}
	}
	for _, f := range l.fields {
		if !strings.Contains(last, "=") {
			add(f.name + "=")
			continue
		}
		for _, value := range f.values {
			add(f.name + "=" + value)
		}
	}
	return all
}
