package apitype

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Filter is one filter of a list with the options O. This row of data makes the query, its strict reader, the flag of
// the command line, the filter of the terminal and the completion.
type Filter[O any] struct {
	Name string // Of the parameter.
	Flag string // Of the command line. Empty means the name in kebab-case.
	Help string // Such as "only calls updated after this time".

	field func(*O) field
}

// FlagName returns the filter's name on the command line.
func (f Filter[O]) FlagName() string {
	if f.Flag != "" {
		return f.Flag
	}
	return Kebab(f.Name)
}

// Kebab returns a name of the interface in kebab-case.
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

// Set reads a typed value. Repeated values add up if the filter takes several. It refuses an empty one, perhaps of an
// unset variable, which would choose every record.
func (f Filter[O]) Set(o *O, text string, now time.Time) error {
	if strings.TrimSpace(text) == "" {
		return errEmpty
	}
	return f.field(o).set(text, now)
}

// Text returns the value of the filter, or an empty text.
func (f Filter[O]) Text(o *O) string { return strings.Join(f.field(o).texts(), ",") }

// Kind returns the type of the filter: string, strings, time or bool.
func (f Filter[O]) Kind() string { return f.field(new(O)).kind }

// Values returns the allowed values of the filter, or nil if any is allowed.
func (f Filter[O]) Values() []string { return f.field(new(O)).values }

// queryOf returns the options that are set, as query parameters.
func queryOf[O any](filters []Filter[O], o O) url.Values {
	values := url.Values{}
	for _, f := range filters {
		for _, text := range f.field(&o).texts() {
			values.Add(f.Name, text)
		}
	}
	return values
}

// parseQuery reads options as strictly as the service does. check, which may be nil, checks them together.
func parseQuery[O any](filters []Filter[O], values url.Values, check func(*O) Violations) (O, Violations) {
	q := &queryReader{values: values}
	var o O
	for _, f := range filters {
		f.field(&o).read(q, f.Name)
	}
	if check != nil {
		q.violations = append(q.violations, check(&o)...)
	}
	return o, q.finish()
}

// within returns the filters of options that are a part of others.
func within[O, P any](part func(*O) *P, filters []Filter[P]) []Filter[O] {
	all := make([]Filter[O], len(filters))
	for i, f := range filters {
		all[i] = Filter[O]{f.Name, f.Flag, f.Help, func(o *O) field { return f.field(part(o)) }}
	}
	return all
}

// field is the place in a list's options that a filter sets.
type field struct {
	kind   string
	isList bool                                   // It takes several values.
	values []string                               // The allowed values. Nil if any is allowed.
	set    func(text string, now time.Time) error // As a person types it.
	texts  func() []string                        // As they are sent.
	read   func(q *queryReader, name string)      // As strictly as the service does.
}

func textField(value *string) field {
	return field{
		kind: "string",
		set: func(text string, _ time.Time) error {
			*value = text
			return nil
		},
		texts: func() []string { return given(*value) },
		read:  func(q *queryReader, name string) { *value = q.text(name) },
	}
}

// sizeField returns the parameter for the number of records of a page.
func sizeField(value **int) field {
	f := oneField("number", value, nil, nil, strconv.Itoa)
	f.read = func(q *queryReader, name string) { *value = q.pageSize(name) }
	return f
}

// given returns a text that is sent unless it is empty.
func given(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// oneField returns a value that may be nil. typed reads typed text, and parse reads the wire.
func oneField[T any](
	kind string,
	value **T,
	typed func(string, time.Time) (T, error),
	parse func(string) (T, error),
	text func(T) string,
) field {
	return field{
		kind: kind,
		set: func(text string, now time.Time) error {
			v, err := typed(text, now)
			if err != nil {
				return err
			}
			*value = &v
			return nil
		},
		texts: func() []string {
			if *value == nil {
				return nil
			}
			return given(text(**value))
		},
		read: func(q *queryReader, name string) { *value = parsed(q, name, parse) },
	}
}

// anyTime reads what means the same at any time.
func anyTime[T any](parse func(string) (T, error)) func(string, time.Time) (T, error) {
	return func(text string, _ time.Time) (T, error) { return parse(text) }
}

func uuidField(value **UUID) field {
	return oneField("uuid", value, anyTime(ParseUUID), ParseUUID, UUID.String)
}

func timeField(value **Time) field {
	return oneField("time", value, ParseTypedTime, ParseTime, Time.String)
}

// untilField returns the end of a period. A typed day is included.
func untilField(value **Time) field {
	return oneField("time", value, ParseTypedUntil, ParseTime, Time.String)
}

func boolField(value **bool) field {
	f := oneField("bool", value, anyTime(parseBool), parseBool, strconv.FormatBool)
	f.values = []string{"true", "false"}
	return f
}

// revisionsFilter returns the parameter that adds revisions to the edges of a list, for services that announce
// ExtensionRevisions.
func revisionsFilter[O any](wanted func(*O) *bool) Filter[O] {
	return switchFilter("revisions", wanted)
}

// switchFilter returns a parameter that is sent only if it is true.
func switchFilter[O any](name string, wanted func(*O) *bool) Filter[O] {
	return Filter[O]{Name: name, field: func(o *O) field {
		value := wanted(o)
		var given *bool
		if *value {
			given = value
		}
		f := boolField(&given)
		read := f.read
		f.read = func(q *queryReader, name string) {
			read(q, name)
			*value = given != nil && *given
		}
		return f
	}}
}

// enumField returns one value of several.
func enumField[T ~string](value **T, known []T) field {
	f := oneField(
		"string",
		value,
		anyTime(among(known)),
		among(known),
		func(v T) string { return string(v) },
	)
	f.values = Texts(known)
	return f
}

// among reads one of some values.
func among[T ~string](known []T) func(string) (T, error) {
	return func(text string) (T, error) {
		if !slices.Contains(known, T(text)) {
			return "", errors.New("must be one of " + strings.Join(Texts(known), ", "))
		}
		return T(text), nil
	}
}

func uuidsField(value *[]UUID) field {
	return field{
		kind:   "uuid",
		isList: true,
		set:    addParts(value, ParseUUID),
		texts: func() (texts []string) {
			for _, id := range *value {
				texts = append(texts, id.String())
			}
			return texts
		},
		read: func(q *queryReader, name string) { *value = q.uuids(name) },
	}
}

// listField returns several values, separated by commas on the wire. Known ones are offered, and checked if strict is
// set.
func listField[T ~string](value *[]T, known []T, strict bool) field {
	parse := func(text string) (T, error) { return T(text), nil }
	if strict {
		parse = among(known)
	}
	f := field{
		kind:   "strings",
		isList: true,
		set:    addParts(value, parse),
		texts:  func() []string { return given(strings.Join(Texts(*value), ",")) },
		read: func(q *queryReader, name string) {
			for _, text := range q.list(name) {
				*value = append(*value, T(text))
			}
		},
	}
	if known != nil {
		f.values = Texts(known)
	}
	return f
}

// addParts adds what parse can read of a text with commas, and blanks around them.
func addParts[T any](value *[]T, parse func(string) (T, error)) func(string, time.Time) error {
	return func(text string, _ time.Time) error {
		for part := range strings.SplitSeq(text, ",") {
			v, err := parse(strings.TrimSpace(part))
			if err != nil {
				return err
			}
			*value = append(*value, v)
		}
		return nil
	}
}

// Texts returns values as texts, such as those of an enumeration.
func Texts[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return texts
}
