package load

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/render"
)

// comparison finds what differs between a row and its record.
type comparison struct {
	reader  *rowReader
	empty   string // What an empty cell means.
	record  map[string]any
	object  map[string]any // The request: what differs.
	changes []fieldChange
	wrong   apitype.Violations
	stale   bool // The record was changed after the row was exported, by its updatedAt.
	isMoved bool // The record has another revision than the row was exported with.
	force   bool // Rows of an earlier revision are sent, too.
	create  bool // Rows may come from another service.
	left    []string
}

// The members of a record that the service changes by itself.
const (
	signatureURL = "signatureSignedUrl" // Another one in each answer.
	updatedAt    = "updatedAt"
)

// change is the change that the row asks for.
func (d *comparison) change(id apitype.UUID, values []rowValue, raw json.RawMessage) (apiclient.Change, error) {
	for _, v := range values {
		field, can := fieldNamed(d.reader.shape.Updates, v.name)
		switch {
		case v.name == "uuid", v.name == signatureURL:
		case v.name == apitype.RevisionMember:
			d.checkRevision(v)
		case can:
			d.field(field, v)
		case v.value == nil && d.isGroup(v.name):
			if before, _ := apiclient.Shown(d.record, v.name); before != nil {
				d.object[v.name] = nil
				d.changes = append(d.changes, fieldChange{v.name, before, nil})
			}
		default:
			d.readOnly(v)
		}
	}
	if len(d.changes) == 0 {
		return apiclient.Change{}, nil
	}
	if d.stale {
		d.wrong.Add("/"+updatedAt, "the record was changed since; export it again")
	}
	d.clearWhole()
	return d.reader.shape.Update(d.reader.session, id, d.object, raw)
}

// errOvertaken is the cause of a row that was left out because its record changed after the export.
var errOvertaken = errors.New("the record changed after the export")

// compareRevisions compares the revision of a row with that of its record. A row without one, and a record whose
// revision the service does not show, are never overtaken.
func (d *comparison) compareRevisions(values []rowValue, revision string) {
	i := slices.IndexFunc(values, func(v rowValue) bool { return v.name == apitype.RevisionMember && !v.isEmpty() })
	if i < 0 || revision == "" {
		return
	}
	d.isMoved = fmt.Sprint(values[i].value) != revision
}

// checkRevision refuses a revision that no export can have.
func (d *comparison) checkRevision(v rowValue) {
	if _, err := strconv.ParseInt(fmt.Sprint(v.value), 10, 64); err != nil && !v.isEmpty() {
		d.wrong.Add(pointerOf(revisionColumn), "must be a whole number, as list --for-edit prints it")
	}
}

// overtaken names the fields that the row would change, each with the value of the file and that of the record.
func (d *comparison) overtaken() []string {
	what := make([]string, len(d.changes))
	for i, c := range d.changes {
		file, record := d.reader.quoteValue(c.To), d.reader.quoteValue(c.From)
		what[i] = c.Field + ": the file has " + file + ", and the record has " + record + " since the export"
	}
	return what
}

// mistakes is what is wrong with a row whose record is not known.
func (d *comparison) mistakes(values []rowValue) []string {
	for _, v := range values {
		field, can := fieldNamed(d.reader.shape.Updates, v.name)
		switch {
		case v.isEmpty():
		case can:
			if value, err := d.reader.valueOf(field, v); err != nil {
				d.wrong.Add(pointerOf(v.name), "%s", err)
			} else {
				change.SetPath(d.object, field.Path, value)
			}
		case !d.reader.isName(v.name):
			d.notField(v)
		}
	}
	if len(d.object) == 0 {
		return d.reader.mistakesIn(values, d.wrong, nil)
	}
	_, err := d.reader.shape.Update(d.reader.session, apitype.NewUUID(), d.object, nil)
	return d.reader.mistakesIn(values, d.wrong, err)
}

// notField refuses a name that nobody knows.
func (d *comparison) notField(v rowValue) {
	d.wrong.Add(pointerOf(v.name), "is not a field of a %s", d.reader.shape.Record)
}

func (d *comparison) field(field change.Field, v rowValue) {
	shown := field.Shown
	before, _ := apiclient.Shown(d.record, shown)
	switch {
	case d.reader.isShownAs(field.Path, v, before), shown == "" && v.isEmpty():
		return
	case v.isEmpty() && v.isCell && d.empty == emptyKeep:
		return
	case v.isEmpty() && v.isCell && d.empty == "" && d.isMoved && !d.force: // It may have been empty in the export.
		d.changes = append(d.changes, fieldChange{cmp.Or(shown, field.Path), before, nil})
		return
	case v.isEmpty() && v.isCell && d.empty == "":
		d.wrong.Add(pointerOf(v.name), emptyCell)
		return
	}
	value, err := d.reader.valueOf(field, v)
	if err != nil {
		d.wrong.Add(pointerOf(v.name), "%s", err)
		return
	}
	if given, twice := apiclient.Shown(
		d.object,
		field.Path,
	); twice && given != nil &&
		!apiclient.IsSame(field.Path, value, given) {
		d.wrong.Add(pointerOf(v.name), "is given twice")
		return
	}
	if shown != "" && apiclient.IsSame(field.Path, value, before) {
		return
	}
	change.SetPath(d.object, field.Path, value)
	d.changes = append(d.changes, fieldChange{cmp.Or(shown, field.Path), before, value})
}

// isGroup reports whether a name is an object of fields, such as address.
func (d *comparison) isGroup(name string) bool {
	return slices.ContainsFunc(
		d.reader.shape.Updates,
		func(f change.Field) bool { return strings.HasPrefix(f.Path, name+".") },
	)
}

// clearWhole clears an object as a whole where nothing of it is left: its parts cannot be
// cleared alone. Spec gap: P3.
func (d *comparison) clearWhole() {
	for _, name := range slices.Sorted(maps.Keys(d.object)) {
		parts, ok := d.object[name].(map[string]any)
		was, has := d.record[name].(map[string]any)
		if !ok || !has {
			continue
		}
		left := false
		for part, value := range was {
			after, changed := parts[part]
			left = left || changed && after != nil || !changed && value != nil
		}
		if !left {
			d.object[name] = nil
		}
	}
}

// readOnly wants a value that cannot be changed to be as it is.
func (d *comparison) readOnly(v rowValue) {
	before, there := apiclient.Shown(d.record, v.name)
	_, canCreate := fieldNamed(d.reader.shape.Creates, v.name)
	switch {
	case d.reader.isShownAs(v.name, v, before), v.isCell && v.isEmpty(): // Lists show less than a record read alone.
	case d.isMoved && d.reader.shape.Shows(v.name): // It may have changed since.
	case v.name == updatedAt:
		d.stale = true
	case d.create && !canCreate && d.reader.shape.Shows(v.name):
		d.left = append(d.left, v.name)
	case there || d.reader.shape.Shows(v.name):
		way := ""
		if v.name == "status" { // Of a pledge: calls are not applied.
			way = "; fundesk pledge action changes it"
		}
		d.wrong.Add(pointerOf(v.name), cannotChange+"%s", way)
	default:
		d.notField(v)
	}
}

// tally tells how many records each field changes in, the most frequent first.
func tally(fields map[string]int) string {
	const most = 5
	parts := strings.Split(render.Counted(fields, " ", ", "), ", ")
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], cli.Count(more, "field")+" more")
	}
	return strings.Join(parts, ", ")
}
