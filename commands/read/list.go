// Package read prints records: list, get, stats and pull, over any noun. A noun is a table of its
// columns, its filters and its collection.
package read

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
	"fundesk/render"
)

// Calls returns the calls of a service.
func Calls(c *apiclient.Client) *apiclient.Collection[apitype.Call, apitype.CallListOptions] {
	return c.Calls
}

// ListFlags are the flags of every list.
type ListFlags struct {
	limit    int
	all      bool
	pageSize int
	after    string
	forEdit  bool
}

const (
	defaultLimit    = 50
	DefaultPageSize = 100
)

// Register declares the flags of every list.
func (l *ListFlags) Register(s *cli.Session, cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&l.limit, "limit", defaultLimit, "records to print in all")
	f.BoolVar(&l.all, "all", false, "print everything")
	f.IntVar(&l.pageSize, "page-size", DefaultPageSize, "records to ask for at a time (500 with --all)")
	f.StringVar(&l.after, "after", "", "cursor after which to begin")
	cli.OnPage(cmd, "lists", "page-size", "after")
	s.UnpagedFlag(cmd)
}

func aboutList(err error) error {
	if errors.Is(err, apiclient.ErrUnpaged) {
		return cli.WithHint(
			err,
			"if the service sends such lists whole: --accept-unpaged, or once for all: fundesk profile set NAME "+
				"unpaged=person,call,pledge",
		)
	}
	return err
}

// Check refuses flags that cannot be combined and fills in what depends on others.
func (l *ListFlags) Check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	if given("limit") && l.all {
		return cli.UsageError("--limit and --all cannot be combined")
	}
	if given("limit") && l.limit <= 0 {
		return cli.UsageError("--limit must be greater than 0")
	}
	if l.pageSize <= 0 {
		return cli.UsageError("--page-size must be greater than 0")
	}
	return nil
}

// List is the list of a noun.
type List[T any, O apiclient.ListOptions] struct {
	Columns []render.Column[T]
	Options *O
	// Identifier is the member that -o id prints. Empty means uuid.
	Identifier string
	After      func(cursor string) // Puts the place where to begin into the options.
	Of         func(*apiclient.Client) *apiclient.Collection[T, O]
	ForEdit    *ForEdit[T]  // Reads revisions. Nil if apply does not read the list.
	Passes     func(T) bool // Filters downloaded records. Nil passes all.
	// Embed adds data to records that the list of the service does not have. Nil adds nothing.
	Embed func(
		context.Context, *apiclient.Client, iter.Seq2[apiclient.Record[T], error],
	) iter.Seq2[apiclient.Record[T], error]
	// Allowed refuses options that the service does not announce. Nil allows everything.
	Allowed func(context.Context, *apiclient.Client) error
}

// RunList prints a list.
func RunList[T any, O apiclient.ListOptions](s *cli.Session, cmd *cobra.Command, flags *ListFlags, l List[T, O]) error {
	if err := flags.Check(cmd); err != nil {
		return err
	}
	client, printer, err := l.open(cmd.Context(), s, flags)
	if err != nil {
		return err
	}
	isSorted := printer.SortBy != "" && !flags.all
	if isSorted { // All that matches is sorted, and then cut.
		printer.Most, flags.all = flags.limit, true
	}
	list, err := printer.List()
	if err != nil {
		return err
	}
	p := &printing[T]{list: list, passes: l.Passes, absent: map[string]string{}}
	for _, column := range printer.Options.Columns {
		if object, _, nested := strings.Cut(column, "."); nested {
			p.absent[object] = column
		}
	}
	hint, err := l.printAll(cmd, client, flags, p)
	if err := EndList(list, err); err != nil {
		return err
	}
	for _, object := range slices.Sorted(maps.Keys(p.absent)) {
		if list.Count() > 0 {
			s.Warn(
				"the column %s is empty: the list of this service has no %s; get shows it, if there is one",
				p.absent[object],
				object,
			)
		}
	}
	if list.Cut {
		hint = "printed the first " + cli.Count(list.Count(), "record") + " of the order; for more: --limit N, or --all"
	}
	isAsked := s.Flags.Quiet && cmd.Flags().Changed("limit") // A list that ends at its limit is not short.
	if hint != "" && !isAsked {
		s.Warn("%s", hint)
	}
	return nil
}

// collectAt is the garbage collector's target while a list is walked, in percent of the live memory. Two pages are live
// then, so collecting four times as often as usual takes a tenth less memory for a twentieth more work.
const collectAt = 25

// collectAfter is the number of records before that: a short list leaves little, and the first record of a long one
// must not wait.
const collectAfter = 100

// printing prints the records of a walk. It collects unreadable ones in unread and goes on.
type printing[T any] struct {
	list    *render.List[T]
	passes  func(T) bool              // Filters downloaded records. Nil passes all.
	most    int                       // Records to print; 0 for any number.
	printed func(apiclient.Record[T]) // Called for each printed record. May be nil.
	// The embedded objects of asked columns that no record had, with a column of each.
	absent  map[string]string
	flushed error // Of the end of a page.
	more    bool  // There are, or may be, further records.
	unread  []error
}

// walk prints records until most are printed. Its error is why it broke off.
func (p *printing[T]) walk(records iter.Seq2[apiclient.Record[T], error]) error {
	count := 0
	for record, err := range records {
		if count++; count == collectAfter {
			defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
		}
		if err != nil && len(p.unread) > 0 {
			return errors.Join(err, unreadable(p.unread, false))
		}
		if err != nil {
			return err
		}
		if p.flushed != nil {
			return p.flushed
		}
		if p.most > 0 && p.list.Count() >= p.most { // A filtered list that has enough.
			p.more = true
			return nil
		}
		if err := p.add(record); err != nil {
			return err
		}
	}
	return p.flushed
}

// end returns why some records of a whole walk were not printed.
func (p *printing[T]) end() error {
	if len(p.unread) > 0 {
		return unreadable(p.unread, true)
	}
	return nil
}

func (p *printing[T]) add(record apiclient.Record[T]) error {
	for object := range p.absent {
		if bytes.Contains(record.Raw, []byte(`"`+object+`"`)) {
			delete(p.absent, object)
		}
	}
	before, decode := p.list.Printed(), record.Decode
	if p.passes != nil {
		value, err := record.Decode()
		if err == nil && !p.passes(value) {
			return nil
		}
		decode = func() (T, error) { return value, err }
	}
	err := p.list.Add(record.Raw, decode)
	if errors.Is(err, apiclient.ErrUnreadable) {
		p.unread = append(p.unread, err)
		return nil
	}
	if p.printed != nil && p.list.Printed() > before {
		p.printed(record)
	}
	return err
}

// EndList ends the output of a list. err is the reason, or nil at its end. A list that broke off must not look whole.
func EndList[T any](list *render.List[T], err error) error {
	if err == nil {
		return list.Close()
	}
	abort := list.Abort(errors.Is(err, apiclient.ErrAtEnd))
	if abort != nil && !errors.Is(err, abort) { // Not reported already.
		return fmt.Errorf("%w (and the output: %w)", aboutList(err), abort)
	}
	return aboutList(err)
}

// embedded returns records with what is added to them.
func (l List[T, O]) embedded(
	ctx context.Context,
	client *apiclient.Client,
	records iter.Seq2[apiclient.Record[T], error],
) iter.Seq2[apiclient.Record[T], error] {
	if l.Embed != nil {
		records = l.Embed(ctx, client, records)
	}
	if l.hasRevisions() {
		records = withRevisions(records)
	}
	return records
}

// printAll prints a list up to its limit. hint says if there is more.
func (l List[T, O]) printAll(
	cmd *cobra.Command,
	client *apiclient.Client,
	flags *ListFlags,
	p *printing[T],
) (string, error) {
	options := flags.walk(cmd, l.Passes != nil)
	options.More = func() { p.more = true }
	options.Yielded = func() { p.flushed = p.list.Flush() }
	if !flags.all {
		p.most = flags.limit
	}
	l.After(flags.after)
	err := p.walk(l.embedded(cmd.Context(), client, l.Of(client).All(cmd.Context(), *l.Options, options)))
	err = cmp.Or(err, p.end())
	if err != nil || !p.more {
		return "", err
	}
	printed := cli.Count(p.list.Count(), "record")
	if l.Passes != nil {
		return "stopped after " + printed + "; there may be more: --limit N, or --all", nil
	}
	return "printed " + printed + ", there are more: --limit N, or --all", nil
}

// walk returns the options of the walk. The length of a filtered list is unknown.
func (l *ListFlags) walk(cmd *cobra.Command, filtered bool) apiclient.AllOptions {
	o := apiclient.AllOptions{PageSize: l.pageSize, Reuse: true}
	if l.all && !cmd.Flags().Changed("page-size") {
		o.PageSize = apitype.MaxPageSize
	}
	if !l.all && !filtered {
		o.Limit = l.limit
	}
	return o
}

// unreadable returns the error of a list with unreadable records. atEnd means that all others were read.
func unreadable(unread []error, atEnd bool) error {
	e := &apiclient.Error{Kind: apiclient.KindUnavailable, Message: unread[0].Error(), Err: unread[0]}
	if atEnd {
		e.Err = errors.Join(e.Err, apiclient.ErrAtEnd)
	}
	if len(unread) > 1 {
		e.Message = fmt.Sprintf("%d records could not be read; %s", len(unread), unread[0])
		for _, err := range unread[:min(len(unread), 20)] {
			e.Detail = append(e.Detail, err.Error())
		}
	}
	return e
}

// Get makes a command the verb get of a noun.
func Get[T any, O apiclient.ListOptions](
	s *cli.Session,
	cmd *cobra.Command,
	columns []render.Column[T],
	of func(*apiclient.Client) *apiclient.Collection[T, O],
) *cobra.Command {
	allowEmpty := false
	cmd.Use, cmd.Args = "get UUID… | -", cli.NeedArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ids, err := s.Targets(cmd.Context(), args, allowEmpty)
		if err != nil {
			return err
		}
		client, print, err := cli.Open(cmd.Context(), s, "", columns)
		if err != nil {
			return err
		}
		if len(ids) == 1 && args[0] != "-" {
			return print.Record(of(client).Get(cmd.Context(), ids[0]))
		}
		list, err := print.List()
		if err != nil {
			return err
		}
		return getAll(cmd.Context(), ids, list, of(client).Get)
	}
	cli.AllowEmptyFlag(cmd, &allowEmpty)
	return cmd
}

// getAll prints the named records as a list. A missing one does not stop the others; a refused account does.
func getAll[T any](
	ctx context.Context,
	ids []apitype.UUID,
	list *render.List[T],
	get func(context.Context, apitype.UUID) (apiclient.Record[T], error),
) error {
	var failed []error
	for outcome := range bulk.InOrder(ctx, bulk.DefaultConcurrency, slices.Values(ids), get) {
		err := outcome.Err
		if err == nil {
			err = list.Add(outcome.Value.Raw, outcome.Value.Decode)
		}
		switch {
		case err == nil:
		case cli.IsClosedPipe(err):
			return err
		case apiclient.KindOf(err) == apiclient.KindUnauthenticated:
			return errors.Join(err, list.Abort(false))
		default:
			failed = append(failed, fmt.Errorf("%s: %w", outcome.Item, err))
		}
	}
	end := list.Close
	if list.Count() == 0 && len(failed) > 0 {
		end = func() error { return list.Abort(false) }
	}
	if err := end(); err != nil {
		return err
	}
	return cli.Partial(failed, len(ids))
}

// Persons returns the persons of a service.
func Persons(c *apiclient.Client) *apiclient.Collection[apitype.Person, apitype.PersonListOptions] {
	return c.Persons
}

// Pledges returns the pledges of a service.
func Pledges(c *apiclient.Client) *apiclient.Collection[apitype.Pledge, apitype.PledgeListOptions] {
	return c.Pledges
}
