package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
	"fundesk/commands/cli"
	"fundesk/commands/profile"
	"fundesk/render"
)

// Pull returns the command pull.
func Pull(s *cli.Session) *cobra.Command {
	return cli.Group(
		s,
		"pull",
		"Retrieve what is new since the last pull, as NDJSON; -o chooses csv, tsv or id. The next pull repeats one\n"+
			"that failed: expect duplicates, never gaps.",
		"  fundesk pull call --updated >> calls.ndjson\n  fundesk pull person --mark-processed",
		cli.Verbs{
			"person":  pullPersons,
			"call":    pullCalls,
			"pledge":  pullPledges,
			"erased":  pullErased,
			"changes": pullChanges,
			"status":  pullStatus,
		},
	)
}

// entityErased are the erased persons. A program with a copy erases them, too.
const entityErased apitype.EntityName = "erased"

// pullFlags are the flags of every pull.
type pullFlags struct {
	state    string // The file of the position. Empty means one in the state folder.
	reset    bool
	follow   bool
	interval time.Duration
	exec     string // The command line of a program that takes the pages. Empty prints them.
	held     func() // Frees the position. Nil if none is held.
}

// hold tests before anything is printed or marked that the position can be kept, and reserves it.
func (p *pullFlags) hold(path string) error {
	err := keepable(path)
	if err != nil {
		return err
	}
	p.held, err = hold(path)
	return err
}

// release frees the position.
func (p *pullFlags) release() {
	if p.held != nil {
		p.held()
	}
}

func (p *pullFlags) register(s *cli.Session, cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(cli.KeptFile(&p.state), "state", "file that keeps the position (default: in the state folder)")
	f.BoolVar(&p.reset, "reset", false, "begin again from the start, or at --since, and move the position there")
	f.BoolVar(&p.follow, "follow", false, "pull again and again")
	f.StringVar(
		&p.exec,
		"exec",
		"",
		"program with arguments that gets each page on stdin. The position moves after it ended with 0",
	)
	f.DurationVar(&p.interval, "interval", defaultInterval, "time between two pulls of --follow, at least 1s")
}

// output connects the source and the destination of a pull.
type output[T any] struct {
	client  *apiclient.Client
	printer cli.Printer[T]
	program *pageProgram // Nil prints the records.
}

// openPull checks the flags of a pull, prepares its output, and connects to the service.
func openPull[T any](
	cmd *cobra.Command,
	s *cli.Session,
	p pullFlags,
	columns []render.Column[T],
) (output[T], error) {
	err := checkInterval(cmd, p.follow, p.interval)
	var out output[T]
	if err != nil {
		return out, err
	}
	if len(s.Flags.Columns) > 0 && (s.Flags.Output == "" || s.Flags.Output == string(render.NDJSON)) {
		return out, cli.UsageError("--columns needs -o csv or tsv")
	}
	if cmd.Flags().Changed("exec") {
		out.program, err = newPageProgram(s, p.exec)
		if err != nil {
			return out, err
		}
	}
	out.client, out.printer, err = cli.Open(cmd.Context(), s, "", columns)
	if err != nil {
		return out, err
	}
	out.printer.Endless = true
	if s.Flags.Output == "" {
		out.printer.Format = render.NDJSON
	}
	if out.program != nil {
		out.printer = out.printer.To(&out.program.page)
	}
	return out, nil
}

// keepOutput puts on disk what was printed to a file: after a power cut the next pull does not bring it again. Nothing
// can do that for a pipe.
func (o output[T]) keepOutput(s *cli.Session) error {
	file, isFile := s.App.Out.(*os.File)
	if !isFile || o.program != nil {
		return nil
	}
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = durable.Sync(file)
	}
	if err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// puller retrieves the new records of one noun.
type puller[T any] struct {
	pullFlags
	output[T]
	entity  apitype.EntityName
	after   string // The filter of new records.
	check   func() error
	columns func() []render.Column[T]
	feed    func(c *apiclient.Client, since string) apiclient.Feed
	// Refuses options that the service does not announce. Nil allows everything.
	allowed func(context.Context, *apiclient.Client) error
	since   *apitype.Time
	updated bool
	mark    bool

	session *cli.Session
	list    *render.List[T] // Of the round, or of the page for a program.
	handed  int             // Records of the round that the program took.
	page    []apitype.UUID  // Written, and still to be marked.
}

// command declares what all pulls have in common.
func (p *puller[T]) command(s *cli.Session) *cobra.Command {
	p.session = s
	entity := string(p.entity)
	file := entity + "s"
	if p.entity == entityErased {
		file = entity
	}
	cmd := &cobra.Command{
		Use:   entity,
		Short: "Retrieve new " + entity + "s",
		Args:  cli.NoArgs,
		Long: "Print every " + entity + " that is new since the last pull, as NDJSON. The position moves after\n" +
			"everything was written. Each profile remembers its position, and one pull at a time uses it.\n" +
			"--since does not move it, unless --state names a file. Every pull reaches back two minutes and\n" +
			"drops repeats. If the service was restored, or the account may see other records now, pull ends\n" +
			"with exit code 8: begin again with --reset. --jq 'select(…)' filters the output. --follow pulls\n" +
			"again and again, until it is interrupted. --exec runs no shell, and nothing if nothing is new;\n" +
			"its program's failure is exit code 1.",
		Example: "  fundesk pull " + entity + " >> " + file + ".ndjson\n" +
			"  fundesk pull " + entity + " --since 7d --state my.state\n" +
			"  fundesk pull " + entity + " --reset > all.ndjson\n" +
			"  fundesk pull " + entity + " --exec 'python3 load.py --table " + file + "'",
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd) },
	}
	if p.entity != entityErased {
		cmd.Aliases = []string{entity + "s"}
	}
	f := cmd.Flags()
	f.Var(
		cli.TimeValue(s.App.Now, &p.since),
		"since",
		"start at this time (default: where the last pull ended). Only --state or --reset save the position",
	)
	p.register(s, cmd)
	s.UnpagedFlag(cmd)
	if p.entity != entityErased {
		f.BoolVar(&p.mark, "mark-processed", false, "mark what was written as processed")
		cli.YesFlag(cmd)
	}
	return cmd
}

func pullErased(s *cli.Session) *cobra.Command {
	p := &puller[apitype.ErasedPerson]{
		entity: entityErased, columns: render.ErasedColumns,
		feed: func(*apiclient.Client, string) apiclient.Feed { return apiclient.Feed{Path: "/fundesk/v1/erasures"} },
	}
	cmd := p.command(s)
	cmd.Short = "Retrieve erased persons, to erase their copies"
	cmd.Long = strings.Replace(cmd.Long, "every erased that is new", "the uuid and time of every person erased", 1)
	return cmd
}

func pullPersons(s *cli.Session) *cobra.Command {
	o := &apitype.PersonListOptions{}
	p := &puller[apitype.Person]{
		entity:  apitype.EntityPerson,
		after:   "createdAfter",
		columns: render.PersonColumns,
		feed:    func(c *apiclient.Client, since string) apiclient.Feed { return c.Persons.Feed(*o, since) },
	}
	cmd := p.command(s)
	cli.RegisterFilters(s, cmd, apitype.PersonFilters()[:1], o) // The other filters do not choose new persons.
	cmd.Flags().
		BoolVar(&p.updated, "updated", false, "persons that changed, not only new ones, if the service lists them")
	return cmd
}

func pullCalls(s *cli.Session) *cobra.Command {
	filters := &CallFilters{}
	p := &puller[apitype.Call]{
		entity:  apitype.EntityCall,
		after:   "requestedAfter",
		check:   filters.Check,
		columns: func() []render.Column[apitype.Call] { return filters.Columns(s) },
		feed:    func(c *apiclient.Client, since string) apiclient.Feed { return c.Calls.Feed(filters.Options, since) },
	}
	cmd := p.command(s)
	cmd.Long += "\n\nWithout --updated it goes by requestedAt. It misses a call that is created later with an\n" +
		"older time."
	cli.RegisterFilters(
		s,
		cmd,
		cli.Without(apitype.CallFilters(), "requestedFrom", "requestedUntil", "requestedAfter", "updatedAfter"),
		&filters.Options,
	)
	cmd.Flags().BoolVar(&filters.noExternal, "no-external-reference", false, "only calls without an external reference")
	cmd.Flags().BoolVar(&p.updated, "updated", false, "calls that changed, not only new ones")
	return cmd
}

func pullPledges(s *cli.Session) *cobra.Command {
	o := &apitype.PledgeListOptions{}
	p := &puller[apitype.Pledge]{
		entity: apitype.EntityPledge,
		after:  "releasedAfter",
		check:  func() error { return RefuseParameters(o.Validate()) },
		columns: func() []render.Column[apitype.Pledge] {
			return FilledColumns(
				s,
				render.PledgeColumns(),
				func(string) bool { return slices.Contains(o.Include, apitype.IncludePerson) },
			)
		},
		allowed: PersonsOfPledges(o),
		feed:    func(c *apiclient.Client, since string) apiclient.Feed { return c.Pledges.Feed(*o, since) },
	}
	cmd := p.command(s)
	cli.RegisterFilters(s, cmd, cli.Without(apitype.PledgeFilters(), "updatedAfter", "releasedAfter"), o)
	cmd.Flags().BoolVar(&p.updated, "updated", false, "pledges that changed, not only released ones")
	return cmd
}

// checkService refuses what the service cannot tell.
func (p *puller[T]) checkService(ctx context.Context) error {
	isOfChangedPersons := p.entity == entityErased || p.entity == apitype.EntityPerson && p.updated
	if !isOfChangedPersons {
		return nil
	}
	has, err := p.client.Has(ctx, apitype.ExtensionFilters)
	if err != nil || has {
		return err
	}
	refusal := cli.Failure(apiclient.KindRejected, "the service does not say which persons were changed or erased")
	return cli.WithHint(refusal, "for new ones: fundesk pull person")
}

func (p *puller[T]) run(cmd *cobra.Command) error {
	s := p.session
	if p.check != nil {
		if err := p.check(); err != nil {
			return err
		}
	}
	if p.updated {
		p.after = "updatedAfter"
	}
	var err error
	p.output, err = openPull(cmd, s, p.pullFlags, p.columns())
	if err != nil {
		return err
	}
	if err := p.checkService(cmd.Context()); err != nil {
		return err
	}
	if p.allowed != nil {
		if err := p.allowed(cmd.Context(), p.client); err != nil {
			return err
		}
	}
	feed := p.feed(p.client, p.after)
	defer p.release()
	last, path, err := p.begin(cmd.Context(), feed)
	if err != nil {
		return err
	}
	err = follow(cmd.Context(), s, p.interval, func() (isLast bool, err error) {
		round := feed.From(last.Position)
		begun := func() error {
			started, ok := round.Begun()
			if !ok || path == "" {
				return nil
			}
			return write(path, position{Service: last.Service, Query: last.Query, Position: started})
		}
		next, err := p.pull(cmd.Context(), round, begun)
		if errors.Is(err, apiclient.ErrEpoch) || errors.Is(err, apiclient.ErrBehind) {
			return false, cli.WithHint(
				err,
				fmt.Sprintf("begin again from the start: fundesk pull %s --reset", p.entity),
			)
		}
		if err != nil {
			return false, err
		}
		last.Position = next
		return !p.follow, p.keep(path, last)
	})
	return ended(cmd.Context(), s, p.follow, err)
}

// begin returns the position where the pull begins, and the file for its end. The file is empty if none is kept.
func (p *puller[T]) begin(ctx context.Context, feed apiclient.Feed) (position, string, error) {
	t, err := p.session.Resolve()
	if err != nil {
		return position{}, "", err
	}
	last := position{Service: t.BaseURL, Query: feed.Since + "?" + feed.Query.Encode()}
	path := p.state
	if path == "" {
		path, err = positionPath(ctx, p.session, p.client, p.entity, last)
		if err != nil {
			return last, "", err
		}
	}
	isMoved := p.since == nil || p.state != "" || p.reset
	if isMoved {
		if err := p.hold(path); err != nil {
			return last, "", err
		}
	}
	if !p.reset {
		if err := last.load(path); err != nil {
			return last, "", err
		}
	}
	if p.since != nil { // This repeats records that were written before.
		last.Position = apiclient.Position{After: *p.since}
		if !isMoved {
			return last, "", nil
		}
	}
	if p.reset {
		err = write(path, last) // If the first round fails, the next pull begins there.
	}
	return last, path, err
}

// keep stores the position after everything was written, and announces where the next pull begins.
func (p *puller[T]) keep(path string, next position) error {
	s, printed := p.session, p.handed+p.list.Count()
	if path == "" {
		s.Note(
			"%s; --since moves no position: the next pull begins where the last one without it ended",
			cli.Count(printed, "record"),
		)
		return nil
	}
	if err := p.keepOutput(s); err != nil {
		return err
	}
	if err := write(path, next); err != nil {
		return err
	}
	if p.follow && printed == 0 {
		return nil
	}
	start := "the start"
	if !next.After.IsZero() {
		start = next.After.String()
	}
	s.Note("%s; the next pull begins at %s", cli.Count(printed, "record"), start)
	return nil
}

// write replaces the file of a position.
func write(path string, p position) error {
	data, err := json.Marshal(p)
	if err == nil {
		err = profile.WriteFile(path, data)
	}
	if err != nil {
		return fmt.Errorf("save the position: %w", err)
	}
	return nil
}

// onFirst calls begun before it passes the first record on.
func onFirst[T any](
	records iter.Seq2[apiclient.Record[T], error],
	begun func() error,
) iter.Seq2[apiclient.Record[T], error] {
	return func(yield func(apiclient.Record[T], error) bool) {
		isFirst := true
		for record, err := range records {
			if isFirst && err == nil {
				err = begun()
			}
			isFirst = false
			if !yield(record, err) {
				return
			}
		}
	}
}

// pull writes the records of a round, and returns the position of the next one. It calls begun before the first record,
// because a pull that is cut short has written records of the service's epoch.
func (p *puller[T]) pull(
	ctx context.Context,
	round *apiclient.Round,
	begun func() error,
) (apiclient.Position, error) {
	var next apiclient.Position
	var err error
	p.list, err = p.printer.List()
	if err != nil {
		return next, err
	}
	if p.program == nil {
		p.printer.NoHeader = true // Of the rounds that follow.
	}
	p.handed = 0
	out := &printing[T]{list: p.list}
	if p.mark {
		out.printed = func(record apiclient.Record[T]) {
			if id, err := apitype.RecordUUID(record.Raw); err == nil {
				p.page = append(p.page, id)
			}
		}
	}
	options := apiclient.AllOptions{PageSize: apitype.MaxPageSize, Reuse: true}
	options.Yielded = func() { // At once: the next page may take long.
		out.flushed = p.endPage(ctx)
		out.list = p.list
	}
	err = out.walk(onFirst(apiclient.Changes[T](ctx, p.client, round, options), begun))
	if out.flushed != nil {
		return next, out.flushed
	}
	if err == nil {
		err = out.end()
	}
	if err != nil {
		return next, EndList(p.list, err)
	}
	return round.Next(), p.list.Close()
}

// handOver gives a whole page to the program, and begins the next one.
func (p *puller[T]) handOver(ctx context.Context) error {
	if p.list.Count() == 0 {
		return nil
	}
	if err := p.list.Close(); err != nil {
		return err
	}
	if err := p.program.run(ctx); err != nil {
		return err
	}
	p.handed += p.list.Count()
	list, err := p.printer.List()
	p.list = list
	return err
}

// endPage flushes and marks a page.
func (p *puller[T]) endPage(ctx context.Context) error {
	write := p.list.Flush
	if p.program != nil {
		write = func() error { return p.handOver(ctx) }
	}
	if err := write(); err != nil {
		return err
	}
	if len(p.page) == 0 {
		return nil
	}
	if err := p.keepOutput(p.session); err != nil {
		return err
	}
	now, source := apitype.NewTime(p.session.App.Now()), p.session.Defaults().ExternalSourceName
	entries := make([]apitype.ProcessedEntry, len(p.page))
	for i, id := range p.page {
		entries[i] = apitype.ProcessedEntry{EntityName: p.entity, EntityUUID: id, ProcessedAt: now}
		entries[i].SetSource(source)
	}
	p.page = p.page[:0]
	err := p.client.EntityAccess.MarkProcessed(ctx, entries)
	if err == nil {
		return p.session.CopyMarks(ctx, entries)
	}
	if apiclient.KindOf(err) == apiclient.KindInterrupted {
		return err
	}
	known, _ := cli.ErrorAs(err)
	return &apiclient.Error{
		Kind:    apiclient.KindPartial,
		Message: "the records were written, but not all could be marked: " + err.Error(),
		Detail:  known.Detail,
		Err:     err,
	}
}
