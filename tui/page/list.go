package page

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/tui/widget"
)

// How lists read.
const (
	ListPage      = 100 // Records asked for at a time.
	listAhead     = 70  // Percent of what is loaded after which the next page is asked for.
	listSearchMax = 200 // Pages that a local filter reads in one go.
)

// records is what a list page must be told about its records.
type records struct {
	name    string // Plural, for messages.
	kind    Kind
	columns []widget.Column[Row]
	fields  []filterField // That a filter may name.
	// parse reads a filter; its error says what is wrong with it.
	parse func(text string) (query, error)
	// hint says in the interface's terms what can be filtered, and who does it.
	Hint []string
	// search is the text of a record that words are looked for in.
	search func(Row) string
	// inSight is told of rows that the cursor has paused among; nil: nobody asks.
	inSight func(rows []Row) tea.Cmd
	// bulk are the actions on marked records.
	bulk   func(rows []Row, sent func()) []Option
	scopes []Scope
}

// query is a filter that was understood.
type query struct {
	fetch func(ctx context.Context, after string) (batch, error)
	// changed reads what has changed or come since a time, newest first; nil: the
	// interface cannot tell for this filter.
	changed func(ctx context.Context, since apitype.Time) ([]Row, error)
	keep    func(Row) bool // The local part; nil: none.
	remains func(Row) bool // The service's part, as far as a change may end it; nil: none may.
	says    string         // Which part the service does, and which is local.
}

// passes reports whether a record that has changed belongs here.
func (q query) passes(row Row) bool {
	return (q.keep == nil || q.keep(row)) && (q.remains == nil || q.remains(row))
}

// batch is one page of rows.
type batch struct {
	rows   []Row
	cursor string
	more   bool
	// mayBeCut says that nothing tells whether these are all. Spec gap: L9.
	mayBeCut bool
}

// List is a page of records: a window on what was read so far, a filter, marks, and the
// records opened from it.
type List struct {
	*Env
	records
	table     widget.Table[Row]
	Rows      []Row // Read so far, those that the filter passes.
	arranged  arranged
	marking   markRange
	query     query
	filter    string
	filters   []string // Used before, the latest last.
	cursor    string
	More      bool // Records follow.
	mayBeCut  bool // There may be more: nothing in the answer tells.
	loading   bool
	loaded    bool
	seq       int
	read      int                   // Records read, those that the local filter dropped included.
	lastRead  time.Time             // What the last record read is sorted by.
	polled    map[apitype.UUID]bool // Of that time, and here before their page.
	since     apitype.Time          // Changes up to then are here.
	searchN   int                   // Pages read in this go for the local filter.
	refreshed refreshed
	Marks     map[apitype.UUID]bool
	stack     []*detail // Opened records, the latest last.
	preview   *detail   // Beside the list.
	coming    *detail   // The next preview, which may still be read.
	moves     int       // Of the cursor since the list was read, for what waits until it pauses.
	layout    Layout
}

func newList(s *Env, n records) *List {
	l := &List{Env: s, records: n, Marks: map[apitype.UUID]bool{}, layout: NewLayout(80, 24)}
	l.arranged.by = -1
	l.showColumns()
	l.table.SetHeight(l.layout.Rows())
	l.query, _ = n.parse("")
	return l
}

// Open implements Page.
func (l *List) Open() tea.Cmd {
	if l.loaded || l.loading {
		return nil
	}
	return l.restart()
}

// refreshed is where the cursor was when the list was read anew.
type refreshed struct {
	old   bool // The rows are still those of before.
	id    apitype.UUID
	depth int // The row it was on; -1 when the cursor is where it belongs.
}

// restart reads the list from its beginning.
func (l *List) restart() tea.Cmd {
	l.Rows, l.preview, l.refreshed = nil, nil, refreshed{depth: -1}
	l.arrange()
	return l.reread()
}

// reload is restart that keeps the rows until the new ones are there, and the cursor
// on its record.
func (l *List) reload() tea.Cmd {
	l.refreshed = refreshed{old: true, depth: -1}
	return l.reread()
}

func (l *List) reread() tea.Cmd {
	l.seq++
	l.cursor, l.More, l.loading, l.read, l.searchN, l.moves = "", true, false, 0, 0, 0
	l.coming, l.since, l.lastRead, l.polled = nil, apitype.NewTime(l.Day.Now()), time.Time{}, map[apitype.UUID]bool{}
	return l.fetchMore()
}

func (l *List) fetchMore() tea.Cmd {
	if l.loading || !l.More {
		return nil
	}
	l.loading = true
	fetch, after := l.query.fetch, l.cursor
	return loadAs(l.Env, &l.seq, func(ctx context.Context) (batch, error) { return fetch(ctx, after) }, l.onBatch)
}

// wantsMore reads on when the cursor comes near the end of what is loaded.
func (l *List) wantsMore() tea.Cmd {
	if (l.table.Cursor()+l.table.Height())*100 >= len(l.shown())*listAhead {
		return l.fetchMore()
	}
	return nil
}

// Resize implements Page.
func (l *List) Resize(layout Layout) {
	l.layout = layout
	l.showColumns()
	l.table.SetHeight(layout.Rows())
	l.table.Place(l.table.Cursor(), len(l.shown()))
}

// Scopes implements Page.
func (l *List) Scopes() []Scope { return append(slices.Clone(l.records.scopes), ScopeLists) }

// Front returns the record in front, nil when the list is.
func (l *List) Front() *detail {
	if len(l.stack) == 0 {
		return nil
	}
	return l.stack[len(l.stack)-1]
}

// Chosen returns the row under the cursor.
func (l *List) Chosen() (Row, bool) {
	rows := l.shown()
	if l.table.Cursor() >= len(rows) {
		return Row{}, false
	}
	return rows[l.table.Cursor()], true
}

// Target returns the record that an action is about: the one in front, or the row.
func (l *List) Target() (Reference, bool) {
	if d := l.Front(); d != nil {
		return d.ref, true
	}
	row, ok := l.Chosen()
	if !ok {
		return Reference{}, false
	}
	return Reference{l.kind, row.ID}, true
}

func (l *List) onBatch(b batch, err error) tea.Cmd {
	l.loading = false
	if err != nil {
		l.FailRead(l.Say("cannot read the "+l.name), err)
		return nil
	}
	l.Day.Changes.NoteConnection(nil)
	l.loaded = true
	l.read += len(b.rows)
	l.More = b.more && b.cursor != "" && b.cursor != l.cursor
	l.cursor, l.mayBeCut = b.cursor, b.mayBeCut
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
func (l *List) findCursor() bool {
	r := &l.refreshed
	if r.depth < 0 {
		return false
	}
	if i := l.indexOf(r.id); i >= 0 {
		l.table.Place(i, len(l.shown()))
		r.depth = -1
		return false
	}
	if l.More && len(l.Rows) <= r.depth {
		return true
	}
	l.table.Place(r.depth, len(l.shown())) // It is no longer there.
	r.depth = -1
	return false
}

// Lines draws the record in front, or the list, from 100 columns with a preview.
func (l *List) Lines(layout Layout) []string {
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
	lines := append([]string{frame.Top(l.summary(), place)}, frame.Lines(rows...)...)
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
	return s.panes(layout, lines, l.previewLines(s.frame(layout, width), layout.Body))
}

// nothing says why no record is here, and which key changes that.
func (l *List) nothing() string {
	switch {
	case !l.loaded:
		return l.Say("not read yet: %s reads the %s", l.Host.KeyOf(ActRefresh), l.Say(l.name))
	case l.filter != "" || len(l.arranged.terms) > 0:
		return l.Say("nothing here: %s changes the filter", l.Host.KeyOf(ActFilter))
	default:
		return l.Say("no %s yet: %s reads them again", l.Say(l.name), l.Host.KeyOf(ActRefresh))
	}
}

// width returns the width of the list, beside which there may be a preview.
func (l *List) width(layout Layout) int {
	if layout.Panes == 1 {
		return layout.Width
	}
	return min(max(layout.Width*3/5-ruleWidth+layout.Shift, leastPane), layout.Width-leastPane-ruleWidth)
}

// Waits implements Waiter.
func (l *List) Waits() bool {
	if d := l.Front(); d != nil {
		return !d.ready && d.failed == nil
	}
	return l.loading
}

// summary says how much of the list is here, and what filters it.
func (l *List) summary() string {
	text := ""
	if l.query.keep != nil || len(l.arranged.terms) > 0 {
		text += l.Say(" of %d read", l.read)
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
	if !l.marking.from.IsZero() {
		text += l.Say(", %s ends the range", l.Host.KeyOf(ActRange))
	}
	if l.filter != "" {
		text += "  / " + Clean(l.filter) + "  [" + l.query.says + "]"
	}
	return l.Styles.bold(l.Day.Count(len(l.shown()), strings.TrimSuffix(l.name, "s"), l.name)) + l.Styles.Dim(text)
}

// Cursor returns the index of the chosen row.
func (l *List) Cursor() int { return l.table.Cursor() }
