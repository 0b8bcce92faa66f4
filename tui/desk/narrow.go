package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
)

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
