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

// difference collects the fields of a row that change its record.
type difference struct {
	*rowFlags
	reader  *rowReader
	body                   // Only the fields that differ.
	record  map[string]any // Nil if it is not known.
	changes []fieldChange
	isStale bool // The record was changed after the row was exported, by its updatedAt.
	isMoved bool // The record has another revision than the row was exported with.
	left    []string
}

// The members of a record that the service changes by itself.
const (
	signatureURL = "signatureSignedUrl" // Another one in each answer.
	updatedAt    = "updatedAt"
)

// compare collects the fields that differ from the record.
func (d *difference) compare(fields []wantedField) {
	for _, f := range fields {
		isGroup := f.given == nil && !f.updates && d.isGroup(f.name)
		switch {
		case f.name == "uuid", f.name == signatureURL:
		case f.name == apitype.RevisionMember:
			d.checkRevision(f)
		case f.updates:
			d.field(f)
		case isGroup:
			d.clearGroup(f.name)
		default:
			d.readOnly(f)
		}
	}
}

// change returns the request for the fields that differ.
func (d *difference) change(id apitype.UUID, raw json.RawMessage) (apiclient.Change, error) {
	if len(d.changes) == 0 {
		return apiclient.Change{}, nil
	}
	if d.isStale {
		d.wrong.Add("/"+updatedAt, "the record was changed since; export it again")
	}
	d.clearWhole()
	return d.reader.shape.Update(d.reader.session, id, d.object, raw)
}

// errOvertaken marks a row that was left out because its record changed after the export.
var errOvertaken = errors.New("the record changed after the export")

// checkRevision refuses a revision that no export can have.
func (d *difference) checkRevision(f wantedField) {
	if _, err := strconv.ParseInt(fmt.Sprint(f.given), 10, 64); err != nil && !f.isEmpty() {
		d.wrong.Add(pointerOf(revisionColumn), "must be a whole number, as list --for-edit prints it")
	}
}

// overtaken names the fields that the row would change, each with the value of the file and of the record.
func (d *difference) overtaken() reasons {
	var all reasons
	for _, c := range d.changes {
		text := func(quote func(any) string) string {
			return ": the file has " + quote(c.To) + ", and the record has " + quote(c.From) + " since the export"
		}
		all.add(c.Field, text(d.reader.quoteValue), text(plainValue))
	}
	return all
}

// field compares a field that can be changed.
func (d *difference) field(f wantedField) {
	shown := f.field.Shown
	before, _ := apiclient.Shown(d.record, shown)
	isEmptyCell := f.isEmpty() && f.isCell
	mayHaveBeenEmpty := d.isMoved && !d.force // In the export.
	asIs := d.reader.isShownAs(f.field.Path, f, before)
	if asIs || shown == "" && f.isEmpty() {
		return
	}
	if isEmptyCell && d.empty == emptyKeep {
		return
	}
	if isEmptyCell && d.empty == "" && mayHaveBeenEmpty {
		d.changes = append(d.changes, fieldChange{cmp.Or(shown, f.field.Path), before, nil})
		return
	}
	if isEmptyCell && d.empty == "" {
		d.wrong.Add(pointerOf(f.name), emptyCell)
		return
	}
	if !d.takes(pointerOf(f.name), f) || shown != "" && apiclient.IsSame(f.field.Path, f.value, before) {
		return
	}
	change.SetPath(d.object, f.field.Path, f.value)
	d.changes = append(d.changes, fieldChange{cmp.Or(shown, f.field.Path), before, f.value})
}

// clearGroup clears an object of fields. Answers show it as an object, or each of its fields by itself.
func (d *difference) clearGroup(name string) {
	if i := slices.IndexFunc(d.changes, func(c fieldChange) bool { return d.isOf(name, c.Field) }); i >= 0 {
		d.wrong.Add(pointerOf(name), "is null, and %s of the row belongs to it", d.changes[i].Field)
		return
	}
	before := len(d.changes)
	if value, _ := apiclient.Shown(d.record, name); value != nil {
		d.changes = append(d.changes, fieldChange{name, value, nil})
	} else {
		d.changes = append(d.changes, d.shownOf(name)...)
	}
	if len(d.changes) > before {
		d.object[name] = nil
	}
}

// shownOf returns the fields of an object that have a value in the record, as cleared.
func (d *difference) shownOf(name string) []fieldChange {
	var cleared []fieldChange
	for _, f := range d.reader.shape.Updates {
		value, _ := apiclient.Shown(d.record, f.Shown)
		if f.Shown != "" && d.isOf(name, f.Shown) && value != nil {
			cleared = append(cleared, fieldChange{f.Shown, value, nil})
		}
	}
	return cleared
}

// isOf reports whether a field, by its path in answers or in bodies, belongs to an object of bodies.
func (d *difference) isOf(name, field string) bool {
	return slices.ContainsFunc(d.reader.shape.Updates, func(f change.Field) bool {
		return strings.HasPrefix(f.Path, name+".") && (f.Shown == field || f.Path == field)
	})
}

// isGroup reports whether a name is an object of fields, such as address.
func (d *difference) isGroup(name string) bool {
	return slices.ContainsFunc(
		d.reader.shape.Updates,
		func(f change.Field) bool { return strings.HasPrefix(f.Path, name+".") },
	)
}

// clearWhole clears an object as a whole if nothing of it is left: its parts cannot be
// cleared alone. Spec gap: P3.
func (d *difference) clearWhole() {
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

// readOnly refuses a value that cannot be changed and differs from the record.
func (d *difference) readOnly(f wantedField) {
	before, isThere := apiclient.Shown(d.record, f.name)
	if !isThere && f.creates { // Answers show an organization as an object.
		before, isThere = apiclient.Shown(d.record, strings.TrimSuffix(f.name, "Uuid")+".uuid")
	}
	asIs := d.reader.isShownAs(f.name, f, before)
	switch {
	case asIs, f.isCell && f.isEmpty(): // Lists show less than a record read alone.
	case d.record == nil && f.isName(): // There is nothing to differ from.
	case d.isMoved && f.isShown: // It may have changed since.
	case f.name == updatedAt:
		d.isStale = true
	case d.create && !f.creates && f.isShown, f.creates && !isThere && !f.isShown:
		d.left = append(d.left, f.name)
	case isThere || f.isShown:
		way := ""
		if f.name == "status" { // Of a pledge: calls are not applied.
			way = "; fundesk pledge action changes it"
		}
		d.wrong.Add(pointerOf(f.name), cannotChange+"%s", way)
	default:
		d.wrong.Add(pointerOf(f.name), "is not a field of a %s", d.reader.shape.Record)
	}
}

// tally lists the fields with the number of records that each changes in, the most frequent first.
func tally(fields map[string]int) string {
	const most = 5
	parts := strings.Split(render.Counted(fields, " ", ", "), ", ")
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], cli.Count(more, "field")+" more")
	}
	return strings.Join(parts, ", ")
}
