package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/transition"
)

// Undo takes the latest change back, with the other changes of the same key, the latest first.
func (d *Day) Undo() []event.Event { return d.Changes.Undo(d.Keys.Presses) }

// holdStep lets an undo return to the call on the Desk, which the agent leaves without a change. created is the new
// call that replaces it, or zero.
func (d *Day) holdStep(label string, created apitype.UUID) {
	restore := func() {}
	if d.Call != nil {
		id, done := d.Call.UUID, d.progress
		restore = func() {
			d.Walk.Restore(id)
			d.takeCall(id)
			d.progress = done
		}
	}
	d.Changes.HoldStep(label, created, restore)
}

// onReturn lets a call return to the Desk, or offers it.
func (d *Day) onReturn(r changes.Return) {
	if d.opening == r.Created {
		d.opening = apitype.UUID{}
	}
	d.Transitions.Apply(transition.Transition{Asked: r.Asked, Text: r.Text, Run: r.Restore})
}
