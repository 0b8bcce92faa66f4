package render

import (
	"cmp"
	"slices"
	"strings"
)

// onScreen fills in what the columns of a noun say of those in its list on the screen: each names one, and has how
// much room it takes. One with a cell of its own says something in other words than a table, which is also read by
// programs, and is sorted by them.
func onScreen[T any](columns []Column[T], listed []Column[T]) []Column[T] {
	for i := range listed {
		l := &listed[i]
		title := l.Name
		if at := slices.IndexFunc(columns, func(c Column[T]) bool { return c.Name == l.Name }); at >= 0 {
			c := columns[at]
			title, l.Right = cmp.Or(c.Title, c.Name), c.Right
			if l.Cell == nil {
				l.Time, l.Number = c.Time, c.Number
				l.Cell = func(record T, v View) Text { return c.In(record, v) }
			}
		}
		l.Title = cmp.Or(l.Title, strings.ToUpper(title[:1])+title[1:])
	}
	return listed
}
