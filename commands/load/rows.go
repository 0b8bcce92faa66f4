package load

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/render"
)

// Rows is how the rows of a file become changes of one noun.
type Rows struct {
	Record  string
	Shows   func(path string) bool // Whether answers may have something at this path.
	Creates []change.Field
	Create  func(s *cli.Session, object map[string]any) (apiclient.Change, error)
	Updates []change.Field // Nil: the noun has no update.
	// update makes the change of a record; raw is the record, nil where it is not known.
	Update func(s *cli.Session, id apitype.UUID, object map[string]any, raw json.RawMessage) (apiclient.Change, error)
	Read   func(ctx context.Context, client *apiclient.Client, id apitype.UUID) (raw json.RawMessage, etag string, err error)
}

// rowFlags are the flags of the commands that read rows.
type rowFlags struct {
	yes, dryRun, allowEmpty bool
	concurrency             int
	results                 string
	errors                  string
	format                  bulk.Format
	mapped                  []string
	defaults                []string
	values                  []string
	country                 string
	template                bool
}

func (f *rowFlags) register(cmd *cobra.Command, fields []change.Field) {
	flags := cmd.Flags()
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be sent, and send nothing")
	cli.AllowEmptyFlag(cmd, &f.allowEmpty)
	flags.IntVar(&f.concurrency, "concurrency", bulk.DefaultConcurrency, "changes at a time")
	flags.Var(cli.KeptFile(&f.results), "results", "keep one result per line here, and skip records that it lists as done")
	flags.Var(cli.KeptFile(&f.errors), "errors", "write the bad rows, with the reason, to this CSV file")
	flags.StringVar(
		&f.format.Delimiter,
		"delimiter",
		"",
		"separator of CSV cells, or tab (default: taken from the header)",
	)
	flags.StringVar(
		&f.format.Encoding,
		"encoding",
		"",
		"encoding of the file: "+strings.Join(bulk.Encodings, ", ")+" (default: utf-8, or its mark)",
	)
	flags.StringSliceVar(
		&f.mapped,
		"map",
		nil,
		"names of columns as fields: 'Voornaam=name.firstName', - for none (repeatable)",
	)
	flags.StringSliceVar(&f.defaults, "default", nil, "value for a field that the file lacks: field=value (repeatable)")
	flags.StringArrayVar(&f.values, "value", nil, "meaning of a text in a column: 'gender:V=female' (repeatable)")
	flags.StringVar(&f.country, "country", "", "country whose phones, days, amounts and words are read, such as NL")
	cli.RegisterFlag(cmd, "map", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		column := typed[:strings.LastIndexByte(typed, '=')+1]
		var all []string
		for _, path := range (&change.Body{Fields: fields}).Paths() {
			all = append(all, column+path) // After the name of its column.
		}
		if column == "" {
			all = nil
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	})
	cli.OnPage(cmd, "changes", "yes", "dry-run", "allow-empty", "concurrency")
	flags.BoolVar(&f.template, "template", false, "print a header with an example, and end")
}

// check refuses flags without a meaning.
func (f *rowFlags) check(cmd *cobra.Command, name string) error {
	if err := change.CheckConcurrency(cmd, f.concurrency); err != nil {
		return err
	}
	for flag, file := range map[string]string{"--results": f.results, "--errors": f.errors} {
		if file != "" && bulk.IsSameFile(name, file) {
			return cli.UsageError(flag + " names the file that is read; it needs one of its own")
		}
	}
	if f.errors != "" && (f.errors == f.results || bulk.IsSameFile(f.errors, f.results)) {
		return cli.UsageError("--errors and --results name one file")
	}
	if f.country = strings.ToUpper(f.country); f.country == "EN" { // As --for-excel calls it.
		f.country = "GB"
	}
	if cmd.Flags().Changed("country") && !slices.Contains(render.PhoneCountries(), f.country) {
		return cli.WithHint(
			cli.UsageError("--country "+cli.Quote(f.country)+" is not a country whose phone numbers are known"),
			"there are "+strings.Join(render.PhoneCountries(), ", "),
		)
	}
	return nil
}

// rowReader makes requests of rows.
type rowReader struct {
	session  *cli.Session
	shape    Rows
	country  string
	isSeen   bool              // By a person at a terminal.
	names    map[string]string // Of columns, as fields.
	defaults []rowValue
	meanings map[string]map[string]string // What texts of a field stand for.
}

func (f *rowFlags) reader(s *cli.Session, shape Rows) (*rowReader, error) {
	r := &rowReader{
		session:  s,
		shape:    shape,
		country:  f.country,
		isSeen:   cli.IsTerminal(s.App.Err),
		names:    map[string]string{},
		meanings: map[string]map[string]string{},
	}
	for _, text := range f.mapped {
		column, field, ok := strings.Cut(text, "=")
		if !ok || column == "" && field != ignored {
			return nil, cli.UsageError("--map " + cli.Quote(text) + " is not COLUMN=FIELD")
		}
		if field = strings.TrimSpace(field); field != ignored && !r.isName(field) {
			return nil, unknownField("--map", field, shape.Creates)
		}
		r.names[strings.TrimSpace(column)] = field
	}
	for _, text := range f.defaults {
		name, value, ok := strings.Cut(text, "=")
		if !ok || value == "" {
			return nil, cli.UsageError("--default " + cli.Quote(text) + " is not FIELD=VALUE")
		}
		if _, known := fieldNamed(shape.Creates, name); !known {
			return nil, unknownField("--default", name, shape.Creates)
		}
		r.defaults = append(r.defaults, rowValue{name: name, value: value, isCell: true})
	}
	for _, text := range f.values {
		name, pair, _ := strings.Cut(text, ":")
		cell, value, ok := strings.Cut(pair, "=")
		if !ok || cell == "" {
			return nil, cli.UsageError("--value " + cli.Quote(text) + " is not FIELD:TEXT=VALUE")
		}
		field, known := fieldNamed(r.shape.Creates, name)
		if !known {
			return nil, unknownField("--value", name, shape.Creates)
		}
		if r.meanings[field.Path] == nil {
			r.meanings[field.Path] = map[string]string{}
		}
		r.meanings[field.Path][cell] = value
	}
	return r, nil
}

// unknownField is the error of a field that a flag names and nobody knows.
func unknownField(flag, name string, fields []change.Field) error {
	paths := (&change.Body{Fields: fields}).Paths()
	hint := "see: --template"
	if near := cli.Nearest(name, paths); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return cli.WithHint(
		cli.UsageError(flag+": there is no field "+cli.Quote(name), "fields: "+strings.Join(paths, ", ")),
		hint,
	)
}

// isName reports whether a column may be called so: a field of a request or of an answer.
func (r *rowReader) isName(name string) bool {
	_, creates := fieldNamed(r.shape.Creates, name)
	_, updates := fieldNamed(r.shape.Updates, name)
	return creates || updates || r.shape.Shows(name)
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

// rowValue is one value that a row gives.
type rowValue struct {
	name   string
	value  any
	isCell bool // A text that stands for a value of any kind.
}

// isEmpty reports whether the value says nothing, or that there is none.
func (v rowValue) isEmpty() bool { return v.value == nil || v.isCell && v.value == "" }

// rowSource is a file whose rows are read one by one.
type rowSource struct {
	bulk.Rows
	file io.Reader
	size int64 // Of a file on disk; zero for another.
	read atomic.Int64
}

// open begins to read the rows of a file. [rowSource.close] must be called.
func (f *rowFlags) open(ctx context.Context, r *rowReader, name string) (*rowSource, error) {
	source := &rowSource{file: r.session.App.In}
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, cli.UsageError(err.Error())
		}
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			source.size = info.Size()
		}
		source.file = file
	}
	f.format.Name = name
	var err error
	source.Rows, err = bulk.ReadRows(cli.UntilInterrupted(ctx, source), f.format)
	if err == nil {
		err = r.checkHeader(source.Header)
	}
	if err != nil {
		source.close()
		return nil, cli.RefusedInput(err)
	}
	return source, nil
}

// Read reads the file, and counts what was read.
func (s *rowSource) Read(to []byte) (int, error) {
	n, err := s.file.Read(to)
	s.read.Add(int64(n))
	return n, err
}

// share is how much of the file was read, 0 where nobody knows how long it is.
func (s *rowSource) share() float64 {
	if s.size == 0 {
		return 0
	}
	return float64(s.read.Load()) / float64(s.size)
}

func (s *rowSource) close() {
	if file, ok := s.file.(*os.File); ok && s.size > 0 {
		_ = file.Close() // It was only read.
	}
}

// checkHeader wants columns that are fields, each once.
func (r *rowReader) checkHeader(header []string) error {
	seen := map[string]bool{}
	var unknown []string
	paths := (&change.Body{Fields: r.shape.Creates}).Paths()
	quote := r.quote // A file without a header begins with a donor.
	if slices.ContainsFunc(header, func(text string) bool { return r.isName(r.columnName(text)) }) {
		quote = cli.Quote
	}
	for _, text := range header {
		name := r.columnName(text)
		switch {
		case name == "", isPassedOver(name): // Each row says whether a column without a name is empty.
			continue
		case !r.isName(name):
			unknown = append(unknown, quote(text)+nearestField(name, paths))
			continue
		}
		key := name
		if field, known := fieldNamed(r.shape.Creates, name); known {
			key = field.Path
		}
		if seen[key] {
			return cli.UsageError("line 1: two columns are called " + key)
		}
		seen[key] = true
	}
	if len(unknown) == 0 {
		return nil
	}
	return cli.WithHint(
		cli.UsageError("line 1: not the name of a field: "+strings.Join(unknown, ", "), "fields: "+strings.Join(paths, ", ")),
		"--map 'Its name=FIELD' names its field, --map 'Its name=-' leaves it out; --template prints a header",
	)
}

// nearestField returns what a column without a field may have meant: a field, or the end of its path.
func nearestField(name string, paths []string) string {
	near := cli.Nearest(name, paths)
	for _, path := range paths {
		if last := path[strings.LastIndexByte(path, '.')+1:]; last != path && len(cli.Nearest(name, []string{last})) > 0 {
			near = append(near, path)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return " (" + strings.Join(near, " or ") + "?)"
}

// ignored is the field of a column that is of no record.
const ignored = "-"

// revisionColumn is the column of CSV with what JSON has as [apitype.RevisionMember].
const revisionColumn = "rev"

// isPassedOver reports whether a column of CSV is of no record.
func isPassedOver(name string) bool { return name == ignored || bulk.IsOwnColumn(name) }

func (r *rowReader) columnName(text string) string {
	name := strings.TrimSpace(text)
	if field, mapped := r.names[name]; mapped {
		return field
	}
	if name == revisionColumn && r.shape.Shows(apitype.RevisionMember) {
		return apitype.RevisionMember
	}
	return name
}

// values returns what a row gives, field by field.
func (r *rowReader) values(header []string, row bulk.Row) (values []rowValue, err error) {
	switch {
	case row.Wrong != nil:
		return nil, row.Wrong
	case row.Text == nil:
		for i, cell := range row.Cells {
			switch name := r.columnName(header[i]); {
			case name == "" && cell != "":
				return nil, errors.New("a value stands in a column without a name; --map '=-' leaves the column out")
			case name != "" && !isPassedOver(name):
				values = append(values, rowValue{name, unguarded(cell), true})
			}
		}
	default:
		var object map[string]any
		if object, err = change.DecodeObject(row.Text); err == nil {
			values, err = r.flatten("", object)
		}
	}
	if len(r.meanings) > 0 {
		for i := range values {
			v := &values[i]
			field, _ := fieldNamed(r.shape.Creates, v.name)
			if text, isText := v.value.(string); isText {
				if meaning, has := r.meanings[field.Path][text]; has {
					v.value = meaning
				}
			}
		}
	}
	return values, err
}

// flatten is an object value by value. What a field takes as a whole stays whole.
func (r *rowReader) flatten(prefix string, object map[string]any) ([]rowValue, error) {
	var values []rowValue
	for _, name := range slices.Sorted(maps.Keys(object)) {
		path := r.columnName(prefix + name)
		if path == ignored {
			continue
		}
		raw, isRaw := object[name].(json.RawMessage)
		field, known := fieldNamed(r.shape.Creates, path)
		if !isRaw || jsontext.Value(raw).Kind() != '{' || known && field.Kind == apitype.ObjectField {
			values = append(values, rowValue{name: path, value: object[name]})
			continue
		}
		inner, err := change.DecodeObject(raw)
		if err != nil {
			return nil, errors.New(path + ": " + err.Error())
		}
		below, err := r.flatten(path+".", inner)
		if err != nil {
			return nil, err
		}
		values = append(values, below...)
	}
	return values, nil
}

// request makes the body of a creation of what a row gives, and tells what is wrong with it.
func (r *rowReader) request(values []rowValue) (object map[string]any, wrong apitype.Violations) {
	object = map[string]any{}
	wrong = r.fill(object, values)
	defaults := slices.DeleteFunc(slices.Clone(r.defaults), func(v rowValue) bool {
		field, _ := fieldNamed(r.shape.Creates, v.name)
		given, _ := apiclient.Shown(object, field.Path)
		return given != nil ||
			slices.ContainsFunc(wrong, func(w apitype.Violation) bool { return w.Pointer == pointerOf(field.Path) })
	})
	return object, append(wrong, r.fill(object, defaults)...)
}

func (r *rowReader) fill(object map[string]any, values []rowValue) (wrong apitype.Violations) {
	for _, v := range values {
		field, known := fieldNamed(r.shape.Creates, v.name)
		switch {
		case v.isEmpty() && (v.isCell || !known):
			continue
		case !known:
			change.SetPath(object, v.name, v.value) // The decoder says that there is no such field.
			continue
		}
		value, err := r.valueOf(field, v)
		before, _ := apiclient.Shown(object, field.Path)
		switch {
		case err != nil:
			wrong.Add(pointerOf(field.Path), "%s", err)
		case before != nil && !apiclient.IsSame(field.Path, value, before):
			wrong.Add(pointerOf(field.Path), "is given twice")
		default:
			change.SetPath(object, field.Path, value)
		}
	}
	return wrong
}

func pointerOf(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }

// mistakesIn returns everything that is wrong with a row and what stands there, each place once: a value that
// could not be read is not missing, too.
func (r *rowReader) mistakesIn(values []rowValue, wrong apitype.Violations, err error) []string {
	var all []string
	places := map[string]bool{}
	more, _ := errors.AsType[apitype.Violations](err)
	for i, v := range slices.Concat(wrong, more) {
		if place := v.Where(); i < len(wrong) || !places[place] {
			places[place] = true
			all = append(all, strings.TrimPrefix(place+": "+v.Message, ": ")+r.given(values, place, v.Message))
		}
	}
	if len(more) == 0 && err != nil {
		all = append(all, bulk.Reasons(err))
	}
	return all
}

// given returns the value that a row has at a place, as the end of a message.
// Donors' data must not reach the log of a job: away from a terminal the value is shown by its form.
func (r *rowReader) given(values []rowValue, place, message string) string {
	join := ": "
	if strings.HasPrefix(message, "must ") {
		join = ", not "
	}
	for _, v := range values {
		field, known := fieldNamed(r.shape.Creates, v.name)
		if text, isText := v.value.(string); isText && text != "" && (v.name == place || known && field.Path == place) {
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

// ReaderOf reads a record of a noun as it is, with its revision.
func ReaderOf[T any, O apiclient.ListOptions](
	of func(*apiclient.Client) *apiclient.Collection[T, O],
) func(context.Context, *apiclient.Client, apitype.UUID) (json.RawMessage, string, error) {
	return func(ctx context.Context, client *apiclient.Client, id apitype.UUID) (json.RawMessage, string, error) {
		record, err := of(client).Get(ctx, id)
		return record.Raw, record.ETag, err
	}
}
