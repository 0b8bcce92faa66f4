package commands

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/render"
)

// importer is how the lines of a file become creations of one noun.
type importer struct {
	record string
	fields []bodyField
	change func(map[string]any) (apiclient.Change, error)
}

// importFlags are the flags of import.
type importFlags struct {
	changeFlags
	results string
	csv     bool
}

// importCommand is the verb import of a noun.
func importCommand(s *session, i importer) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use: "import FILE | -", Short: "Create many " + i.record + "s from NDJSON or CSV", Args: needExactly(1),
		Long: "Create records from a file: NDJSON of request bodies, or CSV with a header of dotted field names.\n" +
			"Every line is checked before the first request. With --results FILE one result a line is kept; run\n" +
			"again with the same file to go on where it ended, without creating anything twice. With -o a line for each\n" +
			"record is printed; -o id is the uuids of those that were created.",
		Example: "  fundesk " + i.record + " import new.ndjson --results new.results --yes\n" +
			"  fundesk " + i.record + " import new.csv --results new.results --yes --concurrency 8",
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(s, cmd, i, args[0]) },
	}
	f.register(cmd, true)
	cmd.Flags().Var(keptFile{&f.results}, "results", "keep one result a line here, and skip what it says is done")
	cmd.Flags().BoolVar(&f.csv, "csv", false, "read CSV (default: when the name ends in .csv, or it begins with a header)")
	return cmd
}

// importLine is one line of the file, ready to be sent.
type importLine struct {
	number int
	sum    string // Of the line as it is written; it tells one that was edited since.
	change apiclient.Change
}

func (f *importFlags) run(s *session, cmd *cobra.Command, i importer, name string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	if bulk.IsSameFile(name, f.results) {
		return usageError("--results names the file that is imported; the results need one of their own")
	}
	known, size, err := bulk.ReadResults(f.results)
	if err != nil {
		return refusedInput(err)
	}
	lines, err := unlessInterrupted(cmd.Context(), func() ([]importLine, error) { return f.read(s, i, name, known) })
	if err != nil {
		return err
	}
	if len(lines) == 0 && name == "-" && !f.allowEmpty {
		return withHint(usageError("stdin held no line; nothing was done"), "add --allow-empty where that is fine")
	}
	if f.dryRun {
		changes := make([]apiclient.Change, len(lines))
		for n, line := range lines {
			changes[n] = line.change
		}
		return printChanges(s, changes...)
	}
	todo := slices.DeleteFunc(slices.Clone(lines), func(l importLine) bool { return known[l.number].IsDone() })
	if done := len(lines) - len(todo); done > 0 {
		s.note("%d of %d lines are done already", done, len(lines))
	}
	if len(todo) == 0 {
		if len(lines) == 0 {
			s.note("there is no line to import")
		}
		return nil
	}
	if err := s.askChange(cmd.Context(), f.yes, "create "+count(len(todo), i.record), nil); err != nil {
		return err
	}
	if _, err := newImported(s); err != nil { // Before anything is sent.
		return err
	}
	client, err := s.connect(cmd.Context())
	if err != nil {
		return err
	}
	if _, err := client.Identity(cmd.Context()); err != nil {
		return err
	}
	out, err := bulk.OpenResults(f.results, size)
	if err != nil {
		return refusedInput(err)
	}
	err = plan(out, todo, known)
	if err == nil {
		err = f.send(s, cmd, client, todo, out)
	}
	return errors.Join(err, out.Close())
}

// plan writes the uuids of the lines that have none in the file yet. They are on disk when
// it returns.
func plan(out *bulk.Results, lines []importLine, known bulk.Earlier) error {
	var planned []bulk.Result
	for _, line := range lines {
		if _, before := known[line.number]; !before {
			planned = append(planned, bulk.Result{Line: line.number, UUID: line.change.UUID.String(), State: bulk.StatePlanned})
		}
	}
	if err := out.Write(planned...); err != nil {
		return err
	}
	return out.Sync()
}

// read reads and checks every line; nothing is sent when one is wrong.
func (f *importFlags) read(s *session, i importer, name string, known bulk.Earlier) ([]importLine, error) {
	var in io.Reader = s.app.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, usageError(err.Error())
		}
		defer file.Close()
		in = file
	}
	var lines []importLine
	var wrong []string
	seen := map[apitype.UUID]int{}
	count := 0
	each := func(number int, text []byte, object map[string]any, err error) {
		if err == nil {
			var line importLine
			if line, err = i.line(number, text, object, known, seen); err == nil {
				lines = append(lines, line)
				return
			}
		}
		if count++; len(wrong) < 20 {
			wrong = append(wrong, "line "+strconv.Itoa(number)+": "+lineProblem(err))
		}
	}
	read := readNDJSON
	buffered := bufio.NewReader(in)
	if f.csv || i.isCSV(name, buffered) {
		read = func(in io.Reader, each eachLine) error { return readCSV(s, i, in, each) }
	}
	if err := read(buffered, each); err != nil {
		return nil, err
	}
	if count > 0 {
		message := wrong[0]
		if count > 1 {
			message = fmt.Sprintf("%d lines are wrong, and nothing was sent; %s", count, wrong[0])
		}
		return nil, usageError(message, wrong...)
	}
	return lines, nil
}

// isCSV tells CSV by the name of the file, or by a first cell that is a field's name.
func (i importer) isCSV(name string, in *bufio.Reader) bool {
	if strings.EqualFold(filepath.Ext(name), ".csv") {
		return true
	}
	head, _ := in.Peek(256) // A short file has fewer bytes.
	cell, _, _ := strings.Cut(string(head), "\n")
	cell, _, _ = strings.Cut(cell, ",")
	_, known := i.column(strings.Trim(cell, "\" \r"))
	return known
}

// column is the field that a CSV header names.
func (i importer) column(name string) (field bodyField, known bool) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "\ufeff")
	at := slices.IndexFunc(i.fields, func(f bodyField) bool { return f.path == name })
	if at < 0 {
		return field, false
	}
	return i.fields[at], true
}

// lineProblem is what is wrong with a line, with the places.
func lineProblem(err error) string {
	if known, ok := errorAs(err); ok && len(known.Detail) > 0 {
		return strings.Join(known.Detail, "; ")
	}
	return err.Error()
}

// line makes the creation of one line. A line without a uuid gets the one of an earlier
// run, or a new one.
func (i importer) line(number int, text []byte, object map[string]any, known bulk.Earlier, seen map[apitype.UUID]int) (importLine, error) {
	earlier, started := known[number]
	id, given := object["uuid"].(string)
	switch {
	case !given && object["uuid"] != nil:
		return importLine{}, errors.New("uuid: has a value of another kind")
	case !given && started:
		object["uuid"] = earlier.UUID
	case given && started && !strings.EqualFold(id, earlier.UUID):
		return importLine{}, errors.New("the results file belongs to another import: its uuid for this line is " + earlier.UUID)
	case !given:
		object["uuid"] = apitype.NewUUID().String()
	}
	change, err := i.change(object)
	if err != nil {
		return importLine{}, err
	}
	if first, taken := seen[change.UUID]; taken {
		return importLine{}, errors.New("uuid: is on line " + strconv.Itoa(first) + " already")
	}
	seen[change.UUID] = number
	change.Generated = started || !given // A 409 may come from the run that was interrupted.
	line := importLine{number: number, sum: bulk.SumOf(change.UUID, text), change: change}
	if earlier.IsDone() && earlier.Sum != "" && earlier.Sum != line.sum {
		return importLine{}, errors.New("was created with other values than it has now; import what is new as another file, with another results file")
	}
	return line, nil
}

// eachLine is told every line: its number, how it is written, and what that means.
type eachLine func(number int, text []byte, object map[string]any, err error)

// readNDJSON reads one JSON object a line.
func readNDJSON(in io.Reader, each eachLine) error {
	err := bulk.EachLine(in, func(number int, line []byte) {
		object, err := decodeObject(line)
		each(number, line, object, err)
	})
	if err != nil {
		return usageError("read the lines: " + err.Error())
	}
	return nil
}

// readCSV reads rows under a header of dotted field names; an empty cell is a field
// that is not given.
func readCSV(s *session, i importer, in io.Reader, each eachLine) error {
	reader := csv.NewReader(in)
	header, err := reader.Read()
	if err != nil {
		return usageError("line 1: there is no CSV header")
	}
	columns := make([]bodyField, len(header))
	for n, name := range header {
		field, known := i.column(name)
		if len(header) == 1 && strings.ContainsAny(name, ";\t") {
			return usageError("line 1: the columns of CSV are separated by commas")
		}
		if !known {
			// Its text may be a donor's: files without a header are common.
			return usageError("line 1: column "+strconv.Itoa(n+1)+" has not the name of a field", "fields: "+strings.Join((&body{fields: i.fields}).paths(), ", "))
		}
		if slices.ContainsFunc(columns[:n], func(before bodyField) bool { return before.path == field.path }) {
			return usageError("line 1: two columns are called " + field.path)
		}
		columns[n] = field
	}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if parse, ok := errors.AsType[*csv.ParseError](err); ok {
				each(parse.StartLine, nil, nil, parse.Err)
				if errors.Is(parse.Err, csv.ErrFieldCount) {
					continue
				}
				return nil
			}
			return usageError("read the rows: " + err.Error())
		}
		number, _ := reader.FieldPos(0)
		object, err := rowObject(s, columns, row)
		each(number, []byte(strings.Join(row, "\x00")), object, err)
	}
}

func rowObject(s *session, columns []bodyField, row []string) (map[string]any, error) {
	object := map[string]any{}
	for n, cell := range row {
		if cell == "" {
			continue
		}
		value, err := s.fieldJSON(columns[n], []string{cell})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", columns[n].path, err)
		}
		setPath(object, columns[n].path, value)
	}
	return object, nil
}

// send creates the records and keeps the results. It stops early when the rest would
// fail alike: the results cannot be kept, or the service takes nothing from this account.
func (f *importFlags) send(s *session, cmd *cobra.Command, client *apiclient.Client, todo []importLine, out *bulk.Results) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	printed, err := newImported(s)
	if err != nil {
		return err
	}
	progress := newProgress(s, len(todo))
	stop := &bulk.Stopper{}
	create := func(ctx context.Context, line importLine) (int, error) {
		if err := ctx.Err(); err != nil { // Not even begun.
			return 0, err
		}
		answer, err := client.Send(ctx, line.change)
		if stop.Watch(err) { // Here, and not in the order of the lines: a slow one must not let many more go out.
			cancel()
		}
		if err != nil {
			return 0, err
		}
		return answer.Status, nil
	}
	var failed []error
	for outcome := range bulk.InOrder(ctx, f.concurrency, todo, create) {
		if kind := apiclient.KindOf(outcome.Err); kind == apiclient.KindInterrupted || errors.Is(outcome.Err, context.Canceled) {
			continue // The next run looks after it.
		}
		r := bulk.Result{Line: outcome.Item.number, UUID: outcome.Item.change.UUID.String(), Sum: outcome.Item.sum, State: bulk.StateDone, OK: new(true), Status: outcome.Value}
		if outcome.Err != nil {
			r.State, r.OK, r.Error = bulk.StateFailed, new(false), new(lineProblem(outcome.Err))
			if known, _ := errorAs(outcome.Err); known != nil {
				r.Status = known.Status
			}
			failed = append(failed, lineError{r.Line, *r.Error, outcome.Err})
		}
		if err := out.Write(r); err != nil {
			stop.Fail(err)
			cancel()
		}
		printed.add(r)
		progress.step()
	}
	progress.end()
	if err := out.Sync(); err != nil {
		stop.Fail(err)
	}
	return errors.Join(f.conclude(s, cmd, failed, stop, progress), printed.close())
}

// imported is the output of an import: a line for each record that was tried, where a format
// was asked for. A closed pipe must not leave half of the records uncreated.
type imported struct {
	list    *render.List[changeResult] // Nil: nothing is printed.
	options render.Options
	err     error
}

func newImported(s *session) (*imported, error) {
	i := &imported{}
	if s.flags.output == "" && s.flags.jq == "" {
		return i, nil
	}
	var err error
	if i.options, err = s.output(); err != nil {
		return nil, err
	}
	if i.list, err = render.NewList(s.app.Out, resultColumns(), i.options); err != nil {
		return nil, usageError(err.Error())
	}
	return i, nil
}

func (i *imported) add(r bulk.Result) {
	if i.list != nil && i.err == nil {
		i.err = printResult(i.list, i.options, changeResult{UUID: r.UUID, OK: r.IsDone(), Status: r.Status, Error: r.Error})
	}
}

func (i *imported) close() error {
	if i.list != nil && i.err == nil {
		i.err = i.list.Close()
	}
	return i.err
}

// lineError is a line that the service refused, with its reasons.
type lineError struct {
	line    int
	problem string
	cause   error
}

func (e lineError) Error() string { return "line " + strconv.Itoa(e.line) + ": " + e.problem }

func (e lineError) Unwrap() error { return e.cause }

// conclude says how an import ended.
func (f *importFlags) conclude(s *session, cmd *cobra.Command, failed []error, stop *bulk.Stopper, p *progress) error {
	hint := "run it again with --results FILE to be able to go on"
	if f.results != "" {
		hint = "go on with the same command"
	}
	if err := cmd.Context().Err(); err != nil {
		return withHint(&apiclient.Error{Kind: apiclient.KindInterrupted, Message: fmt.Sprintf("interrupted after %d of %d lines", p.done, p.total), Err: err}, hint)
	}
	if why := stop.Err(); why != nil {
		if p.done == len(failed) { // Nothing was created: it is not a part that failed.
			return withHint(why, hint)
		}
		message := fmt.Sprintf("stopped after %d of %d lines, %d of them created: %s", p.done, p.total, p.done-len(failed), why)
		return withHint(&apiclient.Error{Kind: apiclient.KindPartial, Message: message, Err: why}, hint)
	}
	s.note("%d created, %d failed", p.total-len(failed), len(failed))
	return partial(failed, p.total)
}
