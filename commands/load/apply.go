package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/change"
	"fundesk/commands/cli"
)

// applyFlags are the flags of apply.
type applyFlags struct {
	rowFlags
	create bool
	force  bool // Also replace what was changed after the export.
	empty  string
}

// What --empty may say.
const (
	emptyClear = "clear"
	emptyKeep  = "keep"
)

// Mistakes that have a way out of their own.
const (
	emptyCell    = "the cell is empty, and the record has a value"
	noSuchRecord = "there is no such record"
	noIdentifier = "uuid: is required"
	cannotChange = "cannot be changed, and differs from the record"
)

// Apply is the verb apply of a noun.
func Apply(s *cli.Session, shape Rows) *cobra.Command {
	f := &applyFlags{}
	noun := shape.Record
	cmd := &cobra.Command{
		Use:   "apply FILE | -",
		Short: "Update " + noun + "s from a file",
		Args:  f.args,
		Long: "Change records as a file has them, one row for each, found by its uuid: csv and ndjson of " + noun + " list, JSON of " + noun + "\n" +
			"get, or request bodies with a uuid. Every record is read first, and only the fields that differ are sent. Fields\n" +
			"that cannot be changed may stand in a row as they are. --dry-run shows each field that would change; a record that\n" +
			"changed since it was read is refused. A row of list --for-edit carries the revision of its record: if that has\n" +
			"changed, the row is left out and named, unless --force is given. --create creates rows whose uuid is missing or\n" +
			"unknown, also those that another service has exported: --value 'owningOrganizationUuid:ITS=OURS' names their\n" +
			"organization here.\n\n" + aboutRows,
		Example: "  fundesk " + noun + " list --all --for-edit -o csv > " + noun + "s.csv &&\n" +
			"    fundesk " + noun + " apply " + noun + "s.csv --dry-run\n" +
			"  fundesk " + noun + " apply " + noun + "s.csv --results " + noun + "s.results --errors wrong.csv --yes\n" +
			"  fundesk " + noun + " get - -o ndjson < uuids.txt | jq -c '{uuid, language: \"nl\"}' | fundesk " + noun + " apply - --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"", emptyClear, emptyKeep}, f.empty) {
				return cli.UsageError("--empty " + cli.Quote(f.empty) + " is not clear or keep")
			}
			prepare := func(r *rowRun) error { return (&applier{rowRun: r, flags: f}).prepare() }
			return f.run(s, cmd, shape, args, rowVerb{"changed", prepare})
		},
	}
	f.register(cmd, shape.Creates)
	cmd.Flags().BoolVar(&f.force, "force", false, "also send rows whose record changed after the export")
	cmd.Flags().BoolVar(&f.create, "create", false, "create rows whose uuid is missing or unknown")
	cmd.Flags().
		StringVar(&f.empty, "empty", "", "what an empty CSV cell does to a value: clear or keep (default: refused)")
	return cmd
}

// fieldChange is one field that differs.
type fieldChange struct {
	Field string `json:"field"`
	From  any    `json:"from"`
	To    any    `json:"to"`
}

// applier makes rows into changes of the records that are there.
type applier struct {
	*rowRun
	flags *applyFlags
	err   error // Why the file could not be read to its end.
}

// keyedRow is a row with the identifier of its record, zero for a new one.
type keyedRow struct {
	bulk.Row
	values  []rowValue
	id      apitype.UUID
	earlier bulk.Past
	isDone  bool   // By an earlier run.
	problem string // Of the row by itself.
}

// prepare compares every row with its record, several at a time.
func (a *applier) prepare() error {
	ctx := a.cmd.Context()
	client, err := a.session.Connect(ctx)
	if err != nil {
		return err
	}
	progress := newProgress(a.session, 0, a.source.share)
	defer progress.end()
	compare := func(ctx context.Context, k keyedRow) (*plannedLine, error) { return a.compare(ctx, client, k) }
	for outcome := range bulk.InOrder(ctx, a.concurrency, a.keyed, compare) {
		a.read++
		progress.step()
		wrong, isWrong := errors.AsType[*bulk.Mistakes](outcome.Err)
		switch {
		case isWrong:
			a.wrong.add(*wrong)
			if errors.Is(wrong.Cause, errOvertaken) {
				a.overtaken.Add(change.Result{UUID: outcome.Item.id.String(), Error: new(strings.Join(wrong.What, "; "))})
			}
		case outcome.Err != nil:
			return fmt.Errorf("line %d could not be compared, and nothing was sent: %w", outcome.Item.Line, outcome.Err)
		case outcome.Item.isDone:
			a.done++
		case outcome.Value == nil:
			a.unchanged++
		default:
			a.plan(*outcome.Value)
		}
	}
	return a.err
}

// keyed are the rows of the file with the identifiers of their records.
func (a *applier) keyed(yield func(keyedRow) bool) {
	for row, err := range a.source.All {
		if err != nil {
			a.err = err
			return
		}
		k := keyedRow{Row: row}
		if k.values, err = a.reader.values(a.source.Header, row); err != nil {
			k.problem = bulk.Reasons(err)
		} else {
			a.identify(&k)
		}
		if !yield(k) {
			return
		}
	}
}

// identify finds the uuid of a row, and what an earlier run did with it.
func (a *applier) identify(k *keyedRow) {
	earlier := a.known.Lines[k.Line]
	text := ""
	if earlier.Started() { // Where the row has none.
		text = earlier.UUID.String()
	}
	if i := slices.IndexFunc(k.values, func(v rowValue) bool { return v.name == "uuid" && !v.isEmpty() }); i >= 0 {
		given, ok := k.values[i].value.(string)
		switch {
		case !ok:
			k.problem = "uuid: has a value of another kind"
			return
		case text != "" && !strings.EqualFold(given, text):
			k.problem = otherFile(earlier)
			return
		}
		text = given
	}
	if text == "" {
		if !a.flags.create {
			k.problem = noIdentifier
		}
		return
	}
	var err error
	if k.id, err = apitype.ParseUUID(text); err != nil {
		k.problem = "uuid: " + err.Error()
		return
	}
	if first, taken := a.seen[k.id]; taken {
		k.problem = onEarlierLine(first)
		return
	}
	a.seen[k.id] = int32(k.Line)
	if k.isDone = earlier.Done && earlier.Sum == bulk.SumOf(k.id, k.SumText()); !earlier.Done {
		k.earlier = earlier // What was edited since it was done is a change like any other.
	}
}

// compare makes a row into the change that its record needs, nil for none. Its error is a
// *bulk.Mistakes where the row is wrong.
func (a *applier) compare(ctx context.Context, client *apiclient.Client, k keyedRow) (*plannedLine, error) {
	if k.problem != "" {
		return nil, a.mistaken(k, k.problem, nil)
	}
	if k.isDone {
		return nil, nil
	}
	var raw json.RawMessage
	etag := ""
	if !k.id.IsZero() {
		var err error
		raw, etag, err = a.reader.shape.Read(ctx, client, k.id)
		missing := apiclient.KindOf(err) == apiclient.KindNotFound
		switch {
		case missing && !a.flags.create:
			return nil, a.mistaken(k, "uuid: "+noSuchRecord, err)
		case err != nil && !missing:
			return nil, err
		}
	}
	if raw == nil {
		line, problems := a.creation(k.Row, k.values, k.earlier)
		if len(problems) > 0 {
			return nil, &bulk.Mistakes{Row: k.Row, What: problems}
		}
		return &line, nil
	}
	consents, others, problems := a.reader.consentsOf(k.values)
	if len(problems) > 0 {
		return nil, &bulk.Mistakes{Row: k.Row, What: problems}
	}
	k.values = others
	line, err := a.difference(k, raw, etag)
	if err != nil || len(consents) == 0 {
		return line, err
	}
	missing, err := missingConsents(ctx, client, k.id, consents)
	if err != nil {
		return nil, err
	}
	return withConsents(line, k, missing)
}

// mistaken is a row without a record: why, and what else is wrong with it by itself.
func (a *applier) mistaken(k keyedRow, why string, cause error) *bulk.Mistakes {
	d := &comparison{reader: a.reader, object: map[string]any{}}
	return &bulk.Mistakes{Row: k.Row, What: append([]string{why}, d.mistakes(k.values)...), Cause: cause}
}

// difference is the change that makes a record say what its row says, nil for none.
func (a *applier) difference(k keyedRow, raw json.RawMessage, etag string) (*plannedLine, error) {
	d := &comparison{
		reader: a.reader,
		empty:  a.flags.empty,
		create: a.flags.create,
		force:  a.flags.force,
		object: map[string]any{},
	}
	if err := apitype.DecodeExact(raw, &d.record); err != nil || d.record == nil {
		return nil, cli.Failure(apiclient.KindUnavailable, "the record is not what the interface promises")
	}
	d.compareRevisions(k.values, apiclient.RevisionOf(etag))
	asked, err := d.change(k.id, k.values, raw)
	if wrong := d.reader.mistakesIn(k.values, d.wrong, err); len(wrong) > 0 {
		return nil, &bulk.Mistakes{Row: k.Row, What: wrong}
	}
	if len(d.changes) == 0 {
		return nil, nil
	}
	if d.isMoved && !d.force {
		return nil, &bulk.Mistakes{Row: k.Row, What: d.overtaken(), Cause: errOvertaken}
	}
	asked.Revision, asked.Seen = etag, apiclient.SeenOf(asked, raw)
	sum := bulk.SumOf(k.id, k.SumText())
	return &plannedLine{
		Line:    bulk.Line{Row: k.Row, Sum: sum, Planned: k.earlier.Started(), Change: asked},
		Changes: d.changes,
		left:    d.left,
	}, nil
}
