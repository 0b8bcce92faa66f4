package load

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/postal"
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
	creates bool   // Creations have the field.
	updates bool   // Changes have the field.
	isShown bool   // Answers may have something there.
	order   string // Of day, month and year in a column of dates. Empty if the file has none of its own.
}

// isName reports whether requests or answers have the column.
func (c *column) isName() bool { return c.creates || c.updates || c.isShown || c.isWholeAddress() }

// isWholeAddress reports whether the cells of a column are split into the fields of an address.
func (c *column) isWholeAddress() bool { return c.name == wholeAddress && !c.creates && !c.updates }

// wantedField is one value of a row.
type wantedField struct {
	*column
	given  any    // As it is in the file.
	isCell bool   // A text that stands for a value of any kind.
	cell   string // The cell as it is in the file, if it has no meaning of its own.
	value  any    // As a request has it.
	err    error  // Why it is not a value of the field.

	at      int    // The number of its column in CSV, from 1. Zero elsewhere.
	head    string // The name of that column.
	country string // Of the row. Empty if it is not known.
}

// isEmpty reports whether the row has no value, or null.
func (f wantedField) isEmpty() bool { return f.given == nil || f.isCell && f.given == "" }

// wanted holds a row with its fields, and the record that they are for.
type wanted struct {
	bulk.Row
	fields  []wantedField
	country string       // Of the row's address. Empty if the row names none.
	id      apitype.UUID // Zero for a new record.
	earlier bulk.Past
	isDone  bool // By an earlier run.
	// isMatched means that --match has found the record.
	isMatched bool
	isEdited  bool   // The earlier run had other values on this line.
	problem   string // Why the row is wrong, whatever its record is.
	leftOut   error  // Why the row is left out alone. Nil if it is not.
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
func (w wanted) line(asked apiclient.Change) *plannedLine {
	return &plannedLine{Line: bulk.Line{
		Row:     w.Row,
		Planned: w.earlier.Started() && !w.isEdited,
		Change:  asked,
	}}
}

// rowReader reads the fields of rows.
type rowReader struct {
	session     *cli.Session
	shape       Rows
	country     string // Of the file. Empty if it is not known.
	decimal     string // The stated decimal sign. Empty if the country decides.
	dates       string // The stated order of dates. Empty if the columns decide.
	mapping     mapping
	mappingPath string
	evidence    map[string]*dateEvidence // By the name of a column in the file.
	blanks      int                      // Cells that had blanks at their ends.
	isSeen      bool                     // By a person at a terminal.
	names       map[string]string        // Of columns, as fields.
	columns     map[string]*column       // By their name in the file, as they were read so far.
	defaults    []wantedField
	meanings    map[string]map[string]string // The meanings of texts, by field.
}

// column returns the column of a name in the file.
func (r *rowReader) column(text string) *column {
	if c, isKnown := r.columns[text]; isKnown {
		return c
	}
	name := trimmed(text)
	field, isMapped := r.names[name]
	switch {
	case isMapped:
		name = field
	case r.names[others] == ignored && !bulk.IsOwnColumn(name):
		name = ignored
	case name == r.mapping.countryColumn && name != "" && !r.columnOf(name).isName():
		name = ignored
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
	var err error
	switch {
	case row.Wrong != "":
		err = errors.New(row.Wrong)
	case row.Text != nil:
		var object map[string]any
		object, err = change.DecodeObject(row.Text)
		if err == nil {
			w.fields, err = r.flatten("", object)
		}
	default:
		w.fields, err = r.cells(header, row.Cells)
	}
	if err != nil {
		w.fields, w.problem = nil, bulk.Reasons(err)
	}
	if w.problem == "" {
		w.country, err = r.countryOfRow(header, w)
	}
	if err != nil {
		w.problem = bulk.Reasons(err)
	}
	return w
}

// meaning returns the meaning of a text in a field. A text is found in any case.
func (r *rowReader) meaning(path, text string) (string, bool) {
	meanings := r.meanings[path]
	if meanings == nil {
		return "", false
	}
	if meaning, has := meanings[text]; has {
		return meaning, true
	}
	for known, meaning := range meanings {
		if strings.EqualFold(known, text) {
			return meaning, true
		}
	}
	return "", false
}

// countryOfRow returns the country of the address of a row, or else that of the column that names it. It is empty if
// the row names none.
func (r *rowReader) countryOfRow(header []string, w wanted) (string, error) {
	if f, has := w.field("address.country"); has {
		text, _ := f.given.(string)
		return countryOf(text), nil // The field itself is refused.
	}
	if r.mapping.countryColumn == "" || w.Text != nil {
		return "", nil
	}
	for i, head := range header {
		if trimmed(head) != r.mapping.countryColumn || i >= len(w.Cells) || trimmed(w.Cells[i]) == "" {
			continue
		}
		code := countryOf(w.Cells[i])
		if code == "" {
			return "", fmt.Errorf(
				"%s: is not the code or name of a country: %s",
				columnLabel(i, head, trimmed(head)),
				r.quote(w.Cells[i]),
			)
		}
		return code, nil
	}
	return "", nil
}

// settle reads the values of a row. home is the country of the record's address, empty if it has no address. An address
// that names no country is in the country of its row.
func (r *rowReader) settle(w *wanted, home string) {
	country := cmp.Or(w.country, home, r.country)
	fields := make([]wantedField, 0, len(w.fields)+2)
	for _, f := range w.fields {
		f.country = country
		text, isText := f.given.(string)
		if !f.isWholeAddress() || !f.isCell {
			fields = append(fields, f)
		} else if isText && text != "" {
			fields = append(fields, r.addressFields(*w, f, text)...)
		}
	}
	if home == "" && country != "" {
		fields = r.withCountry(fields)
	}
	for i := range fields {
		f := &fields[i]
		if (f.creates || f.updates) && f.err == nil {
			f.value, f.err = r.resolve(*f)
		}
	}
	w.fields = fields
}

// withCountry adds the country of the row to the fields of an address that has none, unless a default says it.
func (r *rowReader) withCountry(fields []wantedField) []wantedField {
	const country = wholeAddress + ".country"
	isCountry := func(f wantedField) bool { return f.name == country && !f.isEmpty() }
	isPart := func(f wantedField) bool {
		return f.creates && strings.HasPrefix(f.name, wholeAddress+".") && !f.isEmpty()
	}
	i := slices.IndexFunc(fields, isPart)
	if i < 0 || slices.ContainsFunc(fields, isCountry) || slices.ContainsFunc(r.defaults, isCountry) {
		return fields
	}
	added := fields[i]
	added.column, added.given, added.err = r.columnOf(country), added.country, nil
	return append(fields, added)
}

// addressFields returns the fields of an address in one cell: with postcode and town if the cell has them, and the row
// has no others.
func (r *rowReader) addressFields(w wanted, f wantedField, text string) []wantedField {
	var fields []wantedField
	add := func(name, given string, err error) {
		part := f
		part.column, part.given, part.err = r.columnOf(wholeAddress+"."+name), given, err
		fields = append(fields, part)
	}
	_, hasCode := w.field(wholeAddress + ".zipCode")
	_, hasCity := w.field(wholeAddress + ".city")
	a, isWhole := postal.SplitWhole(text, f.country)
	if !isWhole || hasCode || hasCity {
		var err error
		a.Street, a.Number, a.Extension, err = splitAddress(text, f.country)
		if err != nil {
			add("street", text, err)
			return fields
		}
		a.Code, a.City = "", ""
	}
	add("street", a.Street, nil)
	add("houseNumber", a.Number, nil)
	const addition = wholeAddress + ".houseNumberExtension"
	hasOwnColumn := slices.ContainsFunc(w.fields, func(f wantedField) bool { return f.name == addition })
	if a.Extension == "" && !hasOwnColumn { // Nothing of the old house stays.
		none := f
		none.column, none.given, none.isCell = r.columnOf(addition), nil, false
		fields = append(fields, none)
	}
	for _, more := range [][2]string{{"houseNumberExtension", a.Extension}, {"zipCode", a.Code}, {"city", a.City}} {
		if more[1] != "" {
			add(more[0], more[1], nil)
		}
	}
	return fields
}

// cells returns the fields of a row of CSV. It refuses a row without a value of its own.
func (r *rowReader) cells(header, cells []string) ([]wantedField, error) {
	fields := make([]wantedField, 0, len(cells))
	hasValue := false
	for i, cell := range cells {
		c := r.column(header[i])
		text := trimmed(cell)
		if c.name == "" && text != "" {
			return nil, fmt.Errorf(
				"there is a value in column %d, which has no name; --map '=-' leaves the column out",
				i+1,
			)
		}
		if c.name == "" || isPassedOver(c.name) {
			continue
		}
		if len(text) < len(cell) {
			r.blanks++
		}
		hasValue = hasValue || text != ""
		f := wantedField{
			column: c,
			given:  unguarded(text),
			cell:   text,
			isCell: true,
			at:     i + 1,
			head:   trimmed(header[i]),
		}
		if meaning, has := r.meaning(c.field.Path, text); has && (c.creates || c.updates) {
			f.given, f.cell = meaning, ""
		}
		fields = append(fields, f)
	}
	if !hasValue {
		return nil, errNoValue
	}
	return fields, nil
}

// errNoValue is the mistake of a row that would be a record of defaults alone, such as a line of totals.
var errNoValue = errors.New("has no value in the columns that are read")

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
			f := wantedField{column: c, given: object[name]}
			text, isText := f.given.(string)
			if meaning, has := r.meaning(c.field.Path, text); has && isText && c.creates {
				f.given = meaning
			}
			fields = append(fields, f)
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
			f.value, f.err = r.resolve(f)
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
			change.SetPath(b.object, f.name, f.given) // The decoder does not know the field.
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

// reasons are the mistakes in a row: as a log may have them, and with every value.
type reasons struct{ shown, plain []string }

// add adds a mistake. end is its value as the end of the message.
func (rs *reasons) add(text, end, plainEnd string) {
	rs.shown = append(rs.shown, text+end)
	rs.plain = append(rs.plain, text+plainEnd)
}

// wrong returns the error of a row with mistakes, nil without any.
func (w wanted) wrong(rs reasons) error {
	if len(rs.shown) == 0 {
		return nil
	}
	return &bulk.Mistakes{Row: w.Row, What: rs.shown, Plain: rs.plain}
}

// mistakesIn returns every mistake of a row with its column and value, each place once: an unreadable value is not
// missing, too.
func (r *rowReader) mistakesIn(fields []wantedField, wrong apitype.Violations, err error) reasons {
	var all reasons
	places := map[string]bool{}
	more, _ := errors.AsType[apitype.Violations](err)
	for i, v := range slices.Concat(wrong, more) {
		place := v.Where()
		if i >= len(wrong) && places[place] {
			continue
		}
		places[place] = true
		end, plain := r.given(fields, place, v.Message)
		all.add(strings.TrimPrefix(place+inColumn(fields, place)+": "+v.Message, ": "), end, plain)
	}
	if len(more) == 0 && err != nil {
		all.add(bulk.Reasons(err), "", "")
	}
	return all
}

// inColumn returns the column of the value at a place, in brackets, or an empty text.
func inColumn(fields []wantedField, place string) string {
	i := slices.IndexFunc(fields, func(f wantedField) bool { return f.at > 0 && f.isAt(place) })
	if i < 0 {
		return ""
	}
	if f := fields[i]; f.head != place {
		return fmt.Sprintf(" (column %d %s)", f.at, cli.Quote(f.head))
	}
	return fmt.Sprintf(" (column %d)", fields[i].at)
}

// isAt reports whether a field has a place in a request or in an answer.
func (f wantedField) isAt(place string) bool {
	return f.name == place || f.creates && f.field.Path == place
}

// given returns the value that a row has at a place, as the end of a message: as a log may have it, and whole.
// Donors' data must not reach the log of a job: away from a terminal the value is shown by its form.
func (r *rowReader) given(fields []wantedField, place, message string) (shown, plain string) {
	join := ": "
	if strings.HasPrefix(message, "must ") {
		join = ", not "
	}
	for _, f := range fields {
		text, isText := f.given.(string)
		if isText && text != "" && f.isAt(place) {
			return join + r.quote(text), join + cli.Quote(text)
		}
	}
	return "", ""
}

func (r *rowReader) quote(text string) string {
	if _, err := apitype.ParseUUID(text); err != nil && !r.isSeen {
		text = masked(text)
	}
	return cli.Quote(text)
}

// masked shows the form of a text alone.
func masked(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsDigit(c) {
			return '9'
		}
		if unicode.IsLetter(c) {
			return 'x'
		}
		return c
	}, text)
}

// plainValue quotes the value of a field as it is.
func plainValue(value any) string {
	if value == nil {
		return "none"
	}
	return cli.Quote(render.FieldText(value))
}

// quoteValue quotes the value of a field as a message shows it.
func (r *rowReader) quoteValue(value any) string {
	if value == nil {
		return "none"
	}
	return r.quote(render.FieldText(value))
}

// wholeAddress is the name of a column that has a street and its house number in one cell.
const wholeAddress = "address"

// splitAddress splits a cell, or returns an error with a hint.
func splitAddress(text, country string) (street, number, extension string, err error) {
	street, number, extension, err = postal.Split(text, country)
	if errors.Is(err, postal.ErrNoCountry) {
		err = fmt.Errorf("%w; --country or country_column names it", err)
	} else if err != nil {
		err = fmt.Errorf("%w; use columns of their own", err)
	}
	return street, number, extension, err
}
