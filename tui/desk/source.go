package desk

// source is the source of the next call: the queue of the service, or a walk through the list of calls.
type source interface {
	// serve gives the waiting agent a call, if one was read ahead; otherwise it reads on.
	serve()
	// prefetch reads the call after the one on the Desk.
	prefetch()
	// offers returns the calls that come next, in their order, up to limit.
	offers(limit int) []Candidate
}

func (d *Day) source() source {
	if d.leases.usable {
		return d.leases
	}
	return d.queue
}
