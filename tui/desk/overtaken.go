package desk

import (
	"context"
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

// conflict is a refused update with overtaken details.
type conflict struct {
	entry  outbox.Entry
	name   string          // What the entry is, as it is shown.
	record json.RawMessage // As it is now.
	fixes  []Fix           // The open questions: Was is the other value, Is is the agent's.
	theirs []string        // The fields that the agent gave up, by their names in the update.
}

// Overtaken returns the next detail to ask about, and its record: Was is the recorded value, Is is the correction. A
// refused update comes before the call on the Desk.
func (e *Form) Overtaken() (whose string, f Fix, asks bool) {
	if e.conflict != nil {
		return e.conflict.name, e.conflict.fixes[0], true
	}
	for _, f := range e.Corrected() {
		f.Was = e.day.latestValue(f)
		if recorded, known := e.Recorded[f.Key]; known && recorded != f.Was && f.IsChanged() {
			return e.day.Name(), f, true
		}
	}
	return "", Fix{}, false
}

// latestValue returns a detail as the record had it when it was read last.
func (d *Day) latestValue(f Fix) string {
	if d.latest == nil {
		return f.Was
	}
	for _, read := range recordedFixes(*d.latest) {
		if read.Key == f.Key {
			return read.Was
		}
	}
	return f.Was
}

// HasConflict reports whether the Desk must ask about a refused update.
func (e *Form) HasConflict() bool { return e.conflict != nil }

// Keep takes the agent's answer about the detail of Overtaken: the correction, or the recorded value.
func (e *Form) Keep(f Fix, ours bool) []Event {
	switch c := e.conflict; {
	case c != nil:
		if !ours {
			c.theirs = append(c.theirs, strings.ReplaceAll(f.Key, "/", "."))
		}
		if c.fixes = c.fixes[1:]; len(c.fixes) == 0 {
			e.conflict = nil
			return e.resolve(*c)
		}
	case ours:
		e.day.showLatest()
		e.correct(f.Key, f.Is, f.Was)
		e.autosave()
	default:
		e.day.showLatest()
		e.Uncorrect(f)
	}
	return e.drain()
}

// resolve sends the rest of a refused update, over the values that the agent has seen.
func (e *Form) resolve(c conflict) []Event {
	e.over(c.entry.ID)
	e.day.Changes.onDisk(func() error {
		change := c.entry.Change.Without(c.theirs)
		if change.Body == nil {
			return e.Outbox.Drop(c.entry.ID)
		}
		change.Seen, change.Revision = apiclient.SeenOf(change, c.record), ""
		return e.Outbox.Amend(c.entry.ID, change)
	})
	return e.drain()
}

// AskConflict asks about a refused update with overtaken details.
func (e *Form) AskConflict(entry outbox.Entry) []Event {
	e.readConflict(entry)
	return e.drain()
}

// readConflict reads the record of a refused update as it is now.
func (e *Form) readConflict(entry outbox.Entry) {
	do(&e.events, "newer record read", func(ctx context.Context) (conflict, error) {
		c := conflict{entry: entry}
		var call apitype.Call
		if entry.Op == apiclient.OpUpdatePledge {
			record, err := e.Client.Pledges.Get(ctx, entry.UUID)
			pledge, err := apiclient.Decoded(record, err)
			c.record, call.PledgeCase, call.Person = record.Raw, apitype.Embed(pledge), apitype.Embed(apitype.Person{})
			return c.with(call), err
		}
		record, err := e.Client.Persons.Get(ctx, entry.UUID)
		person, err := apiclient.Decoded(record, err)
		c.record, call.Person = record.Raw, apitype.Embed(person)
		return c.with(call), err
	}, func(c conflict, err error) {
		if e.day.isRead("cannot read what was changed elsewhere", err) {
			c.name = e.day.Changes.entryName(entry)
			e.conflict = &c
		}
	})
}

// with finds the overtaken details in the record, as it is the part of a call.
func (c conflict) with(call apitype.Call) conflict {
	var body map[string]any
	_ = apitype.DecodeExact(c.entry.Body, &body) // It was written by this program.
	details := recordedFixes(call)
	for _, field := range c.entry.Fields {
		f := Fix{Key: strings.ReplaceAll(field, ".", "/"), Label: render.Words(field)}
		if i := slices.IndexFunc(details, func(known Fix) bool { return known.Key == f.Key }); i >= 0 {
			f = details[i]
		}
		value, _ := apiclient.Shown(body, field)
		if f.Is = fmt.Sprint(value); value == nil {
			f.Is = ""
		}
		if yes, isBool := value.(bool); isBool {
			f.Is = render.YesNo(&yes)
		}
		c.fixes = append(c.fixes, f)
	}
	return c
}

// entryName returns what an entry is, as it is shown.
func (c *Changes) entryName(e outbox.Entry) string {
	if label := c.Labels[e.ID]; label != "" {
		return c.Say(label)
	}
	return c.Say(OpLabel(e.Op)) + " " + render.ShortID(e.UUID)
}
