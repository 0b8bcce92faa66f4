package load

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/render"
)

// Every row goes one way: columns become fields, and fields become the body of a creation, or the difference to the
// record of the row. [rowReader.column] reads the names of columns, and [rowRun.identify] finds the record. Other
// ways to name a column or to find a record belong there.

// column has a name that rows use, and the field of a request for it.
type column struct {
	name    string
	field   change.Field
	creates bool // Creations have the field.
	updates bool // Changes have the field.
	isShown bool // Answers may have something there.
}

// isName reports whether requests or answers have the column.
func (c *column) isName() bool { return c.creates || c.updates || c.isShown }

// wantedField is one value of a row.
type wantedField struct {
	*column
	given  any   // As it is in the file.
	isCell bool  // A text that stands for a value of any kind.
	value  any   // As a request has it.
	err    error // Why it is no value of the field.
}

// isEmpty reports whether the row has no value, or null.
func (f wantedField) isEmpty() bool { return f.given == nil || f.isCell && f.given == "" }

// wanted holds a row with its fields, and the record that they are for.
type wanted struct {
	bulk.Row
	fields  []wantedField
	id      apitype.UUID // Zero for a new record.
	earlier bulk.Past
	isDone  bool   // By an earlier run.
	problem string // Why the row is wrong, whatever its record is.
}

// field returns a field that the row has a value for.
func (w wanted) field(name string) (wantedField, bool) {
	i := slices.IndexFunc(w.fields, func(f wantedField) bool { return f.name == name && !f.isEmpty() })
	if i < 0 {
		return wantedField{}, false
	}
	return w.fields[i], true
}

// mistake returns the error of a wrong row, nil without a reason.
func (w wanted) mistake(reasons ...string) error {
	if len(reasons) == 0 || reasons[0] == "" {
		return nil
	}
	return &bulk.Mistakes{Row: w.Row, What: reasons}
}

// line returns a change of the record as a line that is ready to be sent.
func (w wanted) line(asked apiclient.Change, id apitype.UUID) *plannedLine {
	return &plannedLine{Line: bulk.Line{
		Row:     w.Row,
		Sum:     bulk.SumOf(id, w.SumText()),
		Planned: w.earlier.Started(),
		Change:  asked,
	}}
}

// rowReader reads the fields of rows.
type rowReader struct {
	session  *cli.Session
	shape    Rows
	country  string
	isSeen   bool               // By a person at a terminal.
	names    map[string]string  // Of columns, as fields.
	columns  map[string]*column // By their name in the file, as they were read so far.
	defaults []wantedField
	meanings map[string]map[string]string // The meanings of texts, by field.
}

// column returns the column of a name in the file.
func (r *rowReader) column(text string) *column {
	if c, isKnown := r.columns[text]; isKnown {
		return c
	}
	name := strings.TrimSpace(text)
	field, isMapped := r.names[name]
	switch {
	case isMapped:
		name = field
	case name == revisionColumn && r.shape.Shows(apitype.RevisionMember):
		name = apitype.RevisionMember
	}
	c := r.columnOf(name)
	if c.isName() { // Files may have any number of other names.
		r.columns[text] = c
	}
	return c
}

// columnOf returns the column of the name of a field.
func (r *rowReader) columnOf(name string) *column {
	c := &column{name: name, isShown: r.shape.Shows(name)}
	c.field, c.updates = fieldNamed(r.shape.Updates, name)
	field, creates := fieldNamed(r.shape.Creates, name)
	if creates {
		c.field, c.creates = field, true
	}
	return c
}

// fieldNamed finds a field by its name in a request, or in an answer.
func fieldNamed(fields []change.Field, name string) (change.Field, bool) {
	i := slices.IndexFunc(fields, func(f change.Field) bool { return f.Path == name })
	if i < 0 {
		i = slices.IndexFunc(fields, func(f change.Field) bool { return f.Shown == name })
	}
	if i < 0 || name == "" { // Answers show some fields nowhere.
		return change.Field{}, false
	}
	return fields[i], true
}

// want reads a row field by field.
func (r *rowReader) want(header []string, row bulk.Row) wanted {
	w := wanted{Row: row}
	err := row.Wrong
	switch {
	case err != nil:
	case row.Text != nil:
		var object map[string]any
		if object, err = change.DecodeObject(row.Text); err == nil {
			w.fields, err = r.flatten("", object)
		}
	default:
		w.fields, err = r.cells(header, row.Cells)
	}
	if err != nil {
		w.fields, w.problem = nil, bulk.Reasons(err)
	}
	for i := range w.fields {
		f := &w.fields[i]
		text, isText := f.given.(string)
		if isText && f.creates {
			if meaning, has := r.meanings[f.field.Path][text]; has {
				f.given = meaning
			}
		}
		if f.creates || f.updates {
			f.value, f.err = r.resolve(f.field, f.given, f.isCell)
		}
	}
	return w
}

// cells returns the fields of a row of CSV.
func (r *rowReader) cells(header, cells []string) ([]wantedField, error) {
	fields := make([]wantedField, 0, len(cells))
	for i, cell := range cells {
		c := r.column(header[i])
		switch {
		case c.name == "" && cell != "":
			return nil, errors.New("a value stands in a column without a name; --map '=-' leaves the column out")
		case c.name != "" && !isPassedOver(c.name):
			fields = append(fields, wantedField{column: c, given: unguarded(cell), isCell: true})
		}
	}
	return fields, nil
}

// flatten returns the fields of an object. A field that takes an object has it as a whole.
func (r *rowReader) flatten(prefix string, object map[string]any) ([]wantedField, error) {
	var fields []wantedField
	for _, name := range slices.Sorted(maps.Keys(object)) {
		c := r.column(prefix + name)
		if c.name == ignored {
			continue
		}
		raw, isRaw := object[name].(json.RawMessage)
		isWhole := c.creates && c.field.Kind == apitype.ObjectField
		if !isRaw || jsontext.Value(raw).Kind() != '{' || isWhole {
			fields = append(fields, wantedField{column: c, given: object[name]})
			continue
		}
		inner, err := change.DecodeObject(raw)
		if err != nil {
			return nil, errors.New(c.name + ": " + err.Error())
		}
		below, err := r.flatten(c.name+".", inner)
		if err != nil {
			return nil, err
		}
		fields = append(fields, below...)
	}
	return fields, nil
}

// body collects the fields of a request, and the mistakes in them.
type body struct {
	object map[string]any
	wrong  apitype.Violations
}

// body returns the body of a creation: the fields of a row, and the defaults of those that it lacks.
func (r *rowReader) body(fields []wantedField) *body {
	b := &body{object: map[string]any{}}
	b.fill(fields)
	var defaults []wantedField
	for _, f := range r.defaults {
		given, _ := apiclient.Shown(b.object, f.field.Path)
		isWrong := func(w apitype.Violation) bool { return w.Pointer == pointerOf(f.field.Path) }
		if given == nil && !slices.ContainsFunc(b.wrong, isWrong) {
			f.value, f.err = r.resolve(f.field, f.given, f.isCell)
			defaults = append(defaults, f)
		}
	}
	b.fill(defaults)
	return b
}

// fill puts the fields of a creation into the body.
func (b *body) fill(fields []wantedField) {
	for _, f := range fields {
		switch {
		case f.isEmpty() && (f.isCell || !f.creates):
		case !f.creates:
			change.SetPath(b.object, f.name, f.given) // The decoder says that there is no such field.
		case b.takes(pointerOf(f.field.Path), f):
			change.SetPath(b.object, f.field.Path, f.value)
		}
	}
}

// takes reports whether the body can have a field. Otherwise it notes the reason, under the pointer.
func (b *body) takes(pointer string, f wantedField) bool {
	if f.err != nil {
		b.wrong.Add(pointer, "%s", f.err)
		return false
	}
	before, _ := apiclient.Shown(b.object, f.field.Path)
	if before != nil && !apiclient.IsSame(f.field.Path, f.value, before) {
		b.wrong.Add(pointer, "is given twice")
		return false
	}
	return true
}

func pointerOf(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }

// mistakesIn returns every mistake of a row with its value, each place once: an unreadable value is not missing, too.
func (r *rowReader) mistakesIn(fields []wantedField, wrong apitype.Violations, err error) []string {
	var all []string
	places := map[string]bool{}
	more, _ := errors.AsType[apitype.Violations](err)
	for i, v := range slices.Concat(wrong, more) {
		if place := v.Where(); i < len(wrong) || !places[place] {
			places[place] = true
			all = append(all, strings.TrimPrefix(place+": "+v.Message, ": ")+r.given(fields, place, v.Message))
		}
	}
	if len(more) == 0 && err != nil {
		all = append(all, bulk.Reasons(err))
	}
	return all
}

// given returns the value that a row has at a place, as the end of a message.
// Donors' data must not reach the log of a job: away from a terminal the value is shown by its form.
func (r *rowReader) given(fields []wantedField, place, message string) string {
	join := ": "
	if strings.HasPrefix(message, "must ") {
		join = ", not "
	}
	for _, f := range fields {
		text, isText := f.given.(string)
		isThere := f.name == place || f.creates && f.field.Path == place
		if isText && text != "" && isThere {
			return join + r.quote(text)
		}
	}
	return ""
}

func (r *rowReader) quote(text string) string {
	if _, err := apitype.ParseUUID(text); err != nil && !r.isSeen {
		text = strings.Map(func(c rune) rune {
			switch {
			case unicode.IsDigit(c):
				return '9'
			case unicode.IsLetter(c):
				return 'x'
			default:
				return c
			}
		}, text)
	}
	return cli.Quote(text)
}

// quoteValue quotes the value of a field as a message shows it.
func (r *rowReader) quoteValue(value any) string {
	if value == nil {
		return "none"
	}
	return r.quote(render.FieldText(value))
}
