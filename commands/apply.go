package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
)

// applyFlags are the flags of apply.
type applyFlags struct {
	rowFlags
	create bool
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
)

// applyCommand is the verb apply of a noun.
func applyCommand(s *session, shape rowShape) *cobra.Command {
	f := &applyFlags{}
	noun := shape.record
	cmd := &cobra.Command{
		Use: "apply FILE | -", Short: "Make " + noun + "s say what a file says", Args: f.args,
		Long: "Change records as a file has them, one row for each, found by its uuid: csv and ndjson of " + noun + " list, JSON of " + noun + "\n" +
			"get, or request bodies with a uuid. Every record is read first, and only the fields that differ are sent. Fields\n" +
			"that cannot be changed may stand in a row as they are. --dry-run shows each field that would change; a record that\n" +
			"changed since it was read is refused. --create creates rows whose uuid is missing or unknown.\n\n" + aboutRows,
		Example: "  fundesk " + noun + " list --all -o csv > " + noun + "s.csv && fundesk " + noun + " apply " + noun + "s.csv --dry-run\n" +
			"  fundesk " + noun + " apply " + noun + "s.csv --results " + noun + "s.results --errors wrong.csv --yes\n" +
			"  fundesk " + noun + " get - -o ndjson < uuids.txt | jq -c '{uuid, language: \"nl\"}' | fundesk " + noun + " apply - --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"", emptyClear, emptyKeep}, f.empty) {
				return usageError("--empty " + quote(f.empty) + " is not clear or keep")
			}
			prepare := func(r *rowRun) error { return (&applier{r, f, map[apitype.UUID]int{}}).prepare() }
			return f.run(s, cmd, shape, args, rowVerb{"changed", prepare})
		},
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&f.create, "create", false, "create rows whose uuid is missing or unknown")
	cmd.Flags().StringVar(&f.empty, "empty", "", "what an empty cell of CSV means where the record has a value: clear or keep (default: refused)")
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
	seen  map[apitype.UUID]int
}

// keyedRow is a row with the identifier of its record, zero for a new one.
type keyedRow struct {
	bulk.Row
	id apitype.UUID
}

// prepare checks every row by itself, and then against its record.
func (a *applier) prepare() error {
	var keyed []keyedRow
	for _, row := range a.rows.All {
		values, err := a.reader.values(a.rows.Header, row)
		if err != nil {
			a.add(plannedLine{}, bulk.Mistakes{Row: row, What: []string{bulk.Reasons(err)}})
			continue
		}
		id, problem := a.identify(row, values)
		switch earlier := a.known[row.Line]; {
		case problem != "":
			a.add(plannedLine{}, bulk.Mistakes{Row: row, What: []string{problem}})
		case earlier.IsDone() && earlier.Sum == bulk.SumOf(id, row.SumText()):
			a.done++
		default:
			delete(a.known, row.Line) // It was edited since: it is a change like any other.
			if !earlier.IsDone() && earlier.UUID != "" {
				a.known[row.Line] = earlier
			}
			keyed = append(keyed, keyedRow{row, id})
		}
	}
	return a.compareAll(keyed)
}

// identify finds the uuid of a row.
func (a *applier) identify(row bulk.Row, values []rowValue) (id apitype.UUID, problem string) {
	text := a.known[row.Line].UUID // Of an earlier run, where the row has none.
	if i := slices.IndexFunc(values, func(v rowValue) bool { return v.name == "uuid" && !v.isEmpty() }); i >= 0 {
		given, ok := values[i].value.(string)
		switch {
		case !ok:
			return id, "uuid: has a value of another kind"
		case text != "" && !strings.EqualFold(given, text):
			return id, "the results file belongs to another file: its uuid for this line is " + text
		}
		text = given
	}
	if text == "" {
		if !a.flags.create {
			return id, noIdentifier
		}
		return id, ""
	}
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return id, "uuid: " + err.Error()
	}
	if first, taken := a.seen[id]; taken {
		return id, "uuid: is on line " + strconv.Itoa(first) + " already"
	}
	a.seen[id] = row.Line
	return id, ""
}

// compareAll reads the record of each row and finds what differs.
func (a *applier) compareAll(keyed []keyedRow) error {
	ctx := a.cmd.Context()
	client, err := a.session.connect(ctx)
	if err != nil {
		return err
	}
	progress := newProgress(a.session, len(keyed))
	defer progress.end()
	compare := func(ctx context.Context, k keyedRow) (*plannedLine, error) { return a.compareOne(ctx, client, k) }
	for outcome := range bulk.InOrder(ctx, a.concurrency, keyed, compare) {
		wrong, isWrong := errors.AsType[*bulk.Mistakes](outcome.Err)
		switch {
		case isWrong:
			a.add(plannedLine{}, *wrong)
		case outcome.Err != nil:
			return fmt.Errorf("line %d could not be compared, and nothing was sent: %w", outcome.Item.Line, outcome.Err)
		case outcome.Value == nil:
			a.unchanged++
		default:
			a.add(*outcome.Value, bulk.Mistakes{})
		}
		progress.step()
	}
	return nil
}

// compareOne makes a row into the change that its record needs, nil for none. Its error is a
// *bulk.Mistakes where the row is wrong.
func (a *applier) compareOne(ctx context.Context, client *apiclient.Client, k keyedRow) (*plannedLine, error) {
	values, err := a.reader.values(a.rows.Header, k.Row)
	if err != nil {
		return nil, err // It was read before.
	}
	var raw json.RawMessage
	etag := ""
	if !k.id.IsZero() {
		raw, etag, err = a.reader.shape.read(ctx, client, k.id)
		missing := apiclient.KindOf(err) == apiclient.KindNotFound
		switch {
		case missing && !a.flags.create:
			return nil, &bulk.Mistakes{Row: k.Row, What: []string{"uuid: " + noSuchRecord}, Cause: err}
		case err != nil && !missing:
			return nil, err
		}
	}
	if raw == nil {
		line, wrong := a.creation(k.Row, values, map[apitype.UUID]int{})
		if len(wrong.What) > 0 {
			return nil, &wrong
		}
		return &line, nil
	}
	d := &comparison{reader: a.reader, empty: a.flags.empty, object: map[string]any{}, seen: map[string]any{}}
	if d.record, err = decodeRecord(raw); err != nil {
		return nil, err
	}
	change, err := d.change(k.id, values, raw)
	if wrong := mistakesIn(d.wrong, err); len(wrong) > 0 {
		return nil, &bulk.Mistakes{Row: k.Row, What: wrong}
	}
	if len(d.changes) == 0 {
		return nil, nil
	}
	change.Revision = etag
	if change.Seen, err = json.Marshal(d.seen); err != nil {
		return nil, fmt.Errorf("keep what was read: %w", err)
	}
	sum := bulk.SumOf(k.id, k.SumText())
	return &plannedLine{Line: bulk.Line{Number: k.Line, Sum: sum, Change: change}, row: k.Row, changes: d.changes}, nil
}

// decodeRecord decodes a record with every digit of its numbers.
func decodeRecord(raw json.RawMessage) (map[string]any, error) {
	value, err := decodeAny(raw)
	record, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, failure(apiclient.KindUnavailable, "the record is not what the interface promises")
	}
	return record, nil
}
