package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient"
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
func parseFilter(say func(string, ...any) string, text string, now time.Time, fields []filterField) (parsedFilter, error) {
	t, known := parsedFilter{values: map[string]string{}, now: now}, fieldNames(fields)
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

// parse reads a filter of a list.
func parse[T any, O apiclient.ListOptions](l *List[T], s source[T, O], text string) (query, error) {
	o, selects := s.options, (func(T) bool)(nil)
	t, err := parseFilter(l.Say, text, l.Day.Now(), l.fields)
	if err == nil {
		err = setFilters(t, s.filters, &o)
	}
	if err == nil && s.selects != nil {
		selects, err = s.selects(t)
	}
	if options, checks := any(o).(interface{ Validate() apitype.Violations }); err == nil && checks {
		err = options.Validate().Err()
	}
	row := func(record T) Row {
		r := l.row(record)
		r.leftOut = selects != nil && !selects(record)
		return r
	}
	q := query{says: t.says(l.Say, fieldNames(s.local)), fetch: func(ctx context.Context, after string) (batch, error) {
		o := o
		*s.paging(&o) = apitype.Paging{First: new(ListPage), After: after}
		page, err := s.of(l.Day.Client).List(ctx, o)
		if err != nil {
			return batch{}, err
		}
		b := batch{rows: apiclient.Rows(page, row), cursor: page.EndCursor, more: page.HasNextPage, mayBeCut: page.MayBeCut}
		if l.donors != nil && len(t.terms) > 0 { // They are searched, too.
			err = l.donors.read(ctx, l.Day.Client, l.donors.missing(b.rows))
		}
		return b, err
	}, changed: func(ctx context.Context, since apitype.Time) (rows []Row, err error) {
		for _, o := range s.changed(o, since) {
			all := s.of(l.Day.Client).All(ctx, o, apiclient.AllOptions{Limit: desk.MostChanges}) // Beyond it the list is read anew.
			for record, err := range apiclient.Readable(all, l.Day.Client.Omit) {
				if err != nil {
					return rows, err
				}
				rows = append(rows, row(record))
			}
		}
		return rows, nil
	}}
	if len(t.terms) > 0 || selects != nil {
		q.keep = func(r Row) bool { return !r.leftOut && desk.FindsInList(l.searched(r), t.terms) }
	}
	if s.remains != nil {
		q.remains = func(r Row) bool { return s.remains(o, r) }
	}
	return q, err
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
func (t parsedFilter) says(say func(string, ...any) string, local []string) string {
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
