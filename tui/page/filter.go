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
		if i < 0 {
			return t, errors.New(say("there is no filter %s; there are %s", name, strings.Join(known, ", ")))
		}
		if value == "" {
			return t, errors.New(say("%s needs a value", name))
		}
		t.values[known[i]] = value
	}
	return t, nil
}

// asked is what a filter of a list asks the service for, and what it leaves to look at here.
type asked[T any, O apiclient.ListOptions] struct {
	list    *List[T]
	source  source[T, O]
	filter  parsedFilter
	options O
	selects func(T) bool // Nil selects every record.
	local   []string     // The names of the filters that are looked at here.
	words   string       // What the service searches for. Empty if it cannot search for the words.
	mayNot  atomic.Bool  // The account may not read persons.
}

// parse reads a filter of a list.
func parse[T any, O apiclient.ListOptions](l *List[T], s source[T, O], text string) (query, error) {
	a := &asked[T, O]{
		list:    l,
		source:  s,
		options: s.options,
		local:   fieldNames(s.local),
	}
	var err error
	a.filter, err = parseFilter(l.Say, text, l.Day.Now(), l.fields)
	if err != nil {
		return query{}, err
	}
	if err := a.filter.findUsers(l.Env); err != nil {
		return query{}, err
	}
	if err := setFilters(a.filter, s.filters, &a.options); err != nil {
		return query{}, err
	}
	if s.selects != nil {
		a.selects, err = s.selects(a.filter)
		if err != nil {
			return query{}, err
		}
	}
	if options, checks := any(a.options).(interface{ Validate() apitype.Violations }); checks {
		if err := options.Validate().Err(); err != nil {
			return query{}, err
		}
	}
	if s.narrow != nil {
		there := s.narrow(&a.options, a.filter, l.Day.Client)
		a.local = slices.DeleteFunc(a.local, func(name string) bool { return slices.Contains(there, name) })
	}
	if words := strings.Join(a.filter.words, " "); apitype.CheckSearch(words) == nil {
		a.words = words
	}
	return a.query(), nil
}

// query returns what the list does with the filter.
func (a *asked[T, O]) query() query {
	q := query{says: a.says, fetch: a.fetch, changed: a.changed}
	if terms := a.filter.terms; len(terms) > 0 || a.selects != nil {
		q.keep = func(r Row) bool { return !r.leftOut && (r.found || find.InRecord(a.list.searched(r), terms)) }
	}
	if a.source.remains != nil {
		q.remains = func(r Row) bool { return a.source.remains(a.options, r) }
	}
	return q
}

func (a *asked[T, O]) says() string {
	return a.filter.says(a.list.Say, a.local, a.words != "" && a.list.searches())
}

// row returns the row of a record. isFound means that the service has found it by the words.
func (a *asked[T, O]) row(record T, isFound bool) Row {
	r := a.list.row(record)
	r.leftOut, r.found = a.selects != nil && !a.selects(record), isFound
	return r
}

// searching returns the options for a service with the search, and whether that looks for the words.
func (a *asked[T, O]) searching(ctx context.Context) (O, bool) {
	options := a.options
	if a.source.search == nil || a.mayNot.Load() {
		return options, false
	}
	has, err := a.list.Day.Client.Has(ctx, apitype.ExtensionSearch)
	if err != nil || !has { // The list reports the same error.
		return options, false
	}
	isFound := a.source.search(&options, a.words)
	return options, isFound
}

// fetch reads the page after a cursor. An account that may not read persons gets what it may read without the search.
func (a *asked[T, O]) fetch(ctx context.Context, after string) (batch, error) {
	page, isFound, err := a.page(ctx, after)
	if apiclient.KindOf(err) == apiclient.KindForbidden && a.source.search != nil && !a.mayNot.Swap(true) {
		page, isFound, err = a.page(ctx, after)
	}
	if err != nil {
		return batch{}, err
	}
	rows := apiclient.Rows(page, func(record T) Row { return a.row(record, isFound) })
	hasWay := page.EndCursor != "" && page.EndCursor != after
	return batch{
		rows:     rows,
		cursor:   page.EndCursor,
		more:     page.HasNextPage && hasWay,
		mayBeCut: page.MayBeCut || page.HasNextPage && !hasWay,
	}, nil
}

func (a *asked[T, O]) page(ctx context.Context, after string) (page apiclient.Page[T], isFound bool, err error) {
	options, isFound := a.searching(ctx)
	*a.source.paging(&options) = apitype.Paging{First: new(ListPage), After: after}
	page, err = a.source.of(a.list.Day.Client).List(ctx, options)
	return page, isFound, err
}

// changed reads what has changed or come. After more changes the list is read again.
func (a *asked[T, O]) changed(
	ctx context.Context,
	since apitype.Time,
	after []apitype.Time,
) (changedRows, error) {
	client := a.list.Day.Client
	options, isFound := a.searching(ctx)
	options, filters := a.source.feeds(options)
	var changes changedRows
	for i, filter := range filters {
		feed, from := a.source.of(client).Feed(options, filter), since
		if len(after) > 0 {
			from = after[i]
		} else if begins, err := apitype.ParseTime(feed.Query.Get(filter)); err == nil && begins.After(from.Time) {
			from = begins
		}
		news, err := apiclient.ReadNews[T](ctx, client, feed, from, queue.MostChanges)
		if err != nil {
			return changes, err
		}
		for _, record := range news.Found {
			changes.rows = append(changes.rows, a.row(record, isFound))
		}
		changes.isCut = changes.isCut || news.IsCut
		changes.after = append(changes.after, news.Next)
	}
	return changes, nil
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
	if isSearched {
		there = append(there, say("words"))
	} else if len(t.terms) > 0 {
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
	p := &Prompt{
		Title:    l.Say("Filter %s", l.Say(l.name)),
		help:     l.hint(),
		history:  l.filters,
		complete: l.completions,
	}
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
		text = strings.TrimSpace(text)
		if text != "" {
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
	l.searchN = 0
	if l.wantsFound() {
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
func filterFields[O any](filters []apitype.Filter[O]) []filterField {
	var fields []filterField
	for _, f := range filters {
		if f.Name != "include" {
			fields = append(fields, filterField{f.Name, f.Values()})
		}
	}
	return fields
}

func fieldNames(fields []filterField) []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}

// completions returns how the last word of a filter may go on: fields, or the values of one.
func (l *List[T]) completions(text string) []string {
	last := text[strings.LastIndex(text, " ")+1:]
	if last == "" {
		return nil
	}
	var all []string
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
