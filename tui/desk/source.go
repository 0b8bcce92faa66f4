package desk

import "fundesk/tui/desk/queue"

// source is the source of the next call: the queue of the service, or a walk through the list of calls.
type source interface {
	// Serve gives the waiting agent a call, if one was read ahead; otherwise it reads on.
	Serve()
	// Prefetch reads the call after the one on the Desk.
	Prefetch()
	// Offers returns the calls that come next, in their order, up to limit.
	Offers(limit int) []queue.Candidate
}

// source returns the source in use.
func (d *Day) source() source {
	if d.Leases.HasQueue {
		return d.Leases
	}
	return d.Walk
}
