package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/queue"
	"fundesk/tui/find"
)

// parsedFilter has the parts of a filter: name=value pairs of the interface, and terms to find in the shown rows.
type parsedFilter struct {
	values map[string]string
	words  []string // As they were typed, and
	terms  []string // ready for desk.Finds.
	now    time.Time
}

// parseFilter reads a filter and refuses names that are not known.
func parseFilter(
	say func(string, ...any) string,
	text string,
	now time.Time,
	fields []filterField,
) (parsedFilter, error) {
	t, known := parsedFilter{values: map[string]string{}, now: now}, fieldNames(fields)
	for word := range strings.FieldsSeq(text) {
		name, value, isPair := strings.Cut(word, "=")
		if !isPair {
			t.words, t.terms = append(t.words, word), append(t.terms, find.Fold(word))
			continue
		}
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		switch {
		case i < 0:
			return t, errors.New(say("there is no filter %s; there are %s", name, strings.Join(known, ", ")))
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
		err = t.findUsers(l.Env)
	}
	if err == nil {
		err = setFilters(t, s.filters, &o)
	}
	if err == nil && s.selects != nil {
		selects, err = s.selects(t)
	}
	if options, checks := any(o).(interface{ Validate() apitype.Violations }); err == nil && checks {
		err = options.Validate().Err()
	}
	local := fieldNames(s.local)
	if err == nil && s.narrow != nil {
		there := s.narrow(&o, t, l.Day.Client)
		local = slices.DeleteFunc(local, func(name string) bool { return slices.Contains(there, name) })
	}
	row := func(record T) Row {
		r := l.row(record)
		r.leftOut = selects != nil && !selects(record)
		return r
	}
	words := strings.Join(t.words, " ")
	if apitype.CheckSearch(words) != nil {
		words = ""
	}
	var mayNot atomic.Bool // The account may not read persons.
	// extended returns the options for a service with the search, and whether that looks for the words.
	extended := func(ctx context.Context, o O) (O, bool) {
		has, err := l.Day.Client.Has(ctx, apitype.ExtensionSearch)
		if err != nil || !has || s.search == nil || mayNot.Load() { // The list reports the same error.
			return o, false
		}
		isFound := s.search(&o, words)
		return o, isFound
	}
	marked := func(rows []Row, isFound bool) []Row {
		for i := range rows {
			rows[i].found = isFound
		}
		return rows
	}
	says := func() string { return t.says(l.Say, local, words != "" && l.searches()) }
	read := func(ctx context.Context, after string) (page apiclient.Page[T], isFound bool, err error) {
		o, isFound := extended(ctx, o)
		*s.paging(&o) = apitype.Paging{First: new(ListPage), After: after}
		page, err = s.of(l.Day.Client).List(ctx, o)
		return page, isFound, err
	}
	q := query{says: says, fetch: func(ctx context.Context, after string) (batch, error) {
		page, isFound, err := read(ctx, after)
		if apiclient.KindOf(err) == apiclient.KindForbidden && s.search != nil && !mayNot.Swap(true) {
			page, isFound, err = read(ctx, after)
		}
		if err != nil {
			return batch{}, err
		}
		rows := marked(apiclient.Rows(page, row), isFound)
		return batch{rows: rows, cursor: page.EndCursor, more: page.HasNextPage, mayBeCut: page.MayBeCut}, nil
	}, changed: func(ctx context.Context, since apitype.Time, after []apitype.Time) (c changedRows, err error) {
		o, isFound := extended(ctx, o)
		o, filters := s.feeds(o)
		for i, filter := range filters {
			feed, from := s.of(l.Day.Client).Feed(o, filter), since
			if len(after) > 0 {
				from = after[i]
			} else if begins, err := apitype.ParseTime(feed.Query.Get(filter)); err == nil && begins.After(from.Time) {
				from = begins
			}
			// After more changes the list is read again.
			news, err := apiclient.ReadNews[T](ctx, l.Day.Client, feed, from, queue.MostChanges)
			if err != nil {
				return c, err
			}
			for _, record := range news.Found {
				c.rows = append(c.rows, row(record))
			}
			c.isCut, c.after = c.isCut || news.IsCut, append(c.after, news.Next)
		}
		marked(c.rows, isFound)
		return c, nil
	}}
	if len(t.terms) > 0 || selects != nil {
		q.keep = func(r Row) bool { return !r.leftOut && (r.found || find.InRecord(l.searched(r), t.terms)) }
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

// says describes which parts of a filter the service applies, and which are applied here.
func (t parsedFilter) says(say func(string, ...any) string, local []string, isSearched bool) string {
	var there, here []string
	for name := range t.values {
		if slices.Contains(local, name) {
			here = append(here, name)
		} else {
			there = append(there, name)
		}
	}
	switch {
	case isSearched:
		there = append(there, say("words"))
	case len(t.terms) > 0:
		here = append(here, say("words"))
	}
	var parts []string
	add := func(where string, names []string) {
		if slices.Sort(names); len(names) > 0 {
			parts = append(parts, say(where)+": "+strings.Join(names, ", "))
		}
	}
	add("service", there)
	add("local", here)
	return strings.Join(parts, "; ")
}

// mostHistory limits the filters of a list that are remembered. They are kept in memory only, because they may contain
// names.
const mostHistory = 50

// AskFilter opens the field for the filter. Typing narrows the list at once. The list reads on until the screen is
// full, and Enter asks the service.
func (l *List[T]) AskFilter() tea.Cmd {
	p := &Prompt{Title: l.Say("Filter %s", l.Say(l.name)), help: l.hint(), history: l.filters, complete: l.completions}
	if l.filter != "" { // The next word stands apart.
		p.Editor.SetValue(l.filter + " ")
	}
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
	p.left = func() tea.Cmd { return l.narrow(nil) }
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

// narrow shows the rows that contain all words.
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
	if len(l.arranged.terms) > 0 && l.searches() {
		return false // Enter asks the service.
	}
	return narrows && l.More && (l.searchN < listSearchMax || len(l.shown()) == 0) &&
		len(l.shown()) < l.table.Cursor()+2*l.table.Height()
}

// SetFilter shows the records of a filter, with none of them in front.
func (l *List[T]) SetFilter(text string) tea.Cmd {
	l.stack = nil
	return l.setFilter(text)
}

func (l *List[T]) setFilter(text string) tea.Cmd {
	if _, err := l.parse(text); err != nil {
		l.Messages.Fail("cannot filter", err)
		return nil
	}
	l.filter, l.arranged.terms = strings.TrimSpace(text), nil
	l.table.Place(0, 0)
	return l.reread(false)
}

// filterField is a field that a filter may name, with its values. Nil values allow any.
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
