package desk

// source is where the next call comes from: the queue of the service, or the list of calls that is walked.
type source interface {
	// serve gives the waiting agent a call, if one was read ahead; otherwise it reads on.
	serve()
	// prefetch reads what comes after the call on the desk.
	prefetch()
	// offers returns the calls that come next, in their order, up to limit.
	offers(limit int) []Candidate
}

func (d *Day) source() source {
	if d.leases.usable {
		return &d.leases
	}
	return d.queue
}
