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
			Name:     f.Name,
			Title:    f.Title,
			Default:  f.Default,
			Flexible: f.Kind != apitype.WordField && f.Kind != apitype.TimeField && f.Name != "uuid",
			Right:    f.Kind == apitype.AmountField || f.Kind == apitype.NumberField,
			Value:    func(record T) string { return FieldText(f.Value(record)) },
			Cell:     func(record T, v View) Text { return v.cell(f.Kind, f.Value(record)) },
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
				case apitype.Amount: // Nothing for a value that is finer than cents, or too large for them.
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

// cell returns how a table shows the value of a field.
func (v View) cell(kind apitype.FieldKind, value any) Text {
	switch kind {
	case apitype.PhoneField:
		return Text{Text: v.Locale.Phone(FieldText(value))}
	case apitype.DateField:
		day, _ := value.(*apitype.Date)
		if day == nil {
			return Text{}
		}
		return Text{Text: v.Locale.Date(day.Midnight(), time.DateOnly)}
	case apitype.TimeField:
		t, _ := value.(*apitype.Time)
		return relative(t, v)
	case apitype.AmountField:
		amount, _ := value.(apitype.Amount)
		return Text{Text: v.Locale.Amount(amount)}
	case apitype.YesNoField:
		yes, _ := value.(*bool)
		return yesNo(yes)
	}
	text := Text{Text: FieldText(value)}
	if kind == apitype.WordField {
		text.Role = statusRole(text.Text)
	}
	return text
}

// onScreen completes the columns of a list on the screen from the columns of a noun. Each has a name and its width. A
// column with a cell of its own has other words than a table, which programs also read.
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
