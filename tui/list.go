package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/widget"
)

// How lists read.
const (
	listPage      = 100 // Records asked for at a time.
	listAhead     = 70  // Percent of what is loaded after which the next page is asked for.
	listSearchMax = 200 // Pages that a local filter reads in one go.
)

// noun is what a list page must be told about its records; R is a row, as small as
// its columns allow.
type noun[R any] struct {
	page    int
	name    string // Plural, for messages.
	kind    kind
	columns []widget.Column[R]
	id      func(R) apitype.UUID
	// parse reads a filter; its error says what is wrong with it.
	parse func(text string) (query[R], error)
	// hint says in the interface's terms what can be filtered, and who does it.
	hint []string
	// bulk are the actions on marked records.
	bulk func(ids []apitype.UUID, names []string) []option
	// row names a record in a question.
	row func(R) string
	// order is the time that the list is sorted by.
	order  func(R) time.Time
	scopes []scope
}

// query is a filter that was understood.
type query[R any] struct {
	fetch func(ctx context.Context, after string) (batch[R], error)
	// changed reads what has changed or come since a time, newest first; nil: the
	// interface cannot tell for this filter.
	changed func(ctx context.Context, since apitype.Time) ([]R, error)
	keep    func(R) bool // The local part; nil: none.
	still   func(R) bool // The service's part, as far as a change may end it; nil: none may.
	says    string       // Which part the service does, and which is local.
}

// passes reports whether a record that has changed belongs here.
func (q query[R]) passes(row R) bool {
	return (q.keep == nil || q.keep(row)) && (q.still == nil || q.still(row))
}

// batch is one page of rows.
type batch[R any] struct {
	rows   []R
	cursor string
	more   bool
}

// list is a page of records: a window on what was read so far, a filter, marks, and the
// records opened from it.
type list[R any] struct {
	*shell
	noun[R]
	table     widget.Table[R]
	rows      []R
	query     query[R]
	filter    string
	cursor    string
	more      bool
	loading   bool
	loaded    bool
	seq       int
	read      int                   // Records read, those that the local filter dropped included.
	lastRead  time.Time             // What the last record read is sorted by.
	early     map[apitype.UUID]bool // Of that time, and here before their page.
	since     apitype.Time          // Changes up to then are here.
	searchN   int                   // Pages read in this go for the local filter.
	refreshed refreshed
	marks     map[apitype.UUID]bool
	stack     []*detail // Opened records, the latest last.
	preview   *detail   // Beside the list.
	coming    *detail   // The next preview, which may still be read.
	moves     int       // Of the cursor, for the next preview.
	detailSeq int
	layout    layout
}

func newList[R any](s *shell, n noun[R]) *list[R] {
	l := &list[R]{shell: s, noun: n, marks: map[apitype.UUID]bool{}, layout: newLayout(80, 24)}
	l.table.Columns = n.columns
	l.table.SetHeight(l.layout.body - 2)
	l.query, _ = n.parse("")
	return l
}

func (l *list[R]) open() tea.Cmd {
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
func (l *list[R]) restart() tea.Cmd {
	l.rows, l.preview, l.refreshed = nil, nil, refreshed{depth: -1}
	return l.reread()
}

// reload is restart that keeps the rows until the new ones are there, and the cursor
// on its record.
func (l *list[R]) reload() tea.Cmd {
	l.refreshed = refreshed{old: true, depth: -1}
	return l.reread()
}

func (l *list[R]) reread() tea.Cmd {
	l.seq++
	l.cursor, l.more, l.loading, l.read, l.searchN = "", true, false, 0, 0
	l.coming, l.since, l.lastRead, l.early = nil, apitype.NewTime(l.Now()), time.Time{}, map[apitype.UUID]bool{}
	return l.fetchMore()
}

func (l *list[R]) fetchMore() tea.Cmd {
	if l.loading || !l.more {
		return nil
	}
	l.loading = true
	fetch, after := l.query.fetch, l.cursor
	return l.load(l.page, l.seq, func(ctx context.Context) (any, error) { return fetch(ctx, after) })
}

// wantsMore reads on when the cursor comes near the end of what is loaded.
func (l *list[R]) wantsMore() tea.Cmd {
	if (l.table.Cursor()+l.table.Height())*100 >= len(l.rows)*listAhead {
		return l.fetchMore()
	}
	return nil
}

func (l *list[R]) resize(layout layout) {
	l.layout = layout
	l.table.SetHeight(layout.body - 2)
	l.table.Place(l.table.Cursor(), len(l.rows))
}

func (l *list[R]) scopes() []scope { return append(slices.Clone(l.noun.scopes), scopeLists) }

func (l *list[R]) typing() bool { return false }

func (l *list[R]) text(tea.Msg) tea.Cmd { return nil }

// front is the record in front, nil when the list is.
func (l *list[R]) front() *detail {
	if len(l.stack) == 0 {
		return nil
	}
	return l.stack[len(l.stack)-1]
}

// chosen is the row under the cursor.
func (l *list[R]) chosen() (R, bool) {
	var none R
	if l.table.Cursor() >= len(l.rows) {
		return none, false
	}
	return l.rows[l.table.Cursor()], true
}

// target is the record that an action is about: the one in front, or the row.
func (l *list[R]) target() (reference, bool) {
	if d := l.front(); d != nil {
		return d.ref, true
	}
	row, ok := l.chosen()
	if !ok {
		return reference{}, false
	}
	return reference{l.kind, l.id(row)}, true
}

// receive takes in a page, or a record.
func (l *list[R]) receive(r result) tea.Cmd {
	switch value := r.value.(type) {
	case batch[R]:
		if r.seq != l.seq {
			return nil
		}
		return l.onBatch(value, r.err)
	case record:
		return l.onRecord(r.seq, value, r.err)
	case news[R]:
		if r.seq == l.seq {
			return l.onNews(value, r.err)
		}
	case cursorPaused:
		return l.onCursorPaused(value)
	}
	return nil
}

func (l *list[R]) onBatch(b batch[R], err error) tea.Cmd {
	l.loading = false
	if err != nil {
		l.failRead("cannot read the "+l.name, err)
		if l.Offline != "" {
			l.sayf("the %s could not be read: %s; %s tries again", l.name, l.Offline, l.keys.keyOf(actRefresh))
		}
		return nil
	}
	l.NoteConnection(nil)
	l.loaded = true
	l.read += len(b.rows)
	l.more = b.more && b.cursor != "" && b.cursor != l.cursor
	l.cursor = b.cursor
	if l.refreshed.old {
		l.refreshed = refreshed{depth: l.table.Cursor()}
		if row, ok := l.chosen(); ok {
			l.refreshed.id = l.id(row)
		}
		l.rows = nil
	}
	if n := len(b.rows); n > 0 {
		l.lastRead = l.order(b.rows[n-1])
	}
	before := len(l.rows)
	for _, row := range b.rows {
		if (l.query.keep == nil || l.query.keep(row)) && !l.early[l.id(row)] {
			l.rows = append(l.rows, row)
		}
	}
	if l.findCursor() {
		return l.fetchMore()
	}
	if len(l.rows)-before > l.table.Height() {
		l.searchN = 0
	}
	// A local filter reads on until the screen is full, within reason.
	if l.query.keep != nil && l.more && l.searchN < listSearchMax && len(l.rows) < l.table.Cursor()+2*l.table.Height() {
		l.searchN++
		return tea.Batch(l.fetchMore(), l.readPreview())
	}
	l.searchN = 0
	return l.readPreview()
}

// findCursor puts the cursor back on its record after a refresh; it reports whether
// more has to be read for that.
func (l *list[R]) findCursor() bool {
	r := &l.refreshed
	if r.depth < 0 {
		return false
	}
	for i, row := range l.rows {
		if l.id(row) == r.id {
			l.table.Place(i, len(l.rows))
			r.depth = -1
			return false
		}
	}
	if l.more && len(l.rows) <= r.depth {
		return true
	}
	l.table.Place(r.depth, len(l.rows)) // It is no longer there.
	r.depth = -1
	return false
}

// lines draws the record in front, or the list, from 100 columns with a preview.
func (l *list[R]) lines(layout layout) []string {
	if d := l.front(); d != nil {
		return d.lines(l.shell, layout.width, layout.body, true)
	}
	width := layout.width
	if layout.panes > 1 {
		width = layout.width*3/5 - ruleWidth
	}
	lines := []string{l.summary(width)}
	s := l.styles
	lines = append(lines, l.table.Lines(l.rows, width, s.head, func(row R, chosen bool, line string) string {
		if l.marks[l.id(row)] {
			line = s.mark + widget.Fit(strings.TrimPrefix(line, " "), width-1)
			if !chosen {
				return s.marked(line)
			}
		}
		if chosen {
			return s.chosen(line)
		}
		return line
	})...)
	if len(l.rows) == 0 && !l.loading {
		lines = append(lines, s.dim(" nothing here"))
	}
	lines = widget.Block(lines, width, layout.body)
	if layout.panes == 1 {
		return lines
	}
	rest := layout.width - width - ruleWidth
	return widget.Beside(s.dim(s.rule), lines, l.previewLines(rest, layout.body))
}

// summary says how much of the list is here, and what filters it.
func (l *list[R]) summary(width int) string {
	text := " " + render.Plural(len(l.rows), strings.TrimSuffix(l.name, "s"), l.name)
	if l.query.keep != nil {
		text += fmt.Sprintf(" of %d read", l.read)
	}
	switch {
	case l.loading:
		text += ", reading…"
	case l.more:
		text += ", more follow"
	}
	if len(l.marks) > 0 {
		text += fmt.Sprintf(", %d marked", len(l.marks))
	}
	if l.filter != "" {
		text += "  / " + clean(l.filter) + "  [" + l.query.says + "]"
	}
	return l.styles.dim(widget.Fit(text, width))
}
