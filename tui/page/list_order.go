package page

import (
	"cmp"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk"
)

// arranged is the shown order of a list, if it is not the order of the service.
type arranged struct {
	rows    []Row // Nil means the order of the service.
	by      int   // Index of the column they are sorted by; -1 for none.
	reverse bool
	terms   []string // Only rows that have them, while a filter is typed.
}

// shown returns the rows in their order on the screen.
func (l *List[T]) shown() []Row {
	if l.arranged.rows != nil {
		return l.arranged.rows
	}
	return l.Rows
}

// arrange puts the rows into the order that was asked for, and keeps the cursor on its
// record.
func (l *List[T]) arrange() {
	chosen, had := l.Chosen()
	l.arranged.rows = nil
	if l.arranged.by >= 0 || len(l.arranged.terms) > 0 {
		l.arranged.rows = make([]Row, 0, len(l.Rows))
		for _, row := range l.Rows {
			if desk.FindsInList(l.searched(row), l.arranged.terms) {
				l.arranged.rows = append(l.arranged.rows, row)
			}
		}
		l.sortRows()
	}
	if i := l.indexOf(chosen.ID); had && i >= 0 {
		l.table.Place(i, len(l.shown()))
	}
}

func (l *List[T]) indexOf(id apitype.UUID) int {
	return slices.IndexFunc(l.shown(), func(row Row) bool { return row.ID == id })
}

// sortRows sorts what is shown; equal rows stay in the order of the service.
func (l *List[T]) sortRows() {
	if l.arranged.by < 0 {
		return
	}
	c := &l.columns[l.arranged.by]
	type keyed struct {
		row    Row
		text   string
		number int64
	}
	all := make([]keyed, len(l.arranged.rows))
	for i, row := range l.arranged.rows {
		all[i].row = row
		switch {
		case c.Time != nil:
			all[i].number = -row.micros // The latest time is the least age.
		case c.Number != nil:
			all[i].number = row.number
		default:
			text, _ := l.cell(nil, row, c)
			all[i].text = desk.Fold(string(text))
		}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		order := cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
		if l.arranged.reverse {
			return -order
		}
		return order
	})
	for i := range all {
		l.arranged.rows[i] = all[i].row
	}
}

// AskSort offers the columns to sort by. The present one reverses the order.
func (l *List[T]) AskSort() tea.Cmd {
	by := func(index int, reverse bool) func() tea.Cmd {
		return func() tea.Cmd {
			l.arranged.by, l.arranged.reverse = index, reverse
			l.arrange()
			return l.cursorMoved()
		}
	}
	var options []Option
	for i, c := range l.columns {
		label, reverse := l.Say(c.Title), false
		if i == l.arranged.by {
			label, reverse = l.Styles.OKSign+" "+label+l.Say(", the other way round"), !l.arranged.reverse
		}
		options = append(options, Option{Label: label, Run: by(i, reverse)})
	}
	options = append(options, Option{Key: "0", Label: "as the service has them", Run: by(-1, false)})
	l.Dialog = NewChoice(l.Say("Sort %s by", l.Say(l.name)), "sorts what is read so far, and what comes", options)
	return nil
}

// AskColumns offers the columns to show or hide; the choice is kept.
func (l *List[T]) AskColumns() tea.Cmd {
	hidden := l.Kept.Hidden[l.name]
	var options []Option
	for i, c := range l.columns {
		isHidden := slices.Contains(hidden, c.Title)
		option := Option{Label: l.onSign(!isHidden) + l.Say(c.Title), Run: func() tea.Cmd {
			if l.Kept.Hidden == nil {
				l.Kept.Hidden = map[string][]string{}
			}
			l.Kept.Hidden[l.name] = desk.Toggled(hidden, c.Title)
			l.showColumns()
			l.AskColumns()
			return l.Keep()
		}}
		if i == 0 && !isHidden {
			option.Why = "it names the record"
		}
		options = append(options, option)
	}
	l.Dialog = NewChoice(l.Say("Columns of %s", l.Say(l.name)), "kept for the next start", options)
	return nil
}

// identifierFrom is the width of the terminal from which a list has its last column, the identifiers.
const identifierFrom = 160

func (l *List[T]) showColumns() {
	l.table.Columns = nil
	for i, c := range l.columns {
		hasRoom := i < len(l.columns)-1 || l.layout.Width >= identifierFrom
		if hasRoom && !slices.Contains(l.Kept.Hidden[l.name], c.Title) {
			l.table.Columns = append(l.table.Columns, fitted(l.Env, c))
		}
	}
}

// markRange is a range of marks that follows the cursor.
type markRange struct {
	from   apitype.UUID // Where the range began. Zero without a range.
	before map[apitype.UUID]bool
}

// MarkRange begins a range of marks at the cursor, or ends it.
func (l *List[T]) MarkRange() tea.Cmd {
	if !l.marking.from.IsZero() {
		l.marking = markRange{}
		return nil
	}
	row, _ := l.Chosen()
	l.marking = markRange{from: row.ID, before: maps.Clone(l.Marks)}
	l.followRange()
	return nil
}

// followRange marks the rows from the beginning of the range to the cursor, in addition to the earlier marks.
func (l *List[T]) followRange() {
	if l.marking.from.IsZero() {
		return
	}
	from := l.indexOf(l.marking.from)
	if from < 0 {
		l.marking = markRange{}
		return
	}
	clear(l.Marks)
	maps.Copy(l.Marks, l.marking.before)
	for _, row := range l.shown()[min(from, l.table.Cursor()) : max(from, l.table.Cursor())+1] {
		l.Marks[row.ID] = true
	}
}
