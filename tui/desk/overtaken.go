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

// The record has two writers: a detail that was changed elsewhere after the agent corrected it is
// overtaken. The agent decides which value stays, before the corrections are sent or, where the service
// was found to show another value, after they were refused.

// conflict is a refused update whose details are overtaken.
type conflict struct {
	entry  outbox.Entry
	name   string          // What the entry is, as it is shown.
	record json.RawMessage // As it is now.
	fixes  []Fix           // Those that the agent was not asked about yet: Was is theirs, Is is ours.
	theirs []string        // The fields that the agent gave up, by their names in the update.
}

// Overtaken returns the detail that the agent is asked about next, and whose it is: Was is recorded now,
// Is is the correction. A refused update comes before the call on the desk.
func (d *Day) Overtaken() (whose string, f Fix, asks bool) {
	if d.conflict != nil {
		return d.conflict.name, d.conflict.fixes[0], true
	}
	for _, f := range d.Corrected() {
		if recorded, known := d.Form.Recorded[f.Key]; known && recorded != f.Was {
			return d.Name(), f, true
		}
	}
	return "", Fix{}, false
}

// HasConflict reports whether the agent is to be asked about a refused update.
func (d *Day) HasConflict() bool { return d.conflict != nil }

// LeaveConflict leaves a refused update in the outbox as it is.
func (d *Day) LeaveConflict() { d.conflict = nil }

// Keep takes the agent's answer about the detail of Overtaken: the correction, or what is recorded.
func (d *Day) Keep(f Fix, ours bool) []Event {
	switch c := d.conflict; {
	case c != nil:
		if !ours {
			c.theirs = append(c.theirs, strings.ReplaceAll(f.Key, "/", "."))
		}
		if c.fixes = c.fixes[1:]; len(c.fixes) == 0 {
			d.conflict = nil
			return d.resolve(*c)
		}
	case ours:
		d.Form.correct(f.Key, f.Is, f.Was)
		d.autosave()
	default:
		d.Uncorrect(f)
	}
	return d.take()
}

// resolve sends what is left of a refused update over what the agent was shown.
func (d *Day) resolve(c conflict) []Event {
	d.over(c.entry.ID)
	d.onDisk(func(context.Context) (any, error) {
		change := c.entry.Change().Without(c.theirs)
		if change.Body == nil {
			return nil, d.Outbox.Drop(c.entry.ID)
		}
		change.Seen, change.Revision = apiclient.SeenOf(change, c.record), ""
		return nil, d.Outbox.Amend(c.entry.ID, change)
	})
	return d.take()
}

// offerConflict offers to ask about an update that was refused because its details are overtaken.
func (d *Day) offerConflict(e outbox.Event) {
	if e.Outcome == outbox.OutcomeRejected && len(e.Entry.Fields) > 0 {
		d.offer(arrival{text: d.entryName(e.Entry) + " was not sent, the record has changed", does: "asks which value stays", run: func() { d.readConflict(e.Entry) }})
	}
}

// AskConflict asks about a refused update whose details are overtaken.
func (d *Day) AskConflict(e outbox.Entry) []Event {
	d.readConflict(e)
	return d.take()
}

// readConflict reads the record of a refused update as it is now.
func (d *Day) readConflict(e outbox.Entry) {
	do(&d.events, func(ctx context.Context) (conflict, error) {
		c := conflict{entry: e}
		var call apitype.Call
		if e.Op == apiclient.OpUpdatePledge {
			record, err := d.Client.Pledges.Get(ctx, e.UUID)
			pledge, err := apiclient.Decoded(record, err)
			c.record, call.PledgeCase, call.Person = record.Raw, apitype.Embed(pledge), apitype.Embed(apitype.Person{})
			return c.with(call), err
		}
		record, err := d.Client.Persons.Get(ctx, e.UUID)
		person, err := apiclient.Decoded(record, err)
		c.record, call.Person = record.Raw, apitype.Embed(person)
		return c.with(call), err
	}, func(d *Day, c conflict, err error) {
		if d.isRead("cannot read what was changed elsewhere", err) {
			c.name = d.entryName(e)
			d.conflict = &c
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
			f.Is = YesNo(&yes)
		}
		c.fixes = append(c.fixes, f)
	}
	return c
}

// entryName is what an entry is, as it is shown.
func (c *Changes) entryName(e outbox.Entry) string {
	if label := c.Labels[e.ID]; label != "" {
		return label
	}
	return OpLabel(e.Op) + " " + ShortID(e.UUID)
}

// changedElsewhere names the details that a new reading of the call shows otherwise than the one before.
func changedElsewhere(before, now apitype.Call) (labels []string) {
	was := recordedFixes(before)
	for i, f := range recordedFixes(now) {
		if i < len(was) && was[i].Was != f.Was {
			labels = append(labels, f.Label)
		}
	}
	return labels
}
