package load

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// The words for finished changes.
const (
	created = "created"
	changed = "changed"
)

// plannedLine has everything that is needed to send a line and to show it.
type plannedLine struct {
	bulk.Line
	Changes   []fieldChange `json:"changes,omitempty"` // Of an existing record; kept only to be shown.
	left      []string      // Fields of answers that no creation has.
	overruled int           // Consents that change no opt-in, because a later one decides.
}

// collectRowsAt sets the garbage collector for a run over a file. Few objects live at a time, and the default of 100
// took an eighth of the run's processor time.
const collectRowsAt = 400

// rowRun is one run over a file.
type rowRun struct {
	*rowFlags
	compares  bool // Rows are compared with their records, which are read. An import has none.
	session   *cli.Session
	cmd       *cobra.Command
	client    *apiclient.Client // Nil for an import, whose lines are checked without the service.
	reader    *rowReader
	source    *rowSource
	service   string // Its address.
	kept      string // The path of the results. Empty if none are kept.
	known     bulk.Earlier
	edited    map[int]bulk.Past      // The lines that had other values in an earlier run.
	seen      map[apitype.UUID]int32 // The lines of uuids.
	all       *bulk.Spool[bulk.Row]  // The rows of the file.
	lines     *bulk.Spool[plannedLine]
	asked     rowQuestion
	wrong     wrongLines
	printed   *change.Results
	read      int                        // Lines so far.
	done      int                        // Lines of earlier runs.
	endsAt    int                        // The line after which no row can be read. Zero if all can.
	skipped   int                        // Wrong lines that --skip-wrong leaves out.
	unchanged int                        // Lines that equal their record.
	overtaken *bulk.Spool[change.Result] // Wrong lines that are left out alone, such as those without a record.
	created   int                        // Records that were created.
	parts     int                        // Lines that were carried out but for their consents.
	left      []string                   // Fields of exported records that are left out.
	consents  bool                       // Some lines have consents.
	overruled int                        // Those that change no opt-in.
	matcher   *matcher                   // Nil without --match.
	leftOut   map[error]int              // Lines by why they are left out.
}

// run reads the file, has its lines made into changes, and sends them.
func (f *rowFlags) run(s *cli.Session, cmd *cobra.Command, shape Rows, args []string, compares bool) (err error) {
	if f.template {
		return printTemplate(s, shape, !compares)
	}
	if err := errors.Join(f.check(cmd, args[0]), f.checkMatch(shape.Record)); err != nil {
		return err
	}
	if f.guesses {
		return f.guess(cmd.Context(), s, shape, args[0])
	}
	printed, err := rowResults(s)
	if err != nil { // Before anything is sent.
		return err
	}
	r := &rowRun{
		rowFlags: f,
		compares: compares,
		session:  s,
		cmd:      cmd,
		printed:  printed,
		seen:     map[apitype.UUID]int32{},
		leftOut:  map[error]int{},
		asked:    rowQuestion{fields: map[string]int{}},
	}
	defer debug.SetGCPercent(debug.SetGCPercent(collectRowsAt))
	r.reader, err = f.reader(s, shape)
	if err != nil {
		return err
	}
	if t, err := s.Resolve(); err == nil { // Without a service nothing will be sent.
		r.service = (&cli.Target{BaseURL: t.BaseURL}).Service()
	}
	r.kept = f.keptResults(args[0], !compares || f.create)
	r.known, err = bulk.ReadResults(r.kept, r.service)
	if err != nil {
		return cli.RefusedInput(err)
	}
	if was := r.known.Elsewhere; was != "" {
		s.Note("%s has the results of %s; %s gets every row again", r.kept, was, r.service)
	}
	if shape.Record == "person" && len(r.known.Rows) == 0 {
		r.asked.donors = map[donorName]int{}
	}
	r.source, err = f.open(cmd.Context(), r.reader, args[0])
	if err != nil {
		return err
	}
	defer r.source.close()
	defer func() { err = errors.Join(err, r.closeSpools()) }()
	if err := r.openSpools(); err != nil {
		return err
	}
	return r.carryOut(args[0])
}

// openSpools opens the files that hold the lines of the run.
func (r *rowRun) openSpools() error {
	var err error
	r.all, err = bulk.NewSpool[bulk.Row]()
	if err != nil {
		return err
	}
	r.lines, err = bulk.NewSpool[plannedLine]()
	if err != nil {
		return err
	}
	r.overtaken, err = bulk.NewSpool[change.Result]()
	if err != nil {
		return err
	}
	if r.errors != "" {
		r.wrong.all, err = bulk.NewSpool[bulk.Mistakes]()
	}
	return err
}

func (r *rowRun) closeSpools() error {
	return errors.Join(r.all.Close(), r.lines.Close(), r.overtaken.Close(), r.wrong.all.Close())
}

func (r *rowRun) carryOut(name string) error {
	if err := r.prepare(r.cmd.Context()); err != nil {
		return cli.RefusedInput(err)
	}
	if r.read == 0 && name == "-" && !r.allowEmpty {
		return cli.WithHint(cli.UsageError("stdin is empty; nothing was done"), "add --allow-empty if that is fine")
	}
	if err := errors.Join(r.refuse(), r.lines.Err(), r.overtaken.Err()); err != nil {
		return err
	}
	r.skipped = r.failed()
	if r.matcher != nil {
		if err := r.showPlan(); err != nil || r.planOnly {
			return errors.Join(err, r.partial(r.lines.Len+r.skipped))
		}
	}
	if len(r.left) > 0 {
		r.session.Note("%s", change.LeftOut(r.left))
	}
	if r.overruled > 0 {
		r.session.Warn(
			"%s will not change the opt-in: the donor has a later one for the channel; .at takes a time of day, too",
			cli.Count(r.overruled, "consent"),
		)
	}
	if r.done > 0 {
		r.session.Note("already done: %d of %s", r.done, cli.Count(r.read, "line"))
	}
	if r.dryRun {
		return errors.Join(r.show(), r.lines.Err(), r.partial(r.lines.Len+r.skipped))
	}
	switch {
	case r.lines.Len > 0:
		return r.send()
	case r.overtaken.Len > 0, r.skipped > 0:
		r.printOvertaken()
		return errors.Join(r.partial(r.skipped), r.printed.Close())
	case r.read == 0:
		r.session.Note("the file is empty")
	case r.unchanged > 0:
		r.session.Note("nothing differs: %s as in the file", cli.Count(r.unchanged, "record"))
	}
	return r.printed.Close()
}

// prepare makes every row into the changes that it needs, several at a time, and counts them.
func (r *rowRun) prepare(ctx context.Context) error {
	concurrency := 1 // A creation waits for nothing.
	if r.compares {
		client, err := r.session.Connect(ctx)
		if err != nil {
			return err
		}
		r.client, concurrency = client, r.concurrency
	}
	if err := r.survey(); err != nil {
		return err
	}
	if err := r.findMatches(ctx); err != nil {
		return err
	}
	progress := newProgress(r.session, r.all.Len, nil)
	defer progress.end()
	for outcome := range bulk.InOrder(ctx, concurrency, r.rows, r.planRow) {
		r.read++
		progress.step()
		w, line, err := outcome.Item, outcome.Value, outcome.Err
		if !r.compares && err == nil { // Only now is it known which uuid the row has.
			err = w.mistake(r.claim(line.Change.UUID, w.Line))
		}
		wrong, isWrong := errors.AsType[*bulk.Mistakes](err)
		switch {
		case isWrong:
			r.wrong.add(*wrong)
			if isLeftOut(wrong.Cause) {
				r.leftOut[wrong.Cause]++
				left := change.Result{Error: new(strings.Join(wrong.What, "; "))}
				if !w.id.IsZero() {
					left.UUID = w.id.String()
				}
				r.overtaken.Add(left)
			}
		case err != nil:
			return fmt.Errorf("line %d could not be compared, and nothing was sent: %w", w.Line, err)
		case w.isDone:
			r.done++
		case line == nil:
			r.unchanged++
		default:
			r.plan(*line)
		}
	}
	if n := r.reader.blanks; n > 0 {
		r.session.Note("removed spaces around %s", cli.Count(n, "cell"))
	}
	return r.all.Err()
}

// resultsEnding is the suffix of the results file of an input file.
const resultsEnding = ".results.ndjson"

// keptResults returns the path of the results of a file, or an empty text if none are kept: input that is not a file
// has none.
func (f *rowFlags) keptResults(name string, creates bool) string {
	if f.results != "" || !creates || name == "-" {
		return f.results
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return name + resultsEnding
}

// survey reads the whole file, because the meaning of a cell may depend on cells below it.
func (r *rowRun) survey() error {
	progress := newProgress(r.session, 0, r.source.share)
	defer progress.end()
	places := rowPlaces{equal: map[bulk.Sum]int{}}
	for row, err := range r.source.All {
		if err != nil {
			return err
		}
		progress.step()
		if row.Ends {
			r.endsAt = row.Line
		}
		r.reader.survey(r.source.Header, row)
		if r.kept != "" {
			row.Sum = places.add(r.source.Header, row)
		}
		r.all.Add(row)
	}
	r.edited = places.edited(r.known)
	notes, err := r.reader.judge(r.source.Header)
	for _, note := range notes {
		r.session.Warn("%s", note)
	}
	return errors.Join(err, r.all.Err())
}

// rows yields the rows of the file with their values and the identifiers of their records.
func (r *rowRun) rows(yield func(wanted) bool) {
	for row := range r.all.All() {
		w := r.reader.want(r.source.Header, row)
		earlier := r.known.Rows[row.Sum]
		if past, isEdited := r.edited[row.Line]; isEdited {
			earlier, w.isEdited = past, true
		}
		if !r.compares {
			w.earlier, w.isDone = earlier, earlier.Done && !w.isEdited
		} else if w.problem == "" {
			r.identify(&w, earlier)
		}
		if !yield(w) {
			return
		}
	}
}

// planRow returns the changes that a row needs, or nil. The error of a wrong row is a *bulk.Mistakes.
func (r *rowRun) planRow(ctx context.Context, w wanted) (*plannedLine, error) {
	if w.leftOut != nil {
		return nil, r.withoutRecord(w, w.leftOut.Error(), w.leftOut)
	}
	if w.problem != "" {
		return nil, r.withoutRecord(w, w.problem, nil)
	}
	if !r.compares {
		return r.creation(w)
	}
	if w.isDone {
		return nil, nil
	}
	if w.id.IsZero() {
		return r.creation(w)
	}
	raw, etag, err := r.reader.shape.Read(ctx, r.client, w.id)
	isMissing := apiclient.KindOf(err) == apiclient.KindNotFound
	if isMissing && r.create {
		return r.creation(w)
	}
	if isMissing {
		return nil, r.withoutRecord(w, "uuid: "+noSuchRecord, errNotThere)
	}
	if err != nil {
		return nil, err
	}
	if w.isMatched && !r.matcher.stillMatches(w, raw) {
		return nil, r.withoutRecord(w, errNoMatch.Error(), errNoMatch)
	}
	return r.change(ctx, w, raw, etag)
}

// claim notes the line of a uuid. It returns a problem if the uuid is on an earlier line.
func (r *rowRun) claim(id apitype.UUID, line int) string {
	if first, isTaken := r.seen[id]; isTaken {
		return "uuid: is on line " + strconv.Itoa(int(first)) + " already"
	}
	r.seen[id] = int32(line)
	return ""
}

func (r *rowRun) plan(line plannedLine) {
	for _, name := range line.left {
		if !slices.Contains(r.left, name) {
			r.left = append(r.left, name)
		}
	}
	r.asked.add(line)
	r.overruled += line.overruled
	r.consents = r.consents || len(line.After) > 0 || line.Change.Op == apiclient.OpAddConsent
	if !r.dryRun && r.matcher == nil {
		line.Changes = nil
	}
	r.lines.Add(line)
}

// creation returns the change that creates the record of a row. A row without a uuid has the one of an earlier run,
// or a new one.
func (r *rowRun) creation(w wanted) (*plannedLine, error) {
	r.reader.settle(&w, "")
	b := r.reader.body(w.fields)
	object := b.object
	left := change.AsCreation(object, r.reader.shape.Creates, r.reader.shape.Shows)
	_, isGiven := object["uuid"].(string)
	isStarted := w.earlier.Started()
	switch {
	case !isGiven && object["uuid"] != nil:
		b.wrong.Add("/uuid", "has a value of another kind")
		delete(object, "uuid")
	case !isGiven && isStarted:
		object["uuid"] = w.earlier.UUID.String()
	case !isGiven:
		object["uuid"] = apitype.NewUUID().String()
	}
	consents, wrongConsents := r.reader.takeConsents(object)
	asked, err := r.reader.shape.Create(r.session, object)
	problems := r.reader.mistakesIn(w.fields, b.wrong, joinViolations(err, wrongConsents))
	if err := w.wrong(problems); err != nil {
		return nil, err
	}
	after, err := consentChanges(asked.UUID, consents)
	if err != nil {
		return nil, w.mistake(bulk.Reasons(err))
	}
	asked.Generated = isStarted || !isGiven // A 409 may come from the run that was interrupted.
	line := w.line(asked)
	line.After, line.left = after, left
	if w.isEdited && w.earlier.Done {
		return nil, w.mistake(
			"was created with other values than it has now; import what is new as another file, with another " +
				"results file",
		)
	}
	return line, nil
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
	out, err := bulk.OpenResults(r.kept, r.known.Size)
	if err != nil {
		return cli.RefusedInput(err)
	}
	lines := bulk.Each(r.lines.All(), func(line plannedLine) bulk.Line { return line.Line })
	job := &bulk.Job{
		GoesOn:      r.goesOn(),
		Concurrency: r.concurrency,
		Results:     out,
		Client:      client,
		Service:     r.service,
		Lines:       lines,
	}
	err = errors.Join(job.Plan(), r.lines.Err())
	if err == nil {
		err = r.watch(ctx, job)
	}
	return errors.Join(err, out.Close())
}

// goesOn returns the question after many equal refusals, or nil with --keep-going.
func (r *rowRun) goesOn() func(ctx context.Context, n int, reason string) bool {
	if r.keepGoing {
		return nil
	}
	return func(ctx context.Context, n int, reason string) bool {
		if !r.session.CanAsk() {
			return false
		}
		question := fmt.Sprintf("the service refused %d lines alike (%s); go on", n, reason)
		return r.session.Ask(ctx, false, question) == nil
	}
}

func (r *rowRun) watch(ctx context.Context, job *bulk.Job) error {
	progress := newProgress(r.session, r.lines.Len, nil)
	job.Each = func(line bulk.Line, result bulk.Result, err error) {
		if err != nil {
			if _, isPart := errors.AsType[*bulk.PartError](err); isPart {
				r.parts++
			}
			r.wrong.add(bulk.Mistakes{Row: line.Row, What: []string{bulk.Reasons(err)}, Cause: err})
		} else if line.Change.Operation().Creates {
			r.created++
		}
		r.printed.Add(change.Result{
			UUID:   result.UUID,
			OK:     result.IsDone(),
			Status: result.Status,
			Error:  result.Error,
		})
		progress.step()
	}
	stopped := job.Run(ctx)
	r.printOvertaken()
	progress.end()
	stopped = errors.Join(stopped, r.lines.Err(), r.wrong.write(r.errors, r.source.Rows))
	ended, printing := r.conclude(stopped, progress), r.printed.Close()
	if ended != nil {
		return errors.Join(ended, printing)
	}
	return r.session.Done(printing)
}

// rowResults returns the printer of results. It prints nothing unless a format was asked for.
func rowResults(s *cli.Session) (*change.Results, error) {
	if s.Flags.Output == "" && s.Flags.JQ == "" {
		return &change.Results{}, nil
	}
	return change.NewResults(s)
}
