package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"fundesk/apiclient/apitype"
)

// RelativeTime returns the distance of t from now, in a form for narrow columns: "5m ago", "in 3d". Beyond sixty days
// it returns the date.
func RelativeTime(t, now time.Time) string { return Locale{}.Relative(t, now) }

// distance returns the distance of t from now in the largest unit up to days: "now", "5m ago", "in 3d".
func distance(t, now time.Time) string {
	ago := now.Sub(t)
	text := ""
	switch d := ago.Abs(); {
	case d < 10*time.Second:
		return "now"
	case d < time.Minute:
		text = strconv.Itoa(int(d.Seconds())) + "s"
	case d < 48*time.Hour:
		text = string(AppendAge(nil, d))
	default:
		text = strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
	if ago < 0 {
		return "in " + text
	}
	return text + " ago"
}

// longest is more than any age.
const longest = 200 * 365 * 24 * time.Hour

// AppendAge appends an age in at most four cells to a line: minutes, hours up to two days, days, and years. A negative
// age is "soon", and one of centuries "-", because the service sent no time.
func AppendAge(b []byte, age time.Duration) []byte {
	n, unit := int64(age/(24*time.Hour)), byte('d')
	switch {
	case age < 0:
		return append(b, "soon"...)
	case age > longest:
		return append(b, '-')
	case age < time.Hour:
		n, unit = int64(age/time.Minute), 'm'
	case age < 48*time.Hour:
		n, unit = int64(age/time.Hour), 'h'
	case age >= 1000*24*time.Hour:
		n, unit = n/365, 'y'
	}
	return append(strconv.AppendInt(b, n, 10), unit)
}

// exactTime returns RFC 3339 UTC, or an empty text for nil.
func exactTime(t *apitype.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.String()
}

// relative returns a time for a table.
func relative(t *apitype.Time, v View) Text {
	if t == nil || t.IsZero() {
		return Text{}
	}
	at := t.Time
	if v.Location != nil {
		at = at.In(v.Location)
	}
	return Text{Text: v.Locale.Relative(at, v.Now)}
}

// uuidText returns an identifier, or an empty text if the service left it out.
func uuidText(id apitype.UUID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// text returns a nullable value as text.
func text[T any](value *T) string { return FieldText(value) }

// FieldText returns the value of a field as text. Texts, numbers and times are bare, objects and lists are JSON, and a
// missing value is empty.
func FieldText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case *string:
		return *cmp.Or(v, new(""))
	case apitype.UUID:
		return uuidText(v)
	case *apitype.Time:
		return exactTime(v)
	case apitype.Time:
		return exactTime(&v)
	case apitype.Object:
		return string(v)
	}
	r := reflect.ValueOf(value)
	if r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	if !r.IsValid() {
		return ""
	}
	_, says := reflect.TypeAssert[fmt.Stringer](r)
	kind := r.Kind()
	if kind != reflect.Struct && kind != reflect.Map && kind != reflect.Slice || says {
		return fmt.Sprint(r.Interface())
	}
	if kind != reflect.Struct && r.IsNil() {
		return ""
	}
	text, _ := json.Marshal(r.Interface()) // It was read from JSON.
	return string(text)
}

// OutcomeColumn returns ok, or the other word.
func OutcomeColumn[T any](bad string, ok func(T) bool) Column[T] {
	word := func(record T) Text {
		if ok(record) {
			return Text{Text: "ok", Role: Good}
		}
		return Text{Text: bad, Role: Bad}
	}
	return Column[T]{
		Name:    "ok",
		Default: true,
		Value:   func(record T) string { return word(record).Text },
		Cell:    func(record T, _ View) Text { return word(record) },
	}
}

// yesNo returns a nullable truth value for a table. Null is empty.
func yesNo(value *bool) Text {
	if value == nil {
		return Text{}
	}
	if *value {
		return Text{Text: "yes"}
	}
	return Text{Text: "no", Role: Bad}
}

// column returns a value of a record without special cells.
func column[T any](name string, value func(T) string) Column[T] {
	return Column[T]{Name: name, Value: value, Flexible: true}
}

// timeColumn returns a time of a record.
func timeColumn[T any](name, title string, value func(T) *apitype.Time) Column[T] {
	return Column[T]{
		Name:  name,
		Title: title,
		Time:  value,
		Value: func(record T) string { return exactTime(value(record)) },
		Cell:  func(record T, v View) Text { return relative(value(record), v) },
	}
}

// shown marks a column as shown by default.
func shown[T any](c Column[T], title string) Column[T] {
	c.Default, c.Title = true, title
	return c
}
