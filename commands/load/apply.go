package load

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
)

// The values of --empty.
const (
	emptyClear = "clear"
	emptyKeep  = "keep"
)

// Mistakes with a hint of their own.
const (
	emptyCell    = "the cell is empty, and the record has a value"
	noSuchRecord = "there is no such record"
	cannotChange = "cannot be changed, and differs from the record"
)

// Apply returns the verb apply of a noun.
func Apply(s *cli.Session, shape Rows) *cobra.Command {
	f := &rowFlags{}
	noun, edit, aboutMatch := shape.Record, "{uuid, donationAmount: 15}", ""
	if noun == "person" {
		edit = "{uuid, language: \"nl\"}"
		aboutMatch = "--match finds the records of rows without a uuid by other fields, in their order.\n" +
			"A later field decides between several matches. fundesk prints a plan first: new, changed, equal\n" +
			"and ambiguous rows. It leaves out and names rows that are new (without --create), ambiguous, or\n" +
			"for the record of another row. The exit code is then 9.\n\n"
	}
	cmd := &cobra.Command{
		Use:   "apply FILE | -",
		Short: "Update " + noun + "s from a file",
		Args:  f.args,
		Long: "Change records to match a file. Each row has the uuid of its record: csv and ndjson of\n" +
			noun + " list, JSON of " + noun + " get, or request bodies. Every record is read first, and only the\n" +
			"fields that differ are sent. Read-only columns are ignored. --dry-run shows each field that would\n" +
			"change. A record that changed since it was read is refused. A row of list --for-edit carries the\n" +
			"revision of its record: if that has changed, the row is left out and named, unless --force is\n" +
			"given. Rows whose uuid is missing or unknown are left out and named, too, and the exit code is\n" +
			"9. --create creates them, also those that another service has exported; --value\n" +
			"'owningOrganizationUuid:ITS=OURS' then names their organization here.\n\n" +
			aboutMatch + aboutRows,
		Example: "  fundesk " + noun + " list --all --for-edit -o csv > " + noun + "s.csv &&\n" +
			"    fundesk " + noun + " apply " + noun + "s.csv --dry-run\n" +
			"  fundesk " + noun + " apply " + noun + "s.csv --results " + noun + "s.results --errors wrong.csv " +
			"--yes\n" +
			"  fundesk " + noun + " get - -o ndjson < uuids.txt | jq -c '" + edit + "' | fundesk " + noun +
			" apply - --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			choices := []string{emptyClear, emptyKeep}
			if f.empty != "" && !slices.Contains(choices, f.empty) {
				return cli.NotOneOf("--empty", f.empty, choices)
			}
			return f.run(s, cmd, shape, args, true)
		},
	}
	f.register(cmd, shape.Creates)
	cmd.Flags().BoolVar(&f.force, "force", false, "also send rows whose record changed after the export")
	cmd.Flags().BoolVar(&f.create, "create", false, "create rows whose uuid is missing or unknown")
	if noun == "person" {
		cmd.Flags().
			StringSliceVar(&f.match, "match", nil, "find records by email, iban, phone or name+born (repeatable)")
		cmd.Flags().BoolVar(&f.planOnly, "plan-only", false, "with --match: only show new and changed rows")
		cli.RegisterFlag(cmd, "match", cli.Values(matchFields))
	}
	cmd.Flags().
		StringVar(&f.empty, "empty", "", "empty cells: clear the field or keep it (default: refused)")
	return cmd
}

// fieldChange is one field that differs.
type fieldChange struct {
	Field string `json:"field"`
	From  any    `json:"from"`
	To    any    `json:"to"`
}

// identify finds the uuid of a row, and the result of an earlier run for it.
func (r *rowRun) identify(w *wanted, earlier bulk.Past) {
	text := ""
	if earlier.Started() { // For a row without a uuid.
		text = earlier.UUID.String()
	}
	if given, isGiven := w.field("uuid"); isGiven {
		id, isText := given.given.(string)
		if !isText {
			w.problem = "uuid: has a value of another kind"
			return
		}
		text = id
	}
	if text == "" && r.matcher != nil {
		w.leftOut = r.matched(w)
		return
	}
	if text == "" {
		if !r.create {
			w.leftOut = errNotThere
		}
		return
	}
	id, err := apitype.ParseUUID(text)
	if err != nil {
		w.problem = "uuid: " + err.Error()
		return
	}
	w.id = id
	w.problem = r.claim(id, w.Line)
	if w.problem != "" {
		return
	}
	if r.matcher != nil && earlier.Started() { // An interrupted run may not have created the record.
		r.matcher.add(*w, id)
	}
	// Only the last change of a record counts: a row may have its values of long ago again. Without --results every row
	// is compared with its record.
	w.earlier = earlier
	if r.results != "" {
		w.isDone = earlier.Done && r.known.Last[id] == w.Sum
	}
}

// withoutRecord returns why a row has no record, and everything else that is wrong with the row.
func (r *rowRun) withoutRecord(w wanted, why string, cause error) error {
	r.reader.settle(&w, "")
	d := &difference{rowFlags: r.rowFlags, reader: r.reader, body: body{object: map[string]any{}}}
	d.compare(w.fields)
	_, err := d.change(cmp.Or(w.id, apitype.NewUUID()), nil)
	more := r.reader.mistakesIn(w.fields, d.wrong, err)
	return &bulk.Mistakes{
		Row:   w.Row,
		What:  append([]string{why}, more.shown...),
		Plain: append([]string{why}, more.plain...),
		Cause: cause,
	}
}

// change returns the changes that give a record the values of its row, or nil.
func (r *rowRun) change(ctx context.Context, w wanted, raw json.RawMessage, etag string) (*plannedLine, error) {
	d := &difference{rowFlags: r.rowFlags, reader: r.reader, body: body{object: map[string]any{}}}
	err := apitype.DecodeExact(raw, &d.record)
	if err != nil || d.record == nil {
		return nil, cli.Failure(apiclient.KindUnavailable, "the record is not what the interface promises")
	}
	home, _ := apiclient.Shown(d.record, "address.country")
	country, _ := home.(string)
	r.reader.settle(&w, country)
	consents, others, problems := r.reader.consentsOf(w.fields)
	if err := w.wrong(problems); err != nil {
		return nil, err
	}
	rev, hasRevision := w.field(apitype.RevisionMember)
	revision := apiclient.RevisionOf(etag)
	d.isMoved = hasRevision && revision != "" && fmt.Sprint(rev.given) != revision
	d.compare(others)
	asked, err := d.change(w.id, raw)
	if err := w.wrong(r.reader.mistakesIn(others, d.wrong, err)); err != nil {
		return nil, err
	}
	var line *plannedLine
	if len(d.changes) > 0 {
		if d.isMoved && !r.force {
			rs := d.overtaken()
			return nil, &bulk.Mistakes{
				Row:   w.Row,
				What:  rs.shown,
				Plain: rs.plain,
				Cause: errOvertaken,
			}
		}
		asked.Revision, asked.Seen = etag, apiclient.SeenOf(asked, raw)
		line = w.line(asked)
		line.Changes, line.left = d.changes, d.left
	}
	missing, overruled, err := missingConsents(ctx, r.client, w.id, consents)
	if err != nil {
		return nil, err
	}
	line, err = withConsents(line, w, missing)
	if line != nil {
		line.overruled = overruled
	}
	return line, err
}
