// Package load makes many changes from the rows of a file: import creates records, apply also
// changes those that are there. Reading files and sending many changes is of package bulk.
package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/change"
	"fundesk/commands/cli"
)

// aboutRows is what the help says of files.
const aboutRows = "fundesk recognises CSV by its name or content, and its delimiter by the header. --map names fields for other\n" +
	"headers. --country reads a country's phone numbers, days and amounts, and --encoding reads what Excel saves.\n" +
	"--template prints a header with an example.\n\n" +
	"Every line is checked before the first change. Errors are listed by line, and --errors FILE.csv keeps the bad rows\n" +
	"with the reason. --results FILE keeps one result per line; run again with the same file to continue.\n" +
	"-o prints a line per record, and -o id the uuids of those that worked."

// Import is the verb import of a noun.
func Import(s *cli.Session, shape Rows) *cobra.Command {
	f := &rowFlags{}
	cmd := &cobra.Command{
		Use:   "import FILE | -",
		Short: "Create many " + shape.Record + "s from NDJSON or CSV",
		Args:  f.args,
		Long: "Create records from a file: NDJSON of request bodies, or CSV with a header of field names, dotted where they are\n" +
			"nested. Nothing is created twice.\n\n" + aboutRows,
		Example: "  fundesk " + shape.Record + " import new.ndjson --results new.results --yes\n" +
			"  fundesk " + shape.Record + " import new.csv --results new.results --yes --concurrency 8\n" +
			"  fundesk " + shape.Record + " import --template > new.csv",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(s, cmd, shape, args, rowVerb{created, (*rowRun).creations})
		},
	}
	f.register(cmd, shape.Creates)
	return cmd
}

// args wants a file, unless a template is asked for.
func (f *rowFlags) args(cmd *cobra.Command, args []string) error {
	if f.template {
		return cli.NoArgs(cmd, args)
	}
	return cli.NeedExactly(1)(cmd, args)
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
	Changes []fieldChange `json:"changes,omitempty"` // Of a record that is there; kept where they will be shown.
	left    []string      // What answers show and no creation carries.
}

// collectRowsAt is how much garbage, in percent of what lives, a run over a file leaves
// before it is collected: little lives at a time, and to collect it at 100 took an eighth of
// the run's processor time.
const collectRowsAt = 400

// rowRun is one run over a file.
type rowRun struct {
	*rowFlags
	verb      rowVerb
	session   *cli.Session
	cmd       *cobra.Command
	reader    *rowReader
	source    *rowSource
	service   string // Its address.
	known     bulk.Earlier
	seen      map[apitype.UUID]int32 // The lines of uuids.
	lines     *bulk.Spool[plannedLine]
	asked     rowQuestion
	wrong     wrongLines
	printed   *change.Results
	read      int                        // Lines so far.
	done      int                        // Lines of earlier runs.
	unchanged int                        // Lines that say what the record says.
	overtaken *bulk.Spool[change.Result] // Wrong lines that are left out alone: their records changed after the export.
	created   int                        // Records that were created.
	left      []string                   // What of exported records is left out.
	consents  bool                       // Some lines have consents.
}

// run reads the file, has its lines made into changes, and sends them.
func (f *rowFlags) run(s *cli.Session, cmd *cobra.Command, shape Rows, args []string, verb rowVerb) (err error) {
	if f.template {
		return printTemplate(s, shape, verb.done == created)
	}
	if err := f.check(cmd, args[0]); err != nil {
		return err
	}
	printed, err := rowResults(s)
	if err != nil { // Before anything is sent.
		return err
	}
	r := &rowRun{
		rowFlags: f,
		verb:     verb,
		session:  s,
		cmd:      cmd,
		printed:  printed,
		seen:     map[apitype.UUID]int32{},
		asked:    rowQuestion{fields: map[string]int{}},
	}
	defer debug.SetGCPercent(debug.SetGCPercent(collectRowsAt))
	if r.reader, err = f.reader(s, shape); err != nil {
		return err
	}
	if shape.Record == "person" && f.results == "" {
		r.asked.donors = map[donor]int{}
	}
	if t, err := s.Resolve(); err == nil { // Without a service nothing will be sent.
		r.service = (&cli.Target{BaseURL: t.BaseURL}).Service()
	}
	if r.known, err = bulk.ReadResults(f.results); err != nil {
		return cli.RefusedInput(err)
	}
	if was := r.known.Service; was != "" && r.service != "" && was != r.service {
		s.Warn(
			"%s tells what was sent to %s; what is done there is not sent to %s. Another results file sends all of it",
			f.results,
			was,
			r.service,
		)
	}
	if r.source, err = f.open(cmd.Context(), r.reader, args[0]); err != nil {
		return err
	}
	defer r.source.close()
	if r.lines, err = bulk.NewSpool[plannedLine](); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.lines.Close()) }()
	if r.overtaken, err = bulk.NewSpool[change.Result](); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.overtaken.Close()) }()
	if f.errors != "" {
		if r.wrong.all, err = bulk.NewSpool[bulk.Mistakes](); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.wrong.all.Close()) }()
	}
	return r.carryOut(args[0])
}

func (r *rowRun) carryOut(name string) error {
	if err := r.verb.prepare(r); err != nil {
		return cli.RefusedInput(err)
	}
	if r.read == 0 && name == "-" && !r.allowEmpty {
		return cli.WithHint(cli.UsageError("stdin is empty; nothing was done"), "add --allow-empty where that is fine")
	}
	if err := errors.Join(r.refuse(), r.lines.Err(), r.overtaken.Err()); err != nil {
		return err
	}
	if len(r.left) > 0 {
		r.session.Note("%s", change.LeftOut(r.left))
	}
	if r.dryRun {
		return errors.Join(r.show(), r.lines.Err(), r.partial(r.lines.Len))
	}
	if r.done > 0 {
		r.session.Note("done already: %d of %s", r.done, cli.Count(r.read, "line"))
	}
	switch {
	case r.lines.Len > 0:
		return r.send()
	case r.overtaken.Len > 0:
		r.printOvertaken()
		return errors.Join(r.partial(0), r.printed.Close())
	case r.read == 0:
		r.session.Note("there is no line")
	case r.unchanged > 0:
		r.session.Note("nothing differs: %s as the file says", cli.Count(r.unchanged, "record"))
	}
	return r.printed.Close()
}

// failed returns how many lines are wrong, without those that are left out alone.
func (r *rowRun) failed() int { return r.wrong.count - r.overtaken.Len }

// printOvertaken prints the results of the lines that are left out.
func (r *rowRun) printOvertaken() {
	for result := range r.overtaken.All() {
		r.printed.Add(result)
	}
}

// partial returns the error of a run over so many lines of which some failed or were left out, or nil.
func (r *rowRun) partial(tried int) error {
	if r.wrong.count == 0 {
		return nil
	}
	leftOut := cli.Count(r.overtaken.Len, "line") + " left out, because the records changed after the export"
	message := fmt.Sprintf("%d of %d failed", r.failed(), tried)
	if r.failed() == 0 {
		message = leftOut
	} else if r.overtaken.Len > 0 {
		message += ", and " + leftOut
	}
	failed := &apiclient.Error{Kind: apiclient.KindPartial, Message: message, Detail: r.wrong.texts()}
	return cli.WithHint(failed, r.hint(strings.Join(failed.Detail, "\n")))
}

// wrongLines are the lines that are wrong: the first of them, and all where a file wants them.
type wrongLines struct {
	count int
	first []bulk.Mistakes
	all   *bulk.Spool[bulk.Mistakes] // Nil: no file.
}

// mostWrong is how many wrong lines an error tells.
const mostWrong = 1000

func (w *wrongLines) add(m bulk.Mistakes) {
	w.count++
	if len(w.first) < mostWrong {
		w.first = append(w.first, m)
	}
	if w.all != nil {
		w.all.Add(m)
	}
}

func (w *wrongLines) write(path string, header []string) error {
	if w.all == nil {
		return nil
	}
	return errors.Join(bulk.WriteMistakes(path, header, w.all.All()), w.all.Err())
}

func (w *wrongLines) texts() []string {
	texts := make([]string, len(w.first))
	for i, m := range w.first {
		texts[i] = m.Error()
	}
	if more := w.count - len(w.first); more > 0 {
		texts = append(texts, "and "+cli.Count(more, "line")+" more")
	}
	return texts
}

// refuse tells every line that is wrong; nothing is sent then.
func (r *rowRun) refuse() error {
	if err := r.wrong.write(r.errors, r.source.Header); err != nil {
		return err
	}
	if r.failed() == 0 {
		return nil
	}
	texts := r.wrong.texts()
	message := texts[0]
	if r.wrong.count > 1 {
		message = fmt.Sprintf("%d lines are wrong, and nothing was sent; %s", r.wrong.count, texts[0])
	}
	return cli.WithHint(cli.UsageError(message, texts...), r.hint(strings.Join(texts, "\n")))
}

func (r *rowRun) hint(text string) string {
	switch {
	case r.overtaken.Len > 0 && r.failed() == 0:
		return "export again and edit that, or add --force to replace what was changed"
	case strings.Contains(text, emptyCell):
		return "--empty clear clears such fields, --empty keep leaves them as they are"
	case strings.Contains(text, noSuchRecord), strings.Contains(text, noIdentifier):
		return "--create creates what is not there"
	case strings.Contains(text, cannotChange):
		return "--map FIELD=- leaves such a field out; --value FIELD:THEIRS=OURS says what it is here"
	case strings.Contains(text, "personUuid: is required"):
		return "fundesk pledge list --include person shows the person"
	case strings.Contains(text, "owningOrganizationUuid: is required"):
		return "--default owningOrganizationUuid=UUID fills it in" + r.session.SettingHint("owning_organization", "UUID")
	case strings.Contains(text, "recruitingOrganizationUuid: is required"):
		return "--default recruitingOrganizationUuid=UUID fills it in" + r.session.SettingHint(
			"recruiting_organization",
			"UUID",
		)
	case strings.Contains(text, "OrganizationUuid: "):
		return "--value 'owningOrganizationUuid:ITS-UUID=UUID' names the organization of this service"
	case r.country == "" && strings.Contains(text, "international format"):
		return "--country NL reads numbers as they are dialled there"
	case r.errors == "" && r.wrong.count > 1:
		return "--errors FILE.csv keeps the wrong lines and their mistakes"
	default:
		return ""
	}
}

// creations makes each row into a creation.
func (r *rowRun) creations() error {
	progress := newProgress(r.session, 0, r.source.share)
	defer progress.end()
	for row, err := range r.source.All {
		if err != nil {
			return err
		}
		r.read++
		progress.step()
		values, err := r.reader.values(r.source.Header, row)
		if err != nil {
			r.wrong.add(bulk.Mistakes{Row: row, What: []string{bulk.Reasons(err)}})
			continue
		}
		earlier := r.known.Lines[row.Line]
		line, problems := r.creation(row, values, earlier)
		if first, taken := r.seen[line.Change.UUID]; taken && len(problems) == 0 {
			problems = []string{onEarlierLine(first)}
		}
		switch {
		case len(problems) > 0:
			r.wrong.add(bulk.Mistakes{Row: row, What: problems})
			continue
		case earlier.Done: // It was checked, too.
			r.done++
		default:
			r.plan(line)
		}
		r.seen[line.Change.UUID] = int32(row.Line)
	}
	return nil
}

// onEarlierLine is what is wrong with a uuid that stands in a file twice.
func onEarlierLine(first int32) string {
	return "uuid: is on line " + strconv.Itoa(int(first)) + " already"
}

func (r *rowRun) plan(line plannedLine) {
	for _, name := range line.left {
		if !slices.Contains(r.left, name) {
			r.left = append(r.left, name)
		}
	}
	r.asked.add(line)
	r.consents = r.consents || len(line.After) > 0 || line.Change.Op == apiclient.OpAddConsent
	if !r.dryRun {
		line.Changes = nil
	}
	r.lines.Add(line)
}

// creation makes the creation of a row. A row without a uuid gets the one of an earlier run,
// or a new one.
func (r *rowRun) creation(row bulk.Row, values []rowValue, earlier bulk.Past) (line plannedLine, problems []string) {
	object, violations := r.reader.request(values)
	line.left = change.AsCreation(object, r.reader.shape.Creates, r.reader.shape.Shows)
	id, given := object["uuid"].(string)
	switch {
	case given && earlier.Started() && !strings.EqualFold(id, earlier.UUID.String()):
		return line, []string{otherFile(earlier)}
	case !given && object["uuid"] != nil:
		violations.Add("/uuid", "has a value of another kind")
		delete(object, "uuid")
	case !given && earlier.Started():
		object["uuid"] = earlier.UUID.String()
	case !given:
		object["uuid"] = apitype.NewUUID().String()
	}
	consents, wrongConsents := r.reader.takeConsents(object)
	change, err := r.reader.shape.Create(r.session, object)
	if problems = r.reader.mistakesIn(values, violations, joinViolations(err, wrongConsents)); len(problems) > 0 {
		return line, problems
	}
	after, err := consentChanges(change.UUID, consents)
	if err != nil {
		return line, []string{bulk.Reasons(err)}
	}
	change.Generated = earlier.Started() || !given // A 409 may come from the run that was interrupted.
	line.Line = bulk.Line{
		Row:     row,
		Sum:     bulk.SumOf(change.UUID, row.SumText()),
		Planned: earlier.Started(),
		Change:  change,
		After:   after,
	}
	if earlier.Done && earlier.Sum != (bulk.Sum{}) && earlier.Sum != line.Sum {
		problems = []string{
			"was created with other values than it has now; import what is new as another file, with another results file",
		}
	}
	return line, problems
}

// otherFile is what is wrong where the results are those of another file.
func otherFile(earlier bulk.Past) string {
	return "the results file belongs to another file: its uuid for this line is " + earlier.UUID.String()
}

// rowQuestion is what the question before the changes tells of them.
type rowQuestion struct {
	changes, creates int
	fields           map[string]int // In how many records each changes.
	first            []apiclient.Change
	donors           map[donor]int // How many persons of each name and birthday are created.
}

func (q *rowQuestion) add(line plannedLine) {
	if line.Change.Operation().Creates {
		q.creates++
		var person apitype.CreatePersonRequest
		if q.donors != nil && json.Unmarshal(line.Change.Body, &person) == nil && person.Name != nil {
			q.donors[donorOf(person.Name.FirstName, person.Name.LastName, person.DateOfBirth)]++
		}
		return // Its uuid tells nobody anything.
	}
	q.changes++
	if len(q.first) < cli.NamedRecords {
		q.first = append(q.first, line.Change)
	}
	for _, change := range line.Changes {
		q.fields[change.Field]++
	}
}

// text is the question about records of that name.
func (q *rowQuestion) text(record string) string {
	if q.changes == 0 {
		return "create " + cli.Count(q.creates, record)
	}
	question := "change " + cli.Count(q.changes, record) + " (" + tally(q.fields) + ")"
	if q.creates > 0 {
		question += " and create " + strconv.Itoa(q.creates)
	}
	return question
}

func (r *rowRun) send() error {
	ctx := r.cmd.Context()
	client, err := r.session.Connect(ctx)
	if err != nil {
		return err
	}
	if _, err := client.Identity(ctx); err != nil {
		return err
	}
	if r.consents {
		if err := requireConsents(ctx, client); err != nil {
			return err
		}
	}
	if err := r.ask(ctx, client); err != nil {
		return err
	}
	out, err := bulk.OpenResults(r.results, r.known.Size)
	if err != nil {
		return cli.RefusedInput(err)
	}
	lines := bulk.Each(r.lines.All(), func(line plannedLine) bulk.Line { return line.Line })
	job := &bulk.Job{Concurrency: r.concurrency, Results: out, Client: client, Service: r.service, Lines: lines}
	if err = errors.Join(job.Plan(), r.lines.Err()); err == nil {
		err = r.watch(ctx, job)
	}
	return errors.Join(err, out.Close())
}

func (r *rowRun) watch(ctx context.Context, job *bulk.Job) error {
	progress := newProgress(r.session, r.lines.Len, nil)
	job.Each = func(line bulk.Line, result bulk.Result, err error) {
		switch {
		case err != nil:
			r.wrong.add(bulk.Mistakes{Row: line.Row, What: []string{bulk.Reasons(err)}, Cause: err})
		case line.Change.Operation().Creates:
			r.created++
		}
		r.printed.Add(change.Result{UUID: result.UUID, OK: result.IsDone(), Status: result.Status, Error: result.Error})
		progress.step()
	}
	stopped := job.Run(ctx)
	r.printOvertaken()
	progress.end()
	stopped = errors.Join(stopped, r.lines.Err(), r.wrong.write(r.errors, r.source.Header))
	return errors.Join(r.conclude(stopped, progress), r.printed.Close())
}

// rowResults are the results of a run over a file, which are printed where a format was asked for.
func rowResults(s *cli.Session) (*change.Results, error) {
	if s.Flags.Output == "" && s.Flags.JQ == "" {
		return &change.Results{}, nil
	}
	return change.NewResults(s)
}

// conclude says how a run ended; why is what stopped it early.
func (r *rowRun) conclude(why error, p *progress) error {
	hint := "run it again with --results FILE to be able to go on"
	if r.results != "" {
		hint = "go on with the same command"
	}
	if err := r.cmd.Context().Err(); err != nil {
		return cli.WithHint(
			&apiclient.Error{
				Kind:    apiclient.KindInterrupted,
				Message: fmt.Sprintf("interrupted after %d of %d lines", p.done, p.total),
				Err:     err,
			},
			hint,
		)
	}
	worked := p.done - r.failed()
	told := fmt.Sprintf("%d %s", worked, r.verb.done)
	if r.created > 0 && r.verb.done != created {
		told = fmt.Sprintf("%d %s, %d %s", worked-r.created, r.verb.done, r.created, created)
	}
	if why != nil {
		if worked == 0 { // Nothing was done: it is not a part that failed.
			return cli.WithHint(why, hint)
		}
		message := fmt.Sprintf("stopped after %d of %d lines (%s): %s", p.done, p.total, told, why)
		return cli.WithHint(&apiclient.Error{Kind: apiclient.KindPartial, Message: message, Err: why}, hint)
	}
	unchanged := ""
	if r.unchanged > 0 {
		unchanged = fmt.Sprintf("%d unchanged, ", r.unchanged)
	}
	if r.overtaken.Len > 0 {
		unchanged += fmt.Sprintf("%d left out, ", r.overtaken.Len)
	}
	r.session.Note("%s, %s%d failed", told, unchanged, r.failed())
	return r.partial(p.total)
}
