package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
)

// Finish ends work on the call on the Desk, and takes the next one. The text of a completion goes with it; any other
// change leaves it as a draft.
func (d *Day) Finish(how disposition.Func) []event.Event {
	made := how(disposition.Call{
		Card:        d.Card(),
		Author:      d.Changes.Author,
		User:        d.Leases.Agent(),
		KeepsChecks: d.Has(apitype.ExtensionChecks),
	})
	if made.Invalid != nil {
		d.FailOf(event.OfCall(d.Call.UUID), event.ErrorText("not sent", made.Invalid))
		return d.Drain()
	}
	d.Changes.Add(made.Before...)
	if made.DeadNumber != "" {
		d.struck = append(d.struck, struckNumber{made.DeadNumber, made.Group})
		d.Changes.Add(made.Change)
	} else {
		d.finish(made)
	}
	d.Changes.Add(made.After...)
	return d.Drain()
}

// finish sends the change that ends work on the call, and takes the next one.
func (d *Day) finish(made disposition.Disposition) {
	id := d.Call.UUID
	d.Changes.Recent.Add(changes.Recent{
		Call: id,
		Name: d.Name(),
		At:   d.Now(),
		What: made.What,
		Fate: changes.FateHeld,
	})
	d.Leases.Protect(id)
	c := made.Change
	before := worked{call: *d.Call, draft: d.Draft(), progress: d.progress, undone: c.Group}
	c.Asked = d.Keys.Presses
	c.Restore = func() { d.restore(before) }
	d.Walk.Pass(id, "")
	if made.TextGoes {
		c.Typed = &changes.Typed{Draft: before.draft, Disk: d.Changes.Drafts.From(id)}
		d.Changes.Drafts.Forget(id)
		d.entered = entry.Entered{}
	}
	d.Changes.Add(c)
	d.next()
}

// worked is a call as it was when the agent ended it, to give back.
type worked struct {
	call  apitype.Call
	draft outbox.Draft
	progress
	undone *changes.Group // The changes that have ended it. Nil if it was one alone.
}

// restore puts a call and its text back on the desk, as they were before a change.
func (d *Day) restore(before worked) {
	call := before.call
	d.Walk.Restore(call.UUID)
	d.Leases.Reopen(call.UUID)
	d.leave()
	d.Pause.OpensCall()
	draft := before.draft
	if since := d.Changes.Drafts.Newest(call.UUID, d.Changes.Drafts.Of(call.UUID)); since != nil {
		draft.Notes = outbox.JoinNotes("", draft.Notes, since.Notes)
		both := entry.Join(outbox.Draft{}, *since, draft) // Those since win.
		draft.Corrections, draft.Recorded = both.Corrections, both.Recorded
		draft.Checked, draft.CheckedAt = both.Checked, both.CheckedAt
	}
	d.Changes.Drafts.Forget(call.UUID)
	d.askedAt = d.Keys.Presses
	d.present(call)
	d.fill(draft)
	d.progress, d.undone = before.progress, before.undone
	d.Changes.Drafts.Loaded(outbox.Draft{Call: call.UUID})
	d.autosave()
	d.Leases.Trim()
}

// required returns the checks that the organization of the call on the Desk requires. Settings change between calls
// only.
func (d *Day) required() []string {
	if d.Call == nil || !d.Has(apitype.ExtensionChecks) || d.WaitsForSettings() {
		return nil
	}
	return d.floor.Of(d.Call).RequiredChecks[d.Call.Type]
}
