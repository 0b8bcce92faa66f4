package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/render"
)

// aboutRows is what the help says of files.
const aboutRows = "CSV is told by its name or content, its delimiter by the header; --map names the fields of other headers, --country\n" +
	"reads phone numbers, days and amounts as they are written there, --encoding what Excel saves. --template prints a header\n" +
	"with an example. Every line is checked before the first change, and every mistake in it is told; --errors FILE.csv keeps\n" +
	"the wrong lines, to be corrected and read again. With --results FILE one result a line is kept; run again with the same\n" +
	"file to go on where it ended. With -o a line for each record is printed; -o id is the uuids of those that worked."

// importCommand is the verb import of a noun.
func importCommand(s *session, shape rowShape) *cobra.Command {
	f := &rowFlags{}
	cmd := &cobra.Command{
		Use: "import FILE | -", Short: "Create many " + shape.record + "s from NDJSON or CSV", Args: f.args,
		Long: "Create records from a file: NDJSON of request bodies, or CSV with a header of field names, dotted where they are\n" +
			"nested. Nothing is created twice.\n\n" + aboutRows,
		Example: "  fundesk " + shape.record + " import new.ndjson --results new.results --yes\n" +
			"  fundesk " + shape.record + " import new.csv --results new.results --yes --concurrency 8\n" +
			"  fundesk " + shape.record + " import --template > new.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(s, cmd, shape, args, rowVerb{created, (*rowRun).creations})
		},
	}
	f.register(cmd)
	return cmd
}

// args wants a file, unless a template is asked for.
func (f *rowFlags) args(cmd *cobra.Command, args []string) error {
	if f.template {
		return noArgs(cmd, args)
	}
	return needExactly(1)(cmd, args)
}

// rowVerb is what is done with the rows of a file.
type rowVerb struct {
	done    string // The word for what was carried out.
	prepare func(*rowRun) error
}

// created is what an import does.
const created = "created"

// plannedLine is a line that is ready to be sent, with what it changes.
type plannedLine struct {
	bulk.Line
	row     bulk.Row
	changes []fieldChange // Of a record that is there.
}

// rowRun is one run over a file.
type rowRun struct {
	*rowFlags
	verb      rowVerb
	session   *session
	cmd       *cobra.Command
	reader    *rowReader
	rows      bulk.Rows
	known     bulk.Earlier
	lines     []plannedLine
	wrong     []bulk.Mistakes
	done      int // Lines of earlier runs.
	unchanged int // Lines that say what the record says.
}

// run reads the file, has its lines made into changes, and sends them.
func (f *rowFlags) run(s *session, cmd *cobra.Command, shape rowShape, args []string, verb rowVerb) error {
	if f.template {
		return printTemplate(s, shape, verb.done == created)
	}
	if err := f.check(cmd, args[0]); err != nil {
		return err
	}
	if _, err := newImported(s); err != nil { // Before anything is sent.
		return err
	}
	reader, err := f.reader(s, shape)
	if err != nil {
		return err
	}
	known, size, err := bulk.ReadResults(f.results)
	if err != nil {
		return refusedInput(err)
	}
	r := &rowRun{rowFlags: f, verb: verb, session: s, cmd: cmd, reader: reader, known: known}
	if r.rows, err = f.open(cmd.Context(), reader, args[0]); err != nil {
		return err
	}
	if len(r.rows.All) == 0 && args[0] == "-" && !f.allowEmpty {
		return withHint(usageError("stdin held no line; nothing was done"), "add --allow-empty where that is fine")
	}
	if err := verb.prepare(r); err != nil {
		return err
	}
	if err := r.refuse(); err != nil {
		return err
	}
	if f.dryRun {
		return r.show()
	}
	if r.done > 0 {
		s.note("%d of %d lines are done already", r.done, len(r.rows.All))
	}
	if len(r.lines) == 0 {
		r.noteNothing()
		return nil
	}
	return r.send(size)
}

// noteNothing says why there is nothing to send.
func (r *rowRun) noteNothing() {
	switch {
	case len(r.rows.All) == 0:
		r.session.note("there is no line")
	case r.unchanged > 0:
		r.session.note("nothing differs: %s as the file says", count(r.unchanged, "record"))
	}
}

// refuse tells every line that is wrong; nothing is sent then.
func (r *rowRun) refuse() error {
	slices.SortStableFunc(r.wrong, func(a, b bulk.Mistakes) int { return a.Row.Line - b.Row.Line })
	if r.errors != "" {
		if err := bulk.WriteMistakes(r.errors, r.rows.Header, r.wrong); err != nil {
			return err
		}
	}
	if len(r.wrong) == 0 {
		return nil
	}
	texts := make([]string, len(r.wrong))
	for i, m := range r.wrong {
		texts[i] = m.Error()
	}
	message := texts[0]
	if len(texts) > 1 {
		message = fmt.Sprintf("%d lines are wrong, and nothing was sent; %s", len(texts), texts[0])
	}
	return withHint(usageError(message, texts...), r.hint(strings.Join(texts, "\n")))
}

// hint is the way out of wrong lines.
func (r *rowRun) hint(text string) string {
	switch {
	case strings.Contains(text, emptyCell):
		return "--empty clear clears such fields, --empty keep leaves them as they are"
	case strings.Contains(text, noSuchRecord), strings.Contains(text, noIdentifier):
		return "--create creates what is not there"
	case r.country == "" && strings.Contains(text, "international format"):
		return "--country NL reads numbers as they are dialled there"
	case r.errors == "" && len(r.wrong) > 1:
		return "--errors FILE.csv keeps the wrong lines and their mistakes"
	default:
		return ""
	}
}

// creations makes each row into a creation.
func (r *rowRun) creations() error {
	seen := map[apitype.UUID]int{}
	for _, row := range r.rows.All {
		values, err := r.reader.values(r.rows.Header, row)
		if err != nil {
			r.add(plannedLine{}, bulk.Mistakes{Row: row, What: []string{bulk.Reasons(err)}})
			continue
		}
		r.add(r.creation(row, values, seen))
	}
	return nil
}

// add keeps a line, or what is wrong with it. What is done already is checked, too.
func (r *rowRun) add(line plannedLine, wrong bulk.Mistakes) {
	switch {
	case len(wrong.What) > 0:
		r.wrong = append(r.wrong, wrong)
	case r.known[line.Number].IsDone():
		r.done++
	default:
		r.lines = append(r.lines, line)
	}
}

// creation makes the creation of a row. A row without a uuid gets the one of an earlier run,
// or a new one.
func (r *rowRun) creation(row bulk.Row, values []rowValue, seen map[apitype.UUID]int) (plannedLine, bulk.Mistakes) {
	wrong := bulk.Mistakes{Row: row}
	object, problems := r.reader.request(values)
	earlier, started := r.known[row.Line]
	id, given := object["uuid"].(string)
	switch {
	case given && started && !strings.EqualFold(id, earlier.UUID):
		wrong.What = []string{"the results file belongs to another file: its uuid for this line is " + earlier.UUID}
		return plannedLine{}, wrong
	case !given && object["uuid"] != nil:
		problems.Add("/uuid", "has a value of another kind")
		delete(object, "uuid")
	case !given && started:
		object["uuid"] = earlier.UUID
	case !given:
		object["uuid"] = apitype.NewUUID().String()
	}
	change, err := r.reader.shape.create(object)
	if wrong.What = mistakesIn(problems, err); len(wrong.What) > 0 {
		return plannedLine{}, wrong
	}
	if first, taken := seen[change.UUID]; taken {
		wrong.What = []string{"uuid: is on line " + strconv.Itoa(first) + " already"}
		return plannedLine{}, wrong
	}
	seen[change.UUID] = row.Line
	change.Generated = started || !given // A 409 may come from the run that was interrupted.
	line := plannedLine{Line: bulk.Line{Number: row.Line, Sum: bulk.SumOf(change.UUID, row.SumText()), Change: change}, row: row}
	if earlier.IsDone() && earlier.Sum != "" && earlier.Sum != line.Sum {
		wrong.What = []string{"was created with other values than it has now; import what is new as another file, with another results file"}
	}
	return line, wrong
}

// question is what is asked before the changes.
func (r *rowRun) question() (string, []apitype.UUID) {
	creates, ids := 0, make([]apitype.UUID, len(r.lines))
	fields := map[string]int{}
	for i, line := range r.lines {
		ids[i] = line.Change.UUID
		if line.Change.Operation().Creates {
			creates++
		}
		for _, change := range line.changes {
			fields[change.Field]++
		}
	}
	record := r.reader.shape.record
	if creates == len(r.lines) {
		return "create " + count(creates, record), nil // Their uuids tell nobody anything.
	}
	question := "change " + count(len(r.lines)-creates, record) + " (" + tally(fields) + ")"
	if creates > 0 {
		question += " and create " + strconv.Itoa(creates)
	}
	return question, ids
}

// send asks, and sends the lines.
func (r *rowRun) send(size int64) error {
	ctx := r.cmd.Context()
	question, ids := r.question()
	if err := r.session.askChange(ctx, r.yes, question, ids); err != nil {
		return err
	}
	client, err := r.session.connect(ctx)
	if err != nil {
		return err
	}
	if _, err := client.Identity(ctx); err != nil {
		return err
	}
	out, err := bulk.OpenResults(r.results, size)
	if err != nil {
		return refusedInput(err)
	}
	job := &bulk.Job{Concurrency: r.concurrency, Results: out, Client: client}
	for _, line := range r.lines {
		job.Lines = append(job.Lines, line.Line)
	}
	if err = job.Plan(r.known); err == nil {
		err = r.watch(ctx, job)
	}
	return errors.Join(err, out.Close())
}

// watch runs a job and tells how it goes.
func (r *rowRun) watch(ctx context.Context, job *bulk.Job) error {
	printed, err := newImported(r.session)
	if err != nil {
		return err
	}
	progress := newProgress(r.session, len(job.Lines))
	job.Each = func(result bulk.Result, err error) {
		if err != nil {
			at := slices.IndexFunc(r.lines, func(l plannedLine) bool { return l.Number == result.Line })
			r.wrong = append(r.wrong, bulk.Mistakes{Row: r.lines[at].row, What: []string{bulk.Reasons(err)}, Cause: err})
		}
		printed.add(result)
		progress.step()
	}
	stopped := job.Run(ctx)
	progress.end()
	if r.errors != "" {
		stopped = errors.Join(stopped, bulk.WriteMistakes(r.errors, r.rows.Header, r.wrong))
	}
	return errors.Join(r.conclude(stopped, progress), printed.close())
}

// imported is the output of a run over a file: a line for each record that was tried, where a
// format was asked for. A closed pipe must not leave half of the records unsent.
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

// conclude says how a run ended; why is what stopped it early.
func (r *rowRun) conclude(why error, p *progress) error {
	hint := "run it again with --results FILE to be able to go on"
	if r.results != "" {
		hint = "go on with the same command"
	}
	if err := r.cmd.Context().Err(); err != nil {
		return withHint(&apiclient.Error{Kind: apiclient.KindInterrupted, Message: fmt.Sprintf("interrupted after %d of %d lines", p.done, p.total), Err: err}, hint)
	}
	worked := p.done - len(r.wrong)
	if why != nil {
		if worked == 0 { // Nothing was done: it is not a part that failed.
			return withHint(why, hint)
		}
		message := fmt.Sprintf("stopped after %d of %d lines, %d of them %s: %s", p.done, p.total, worked, r.verb.done, why)
		return withHint(&apiclient.Error{Kind: apiclient.KindPartial, Message: message, Err: why}, hint)
	}
	unchanged := ""
	if r.unchanged > 0 {
		unchanged = fmt.Sprintf("%d unchanged, ", r.unchanged)
	}
	r.session.note("%d %s, %s%d failed", worked, r.verb.done, unchanged, len(r.wrong))
	failed := make([]error, len(r.wrong))
	for i, m := range r.wrong {
		failed[i] = m
	}
	return partial(failed, p.total)
}
