package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/transition"
)

// Next shows the next requested call that may be dialled, as soon as it is known. It skips the call on the Desk from
// then on.
func (d *Day) Next() []event.Event { return d.leaveFor("left", "left for another call") }

// Skip passes the call on the desk over.
func (d *Day) Skip() []event.Event { return d.leaveFor("skipped", "skipped by you") }

func (d *Day) leaveFor(what, reason string) []event.Event {
	if d.Call != nil {
		d.Walk.Pass(d.Call.UUID, reason)
		d.Leases.PassOver(d.Call.UUID)
		d.holdStep(what+": "+d.Name(), apitype.UUID{})
	}
	waited := d.IsNoneLeft()
	d.next()
	if waited {
		d.Sayf("asking the service for a call…")
		d.Walk.ReadNews()
	}
	return d.Drain()
}

// Take puts a certain call on the desk.
func (d *Day) Take(id apitype.UUID) []event.Event {
	d.takeCall(id)
	return d.Drain()
}

// Resume takes the call of the latest draft.
func (d *Day) Resume() []event.Event {
	for _, draft := range d.Changes.Drafts.All {
		if !d.IsOn(draft.Call) {
			return d.Take(draft.Call)
		}
	}
	d.Sayf("the draft is open already")
	return d.Drain()
}

// Refresh reads the call on the Desk again, and the changes.
func (d *Day) Refresh() []event.Event {
	if d.Call != nil {
		d.reread(d.Call.UUID, d.Keys.Presses)
	} else if d.Leases.HasQueue {
		d.Leases.Check()
	}
	d.readAll()
	return d.Drain()
}

// Offers returns the calls that come next, in their order, up to limit.
func (d *Day) Offers(limit int) []queue.Candidate { return d.source().Offers(limit) }

// Waiting returns how many requested calls are known; all reports whether there are no others.
func (d *Day) Waiting() (n int, all bool) {
	if state := d.Leases.State; state != nil {
		return state.Waiting, true
	}
	known, all := d.Walk.Known()
	return len(known), all
}

// IsReading reports whether the agent waits for a call that may come at any time.
func (d *Day) IsReading() bool {
	return d.Offline == "" && (d.state == stateWaiting || d.state == stateOpening)
}

// Narrow limits the next calls to some types and languages. The call on the Desk stays.
func (d *Day) Narrow(filter apitype.QueueFilter) []event.Event {
	if problems := filter.Validate(); len(problems) > 0 {
		d.Fail("the calls are as before", problems)
		return d.Drain()
	}
	d.Filter = filter
	d.Leases.ReleaseAhead()
	d.setNoneLeft(false)
	if d.Leases.HasQueue {
		d.Leases.ReadQueue()
	}
	d.serve()
	return d.Drain()
}

// KeepLease extends the lease of the call on the Desk, because the agent begins to work on it. It takes an ended lease
// again, if no other user holds the donor.
func (d *Day) KeepLease() []event.Event {
	id := d.Call.UUID
	if d.Leases.Of(id) != nil {
		d.Leases.Extend(id)
	} else if d.Leases.HasQueue && d.known.IsFreed {
		d.unleased = id
		d.reread(id, transition.Unasked)
	}
	return d.Drain()
}
