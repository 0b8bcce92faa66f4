package render

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// fieldColumns returns the columns of the fields that answers show.
func fieldColumns[T any](fields []apitype.Field[T]) []Column[T] {
	var columns []Column[T]
	for _, f := range fields {
		if f.Name == "" {
			continue
		}
		c := Column[T]{
			Name: f.Name, Title: f.Title, Default: f.Default,
			Flexible: f.Kind != apitype.WordField && f.Kind != apitype.TimeField && f.Name != "uuid",
			Right:    f.Kind == apitype.AmountField || f.Kind == apitype.NumberField,
			Value:    func(record T) string { return FieldText(f.Value(record)) },
			Cell:     fieldCell(f),
		}
		switch f.Kind {
		case apitype.TimeField:
			c.Time = func(record T) *apitype.Time {
				t, _ := f.Value(record).(*apitype.Time)
				return t
			}
		case apitype.AmountField, apitype.NumberField:
			c.Number = func(record T) int64 {
				switch n := f.Value(record).(type) {
				case apitype.Amount: // Nothing for one that is finer than cents, or too large for them.
					cents, _ := n.Cents()
					return cents
				case int:
					return int64(n)
				default:
					return 0
				}
			}
		}
		columns = append(columns, c)
	}
	return columns
}

// fieldCell returns how a table shows a field; nil: as it is.
func fieldCell[T any](f apitype.Field[T]) func(T, View) Text {
	switch f.Kind {
	case apitype.WordField:
		return func(record T, _ View) Text {
			word := FieldText(f.Value(record))
			return Text{Text: word, Role: statusRole(word)}
		}
	case apitype.PhoneField:
		return func(record T, v View) Text { return Text{Text: v.Locale.Phone(FieldText(f.Value(record)))} }
	case apitype.DateField:
		return func(record T, v View) Text {
			day, _ := f.Value(record).(*apitype.Date)
			if day == nil {
				return Text{}
			}
			return Text{Text: v.Locale.Date(day.Midnight(), time.DateOnly)}
		}
	case apitype.TimeField:
		return func(record T, v View) Text {
			t, _ := f.Value(record).(*apitype.Time)
			return relative(t, v)
		}
	case apitype.AmountField:
		return func(record T, v View) Text {
			amount, _ := f.Value(record).(apitype.Amount)
			return Text{Text: v.Locale.Amount(amount)}
		}
	case apitype.YesNoField:
		return func(record T, _ View) Text {
			yes, _ := f.Value(record).(*bool)
			return yesNo(yes)
		}
	default:
		return nil
	}
}

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
