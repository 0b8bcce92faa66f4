package apitype

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Filter is one filter of a list whose options are O: a row of data, of which the query,
// its strict reader, the flag of the command line, the filter of the terminal and the
// completion are made.
type Filter[O any] struct {
	Name string // Of the parameter.
	Flag string // Of the command line; empty: the name in kebab-case.
	Help string // Such as "only calls updated after this time".

	field func(*O) field
}

// FlagName is the filter's name on the command line.
func (f Filter[O]) FlagName() string {
	if f.Flag != "" {
		return f.Flag
	}
	return Kebab(f.Name)
}

// Kebab is a name of the interface in kebab-case.
func Kebab(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

var errEmpty = errors.New("must not be empty; leave it out for everything")

// Set reads a value as a person types it; several of one filter add up where it takes
// several. An empty one, of a variable that is not set, would let everything through.
func (f Filter[O]) Set(o *O, text string, now time.Time) error {
	if text == "" {
		return errEmpty
	}
	return f.field(o).set(text, now)
}

// Text is the value of the filter, "" for none.
func (f Filter[O]) Text(o *O) string {
	q := &queryWriter{values: map[string][]string{}}
	f.field(o).write(q, f.Name)
	return strings.Join(q.values[f.Name], ",")
}

// Kind is what the filter takes: string, strings, time or bool.
func (f Filter[O]) Kind() string { return f.field(new(O)).kind() }

// Values are what the filter may be set to, nil for anything.
func (f Filter[O]) Values() []string { return f.field(new(O)).values() }

// writeFilters writes the filters that are set.
func writeFilters[O any](filters []Filter[O], o *O, q *queryWriter) {
	for _, f := range filters {
		f.field(o).write(q, f.Name)
	}
}

// readFilters reads the filters as strictly as the service does.
func readFilters[O any](filters []Filter[O], o *O, q *queryReader) {
	for _, f := range filters {
		f.field(o).read(q, f.Name)
	}
}

// field is the place in a list's options that a filter sets.
type field interface {
	kind() string
	values() []string
	set(text string, now time.Time) error
	write(q *queryWriter, name string)
	read(q *queryReader, name string)
}

type textField struct{ value *string }

func (f textField) kind() string     { return "string" }
func (f textField) values() []string { return nil }

func (f textField) set(text string, _ time.Time) error {
	*f.value = text
	return nil
}

func (f textField) write(q *queryWriter, name string) { q.text(name, *f.value) }
func (f textField) read(q *queryReader, name string)  { *f.value = q.text(name) }

type uuidField struct{ value **UUID }

func (f uuidField) kind() string     { return "uuid" }
func (f uuidField) values() []string { return nil }

func (f uuidField) set(text string, _ time.Time) error { return setParsed(f.value, text, ParseUUID) }

func (f uuidField) write(q *queryWriter, name string) { q.uuid(name, *f.value) }
func (f uuidField) read(q *queryReader, name string)  { *f.value = q.uuid(name) }

type uuidsField struct{ value *[]UUID }

func (f uuidsField) kind() string     { return "uuid" }
func (f uuidsField) values() []string { return nil }

func (f uuidsField) set(text string, _ time.Time) error {
	for part := range strings.SplitSeq(text, ",") {
		id, err := ParseUUID(part)
		if err != nil {
			return err
		}
		*f.value = append(*f.value, id)
	}
	return nil
}

func (f uuidsField) write(q *queryWriter, name string) {
	for _, id := range *f.value {
		q.values.Add(name, id.String())
	}
}

func (f uuidsField) read(q *queryReader, name string) { *f.value = q.uuids(name) }

type timeField struct{ value **Time }

func (f timeField) kind() string     { return "time" }
func (f timeField) values() []string { return nil }

func (f timeField) set(text string, now time.Time) error {
	return setParsed(f.value, text, func(text string) (Time, error) { return ParseTypedTime(text, now) })
}

func (f timeField) write(q *queryWriter, name string) { q.time(name, *f.value) }
func (f timeField) read(q *queryReader, name string)  { *f.value = q.time(name) }

type boolField struct{ value **bool }

func (f boolField) kind() string     { return "bool" }
func (f boolField) values() []string { return []string{"true", "false"} }

func (f boolField) set(text string, _ time.Time) error { return setParsed(f.value, text, parseBool) }

func (f boolField) write(q *queryWriter, name string) {
	if *f.value != nil && **f.value {
		q.text(name, "true")
	} else if *f.value != nil {
		q.text(name, "false")
	}
}

func (f boolField) read(q *queryReader, name string) { *f.value = parsed(q, name, parseBool) }

// enumField is one value of several.
type enumField[T ~string] struct {
	value **T
	known []T
}

func (f enumField[T]) kind() string     { return "string" }
func (f enumField[T]) values() []string { return stringsOf(f.known) }

func (f enumField[T]) set(text string, _ time.Time) error {
	if !slices.Contains(f.known, T(text)) {
		return errors.New("is not " + Alternatives(f.values()))
	}
	*f.value = new(T(text))
	return nil
}

func (f enumField[T]) write(q *queryWriter, name string) {
	if *f.value != nil {
		q.text(name, string(**f.value))
	}
}

func (f enumField[T]) read(q *queryReader, name string) {
	*f.value = parsed(q, name, func(text string) (T, error) {
		if !slices.Contains(f.known, T(text)) {
			return "", errors.New("must be one of " + strings.Join(f.values(), ", "))
		}
		return T(text), nil
	})
}

// listField is several values, with commas between them on the wire; known ones are
// offered, and checked where strict is set.
type listField[T ~string] struct {
	value  *[]T
	known  []T
	strict bool
}

func (f listField[T]) kind() string { return "strings" }
func (f listField[T]) values() []string {
	if f.known == nil {
		return nil
	}
	return stringsOf(f.known)
}

func (f listField[T]) set(text string, _ time.Time) error {
	for part := range strings.SplitSeq(text, ",") {
		if f.strict && !slices.Contains(f.known, T(part)) {
			return errors.New("is not " + Alternatives(f.values()))
		}
		*f.value = append(*f.value, T(part))
	}
	return nil
}

func (f listField[T]) write(q *queryWriter, name string) {
	q.text(name, strings.Join(stringsOf(*f.value), ","))
}

func (f listField[T]) read(q *queryReader, name string) {
	for _, text := range q.list(name) {
		*f.value = append(*f.value, T(text))
	}
}

// setParsed sets a value that parse can read.
func setParsed[T any](value **T, text string, parse func(string) (T, error)) error {
	v, err := parse(text)
	if err == nil {
		*value = &v
	}
	return err
}

func stringsOf[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return texts
}

// Alternatives are values as a sentence names them: a, b or c.
func Alternatives(values []string) string {
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}
