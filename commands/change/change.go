// Package change sends what changes records: the body of a request from flags and files, the moves
// of calls, processed marks, what a donor may ask for, and the outbox.
package change

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
	"fundesk/render"
)

// Flags are the flags of every command that changes something.
type Flags struct {
	yes         bool
	dryRun      bool
	outbox      bool
	hold        time.Duration
	concurrency int
	allowEmpty  bool
}

// Register declares the flags. many adds the flags of a command that changes several records.
func (c *Flags) Register(cmd *cobra.Command, many bool) {
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "print the request and send nothing")
	cmd.Flags().
		BoolVar(&c.outbox, "outbox", false, "put the change into the outbox first; it waits there while the service "+
			"is away")
	cmd.Flags().BoolVar(&c.outbox, "queue", false, "an earlier name of --outbox")
	_ = cmd.Flags().MarkHidden("queue") // It was declared just now.
	cmd.Flags().DurationVar(&c.hold, "hold", 0, "wait this long before sending; ctrl+c or outbox drop stops it")
	if many {
		cli.AllowEmptyFlag(cmd, &c.allowEmpty)
		cmd.Flags().IntVar(&c.concurrency, "concurrency", bulk.DefaultConcurrency, "parallel requests")
		cli.OnPage(cmd, "changes", "allow-empty", "concurrency")
	}
	cli.OnPage(cmd, "changes", "yes", "dry-run", "outbox", "hold")
}

// check refuses flags without a meaning.
func (c *Flags) check(cmd *cobra.Command) error {
	if c.hold < 0 || c.hold > time.Hour {
		return cli.UsageError("--hold must be a time of up to 1h")
	}
	c.outbox = c.outbox || c.hold > 0
	return CheckConcurrency(cmd, c.concurrency)
}

// CheckConcurrency refuses a number of requests below 1 or above the limit.
func CheckConcurrency(cmd *cobra.Command, n int) error {
	if cmd.Flags().Changed("concurrency") && (n < 1 || n > bulk.MaxConcurrency) {
		return cli.UsageError("--concurrency must be 1 to " + strconv.Itoa(bulk.MaxConcurrency))
	}
	return nil
}

// plannedRequest is a request that is not sent.
type plannedRequest struct {
	Method  string          `json:"method"`
	Path    string          `json:"path"`
	Body    json.RawMessage `json:"body"`
	Service string          `json:"service,omitempty"`
}

func printChange(s *cli.Session, ch apiclient.Change) error {
	return PrintRequests(s, false, slices.Values([]apiclient.Change{ch}))
}

// PrintRequests prints requests that are not sent. many prints JSON as one array, even for one request.
func PrintRequests(s *cli.Session, many bool, changes iter.Seq[apiclient.Change]) error {
	options, err := s.Output()
	if err != nil {
		return err
	}
	if options.Format == render.CSV || options.Format == render.ID {
		return cli.UsageError("--dry-run prints requests; use -o table, tsv, json or ndjson")
	}
	service, err := s.ServiceName()
	if err != nil {
		return err
	}
	planned := bulk.Each(
		changes,
		func(ch apiclient.Change) plannedRequest { return plannedRequest{ch.Method, ch.Path, ch.Body, service} },
	)
	isText := !options.Format.IsJSON() && options.Query == nil
	if many && !isText {
		return cli.ShowEach(s, "", nil, planned)
	}
	for p := range planned {
		if !isText {
			return cli.ShowOne(s, p, nil)
		}
		if options.Terminal {
			p.Path, p.Body = render.Clean(p.Path), render.CleanJSON(p.Body)
		}
		if _, err := fmt.Fprintf(s.App.Out, "%s %s\n%s\n", p.Method, p.Path, p.Body); err != nil {
			return err
		}
	}
	if service != "" {
		s.Note("not sent to %s", service)
	}
	return nil
}

// createdAndEdited is the note of a creation with a lost answer and a record that was edited since.
const createdAndEdited = "created, and edited since"

// effectNotes name the effects of results that the service confirmed.
var effectNotes = map[apitype.ResultEffect]string{
	apitype.EffectOptOut:    "no more phone calls to this donor: saved",
	apitype.EffectNoContact: "no more contact with this donor: saved",
}

// runChange sends one change and prints the record that the service answers.
func runChange[T any](
	s *cli.Session,
	cmd *cobra.Command,
	flags *Flags,
	columns []render.Column[T],
	ch apiclient.Change,
) error {
	print, err := cli.Print(s, "", columns)
	if err != nil {
		return err
	}
	if err := flags.check(cmd); err != nil {
		return err
	}
	if flags.dryRun {
		return printChange(s, ch)
	}
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return err
	}
	var answer *apiclient.Response
	if !flags.outbox {
		answer, err = client.Send(cmd.Context(), ch)
	} else if queued, failed := Enqueue(cmd.Context(), s, []apiclient.Change{ch}, flags.hold); failed != nil {
		err = failed
	} else {
		answer, err = queued[0].Value, queued[0].Err
	}
	if err != nil {
		return aboutChange(ch, err)
	}
	if answer.EditedSince {
		s.Warn("%s", createdAndEdited)
	}
	if effect := effectNotes[answer.Effect()]; effect != "" {
		s.Note("%s", effect)
	}
	if answer.Body == nil {
		return nil // The outbox settled it without the record.
	}
	return s.Done(print.Record(apiclient.Record[T]{Raw: json.RawMessage(answer.Body)}, nil))
}

// Create lets a command create the record that its flags and its file describe.
func Create[T any](
	s *cli.Session,
	cmd *cobra.Command,
	fields []Field,
	columns []render.Column[T],
	change func(s *cli.Session, object map[string]any) (apiclient.Change, error),
) *cobra.Command {
	flags := &Flags{}
	b := newBody(s, cmd, false, fields)
	b.isShown = render.HasPath[T]
	flags.Register(cmd, false)
	cmd.Use, cmd.Args = "create [-]", func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && args[0] == "-" {
			return nil
		}
		return cli.NoArgs(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && b.file != "" && b.file != "-" {
			return cli.UsageError("- and --file cannot be combined")
		}
		if len(args) > 0 {
			b.file = args[0]
		}
		object, err := b.object(cmd.Context())
		if err != nil {
			return err
		}
		ch, err := change(s, object)
		if err != nil {
			return b.byFlags(err)
		}
		return runChange(s, cmd, flags, columns, ch)
	}
	return cmd
}

// Update lets a command change the fields of records that its flags and its file name.
func Update[T any](
	s *cli.Session,
	cmd *cobra.Command,
	fields []Field,
	columns []render.Column[T],
	change func(*cli.Session, apitype.UUID, map[string]any, json.RawMessage) (apiclient.Change, error),
) *cobra.Command {
	flags := &Flags{}
	b := newBody(s, cmd, true, fields)
	flags.Register(cmd, true)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if b.file == "-" && args[0] == "-" {
			return cli.UsageError("stdin cannot hold both the UUIDs and the body")
		}
		object, err := b.object(cmd.Context())
		if err != nil {
			return err
		}
		if len(object) == 0 {
			return cli.WithHint(cli.UsageError("there is nothing to change"), "name fields by flags, --clear or --file")
		}
		return Moves[T]{Columns: columns, Change: func(id apitype.UUID) (apiclient.Change, error) {
			ch, err := change(s, id, object, nil)
			return ch, b.byFlags(err)
		}}.Run(s, cmd, flags, args)
	}
	return cmd
}

// aboutChange adds a hint to the error of a change. A uuid may belong to a record that the account cannot see: an
// erased one, or one of another organization.
func aboutChange(ch apiclient.Change, err error) error {
	see := "fundesk " + ch.Operation().Noun() + " get " + ch.UUID.String()
	if ch.Operation().Creates && apiclient.KindOf(err) == apiclient.KindConflict {
		return cli.WithHint(err, "see: "+see+"; if there is no such record, create it without this uuid")
	}
	known, _ := cli.ErrorAs(err)
	if known != nil && ch.Operation().Creates {
		for _, detail := range known.Detail {
			if name, _, _ := strings.Cut(detail, ":"); strings.HasSuffix(name, "ingOrganizationUuid") {
				err = cli.WithHint(
					err,
					"--"+strings.TrimSuffix(apitype.Kebab(name), "-uuid")+" UUID names an organization of this service",
				)
			}
		}
	}
	kind := apiclient.KindOf(err)
	if kind == apiclient.KindUnknownOutcome ||
		kind == apiclient.KindConflict ||
		kind == apiclient.KindInterrupted && known != nil && known.Sent {
		return cli.WithHint(err, "see: "+see)
	}
	return err
}

// Result is one line of a bulk operation.
type Result struct {
	UUID   string  `json:"uuid"`
	OK     bool    `json:"ok"`
	Status int     `json:"status"`
	Error  *string `json:"error"`
}

// delivery is the outcome of a change that was sent, directly or through the outbox.
type delivery = bulk.Outcome[apiclient.Change, *apiclient.Response]

func newResult(id apitype.UUID, answer *apiclient.Response, err error) Result {
	r := Result{UUID: id.String(), OK: err == nil}
	if err == nil {
		r.Status = answer.Status
	} else {
		r.Error = new(bulk.Reasons(err))
		if known, ok := errors.AsType[*apiclient.Error](err); ok {
			r.Status = known.Status
		}
	}
	return r
}

// Moves is a change of the records that the arguments of a command name.
type Moves[T any] struct {
	Columns  []render.Column[T]
	Question string // Also asked for one record. Empty asks for none.
	Change   func(apitype.UUID) (apiclient.Change, error)
}

// Run carries the change out: one record is answered with it, several with a result line each.
func (m Moves[T]) Run(s *cli.Session, cmd *cobra.Command, flags *Flags, args []string) error {
	if err := flags.check(cmd); err != nil {
		return err
	}
	ids, err := distinctTargets(cmd.Context(), s, args, flags.allowEmpty)
	if err != nil {
		return err
	}
	changes := make([]apiclient.Change, len(ids))
	for i, id := range ids {
		changes[i], err = m.Change(id)
		if err != nil {
			return err
		}
	}
	many := len(args) > 1 || args[0] == "-"
	if flags.dryRun {
		return PrintRequests(s, many, slices.Values(changes))
	}
	if (m.Question != "" || many) && len(ids) > 0 {
		question := cmp.Or(m.Question, strings.TrimPrefix(cmd.CommandPath(), "fundesk ")+" for") + " " +
			cli.Count(len(changes), changes[0].Operation().Noun())
		if err := s.AskChange(cmd.Context(), flags.yes, question, cli.RefsOf(changes), len(changes)); err != nil {
			return err
		}
	}
	if !many {
		return runChange(s, cmd, flags, m.Columns, changes[0])
	}
	return sendAll(s, cmd, flags, changes)
}

// distinctTargets returns the records that the arguments name, each once.
func distinctTargets(ctx context.Context, s *cli.Session, args []string, allowEmpty bool) ([]apitype.UUID, error) {
	named, err := s.Targets(ctx, args, allowEmpty)
	if err != nil {
		return nil, err
	}
	ids := bulk.Distinct(named)
	if twice := len(named) - len(ids); twice > 0 {
		s.Note("%s named more than once, and counted once", cli.Count(twice, "record"))
	}
	return ids, nil
}

// check returns the error with which Run would end before it sends anything, for a command that then asks for more. The
// question about several records is only asked by Run.
func (m Moves[T]) check(s *cli.Session, cmd *cobra.Command, flags *Flags, args []string) error {
	many := len(args) > 1
	ids, err := s.Targets(cmd.Context(), args, false)
	if err != nil {
		return err
	}
	if err := flags.check(cmd); err != nil {
		return err
	}
	if many {
		_, err = NewResults(s)
	} else {
		_, err = cli.Print(s, "", m.Columns)
	}
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := m.Change(id); err != nil {
			return err
		}
	}
	if many && !flags.dryRun && !s.CanAsk() {
		question := strings.TrimPrefix(cmd.CommandPath(), "fundesk ") + " for " + cli.Count(len(ids), "record")
		return s.Ask(cmd.Context(), flags.yes, question)
	}
	return nil
}

// sendAll sends changes, several at a time, and prints one result line each.
func sendAll(s *cli.Session, cmd *cobra.Command, flags *Flags, changes []apiclient.Change) error {
	printed, err := NewResults(s)
	if err != nil {
		return err
	}
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return err
	}
	if _, err := client.Identity(cmd.Context()); err != nil { // No token: nothing is sent.
		return err
	}
	id := func(ch apiclient.Change) apitype.UUID { return ch.UUID }
	if !flags.outbox {
		outcomes := bulk.InOrder(cmd.Context(), flags.concurrency, slices.Values(changes), client.Send)
		return PrintOutcomes(printed, outcomes, id, len(changes))
	}
	queued, err := Enqueue(cmd.Context(), s, changes, flags.hold)
	if err != nil {
		return err
	}
	return waitingError(s, queued, PrintOutcomes(printed, slices.Values(queued), id, len(changes)))
}

// waitingError returns the error of changes that failed in part, as that of one change if all that were not accepted
// wait in the outbox.
func waitingError(s *cli.Session, queued []delivery, err error) error {
	waiting := 0
	for _, q := range queued {
		if q.Err == nil {
			continue
		}
		if apiclient.KindOf(q.Err) != apiclient.KindUnknownOutcome {
			return err
		}
		waiting++
	}
	failed, isKnown := cli.ErrorAs(err)
	if waiting == 0 || !isKnown {
		return err
	}
	return waitHint(s, &apiclient.Error{
		Kind:      apiclient.KindUnknownOutcome,
		Retryable: true,
		Message:   fmt.Sprintf("%d of %d not accepted yet", waiting, len(queued)),
		Detail:    failed.Detail,
	})
}

// PrintOutcomes prints a result line for each outcome, and fails if one failed.
func PrintOutcomes[I any](
	printed *Results,
	outcomes iter.Seq[bulk.Outcome[I, *apiclient.Response]],
	id func(I) apitype.UUID,
	total int,
) error {
	var failed []error
	for outcome := range outcomes {
		r := newResult(id(outcome.Item), outcome.Value, outcome.Err)
		if outcome.Err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.UUID, outcome.Err))
		}
		known, _ := cli.ErrorAs(outcome.Err)
		if known != nil && known.Kind == apiclient.KindInterrupted && !known.Sent {
			continue // It was not begun, so it has no result.
		}
		printed.Add(r)
	}
	printing := printed.Close()
	if len(failed) > 0 {
		return cli.Partial(failed, total)
	}
	return printed.session.Done(printing)
}

// Results prints a line for each record of a bulk operation. A closed pipe must not leave half of the records unsent,
// so its error comes at the end.
type Results struct {
	session *cli.Session
	list    *render.List[Result] // Nil prints nothing.
	options render.Options
	err     error
}

// NewResults opens the output of a bulk operation.
func NewResults(s *cli.Session) (*Results, error) {
	print, err := cli.Print(s, "", []render.Column[Result]{
		{Name: "uuid", Default: true, Value: func(r Result) string { return r.UUID }},
		render.OutcomeColumn("failed", func(r Result) bool { return r.OK }),
		{Name: "status", Default: true, Value: func(r Result) string { return strconv.Itoa(r.Status) }},
		{
			Name:     "error",
			Default:  true,
			Flexible: true,
			Value:    func(r Result) string { return apitype.TextOf(r.Error) },
		},
	})
	if err != nil {
		return nil, err
	}
	list, err := print.List()
	return &Results{session: s, list: list, options: print.Options}, err
}

// Add prints one line at once. With -o id it prints only changed records.
func (r *Results) Add(result Result) {
	isLeftOut := r.options.Format == render.ID && !result.OK
	if r.list == nil || r.err != nil || isLeftOut {
		return
	}
	raw, err := json.Marshal(result)
	if err == nil {
		err = r.list.Add(raw, func() (Result, error) { return result, nil })
	}
	if err == nil {
		err = r.list.Flush()
	}
	r.err = err
}

// Close ends the output, and returns why a line was not printed.
func (r *Results) Close() error {
	if r.list != nil && r.err == nil {
		r.err = r.list.Close()
	}
	return r.err
}
