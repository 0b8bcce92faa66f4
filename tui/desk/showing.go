package desk

import "fundesk/apiclient/apitype"

// next clears the Desk and waits for another call.
func (d *Day) next() {
	d.leave()
	d.askedAt = d.Keys.Presses
	d.become(stateWaiting)
	d.Leases.TakeAgain()
	d.serve()
}

// takeCall takes the call off the desk and reads a certain one for it.
func (d *Day) takeCall(id apitype.UUID) {
	d.Leases.ReleaseOthers(id)
	d.leave()
	d.Pause.OpensCall()
	d.askedAt = d.Keys.Presses
	d.become(stateOpening)
	d.unleased = id
	d.reread(id, d.askedAt)
}

// mayServe reports whether the call that the agent waits for may come on the desk now.
func (d *Day) mayServe() bool {
	return d.IsWaiting() && d.Call == nil && d.Changes.Drafts.IsRead &&
		(d.Transitions.IsAsked(d.askedAt) || d.Transitions.IsFree())
}

// present puts a call on the desk and reads it again.
func (d *Day) present(call apitype.Call) {
	d.Call = &call
	d.become(stateListed)
	d.noteReason()
	d.Keys.Show(d.Now())
	d.openForm(call.UUID, d.Changes.Drafts.Of(call.UUID))
	d.pickScript()
	switch l := d.Leases.Of(call.UUID); {
	case l == nil:
		d.unleased = call.UUID
	case l.Ahead:
		d.Leases.Extend(call.UUID)
	}
	d.reread(call.UUID, d.askedAt)
	d.source().Prefetch()
	if d.Leases.HasQueue && !d.Callbacks.IsAsked() {
		d.Callbacks.Read()
	}
	d.Walk.Shown(call.UUID)
}
