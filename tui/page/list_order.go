package page

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/tui/find"
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
			if find.InRecord(l.searched(row), l.arranged.terms) {
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

// sortRows sorts the shown rows. Equal rows stay in the order of the service.
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
			all[i].text = find.Fold(string(text))
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
			label, reverse = l.Styles.OKSign+" "+label+l.Say(", reversed"), !l.arranged.reverse
		}
		options = append(options, Option{Label: label, Run: by(i, reverse)})
	}
	options = append(options, Option{Key: "0", Label: "as the service has them", Run: by(-1, false)})
	l.Dialog = NewChoice(l.Say("Sort %s by", l.Say(l.name)), "sorts what is read so far, and what comes", options)
	return nil
}

// identifierFrom is the width of the terminal from which a list has its last column, the identifiers.
const identifierFrom = 160

func (l *List[T]) showColumns() {
	l.table.Columns = nil
	for i, c := range l.columns {
		hasRoom := i < len(l.columns)-1 || l.layout.Width >= identifierFrom
		if hasRoom {
			l.table.Columns = append(l.table.Columns, fitted(l.Env, c))
		}
	}
}
