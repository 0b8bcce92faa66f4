// Package read prints records: list, get, stats and pull, over any noun. A noun is a table of its
// columns, its filters and its collection.
package read

import (
	"bytes"
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

// Calls are the calls of a service.
func Calls(c *apiclient.Client) *apiclient.Collection[apitype.Call, apitype.CallListOptions] {
	return c.Calls
}

// ListFlags are the flags of every list.
type ListFlags struct {
	limit    int
	all      bool
	pageSize int
	first    int
	last     int
	after    string
	before   string
}

const (
	defaultLimit    = 50
	DefaultPageSize = 100
)

func (l *ListFlags) Register(s *cli.Session, cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&l.limit, "limit", defaultLimit, "records to print in all")
	f.BoolVar(&l.all, "all", false, "print everything")
	f.IntVar(&l.pageSize, "page-size", DefaultPageSize, "records to ask for at a time (500 with --all)")
	f.IntVar(&l.first, "first", 0, "one page: records from the start, or after --after")
	f.StringVar(&l.after, "after", "", "cursor after which to begin")
	s.UnpagedFlag(cmd)
}

// aboutList adds the way out to the error of a list.
func aboutList(err error) error {
	if errors.Is(err, apiclient.ErrUnpaged) {
		return cli.WithHint(err, "if the service sends such lists whole: --accept-unpaged, or once for all: fundesk profile set NAME unpaged person,call,pledge")
	}
	return err
}

// RegisterBackwards declares the flags of a list that can be read from its end.
func (l *ListFlags) RegisterBackwards(cmd *cobra.Command) {
	cmd.Flags().IntVar(&l.last, "last", 0, "one page: records from the end, or before --before")
	cmd.Flags().StringVar(&l.before, "before", "", "cursor before which to end")
}

// Check refuses flags that exclude each other and fills in what depends on others.
func (l *ListFlags) Check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case given("limit") && l.all:
		return cli.UsageError("--limit and --all exclude each other")
	case given("limit") && l.limit <= 0:
		return cli.UsageError("--limit must be greater than 0")
	case l.pageSize <= 0:
		return cli.UsageError("--page-size must be greater than 0")
	case l.isPage(cmd) && (l.all || given("limit") || given("page-size")):
		return cli.UsageError("--first and --last are one page; they exclude --limit, --all and --page-size")
	case l.first < 0 || l.last < 0:
		return cli.UsageError("--first and --last must not be negative")
	}
	return nil
}

// isPage reports whether one page is asked for as the service sends it.
func (l *ListFlags) isPage(cmd *cobra.Command) bool {
	given := cmd.Flags().Changed
	return given("first") || given("last") || given("before")
}

// paging is the part of the list options that the flags give.
func (l *ListFlags) paging(cmd *cobra.Command) apitype.Paging {
	p := apitype.Paging{After: l.after, Before: l.before}
	if cmd.Flags().Changed("first") {
		p.First = &l.first
	}
	if cmd.Flags().Changed("last") {
		p.Last = &l.last
	}
	return p
}

// List is the list of a noun.
type List[T any, O apiclient.ListOptions] struct {
	Columns []render.Column[T]
	Options *O
	// identifier is the member that -o id prints; empty: uuid.
	Identifier string
	At         func(apitype.Paging) // Puts a place in the list into the options.
	Of         func(*apiclient.Client) *apiclient.Collection[T, O]
	Passes     func(T) bool // Filters what was retrieved; nil: everything passes.
	// embed adds to records what the list of the service does not show; nil: nothing.
	Embed  func(context.Context, *apiclient.Client, iter.Seq2[apiclient.Record[T], error]) iter.Seq2[apiclient.Record[T], error]
	absent *absences
}

// absences are the embedded objects of asked columns that no record had: such a column would
// be empty without a word.
type absences struct{ missing map[string]string } // The column by its object.

func newAbsences(columns []string) *absences {
	a := &absences{missing: map[string]string{}}
	for _, column := range columns {
		if object, _, nested := strings.Cut(column, "."); nested {
			a.missing[object] = column
		}
	}
	return a
}

// see looks at a record that was printed.
func (a *absences) see(raw []byte) {
	for object := range a.missing {
		if bytes.Contains(raw, []byte(`"`+object+`"`)) {
			delete(a.missing, object)
		}
	}
}

// tell says which columns are empty because the list shows no such object.
func (a *absences) tell(s *cli.Session, printed int) {
	for _, object := range slices.Sorted(maps.Keys(a.missing)) {
		if printed > 0 {
			s.Warn("the column %s is empty: the list of this service has no %s; get shows it, where there is one", a.missing[object], object)
		}
	}
}

// RunList prints a list.
func RunList[T any, O apiclient.ListOptions](s *cli.Session, cmd *cobra.Command, flags *ListFlags, l List[T, O]) error {
	if err := flags.Check(cmd); err != nil {
		return err
	}
	options, err := s.Output()
	if err != nil {
		return err
	}
	options.Identifier = l.Identifier
	list, err := render.NewList(s.App.Out, l.Columns, options)
	if err != nil {
		return cli.UsageError(err.Error())
	}
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return err
	}
	print := printAll[T, O]
	if flags.isPage(cmd) {
		print = printPage[T, O]
	}
	l.absent = newAbsences(options.Columns)
	hint, err := print(cmd, client, flags, l, list)
	if err := EndList(list, err); err != nil {
		return err
	}
	l.absent.tell(s, list.Count())
	if hint != "" {
		s.Warn("%s", hint)
	}
	return nil
}

// EndList ends the output of a list that err ended, nil for its end. What broke off must not
// look whole; what was read to its end is.
func EndList[T any](list *render.List[T], err error) error {
	if err == nil {
		return list.Close()
	}
	if abort := list.Abort(errors.Is(err, apiclient.ErrAtEnd)); abort != nil && !errors.Is(err, abort) { // Not told already.
		return fmt.Errorf("%w (and the output: %w)", aboutList(err), abort)
	}
	return aboutList(err)
}

// printPage prints one page as the service sends it; hint says how to get what lies
// beside it.
func printPage[T any, O apiclient.ListOptions](cmd *cobra.Command, client *apiclient.Client, flags *ListFlags, l List[T, O], list *render.List[T]) (hint string, err error) {
	paging := flags.paging(cmd)
	l.At(paging)
	page, err := l.Of(client).List(cmd.Context(), *l.Options)
	if err != nil {
		return "", err
	}
	var unread []error
	for record, err := range l.embedded(cmd.Context(), client, eachOf(page.Records)) {
		if err == nil {
			err = addRecord(list, l, record, &unread)
		}
		if err != nil {
			return "", err
		}
	}
	if err := page.Err(); err != nil {
		unread = append(unread, err)
	}
	if len(unread) > 0 {
		return "", unreadable(unread, true)
	}
	switch {
	case page.HasNextPage && page.EndCursor != "" && !paging.IsBackward():
		hint = "there are more; go on with --after " + page.EndCursor
	case page.HasPreviousPage && page.StartCursor != "" && paging.IsBackward():
		hint = "there are more before these; go on with --before " + page.StartCursor
	case page.MayHavePrevious() && paging.IsBackward():
		hint = "there may be more before these; go on with --before " + page.StartCursor
	case page.MayBeCut:
		hint = "there may be more: nothing in the answer tells"
	}
	return hint, nil
}

// embedded are records with what is added to them.
func (l List[T, O]) embedded(ctx context.Context, client *apiclient.Client, records iter.Seq2[apiclient.Record[T], error]) iter.Seq2[apiclient.Record[T], error] {
	if l.Embed == nil {
		return records
	}
	return l.Embed(ctx, client, records)
}

// eachOf are the records of a page.
func eachOf[T any](records []apiclient.Record[T]) iter.Seq2[apiclient.Record[T], error] {
	return func(yield func(apiclient.Record[T], error) bool) {
		for _, record := range records {
			if !yield(record, nil) {
				return
			}
		}
	}
}

// collectAt is how much may be let go of before it is collected while a list is walked,
// in percent of what is in use. Little is in use then, two pages, so that collecting four
// times as often as usual takes a tenth less memory for a twentieth more work.
const collectAt = 25

// collectAfter is how many records come before that: a short list leaves little, and the
// first record of a long one must not wait.
const collectAfter = 100

// collectingSooner is a walk that collects at collectAt after its first records.
func collectingSooner[T any](records iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		count, before := 0, 0
		for record, err := range records {
			if !yield(record, err) {
				break
			}
			if count++; count == collectAfter {
				before = debug.SetGCPercent(collectAt)
			}
		}
		if count >= collectAfter {
			debug.SetGCPercent(before)
		}
	}
}

// printAll prints a list up to its limit; hint says when that was not everything.
func printAll[T any, O apiclient.ListOptions](cmd *cobra.Command, client *apiclient.Client, flags *ListFlags, l List[T, O], list *render.List[T]) (hint string, err error) {
	var unread []error
	more := false
	options := flags.walk(cmd, l.Passes != nil)
	options.More = func() { more = true }
	var flushed error
	options.Yielded = func() { flushed = list.Flush() }
	l.At(apitype.Paging{After: flags.after})
	for record, err := range collectingSooner(l.embedded(cmd.Context(), client, l.Of(client).All(cmd.Context(), *l.Options, options))) {
		if err != nil {
			if len(unread) > 0 {
				err = errors.Join(err, unreadable(unread, false))
			}
			return "", err
		}
		if !flags.all && list.Count() >= flags.limit { // A filtered list that has enough.
			more = true
			break
		}
		if err := addRecord(list, l, record, &unread); err != nil {
			return "", err
		}
		if flushed != nil {
			return "", flushed
		}
	}
	switch {
	case len(unread) > 0:
		return "", unreadable(unread, true)
	case !more:
		return "", nil
	case l.Passes != nil:
		return fmt.Sprintf("stopped after %s; there may be more: --limit N, or --all", cli.Count(list.Count(), "record")), nil
	default:
		return fmt.Sprintf("printed %s, there are more: --limit N, or --all", cli.Count(list.Count(), "record")), nil
	}
}

// walk is how the list is walked: a filtered one does not know how far.
func (l *ListFlags) walk(cmd *cobra.Command, filtered bool) apiclient.AllOptions {
	o := apiclient.AllOptions{PageSize: l.pageSize, Reuse: true}
	if l.all && !cmd.Flags().Changed("page-size") {
		o.PageSize, o.Fallback = apitype.MaxPageSize, DefaultPageSize
	}
	if !l.all && !filtered {
		o.Limit = l.limit
	}
	return o
}

// addRecord prints a record that passes the filters. One that cannot be read is kept in
// unread, and does not stand in the way of the others.
func addRecord[T any, O apiclient.ListOptions](list *render.List[T], l List[T, O], record apiclient.Record[T], unread *[]error) error {
	l.absent.see(record.Raw)
	var decoding error
	decode := func() (value T, err error) {
		value, decoding = record.Decode()
		return value, decoding
	}
	var err error
	if l.Passes == nil {
		err = list.Add(record.Raw, decode)
	} else if value, failed := decode(); failed == nil && l.Passes(value) {
		err = list.Add(record.Raw, func() (T, error) { return value, nil })
	}
	if decoding != nil {
		*unread = append(*unread, decoding)
		return nil
	}
	return err
}

// unreadable is the error of a list of which some records could not be read; atEnd says that
// it was read to its end all the same.
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

// Get is the verb get of a noun.
func Get[T any, O apiclient.ListOptions](s *cli.Session, nouns, long, example string, columns []render.Column[T], of func(*apiclient.Client) *apiclient.Collection[T, O]) *cobra.Command {
	allowEmpty := false
	cmd := &cobra.Command{
		Use: "get UUID… | -", Short: "Show " + nouns, Args: cli.NeedArgs(1), Long: long, Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := s.Targets(cmd.Context(), args, allowEmpty)
			if err != nil {
				return err
			}
			options, err := s.Output()
			if err != nil {
				return err
			}
			list, err := render.NewList(s.App.Out, columns, options)
			if err != nil {
				return cli.UsageError(err.Error())
			}
			client, err := s.Connect(cmd.Context())
			if err != nil {
				return err
			}
			if len(ids) != 1 || args[0] == "-" {
				return getAll(cmd.Context(), ids, list, of(client).Get)
			}
			record, err := of(client).Get(cmd.Context(), ids[0])
			if err != nil {
				return err
			}
			return render.Record(s.App.Out, columns, options, record.Raw, record.Decode)
		},
	}
	cli.AllowEmptyFlag(cmd, &allowEmpty)
	return cmd
}

// getAll prints the named records as a list. One that is missing does not stand in the way
// of the others; an account that is refused is, for all of them.
func getAll[T any](ctx context.Context, ids []apitype.UUID, list *render.List[T], get func(context.Context, apitype.UUID) (apiclient.Record[T], error)) error {
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

// Persons are the persons of a service.
func Persons(c *apiclient.Client) *apiclient.Collection[apitype.Person, apitype.PersonListOptions] {
	return c.Persons
}

// Pledges are the pledges of a service.
func Pledges(c *apiclient.Client) *apiclient.Collection[apitype.Pledge, apitype.PledgeListOptions] {
	return c.Pledges
}
