package commands

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// importer is how the lines of a file become creations of one noun.
type importer struct {
	noun   string
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
		Use: "import FILE | -", Short: "Create many " + i.noun + "s from NDJSON or CSV", Args: needExactly(1),
		Long: "Create records from a file: NDJSON of request bodies, or CSV with a header of dotted field names.\n" +
			"Every line is checked before the first request. With --results FILE one result a line is kept; run\n" +
			"again with the same file to go on where it ended, without creating anything twice.",
		Example: "  fundesk " + i.noun + " import new.ndjson --results new.results --yes\n" +
			"  fundesk " + i.noun + " import new.csv --results new.results --yes --concurrency 8",
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(s, cmd, i, args[0]) },
	}
	f.register(cmd, true)
	cmd.Flags().StringVar(&f.results, "results", "", "keep one result a line here, and skip what it says is done")
	cmd.Flags().BoolVar(&f.csv, "csv", false, "read CSV (default: when the name ends in .csv)")
	return cmd
}

// importLine is one line of the file, ready to be sent.
type importLine struct {
	number int
	change apiclient.Change
}

// lineResult is one line of the results file. The uuid is written before the record is
// sent (state "sending"), so that an interrupted import never creates it twice.
type lineResult struct {
	Line   int     `json:"line"`
	UUID   string  `json:"uuid"`
	State  string  `json:"state"` // sending, done or failed.
	OK     bool    `json:"ok"`
	Status int     `json:"status,omitempty"`
	Error  *string `json:"error,omitempty"`
}

func (f *importFlags) run(s *session, cmd *cobra.Command, i importer, name string) error {
	known, err := readResults(f.results)
	if err != nil {
		return err
	}
	lines, err := f.read(s, i, name, known)
	if err != nil {
		return err
	}
	if f.dryRun {
		for _, line := range lines {
			if err := printChange(s, line.change); err != nil {
				return err
			}
		}
		return nil
	}
	todo := slices.DeleteFunc(slices.Clone(lines), func(l importLine) bool { return known[l.number].OK })
	if done := len(lines) - len(todo); done > 0 {
		s.note("%d of %d lines are done already", done, len(lines))
	}
	if len(todo) == 0 {
		if len(lines) == 0 {
			s.note("there is no line to import")
		}
		return nil
	}
	if err := s.ask(f.yes, "create "+count(len(todo), i.noun)); err != nil {
		return err
	}
	client, err := s.connect(cmd.Context())
	if err != nil {
		return err
	}
	if _, err := client.Identity(cmd.Context()); err != nil {
		return err
	}
	out, err := openResults(f.results)
	if err != nil {
		return err
	}
	err = f.send(s, cmd, client, todo, out)
	return errors.Join(err, out.close())
}

// read reads and checks every line; nothing is sent when one is wrong.
func (f *importFlags) read(s *session, i importer, name string, known map[int]lineResult) ([]importLine, error) {
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
	each := func(number int, object map[string]any, err error) {
		if err == nil {
			var line importLine
			if line, err = i.line(number, object, known, seen); err == nil {
				lines = append(lines, line)
				return
			}
		}
		if count++; len(wrong) < 20 {
			wrong = append(wrong, "line "+strconv.Itoa(number)+": "+lineProblem(err))
		}
	}
	read := readNDJSON
	if f.csv || strings.HasSuffix(strings.ToLower(name), ".csv") {
		read = func(in io.Reader, each func(int, map[string]any, error)) error { return readCSV(s, i, in, each) }
	}
	if err := read(in, each); err != nil {
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

// lineProblem is what is wrong with a line, with the places.
func lineProblem(err error) string {
	if known, ok := errorAs(err); ok && len(known.Detail) > 0 {
		return strings.Join(known.Detail, "; ")
	}
	return err.Error()
}

// line makes the creation of one line. A line without a uuid gets the one of an earlier
// run, or a new one.
func (i importer) line(number int, object map[string]any, known map[int]lineResult, seen map[apitype.UUID]int) (importLine, error) {
	earlier, started := known[number]
	id, given := object["uuid"].(string)
	switch {
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
	return importLine{number: number, change: change}, nil
}

// readNDJSON reads one JSON object a line.
func readNDJSON(in io.Reader, each func(int, map[string]any, error)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for number := 1; lines.Scan(); number++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		object, err := decodeObject(lines.Bytes())
		each(number, object, err)
	}
	if err := lines.Err(); err != nil {
		return usageError("read the lines: " + err.Error())
	}
	return nil
}

// readCSV reads rows under a header of dotted field names; an empty cell is a field
// that is not given.
func readCSV(s *session, i importer, in io.Reader, each func(int, map[string]any, error)) error {
	reader := csv.NewReader(in)
	header, err := reader.Read()
	if err != nil {
		return usageError("line 1: there is no CSV header")
	}
	columns := make([]bodyField, len(header))
	for n, name := range header {
		name = strings.TrimPrefix(strings.TrimSpace(name), "\ufeff")
		at := slices.IndexFunc(i.fields, func(f bodyField) bool { return f.path == name })
		if at < 0 {
			return usageError("line 1: there is no field "+quote(name), "fields: "+strings.Join((&body{fields: i.fields}).paths(), ", "))
		}
		columns[n] = i.fields[at]
	}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		number, _ := reader.FieldPos(0)
		if err != nil {
			if parse, ok := errors.AsType[*csv.ParseError](err); ok {
				each(parse.StartLine, nil, parse.Err)
				if errors.Is(parse.Err, csv.ErrFieldCount) {
					continue
				}
				return nil
			}
			return usageError("read the rows: " + err.Error())
		}
		object, err := rowObject(s, columns, row)
		each(number, object, err)
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

// readResults reads what an earlier run did: the last result of each line counts. A
// line that a crash cut is passed over.
func readResults(path string) (map[int]lineResult, error) {
	known := map[int]lineResult{}
	if path == "" {
		return known, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, usageError(err.Error())
	}
	for line := range bytes.Lines(data) {
		var r lineResult
		if json.Unmarshal(line, &r) == nil && r.Line > 0 && r.UUID != "" {
			known[r.Line] = r
		}
	}
	return known, nil
}

// send creates the records and keeps the results. The first error of the results file
// stops the import: without it nothing could be taken up again.
func (f *importFlags) send(s *session, cmd *cobra.Command, client *apiclient.Client, todo []importLine, out *resultsFile) error {
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	progress := newProgress(s, len(todo))
	var failed []error
	create := func(ctx context.Context, line importLine) (int, error) {
		if err := ctx.Err(); err != nil { // Not even begun.
			return 0, err
		}
		if err := out.write(lineResult{Line: line.number, UUID: line.change.UUID.String(), State: "sending"}); err != nil {
			cancel()
			return 0, err
		}
		answer, err := client.Send(ctx, line.change)
		if err != nil {
			return 0, err
		}
		return answer.Status, nil
	}
	for outcome := range inOrder(ctx, f.concurrency, todo, create) {
		if apiclient.KindOf(outcome.err) == apiclient.KindInterrupted {
			continue // The next run looks after it.
		}
		r := lineResult{Line: outcome.id.number, UUID: outcome.id.change.UUID.String(), State: "done", OK: true, Status: outcome.value}
		if outcome.err != nil {
			r.State, r.OK, r.Error = "failed", false, new(lineProblem(outcome.err))
			failed = append(failed, fmt.Errorf("line %d: %w", r.Line, outcome.err))
		}
		if err := out.write(r); err != nil {
			cancel()
			failed = append(failed, err)
		}
		progress.step()
	}
	progress.end()
	if err := cmd.Context().Err(); err != nil {
		hint := "run it again with --results FILE to be able to go on"
		if f.results != "" {
			hint = "go on with the same command"
		}
		return withHint(&apiclient.Error{Kind: apiclient.KindInterrupted, Message: fmt.Sprintf("interrupted after %d of %d lines", progress.done, len(todo)), Err: err}, hint)
	}
	s.note("%d created, %d failed", len(todo)-len(failed), len(failed))
	return partial(failed, len(todo))
}

// progress is one line on a terminal that tells how far an import is.
type progress struct {
	session *session
	total   int
	done    int
	started time.Time
	shown   time.Time
}

func newProgress(s *session, total int) *progress {
	return &progress{session: s, total: total, started: s.app.Now()}
}

func (p *progress) step() {
	p.done++
	now := p.session.app.Now()
	elapsed := now.Sub(p.started)
	if p.session.flags.quiet || now.Sub(p.shown) < 200*time.Millisecond || elapsed < time.Second {
		return
	}
	if !isTerminal(p.session.app.Err) && now.Sub(p.shown) < 10*time.Second {
		return
	}
	p.shown = now
	rate := float64(p.done) / elapsed.Seconds()
	left := time.Duration(float64(p.total-p.done)/rate) * time.Second
	text := fmt.Sprintf("%d of %d, %.0f a second, %s left", p.done, p.total, rate, left)
	if isTerminal(p.session.app.Err) {
		fmt.Fprintf(p.session.app.Err, "\r\x1b[K%s", text)
	} else {
		fmt.Fprintln(p.session.app.Err, text)
	}
}

func (p *progress) end() {
	if isTerminal(p.session.app.Err) && !p.shown.IsZero() {
		fmt.Fprint(p.session.app.Err, "\r\x1b[K")
	}
}
