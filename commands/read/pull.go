package read

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/commands/profile"
	"fundesk/render"
)

func Pull(s *cli.Session) *cobra.Command {
	return cli.Group(s, "pull", "Retrieve what is new since the last pull, as NDJSON, or by -o as csv, tsv or id. A pull that fails is repeated whole by the next\n"+
		"one: a record may come again, and none is lost.",
		"  fundesk pull call --updated >> calls.ndjson\n  fundesk pull person --mark-processed",
		cli.Verbs{"person": pullVerb(apitype.EntityPerson), "call": pullVerb(apitype.EntityCall), "pledge": pullVerb(apitype.EntityPledge), "erased": pullVerb(entityErased)})
}

func pullVerb(entity apitype.EntityName) func(*cli.Session) *cobra.Command {
	return func(s *cli.Session) *cobra.Command { return pullNoun(s, entity) }
}

// entityErased are the persons who were erased, which a program that keeps a copy erases, too.
const entityErased apitype.EntityName = "erased"

// puller retrieves what is new of one noun.
type puller struct {
	entity  apitype.EntityName
	path    string
	query   url.Values // The filters without the time.
	after   string     // Parameter of the time.
	since   *apitype.Time
	updated bool
	state   string
	mark    bool
	decode  func(json.RawMessage) (any, error) // Of the noun.
}

// pullFlags are the flags of a pull: those of the noun's list, and its own.
type pullFlags struct {
	puller
	persons apitype.PersonListOptions
	calls   CallFilters
	pledges apitype.PledgeListOptions
}

func pullNoun(s *cli.Session, entity apitype.EntityName) *cobra.Command {
	p := &pullFlags{puller: puller{entity: entity, path: "/api/v1/" + string(entity) + "s"}}
	cmd := &cobra.Command{
		Use: string(entity), Short: "Retrieve new " + string(entity) + "s", Args: cli.NoArgs,
		Long: "Print every " + string(entity) + " that is new since the last pull, as NDJSON. The position moves only after\n" +
			"everything was written, and never beyond what the service says to be settled. Each profile has its own, and each\naccount whose token is in FUNDESK_TOKEN. --since looks without moving it, unless --state names a file. --jq 'select(…)' filters what is printed.",
		Example: "  fundesk pull " + string(entity) + " >> " + string(entity) + "s.ndjson\n" +
			"  fundesk pull " + string(entity) + " --since 7d --state my.state",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.prepare(s); err != nil {
				return err
			}
			return p.run(s, cmd)
		},
	}
	f := cmd.Flags()
	f.Var(cli.TimeValue(s.App.Now, &p.since), "since", "begin here, and leave the position as it is without --state (default: where the last pull ended)")
	f.Var(cli.KeptFile(&p.state), "state", "file that keeps the position (default: in the state folder)")
	s.UnpagedFlag(cmd)
	if entity != entityErased {
		f.BoolVar(&p.mark, "mark-processed", false, "mark what was written as processed")
	}
	switch entity {
	case entityErased:
		p.path = "/fundesk/v1/erasures"
		cmd.Short = "Retrieve who was erased, to erase their copies"
		cmd.Long = strings.Replace(cmd.Long, "every erased that is new", "the uuid and time of every person erased", 1)
	case apitype.EntityPerson:
		cli.RegisterFilters(s, cmd, apitype.PersonFilters()[:1], &p.persons) // The others are no filter of what is new.
		f.BoolVar(&p.updated, "updated", false, "persons that changed, not only new ones, where the service tells them")
	case apitype.EntityCall:
		cli.RegisterFilters(s, cmd, cli.Without(apitype.CallFilters(), "requestedFrom", "requestedUntil", "requestedAfter", "updatedAfter"), &p.calls.Options)
		f.BoolVar(&p.calls.noExternal, "no-external-reference", false, "only calls without an external reference")
		f.BoolVar(&p.updated, "updated", false, "calls that changed, not only new ones")
	default:
		cli.RegisterFilters(s, cmd, cli.Without(apitype.PledgeFilters(), "updatedAfter", "releasedAfter"), &p.pledges)
		f.BoolVar(&p.updated, "updated", false, "pledges that changed, not only released ones")
	}
	return cmd
}

// prepare turns the flags into a query.
func (p *pullFlags) prepare(s *cli.Session) error {
	switch p.entity {
	case entityErased: // The list has no filter: what was retrieved before is left out.
	case apitype.EntityPerson:
		p.after, p.query = "createdAfter", p.persons.Query()
	case apitype.EntityCall:
		if err := p.calls.Check(); err != nil {
			return err
		}
		p.calls.includeFor(s.WantedColumns())
		p.after, p.query = "requestedAfter", p.calls.Options.Query()
	default:
		if err := RefuseParameters(p.pledges.Validate()); err != nil {
			return err
		}
		p.after, p.query = "releasedAfter", p.pledges.Query()
	}
	if p.updated {
		p.after = "updatedAfter"
	}
	return nil
}

func (p *pullFlags) run(s *cli.Session, cmd *cobra.Command) error {
	options, err := s.Output()
	if err != nil {
		return err
	}
	if options.Endless = true; s.Flags.Output == "" {
		options.Format = render.NDJSON
	}
	if len(options.Columns) > 0 && options.Format == render.NDJSON {
		return cli.UsageError("--columns goes with -o csv and tsv")
	}
	client, err := s.Connect(cmd.Context())
	if err != nil {
		return err
	}
	if p.entity == entityErased || p.entity == apitype.EntityPerson && p.updated {
		if has, err := client.Has(cmd.Context(), apitype.ExtensionFilters); err != nil || !has {
			return cmp.Or(err, cli.WithHint(cli.Failure(apiclient.KindRejected, "the service does not tell which persons were changed or erased"),
				"fundesk pull person retrieves new ones"))
		}
	}
	t, err := s.Resolve()
	if err != nil {
		return err
	}
	last := position{Service: t.BaseURL, Query: p.after + "?" + p.query.Encode()}
	path, err := p.positionPath(cmd.Context(), client, t, s.StateDir, last)
	if err != nil {
		return err
	}
	if err := last.load(path); err != nil {
		return err
	}
	looks := p.since != nil && p.state == "" // It moves no position.
	if p.since != nil {
		last.After = *p.since
	}
	if !looks {
		if err := keepable(path); err != nil { // Before anything is printed or marked.
			return err
		}
	}
	columns, decode := p.columns(s)
	list, err := render.NewList(s.App.Out, columns, options)
	if err != nil {
		return cli.UsageError(err.Error())
	}
	p.decode = decode
	next, err := p.fetch(cmd.Context(), client, last, &pullOutput{session: s, puller: &p.puller, client: client, list: list})
	if err != nil {
		return err
	}
	if looks {
		s.Note("%s; --since moves no position: the next pull begins where the last one without it ended", cli.Count(list.Count(), "record"))
		return nil
	}
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("keep the position: %w", err)
	}
	if err := profile.WriteFile(path, data); err != nil {
		return fmt.Errorf("keep the position: %w", err)
	}
	s.Note("%s; the next pull begins at %s", cli.Count(list.Count(), "record"), next.After)
	return nil
}

// columns are those of the noun, and how its records are decoded for them.
func (p *pullFlags) columns(s *cli.Session) ([]render.Column[any], func(json.RawMessage) (any, error)) {
	switch p.entity {
	case entityErased:
		return anyColumns(render.ErasedColumns()), decodeAs[apitype.ErasedPerson]
	case apitype.EntityPerson:
		return anyColumns(render.PersonColumns()), decodeAs[apitype.Person]
	case apitype.EntityCall:
		return anyColumns(p.calls.Columns(s)), decodeAs[apitype.Call]
	default:
		return anyColumns(FilledColumns(s, render.PledgeColumns(), func(string) bool { return false })), decodeAs[apitype.Pledge]
	}
}

func decodeAs[T any](raw json.RawMessage) (any, error) {
	return apiclient.Record[T]{Raw: raw}.Decode()
}

// anyColumns are columns of records whose noun is not known beforehand.
func anyColumns[T any](columns []render.Column[T]) []render.Column[any] {
	all := make([]render.Column[any], len(columns))
	for i, c := range columns {
		all[i] = render.Column[any]{Name: c.Name, Default: c.Default, Value: func(record any) string { return c.Value(record.(T)) }}
	}
	return all
}

// fetch retrieves everything after the last position and returns the next one.
func (p *puller) fetch(ctx context.Context, client *apiclient.Client, last position, out *pullOutput) (position, error) {
	query := maps.Clone(p.query)
	if !last.After.IsZero() && p.after != "" {
		query.Set(p.after, last.After.String())
	}
	next := position{Service: last.Service, Query: last.Query, Written: map[string]stamp{}}
	var seen horizon
	options := apiclient.AllOptions{PageSize: apitype.MaxPageSize, Fallback: DefaultPageSize, Reuse: true, Answered: func(header http.Header) {
		seen.answered(header, out.session.App.Now())
	}}
	var flushed error
	options.Yielded = func() { flushed = out.endPage(ctx) } // Not when the next page answers: that may take long.
	for record, err := range collectingSooner(client.Walk(ctx, p.path, query, options)) {
		if err != nil {
			if len(out.unread) > 0 {
				err = errors.Join(err, unreadable(out.unread, false))
			}
			return next, EndList(out.list, err)
		}
		if flushed != nil {
			return next, flushed
		}
		r := stampedOf(record.Raw)
		at := p.filteredAt(r)
		seen.saw(at)
		if p.after == "" && !at.After(last.After.Time) {
			break // The last one comes first.
		}
		if again := at.After(seen.after().Time); again || len(last.Written) > 0 {
			id, now := r.UUID.String(), stamp{Time: at, Version: r.version()}
			if again {
				next.Written[id] = now
			}
			// Who names the beginning wants everything from there, though it was written before.
			if before, written := last.Written[id]; written && before == now && p.since == nil {
				continue
			}
		}
		if err := out.add(record.Raw, r.UUID); err != nil {
			return next, err
		}
	}
	if flushed != nil {
		return next, flushed
	}
	if len(out.unread) > 0 {
		return next, EndList(out.list, unreadable(out.unread, true))
	}
	next.After = seen.after()
	next.forget(last)
	return next, out.list.Close()
}

// pullOutput is where a pull writes, page by page.
type pullOutput struct {
	session *cli.Session
	puller  *puller
	client  *apiclient.Client
	list    *render.List[any]
	page    []apitype.UUID // Written, and still to be marked.
	unread  []error        // Of records that could not be written, because they could not be read.
}

// add writes a record. One that has no row, since it cannot be read, does not stand in the way
// of the others.
func (o *pullOutput) add(raw json.RawMessage, id apitype.UUID) error {
	printed := o.list.Printed()
	var decoding error
	err := o.list.Add(raw, func() (value any, _ error) {
		value, decoding = o.puller.decode(raw)
		return value, decoding
	})
	if decoding != nil {
		o.unread = append(o.unread, decoding)
		return nil
	}
	if o.puller.mark && o.list.Printed() > printed && !id.IsZero() {
		o.page = append(o.page, id)
	}
	return err
}

// endPage flushes and marks a page.
func (o *pullOutput) endPage(ctx context.Context) error {
	if err := o.list.Flush(); err != nil {
		return err
	}
	if len(o.page) == 0 {
		return nil
	}
	mark := change.MarkFlags{ProcessedAt: new(apitype.NewTime(o.session.App.Now())), Source: o.session.Defaults().ExternalSourceName}
	var entries []apitype.ProcessedEntry
	for _, id := range o.page {
		entry := apitype.ProcessedEntry{EntityName: o.puller.entity, EntityUUID: id, ProcessedAt: *mark.ProcessedAt}
		mark.AddSource(&entry)
		entries = append(entries, entry)
	}
	o.page = o.page[:0]
	err := o.client.EntityAccess.MarkProcessed(ctx, entries)
	if err == nil || apiclient.KindOf(err) == apiclient.KindInterrupted {
		return err
	}
	return &apiclient.Error{Kind: apiclient.KindPartial, Message: "the records were written, but not all could be marked: " + err.Error(), Err: err}
}

// filteredAt is the time of a record by which the service filters, zero for none.
func (p *puller) filteredAt(r stamped) apitype.Time {
	at := r.CreatedAt
	switch {
	case p.after == "":
		at = r.ErasedAt
	case p.after == "requestedAfter":
		at = r.RequestedAt
	case p.after == "releasedAfter":
		at = r.ReleasedAt
	case p.after == "updatedAfter" && r.LastUpdatedAt != nil:
		at = r.LastUpdatedAt
	case p.after == "updatedAfter":
		at = r.UpdatedAt
	}
	if at == nil {
		return apitype.Time{}
	}
	return *at
}

// positionPath is the file of a position: that which was named, or one for each profile,
// service and set of filters. A token of the environment may be that of any account, whose
// position is one of its own: another one sees other records.
func (p *puller) positionPath(ctx context.Context, client *apiclient.Client, t *cli.Target, stateDir func() (string, error), last position) (string, error) {
	if p.state != "" {
		return p.state, nil
	}
	dir, err := stateDir()
	if err != nil {
		return "", err
	}
	key := last.Service + " " + last.Query
	if t.EnvToken != "" && !t.IsEmbedded() {
		account, err := client.TokenIdentity(ctx)
		if err != nil {
			return "", err
		}
		key += " " + account
	}
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(dir, "pull", t.Name+"-"+string(p.entity)+"-"+hex.EncodeToString(sum[:6])+".json"), nil
}
