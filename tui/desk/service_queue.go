package desk

import (
	"context"
	"slices"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// seenResult is the result of a call.
type seenResult struct {
	kind apitype.CallType
	code string
}

// codesShown is how many of the latest completed calls are looked at for their results.
const codesShown = 100

// readCodes learns which results there are, where the profile does not say.
func (d *Day) readCodes() {
	if d.Codes.areKnown() {
		return
	}
	options := apitype.CallListOptions{Statuses: []apitype.CallStatus{apitype.CallCompleted}, Paging: apitype.Paging{First: new(codesShown)}}
	do(&d.events, func(ctx context.Context) ([]seenResult, error) {
		page, err := d.Client.Calls.List(ctx, options)
		return apiclient.Rows(page, func(call apitype.Call) seenResult {
			return seenResult{call.Type, Value(call.Result.Value().ResultCode)}
		}), err
	}, func(d *Day, codes []seenResult, err error) {
		if !d.isRead("cannot read the results", err) {
			return
		}
		for _, seen := range slices.Backward(codes) { // Those of the oldest call first.
			d.Codes.See(seen.kind, seen.code)
		}
	})
}

// HasQueue reports whether the calls come from a queue of the service.
func (d *Day) HasQueue() bool { return d.leases.usable }

// QueueState is what the service counts, nil where it does not or has not yet.
func (d *Day) QueueState() *apitype.QueueState { return d.leases.state }

// upcoming are the calls that come next: what was taken, then the queue as the service has it.
func (d *Day) upcoming(limit int) []Candidate {
	var next []Candidate
	if l := d.ahead(); l != nil {
		c := newListed(l.call).Candidate
		c.Due = l.DueAt != nil
		next = append(next, c)
	}
	due := 0
	if d.leases.state != nil {
		due = d.leases.state.Due
	}
	for i, c := range d.leases.upcoming {
		c.Due = i < due // They come first.
		if len(next) < limit && d.leaseOf(c.ID) == nil && !d.isPending(c.ID) && !d.IsOn(c.ID) {
			next = append(next, c)
		}
	}
	return next[:min(len(next), limit)]
}

// readQueue asks for the queue as the service has it.
func (d *Day) readQueue() {
	d.readUpcoming()
	d.readState()
}

// queueOptions are whose queue it is.
func (d *Day) queueOptions() apitype.QueueOptions {
	return apitype.QueueOptions{QueueFilter: d.Filter, UserUUID: new(d.user())}
}

func (d *Day) readUpcoming() {
	options := apitype.QueueCallListOptions{QueueOptions: d.queueOptions(), First: new(queueShown)}
	do(&d.events, func(ctx context.Context) ([]Candidate, error) {
		page, err := d.Client.Queue.Calls.List(ctx, options)
		return apiclient.Rows(page, func(call apitype.Call) Candidate { return newListed(call).Candidate }), err
	}, (*Day).onUpcoming)
}

func (d *Day) readState() {
	options, takes := d.queueOptions(), d.leases.takes
	do(&d.events, func(ctx context.Context) (apitype.QueueState, error) {
		return apiclient.Decoded(d.Client.Queue.State(ctx, options))
	}, func(d *Day, state apitype.QueueState, err error) {
		d.onState(state, err)
		if takes != d.leases.takes {
			d.countTaken()
		}
	})
}

// countTaken leaves out of a count what was taken since. A take counts only so far.
func (d *Day) countTaken() {
	if d.leases.state != nil && d.leases.waiting < apitype.MaxWaiting {
		d.leases.state.Waiting = d.leases.waiting
	}
}

// Tick is called every second: a callback that is due now is not waited for until the next
// poll.
func (d *Day) Tick() []Event {
	d.wake()
	d.warnOfEnd()
	d.Release()
	d.admitWaiting()
	if next := d.leases.nextDueAt; next != nil && !next.After(d.Now().Add(-d.Client.Behind())) {
		d.leases.nextDueAt = nil
		d.readState()
	}
	return d.take()
}

func (d *Day) onUpcoming(calls []Candidate, err error) {
	if !d.isRead("cannot read the queue", err) {
		return
	}
	d.leases.upcoming = calls
	if len(calls) > 0 {
		d.leases.none = false
	}
	d.serve()
}

func (d *Day) onState(state apitype.QueueState, err error) {
	if !d.isRead("cannot read the queue", err) {
		return
	}
	before := d.leases.state
	d.leases.state = &state
	if state.Due > 0 && (before == nil || state.Due > before.Due) {
		d.callbackDue()
	}
	d.serve()
}

// callbackDue says that a donor is to be rung now who was put off. The call that was taken for
// after this one goes back, so that the donor comes next.
func (d *Day) callbackDue() {
	d.leases.none = false
	if l := d.ahead(); l != nil {
		if l.DueAt != nil {
			return
		}
		d.releaseLease(l.CallUUID)
	}
	d.sayf("a callback is due: it comes next")
}
