package entry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
)

// The record has two writers. A detail is overtaken if it was changed elsewhere after the agent corrected it. The
// agent decides which value stays, before the corrections are sent, or after a refusal that showed another value.

// Overtaken returns the next overtaken detail of the call: Was is the recorded value, Is is the correction.
func (e Form) Overtaken() (Fix, bool) {
	for _, f := range e.Corrected() {
		f.Was = e.latestValue(f)
		if recorded, known := e.Recorded[f.Key]; known && recorded != f.Was && f.IsChanged() {
			return f, true
		}
	}
	return Fix{}, false
}

// latestValue returns a detail as the record had it when it was read last.
func (e Form) latestValue(f Fix) string {
	if e.Latest == nil {
		return f.Was
	}
	for _, read := range Recorded(*e.Latest) {
		if read.Key == f.Key {
			return read.Was
		}
	}
	return f.Was
}

// Keep takes the agent's answer about an overtaken detail: the correction, or the recorded value.
func (e Form) Keep(f Fix, ours bool) {
	if !ours {
		e.Uncorrect(f)
		return
	}
	e.correct(f.Key, f.Is, f.Was)
	e.Save()
}

// ChangedDetails returns which details differ between two readings, in the agent's language, except details that the
// agent corrected to the same value. Consents have their new value: "may not be phoned any more".
func (e Form) ChangedDetails(was, now apitype.Call) []string {
	before := Recorded(was)
	var details []string
	for i, f := range Recorded(now) {
		if i >= len(before) || before[i].Was == f.Was || e.Corrections[f.Key] == f.Was {
			continue
		}
		if f.IsYesNo() && f.Was != "" {
			f.Is = f.Was
			details = append(details, e.says(f, ""))
			continue
		}
		details = append(details, e.Say(f.Label))
	}
	return details
}

// Conflict is a refused update with overtaken details.
type Conflict struct {
	Entry  outbox.Entry
	Name   string          // What the entry is, as it is shown.
	record json.RawMessage // As it is now.
	open   []Fix           // The open questions: Was is the other value, Is is the agent's.
	theirs []string        // The fields that the agent gave up, by their names in the update.
}

// ConflictOf finds the overtaken details of a refused update in the record as it is now, which is a part of the call.
func ConflictOf(e outbox.Entry, record json.RawMessage, call apitype.Call) Conflict {
	return Conflict{Entry: e, record: record, open: FixesOf(e, e.Fields, call)}
}

// Next returns the detail to ask about: Was is the other value, Is is the agent's.
func (c *Conflict) Next() Fix { return c.open[0] }

// Keep takes the answer about Next. It reports whether that was the last question.
func (c *Conflict) Keep(ours bool) bool {
	if !ours {
		c.theirs = append(c.theirs, strings.ReplaceAll(c.Next().Key, "/", "."))
	}
	c.open = c.open[1:]
	return len(c.open) == 0
}

// Rest returns what is left of the update, over the values that the agent has seen. Its body is nil if nothing is.
func (c *Conflict) Rest() apiclient.Change {
	change := c.Entry.Change.Without(c.theirs)
	if change.Body != nil {
		change.Seen, change.Revision = apiclient.SeenOf(change, c.record), ""
	}
	return change
}

// FixesOf returns the details that an update corrects, of some of its fields: their values in the update, and in a
// record that is a part of the call.
func FixesOf(e outbox.Entry, fields []string, call apitype.Call) []Fix {
	var body map[string]any
	_ = apitype.DecodeExact(e.Body, &body) // It was written by this program.
	details := Recorded(call)
	var fixes []Fix
	for _, field := range fields {
		f := Fix{Key: strings.ReplaceAll(field, ".", "/"), Label: render.Words(field)}
		if i := slices.IndexFunc(details, func(known Fix) bool { return known.Key == f.Key }); i >= 0 {
			f = details[i]
		}
		value, _ := apiclient.Shown(body, field)
		f.Is = fmt.Sprint(value)
		if value == nil {
			f.Is = ""
		}
		if yes, isBool := value.(bool); isBool {
			f.Is = render.YesNo(&yes)
		}
		fixes = append(fixes, f)
	}
	return fixes
}
