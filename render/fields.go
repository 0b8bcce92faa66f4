package render

import (
	"time"

	"fundesk/apiclient/apitype"
)

// PersonColumns are the columns of persons.
func PersonColumns() []Column[apitype.Person] { return fieldColumns(apitype.PersonFields()) }

// CallColumns are the columns of calls.
func CallColumns() []Column[apitype.Call] { return fieldColumns(apitype.CallFields()) }

// PledgeColumns are the columns of pledges.
func PledgeColumns() []Column[apitype.Pledge] { return fieldColumns(apitype.PledgeFields()) }

// ErasedColumns are the columns of persons who were erased.
func ErasedColumns() []Column[apitype.ErasedPerson] {
	return []Column[apitype.ErasedPerson]{
		shown(column("uuid", func(p apitype.ErasedPerson) string { return p.UUID.String() }), ""),
		shown(timeColumn("erasedAt", "", func(p apitype.ErasedPerson) *apitype.Time { return &p.ErasedAt }), ""),
	}
}

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

// statusRole colours the states of calls and pledges, and the outcomes of changes.
func statusRole(status string) Role {
	switch status {
	case "requested", "lead":
		return Waiting
	case "completed", "active", "ok", "fulfilled":
		return Good
	case "cancelled", "dropped", "failed":
		return Bad
	case "expired":
		return Faint
	default:
		return Plain
	}
}
