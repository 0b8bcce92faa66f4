package page

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/widget"
)

// How lists read.
const (
	ListPage      = 100 // Records asked for at a time.
	listAhead     = 70  // Percent of what is loaded after which the next page is asked for.
	listSearchMax = 200 // Pages that a local filter reads in one go.
)

// noun describes the records of a list page.
type noun[T any] struct {
	kind    apitype.EntityName
	columns []render.Column[T]
	title   []string       // The columns that name a record in a question.
	about   func(T) Row    // Makes the row of a record, except its columns.
	also    func(T) string // Further text in which words are searched. Nil means none.
	views   []view[T]      // The first one has all records.
	// The actions on several records, except marking them. Nil means none.
	bulk func(rows []Row, sent func()) []Option
}

// source reads the records of a list by options of type O, and has the parts of a filter that it can apply.
type source[T any, O apiclient.ListOptions] struct {
	of      func(*apiclient.Client) *apiclient.Collection[T, O]
	options O // What every filter begins with.
	filters []apitype.Filter[O]
	paging  func(*O) *apitype.Paging
	// feeds returns the options of what has changed or come, and the filters of the time by which that is asked for.
	feeds func(o O) (O, []string)
	// narrow lets the service apply more of a filter, if it announces that. It returns the names of what it applies.
	// Nil means nothing more.
	narrow func(o *O, t parsedFilter, client *apiclient.Client) []string
	// remains reports whether a record still matches the options. Nil means that no change can end that.
	remains func(O, Row) bool
	// search asks a service that announces the search for more. It reports whether that looks for the words of the
	// filter. Nil asks for nothing more.
	search  func(o *O, words string) bool
	local   []filterField                            // What is looked at here,
	selects func(parsedFilter) (func(T) bool, error) // and the filter itself. Nil if there is none.
	words   string                                   // The help for the words of a filter,
	example string                                   // a filter.
}

// query is a filter that was understood.
type query struct {
	fetch   func(ctx context.Context, after string) (batch, error)
	changed func(ctx context.Context, since apitype.Time, after []apitype.Time) (changedRows, error) // Or come.
	// The local part. Nil keeps everything.
	keep func(Row) bool
	// The service's part, as far as a change may end it. Nil keeps everything.
	remains func(Row) bool
	// Which part the service does, and which is local.
	says func() string
}

// passes reports whether a record that has changed belongs here.
func (q query) passes(row Row) bool {
	return (q.keep == nil || q.keep(row)) && (q.remains == nil || q.remains(row))
}

// changedRows are the changed and new records of a list.
type changedRows struct {
	rows  []Row // Newest first.
	isCut bool  // There are more, or may be.
	after []apitype.Time
}

// batch is one page of rows.
type batch struct {
	rows   []Row
	cursor string
	more   bool // The cursor leads to further rows.
	// mayBeCut: the answer does not show whether these are all. Spec gap: L9.
	mayBeCut bool
}

// List is a page of records: a window on the read records, a filter, marks, and the records opened from it.
type List[T any] struct {
	*Env
	noun[T]
	name      string          // Of the records, in the plural.
	hint      func() []string // The fields of a filter in the interface's terms, and who applies them.
	searches  func() bool     // Whether the service is known to look for the words of a filter.
	fields    []filterField   // That a filter may name.
	parse     func(text string) (query, error)
	kinds     map[string]paint // The hues of types of calls, by their words.
	table     widget.Table[T, Row]
	Rows      []Row // The records read so far that pass the filter.
	arranged  arranged
	query     query
	filter    string
	filters   []string // Used before, the latest last.
	cursor    string
	More      bool // Records follow.
	mayBeCut  bool // The answer does not show whether there are more.
	loading   bool
	loaded    bool
	seq       int
	read      int                   // Records read, including the ones that the local filter dropped.
	lastRead  time.Time             // What the last record read is sorted by.
	polled    map[apitype.UUID]bool // Of that time, and here before their page.
	since     apitype.Time          // Changes up to this time are here, by our clock. after is more exact.
	after     []apitype.Time        // The positions of the feeds of changes. Nil before the first reading.
	searchN   int                   // Pages read in this go for the local filter.
	counts    []viewCount           // Of the views.
	counted   time.Time             // When the first view counted all others.
	refreshed refreshed
	Marks     map[apitype.UUID]bool
	stack     []*detail // Opened records, the latest last.
	preview   *detail   // The preview to the right of the list.
	coming    *detail   // The next preview, which may still be read.
	moves     int       // Of the cursor since the list was read, for what waits until it pauses.
	layout    Layout
}

func newList[T any, O apiclient.ListOptions](e *Env, n noun[T], s source[T, O]) *List[T] {
	l := &List[T]{
		Env:    e,
		noun:   n,
		name:   string(n.kind) + "s",
		kinds:  map[string]paint{},
		Marks:  map[apitype.UUID]bool{},
		counts: make([]viewCount, len(n.views)),
		layout: NewLayout(80, 24),
	}
	for _, kind := range apitype.CallTypes {
		l.kinds[render.Words(string(kind))] = e.Styles.kind(kind)
	}
	fields := filterFields(s.filters)
	l.fields = slices.Concat(fields, s.local)
	l.searches = func() bool {
		isKnown := s.search != nil && e.Day.Client != nil && e.Day.Client.Announces(apitype.ExtensionSearch)
		return isKnown && s.search(new(O), "a")
	}
	l.hint = func() []string {
		there, local := strings.Join(fieldNames(fields), " "), strings.Join(fieldNames(s.local), " ")
		if l.searches() {
			return []string{e.Say("by the service") + ": " + there + ", " + e.Say(s.words) + ": " + s.example}
		}
		return []string{
			e.Say("by the service") + ": " + there,
			e.Say("local, over what is read") + ": " + local + e.Say(s.words) + ": " + s.example,
		}
	}
	l.arranged.by, l.table.Cell = -1, l.cell
	l.showColumns()
	l.table.SetHeight(l.layout.Rows())
	l.parse = func(text string) (query, error) { return parse(l, s, text) }
	return l
}

// Open implements Page.
func (l *List[T]) Open() tea.Cmd {
	if l.loaded || l.loading {
		return nil
	}
	return l.reread(true)
}

// refreshed is the place of the cursor when the list was read again.
type refreshed struct {
	old   bool // The rows are still the old ones.
	id    apitype.UUID
	depth int // The index of its row. -1 if the cursor is in its place.
}

// reread reads the list from its beginning. It may keep the rows until the new ones are there, and the cursor on its
// record.
func (l *List[T]) reread(keepsRows bool) tea.Cmd {
	if q, err := l.parse(l.filter); err == nil { // A day such as today is another one by now.
		l.query = q
	}
	l.refreshed = (refreshed{old: keepsRows, depth: -1})
	if !keepsRows {
		l.Rows, l.preview = nil, nil
		l.arrange()
	}
	l.seq++
	l.cursor, l.More, l.loading, l.loaded, l.read, l.searchN, l.moves = "", true, false, false, 0, 0, 0
	l.coming, l.after = nil, nil
	l.since, l.lastRead = apitype.NewTime(l.Day.Now()), time.Time{}
	l.polled = map[apitype.UUID]bool{}
	return l.fetchMore()
}

func (l *List[T]) fetchMore() tea.Cmd {
	if l.loading || !l.More {
		return nil
	}
	l.loading = true
	fetch, after := l.query.fetch, l.cursor
	return loadAs(
		l.Env,
		"page of a list read",
		&l.seq,
		func(ctx context.Context) (batch, error) { return fetch(ctx, after) },
		l.onBatch,
	)
}

// wantsMore reads on when the cursor comes near the end of what is loaded.
func (l *List[T]) wantsMore() tea.Cmd {
	if (l.table.Cursor()+l.table.Height())*100 >= len(l.shown())*listAhead {
		return l.fetchMore()
	}
	return nil
}

// Resize implements Page.
func (l *List[T]) Resize(layout Layout) {
	l.layout = layout
	l.showColumns()
	l.table.SetHeight(layout.Rows())
	l.table.Place(l.table.Cursor(), len(l.shown()))
}

// Scopes implements Page.
func (l *List[T]) Scopes() []Scope { return []Scope{Scope(l.name), ScopeLists} }

// Front returns the record in front, nil when the list is.
func (l *List[T]) Front() *detail {
	if len(l.stack) == 0 {
		return nil
	}
	return l.stack[len(l.stack)-1]
}

// Chosen returns the row under the cursor.
func (l *List[T]) Chosen() (Row, bool) {
	rows := l.shown()
	if l.table.Cursor() >= len(rows) {
		return Row{}, false
	}
	return rows[l.table.Cursor()], true
}

// Target returns the record that an action is about: the one in front, or the row.
func (l *List[T]) Target() (Reference, bool) {
	if d := l.Front(); d != nil {
		return d.ref, true
	}
	row, ok := l.Chosen()
	if !ok {
		return Reference{}, false
	}
	return Reference{l.kind, row.ID}, true
}

func (l *List[T]) onBatch(b batch, err error) tea.Cmd {
	l.loading = false
	if err != nil {
		l.FailRead(l.Say("cannot read the "+l.name), err)
		return nil
	}
	l.Day.NoteConnection(nil)
	l.loaded = true
	l.read += len(b.rows)
	l.More, l.cursor, l.mayBeCut = b.more, b.cursor, b.mayBeCut
	if l.refreshed.old {
		l.refreshed = refreshed{depth: l.table.Cursor()}
		if row, ok := l.Chosen(); ok {
			l.refreshed.id = row.ID
		}
		l.Rows = nil
	}
	if n := len(b.rows); n > 0 {
		l.lastRead = b.rows[n-1].at()
	}
	before := len(l.shown())
	for _, row := range b.rows {
		if (l.query.keep == nil || l.query.keep(row)) && !l.polled[row.ID] {
			l.Rows = append(l.Rows, row)
		}
	}
	l.arrange()
	l.countViews()
	if l.findCursor() {
		return l.fetchMore()
	}
	if len(l.shown())-before > l.table.Height() {
		l.searchN = 0
	}
	if l.wantsFound() {
		l.searchN++
		return tea.Batch(l.fetchMore(), l.cursorMoved())
	}
	l.searchN = 0
	return l.cursorMoved()
}

// findCursor puts the cursor back on its record after a refresh; it reports whether
// more has to be read for that.
func (l *List[T]) findCursor() bool {
	r := &l.refreshed
	if r.depth < 0 {
		return false
	}
	i := l.indexOf(r.id)
	if i < 0 && l.More && len(l.Rows) <= r.depth {
		return true
	}
	if i < 0 {
		i = r.depth // It is no longer there.
	}
	l.table.Place(i, len(l.shown()))
	r.depth = -1
	return false
}

// Lines draws the record in front, or the list, from 100 columns with a preview.
func (l *List[T]) Lines(layout Layout) []string {
	s := l.Styles
	if d := l.Front(); d != nil {
		return d.lines(l.Env, s.active(layout, layout.Width), layout.Body, true)
	}
	frame, place := s.active(layout, l.width(layout)), ""
	rows := l.table.Lines(l.shown(), frame.Inner(), s.head, func(row Row, chosen bool, line string) string {
		if l.Marks[row.ID] {
			line = s.mark + widget.Fit(ansi.Strip(line)[1:], frame.Inner()-1)
			if !chosen {
				return s.marked(line)
			}
		}
		if chosen {
			return s.chosen(line)
		}
		return line
	})
	if count := len(l.shown()); count > l.table.Height() {
		place = s.Dim(l.Say("%s of %s", l.Day.Locale.Count(l.table.Cursor()+1), l.Day.Locale.Count(count)))
	}
	if layout.Framed {
		frame.Foot, place = place, ""
	}
	lines := append(l.top(frame, place), frame.Lines(rows...)...)
	if len(l.shown()) == 0 && !l.loading {
		lines = append(lines, frame.Line(" "+l.nothing()))
	}
	lines = frame.Close(lines, layout.Body)
	if layout.Panes == 1 {
		return lines
	}
	width := layout.Width - frame.Width
	if !layout.Framed {
		width -= ruleWidth
	}
	frame = s.frame(layout, width)
	if l.preview == nil || len(l.shown()) == 0 {
		return s.panes(layout, lines, frame.Close([]string{frame.Top("", "")}, layout.Body))
	}
	return s.panes(layout, lines, l.preview.besideLines(l.Env, frame, layout.Body))
}

// nothing returns the reason why the list is empty, and the key that changes that.
func (l *List[T]) nothing() string {
	if !l.loaded {
		return l.Say("not read yet: %s reads the %s", l.Host.KeyOf(ActRefresh), l.Say(l.name))
	}
	if len(l.arranged.terms) > 0 && l.searches() {
		return l.Say("not among those read: enter asks the service")
	}
	if l.filter != "" || len(l.arranged.terms) > 0 {
		return l.Say("nothing here: %s changes the filter", l.Host.KeyOf(ActFilter))
	}
	return l.Say("no %s yet: %s reads them again", l.Say(l.name), l.Host.KeyOf(ActRefresh))
}

// width returns the width of the list without the preview.
func (l *List[T]) width(layout Layout) int {
	if layout.Panes == 1 {
		return layout.Width
	}
	return min(max(layout.Width*3/5-ruleWidth+layout.Shift, leastPane), layout.Width-leastPane-ruleWidth)
}

// Waits implements Waiter.
func (l *List[T]) Waits() bool {
	if d := l.Front(); d != nil {
		return !d.ready && d.failed == nil
	}
	return l.loading
}

// summary returns how much of the list is here, and its filter.
func (l *List[T]) summary() string {
	text := ""
	if l.query.keep != nil || len(l.arranged.terms) > 0 {
		text += l.Say(" of %s read", l.Day.Locale.Count(l.read))
	}
	if l.loaded && l.kind == apitype.EntityPledge && !l.Day.Client.Announces(apitype.ExtensionSearch) {
		text += l.Say(", this service lists no donors here")
	}
	switch {
	case l.loading:
		text += ", " + l.Say("reading") + l.Spinner.Sign()
	case l.More:
		text += l.Say(", more follow")
	case l.mayBeCut:
		text += l.Say(", there may be more: the service does not tell")
	}
	if by := l.arranged.by; by >= 0 {
		text += l.Say(", sorted by %s", l.Say(l.columns[by].Title))
		if l.More {
			text += l.Say(" as far as read")
		}
	}
	if len(l.Marks) > 0 {
		text += l.Say(", %d marked", len(l.Marks))
	}
	if l.filter != "" && l.current() < 0 {
		text += "  / " + Clean(l.filter) + "  [" + l.query.says() + "]"
	}
	return l.Styles.bold(l.Day.Count(len(l.shown()), string(l.kind), l.name)) + l.Styles.Dim(text)
}

// Cursor returns the index of the chosen row.
func (l *List[T]) Cursor() int { return l.table.Cursor() }
