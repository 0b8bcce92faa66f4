package desk

import "fundesk/tui/desk/event"

// Has reports whether the service has announced an extension.
func (b *base) Has(extension string) bool { return b.Client != nil && b.Client.Announces(extension) }

// Tick is called every second, so that a due callback need not wait for the next poll.
func (d *Day) Tick() []event.Event {
	d.wake()
	d.Leases.WarnOfEnd()
	d.Changes.Release()
	d.Transitions.ApplyWaiting()
	hasNext := d.Leases.HasAhead() || d.Walk.HasAhead()
	if d.IsWaiting() && d.Call == nil && d.Transitions.IsFree() && hasNext {
		d.serve()
	}
	d.Refused.SendLate()
	d.Callbacks.Ring()
	if d.floor.HasFailed() {
		d.floor.Tend()
	}
	d.Leases.Tick()
	return d.Drain()
}
