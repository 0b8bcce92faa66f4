package page

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
)

// parsedFilter is a filter taken apart: name=value pairs in the interface's terms, and terms
// that are looked for in what is shown.
type parsedFilter struct {
	values map[string]string
	terms  []string
	now    time.Time
}

// parseFilter reads a filter and refuses names that are not known.
func parseFilter(say func(string, ...any) string, text string, now time.Time, known ...string) (parsedFilter, error) {
	t := parsedFilter{values: map[string]string{}, now: now}
	for word := range strings.FieldsSeq(text) {
		name, value, isPair := strings.Cut(word, "=")
		if !isPair {
			t.terms = append(t.terms, desk.Fold(word))
			continue
		}
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		switch {
		case i < 0:
			return t, errors.New(say("there is no filter %s; known are %s", name, strings.Join(known, ", ")))
		case value == "":
			return t, errors.New(say("%s needs a value", name))
		}
		t.values[known[i]] = value
	}
	return t, nil
}

// keepTerms returns the local part that looks for terms; nil when there are none.
func keepTerms(t parsedFilter, search func(Row) string, more func(Row) bool) func(Row) bool {
	if len(t.terms) == 0 && more == nil {
		return nil
	}
	return func(row Row) bool {
		return (more == nil || more(row)) && (len(t.terms) == 0 || desk.FindsInList(search(row), t.terms))
	}
}

// readFilter reads a filter into the options of a list; others are names that it may have
// besides.
func readFilter[O any](say func(string, ...any) string, text string, now time.Time, filters []apitype.Filter[O], others ...string) (t parsedFilter, o O, err error) {
	if t, err = parseFilter(say, text, now, append(fieldNames(filterFields(filters)), others...)...); err == nil {
		err = setFilters(t, filters, &o)
	}
	return t, o, err
}

// setFilters sets the options that the filter names.
func setFilters[O any](t parsedFilter, filters []apitype.Filter[O], o *O) error {
	for _, f := range filters {
		if text, given := t.values[f.Name]; given {
			if err := f.Set(o, text, t.now); err != nil {
				return fmt.Errorf("%s %w", f.Name, err)
			}
		}
	}
	return nil
}

// says tells which parts of a filter the service does, and which are done here.
func (t parsedFilter) says(say func(string, ...any) string, local ...string) string {
	var there, here []string
	for name := range t.values {
		if slices.Contains(local, name) {
			here = append(here, name)
		} else {
			there = append(there, name)
		}
	}
	if len(t.terms) > 0 {
		here = append(here, say("words"))
	}
	slices.Sort(there)
	slices.Sort(here)
	var parts []string
	if len(there) > 0 {
		parts = append(parts, say("service")+": "+strings.Join(there, ", "))
	}
	if len(here) > 0 {
		parts = append(parts, say("local")+": "+strings.Join(here, ", "))
	}
	return strings.Join(parts, "; ")
}
