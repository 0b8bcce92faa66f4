package load

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/render"
)

// Rows describes how rows of a file become changes of one noun.
type Rows struct {
	Record  string
	Shows   func(path string) bool // Whether answers may have something at this path.
	Creates []change.Field
	Create  func(s *cli.Session, object map[string]any) (apiclient.Change, error)
	Updates []change.Field // Nil if the noun has no update.
	// Update makes the change of a record; raw is the record, nil if it is not known.
	Update func(s *cli.Session, id apitype.UUID, object map[string]any, raw json.RawMessage) (apiclient.Change, error)
	Read   func(context.Context, *apiclient.Client, apitype.UUID) (raw json.RawMessage, etag string, err error)
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
	dates                   string
	skipWrong, keepGoing    bool
	guesses                 bool   // Print a mapping instead.
	mapping                 string // The path of the mapping file.
	template                bool

	// Of apply alone.
	create bool     // Also create rows whose uuid is missing or unknown.
	force  bool     // Also replace changes made after the export.
	empty  string   // The meaning of an empty cell.
	match  []string // By which fields records are found. Nil finds them by uuid alone.
	// planOnly prints the plan of --match, and ends.
	planOnly bool
}

func (f *rowFlags) register(cmd *cobra.Command, fields []change.Field) {
	flags := cmd.Flags()
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would be sent, and send nothing")
	cli.AllowEmptyFlag(cmd, &f.allowEmpty)
	flags.IntVar(&f.concurrency, "concurrency", bulk.DefaultConcurrency, "parallel requests")
	flags.Var(
		cli.KeptFile(&f.results),
		"results",
		"keep one result per line here, and skip records that it lists as done",
	)
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
		"encoding of the file: "+strings.Join(bulk.Encodings, ", ")+" (default: utf-8, or by its byte order mark)",
	)
	flags.StringArrayVar(
		&f.mapped,
		"map",
		nil,
		"names of columns as fields: 'Voornaam=name.firstName', - for none (repeatable)",
	)
	flags.StringArrayVar(&f.defaults, "default", nil, "value for a field that the file lacks: field=value (repeatable)")
	flags.StringArrayVar(&f.values, "value", nil, "translate a value: 'gender:V=female' (repeatable)")
	flags.StringVar(&f.country, "country", "", "country whose phones, days, amounts and words are read, such as NL")
	flags.StringVar(&f.dates, "dates", "", "order of dates in the file: dmy, mdy or ymd (default: as the column shows)")
	flags.StringVar(&f.mapping, "mapping", "", "TOML file with the columns, values and country")
	flags.BoolVar(&f.skipWrong, "skip-wrong", false, "send the good rows even if others are wrong, and exit with 9")
	flags.BoolVar(&f.keepGoing, "keep-going", false, "go on after 20 equal refusals by the service")
	flags.BoolVar(&f.guesses, "guess", false, "print a mapping for this file, with its doubts as comments")
	cli.RegisterFlag(cmd, "dates", cli.Values(dateOrders))
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
	flags.BoolVar(&f.template, "template", false, "print an example file")
}

// check refuses flags without a meaning.
func (f *rowFlags) check(cmd *cobra.Command, name string) error {
	if err := change.CheckConcurrency(cmd, f.concurrency); err != nil {
		return err
	}
	for flag, file := range map[string]string{"--results": f.results, "--errors": f.errors} {
		if file != "" && bulk.IsSameFile(name, file) {
			return cli.UsageError(flag + " names the input file; choose another name")
		}
	}
	if f.errors != "" && (f.errors == f.results || bulk.IsSameFile(f.errors, f.results)) {
		return cli.UsageError("--errors and --results name one file")
	}
	if f.errors != "" {
		if err := bulk.CheckMistakes(f.errors); err != nil {
			return cli.RefusedInput(err)
		}
	}
	f.country = strings.ToUpper(f.country)
	if f.country == "EN" { // As --for-excel calls it.
		f.country = "GB"
	}
	if cmd.Flags().Changed("country") && !slices.Contains(render.PhoneCountries(), f.country) {
		return cli.NotOneOf("--country", f.country, render.PhoneCountries())
	}
	if f.dates != "" && !slices.Contains(dateOrders, f.dates) {
		return cli.NotOneOf("--dates", f.dates, dateOrders)
	}
	return nil
}

// reader returns the reader of rows. The flags override lines of the mapping.
func (f *rowFlags) reader(s *cli.Session, shape Rows) (*rowReader, error) {
	m, err := readMapping(f.mapping)
	if err != nil {
		return nil, err
	}
	if err := m.check("--mapping " + f.mapping); err != nil {
		return nil, err
	}
	f.format.Encoding = cmp.Or(f.format.Encoding, m.encoding)
	f.format.Delimiter = cmp.Or(f.format.Delimiter, m.delimiter)
	r := &rowReader{
		session:     s,
		shape:       shape,
		mapping:     m,
		mappingPath: f.mapping,
		country:     cmp.Or(f.country, m.country),
		decimal:     m.decimal,
		dates:       cmp.Or(f.dates, m.dates),
		evidence:    map[string]*dateEvidence{},
		isSeen:      cli.IsTerminal(s.App.Err),
		names:       maps.Clone(m.columns),
		meanings:    map[string]map[string]string{},
		columns:     map[string]*column{},
	}
	if err := r.checkMapping("--mapping " + f.mapping); err != nil {
		return nil, err
	}
	isNextName := func(before, _ string) bool { return strings.Contains(before, "=") }
	if err := r.addNames(separated(f.mapped, isNextName)); err != nil {
		return nil, err
	}
	isNextDefault := func(_, piece string) bool {
		name, _, hasValue := strings.Cut(piece, "=")
		return hasValue && r.columnOf(name).creates
	}
	if err := r.addDefaults(separated(f.defaults, isNextDefault)); err != nil {
		return nil, err
	}
	return r, r.addValues(f.values)
}

// checkMapping refuses a mapping that names fields which the record does not have, and takes its values.
func (r *rowReader) checkMapping(where string) error {
	for _, name := range slices.Sorted(maps.Keys(r.mapping.columns)) {
		field := r.mapping.columns[name]
		if name == others && field != ignored {
			return cli.UsageError(where + ": columns: \"*\" = " + cli.Quote(field) + " is not \"ignore\"")
		}
		if field != ignored && !r.columnOf(field).isName() {
			return unknownField(where+": columns: "+cli.Quote(name), field, r.shape.Creates)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.mapping.defaults)) {
		if err := r.addDefault(where+": defaults", name, r.mapping.defaults[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.mapping.values)) {
		for cell, value := range r.mapping.values[name] {
			if err := r.addValue(where+": values", name, cell, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// separated returns the settings of a flag that takes several with commas between them. A comma stays part of a
// setting unless the piece after it is the next one.
func separated(texts []string, isNext func(before, piece string) bool) []string {
	var all []string
	for _, text := range texts {
		pieces := strings.Split(text, ",")
		setting := pieces[0]
		for _, piece := range pieces[1:] {
			if isNext(setting, piece) {
				all = append(all, setting)
				setting = piece
				continue
			}
			setting += "," + piece
		}
		all = append(all, setting)
	}
	return all
}

// addNames reads --map.
func (r *rowReader) addNames(mapped []string) error {
	for _, text := range mapped {
		at := strings.LastIndexByte(text, '=') // The name of a column may have one, a field has none.
		ok := at >= 0
		column, field := text[:max(at, 0)], text[at+1:]
		field = asIgnored(field)
		if !ok || column == "" && field != ignored {
			return cli.UsageError("--map " + cli.Quote(text) + " is not COLUMN=FIELD")
		}
		if strings.TrimSpace(column) == others && field != ignored {
			return cli.UsageError("--map " + cli.Quote(text) + ": only '*=-' stands for all other columns")
		}
		if field != ignored && !r.columnOf(field).isName() {
			return unknownField("--map", field, r.shape.Creates)
		}
		r.names[strings.TrimSpace(column)] = field
	}
	return nil
}

// addDefaults reads --default.
func (r *rowReader) addDefaults(defaults []string) error {
	for _, text := range defaults {
		name, value, ok := strings.Cut(text, "=")
		if !ok || value == "" {
			return cli.UsageError("--default " + cli.Quote(text) + " is not FIELD=VALUE")
		}
		if err := r.addDefault("--default", name, value); err != nil {
			return err
		}
	}
	return nil
}

// addDefault sets the value of a field that rows lack, instead of an earlier one.
func (r *rowReader) addDefault(where, name, value string) error {
	c := r.columnOf(name)
	if !c.creates {
		return unknownField(where, name, r.shape.Creates)
	}
	r.defaults = slices.DeleteFunc(r.defaults, func(f wantedField) bool { return f.field.Path == c.field.Path })
	r.defaults = append(r.defaults, wantedField{
		column:  c,
		given:   value,
		isCell:  true,
		country: r.country,
	})
	return nil
}

// addValues reads --value.
func (r *rowReader) addValues(values []string) error {
	for _, text := range values {
		name, pair, _ := strings.Cut(text, ":")
		cell, value, ok := strings.Cut(pair, "=")
		if !ok {
			return cli.UsageError("--value " + cli.Quote(text) + " is not FIELD:TEXT=VALUE")
		}
		if err := r.addValue("--value", name, cell, value); err != nil {
			return err
		}
	}
	return nil
}

// addValue sets the meaning of a text in a field, also of the empty one.
func (r *rowReader) addValue(where, name, cell, value string) error {
	field, known := fieldNamed(r.shape.Creates, name)
	if !known {
		return unknownField(where, name, r.shape.Creates)
	}
	if r.meanings[field.Path] == nil {
		r.meanings[field.Path] = map[string]string{}
	}
	for other := range r.meanings[field.Path] {
		if strings.EqualFold(other, cell) && where == "--value" {
			delete(r.meanings[field.Path], other)
		}
	}
	r.meanings[field.Path][strings.TrimSpace(cell)] = value
	return nil
}

// unknownField returns the error of a flag that names an unknown field.
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

// rowSource reads the rows of a file one by one.
type rowSource struct {
	bulk.Rows
	file io.Reader
	size int64 // Of a file on disk. Zero for other input.
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

// Read reads the file, and counts the bytes.
func (s *rowSource) Read(to []byte) (int, error) {
	n, err := s.file.Read(to)
	s.read.Add(int64(n))
	return n, err
}

// share returns the part of the file that was read, 0 if its length is unknown.
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
	isKnown := func(text string) bool { return r.column(text).isName() || isPassedOver(r.column(text).name) }
	if err := r.mapping.changedHeads(r.mappingPath, header, isKnown); err != nil {
		return err
	}
	seen := map[string]bool{}
	var unknown []string
	paths := (&change.Body{Fields: r.shape.Creates}).Paths()
	quote := cli.Quote
	if !slices.ContainsFunc(header, func(text string) bool { return r.column(text).isName() }) && isRecord(header) {
		quote = r.quote // The file has no header and begins with a donor.
	}
	for i, text := range header {
		c := r.column(text)
		if c.name == "" || isPassedOver(c.name) { // Each row is checked for a value there.
			continue
		}
		if !c.isName() {
			unknown = append(
				unknown,
				fmt.Sprintf("column %d %s", i+1, quote(trimmed(text))+nearestField(c.name, paths)),
			)
			continue
		}
		key := c.name
		if c.creates {
			key = c.field.Path
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
		cli.UsageError(
			"line 1: not the name of a field: "+strings.Join(unknown, ", "),
			"fields: "+strings.Join(paths, ", "),
		),
		"--map 'Its name=FIELD' names its field, --map 'Its name=-' leaves it out; --guess prints a mapping",
	)
}

// isRecord reports whether a header has values of a record.
func isRecord(header []string) bool {
	isOfNoName := func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' && r != '.' && r != '_' }
	if len(header) == 1 && strings.ContainsFunc(header[0], isOfNoName) { // Such as a token.
		return true
	}
	return slices.ContainsFunc(header, func(text string) bool {
		digits := len(text) - len(strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, text))
		return strings.Contains(text, "@") || digits > 4
	})
}

// nearestField suggests the fields whose path, or its end, is close to the name of an unknown column.
func nearestField(name string, paths []string) string {
	near := cli.Nearest(name, paths)
	for _, path := range paths {
		if last := path[strings.LastIndexByte(path, '.')+1:]; last != path &&
			len(cli.Nearest(name, []string{last})) > 0 {
			near = append(near, path)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return " (" + strings.Join(near, " or ") + "?)"
}

// ignored names the field of a column that is left out.
const ignored = "-"

// revisionColumn names the column of CSV for [apitype.RevisionMember] of JSON.
const revisionColumn = "rev"

// isPassedOver reports whether a column of CSV is of no record.
func isPassedOver(name string) bool { return name == ignored || bulk.IsOwnColumn(name) }

// ReaderOf reads a record of a noun as it is, with its revision.
func ReaderOf[T any, O apiclient.ListOptions](
	of func(*apiclient.Client) *apiclient.Collection[T, O],
) func(context.Context, *apiclient.Client, apitype.UUID) (json.RawMessage, string, error) {
	return func(ctx context.Context, client *apiclient.Client, id apitype.UUID) (json.RawMessage, string, error) {
		record, err := of(client).Get(ctx, id)
		return record.Raw, record.ETag, err
	}
}
