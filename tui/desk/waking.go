package desk

import (
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/transition"
)

// sleepTime is the longest time without news before everything on the Desk counts as stale.
const sleepTime = 30 * time.Second

// Wake notes that the Desk is running. If the clock shows that it was not, because the computer slept, everything on
// the screen is old. It reads the call, its person and the leases again, and until then IsStale is true.
func (d *Day) Wake() []event.Event {
	d.wake()
	return d.Drain()
}

func (d *Day) wake() {
	before, now := d.awake, d.Now().Round(0)
	d.awake = now
	if before.IsZero() || now.Sub(before).Abs() <= sleepTime {
		return
	}
	d.Keys.LastAt = now // The agent is back.
	d.Leases.Wake(now)
	if d.Call != nil {
		d.reread(d.Call.UUID, transition.Unasked)
		d.sleep()
	}
}

// KeepLeases extends the leases of a Desk in use without keys. It is called every few seconds.
func (d *Day) KeepLeases() []event.Event {
	d.wake()
	d.Leases.ExtendInUse()
	return d.Drain()
}

// KeepLease extends the lease of the call on the Desk, because the agent begins to work on it. It takes an ended lease
// again, if no other user holds the donor.
func (d *Day) KeepLease() []event.Event {
	id := d.Call.UUID
	switch {
	case d.Leases.Of(id) != nil:
		d.Leases.Extend(id)
	case d.Leases.HasQueue && d.isFreed:
		d.unleased = id
		d.reread(id, transition.Unasked)
	}
	return d.Drain()
}

// End gives the leases of a Desk that ends back, in at most two seconds.
func (d *Day) End() {
	d.Leases.End(d.locked())
	d.lockedBy = nil
}

// onDiscovered begins to read calls, from the queue of the service or from the list.
func (d *Day) onDiscovered(err error) {
	isAnnounced := d.Has(apitype.ExtensionSettings) || err != nil // Without an answer they may be.
	d.floor.Announce(isAnnounced)
	if !d.IsRead("cannot ask whether the service has a queue", err) {
		return
	}
	d.Walk.Begin(!d.Leases.HasQueue)
	if d.Leases.HasQueue {
		d.Leases.ReadQueue()
		d.Codes.ReadLatest(d.Queue, d.State, d.Client)
	}
	d.serve()
}

// onPerson notes which other user holds the donor on the Desk, and whether a number of the donor is blocked, if known.
func (d *Day) onPerson(holder *apitype.LeaseHolder, isBlocked *bool) {
	d.holder = holder
	if isBlocked != nil {
		d.isBlocked = *isBlocked
	}
}
