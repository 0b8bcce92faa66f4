package render

import (
	"cmp"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
)

// Listed is a column in a list on the screen. What it is comes from the column of its name;
// here stands how much room it has beside the others, and what is said in other words than
// in a table, which is also read by programs.
type Listed[T any] struct {
	Name    string
	Heading string // Empty: that of the column.
	Width   int    // Cells; with Grow the least.
	Grow    bool   // It shares what is left over.
	Right   bool   // Aligned to the right; ages always are.
	Say     func(T, View) string
	// Time and Number sort the list, and a time is shown as an age; nil: by what is said.
	Time   func(T) *apitype.Time
	Number func(T) int64
}

// onScreen fills in what the columns of a noun say of those in its list. One that says
// something in words of its own is sorted by them.
func onScreen[T any](columns []Column[T], listed ...Listed[T]) []Listed[T] {
	for i := range listed {
		l := &listed[i]
		title := l.Name
		if at := slices.IndexFunc(columns, func(c Column[T]) bool { return c.Name == l.Name }); at >= 0 {
			c := columns[at]
			title, l.Right = cmp.Or(c.Title, c.Name), c.Right
			if l.Say == nil {
				l.Time, l.Number = c.Time, c.Number
				l.Say = func(record T, v View) string { return c.In(record, v).Text }
			}
		}
		l.Heading = cmp.Or(l.Heading, strings.ToUpper(title[:1])+title[1:])
	}
	return listed
}
