package desk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
)

// walk reads on in the queue, unless enough of it is there.
func (d *Day) walk() {
	if !d.leases.asked || d.leases.usable || d.queue.walking || d.queue.ended {
		return
	}
	d.queue.walking = true
	from := d.queue.position
	do(&d.events, func(ctx context.Context) (walked, error) { return walkPage(ctx, d.Client, from) }, (*Day).onWalked)
}

func (d *Day) onWalked(w walked, err error) {
	d.queue.walking = false
	if !d.isRead("cannot read the calls", err) {
		return
	}
	d.queue.add(w)
	if len(d.Offers(queueEnough)) < queueEnough {
		d.walk()
	}
	d.serve()
}

// readOlder reads what lies before the part of the history in which the walk began.
func (d *Day) readOlder() {
	q := d.queue
	if len(q.older) == 0 || q.readsOlder {
		return
	}
	q.readsOlder = true
	parts, at := q.older, q.position
	do(&d.events, func(ctx context.Context) (calls []listed, _ error) {
		for _, part := range parts {
			at.cursor, at.span = "", part
			for more := true; more; {
				page, err := walkPage(ctx, d.Client, at)
				if err != nil {
					return nil, err
				}
				at, more = page.next, page.more
				calls = append(calls, page.calls...)
			}
		}
		return calls, nil
	}, (*Day).onOlder)
}

func (d *Day) onOlder(calls []listed, err error) {
	d.queue.readsOlder = false
	if !d.isRead("cannot read the calls", err) {
		return
	}
	d.queue.older = nil
	for _, call := range calls {
		d.queue.take(call)
	}
	d.serve()
}

// prefetch reads the next calls before they are asked for.
func (d *Day) prefetch() {
	if d.leases.usable {
		d.serveLease()
		return
	}
	for _, c := range d.Offers(queuePrefetch + 1) {
		if _, have := d.queue.prefetched[c.ID]; have || d.queue.fetching[c.ID] || d.IsOn(c.ID) {
			continue
		}
		if len(d.queue.fetching) >= queuePrefetch {
			break
		}
		d.queue.fetching[c.ID] = true
		do(&d.events, func(ctx context.Context) (apitype.Call, error) {
			return apiclient.Decoded(d.Client.Calls.Get(ctx, c.ID))
		}, func(d *Day, call apitype.Call, err error) { d.onPrefetched(c.ID, call, err) })
	}
}

func (d *Day) onPrefetched(id apitype.UUID, call apitype.Call, err error) {
	delete(d.queue.fetching, id)
	if err != nil {
		switch {
		case errors.Is(err, apiclient.ErrUnreadable): // The others can be worked on.
			d.queue.pass(id, "it cannot be read: "+err.Error())
			d.serve()
		case apiclient.KindOf(err) == apiclient.KindNotFound:
			d.failRead("cannot read call "+ShortID(id), err)
			d.queue.drop(id)
			d.serve()
		default:
			d.failRead("cannot read call "+ShortID(id), err)
		}
		return
	}
	d.queue.learn(call)
	if reason := d.against(call); reason != "" {
		d.queue.pass(id, reason)
	} else {
		d.queue.prefetched[id] = call
	}
	d.serve()
}

// claims are the readings under way that are to keep a call from the agent's other terminals.
type claims struct {
	underWay int
	several  bool // One began before another had come back: they may have kept it from each other.
}

// reread reads the call on the desk, and its draft; asked is after how many keys the agent asked
// for the call.
func (d *Day) reread(id apitype.UUID, asked int) {
	d.seq++
	seq, user := d.seq, d.user()
	// A call that another agent had, or whose lease has ended, may be free again.
	leases := d.leases.usable && d.leaseOf(id) == nil && !d.isIdle()
	held := d.leaseOf(id) != nil || d.claimed == id
	if !held {
		d.claimed = id
		own := d.claiming[id]
		d.claiming[id] = claims{underWay: own.underWay + 1, several: own.several || own.underWay > 0}
	}
	do(&d.events, func(ctx context.Context) (callRead, error) {
		draft, found, err := d.Outbox.Draft(id)
		read := callRead{seq: seq, asked: asked, id: id, torn: err, claims: !held}
		if found {
			read.draft = &draft
		}
		note := outbox.Lease{LeaseUUID: apitype.NewUUID(), CallUUID: id, ExpiresAt: d.Now().Add(leaseTime)}
		if leases {
			if read.lease, read.holder = d.leaseOpened(ctx, id, user); read.lease != nil {
				note.LeaseUUID = read.lease.LeaseUUID // A later start goes on with it.
			}
		}
		if !held {
			// Another note that cannot be kept keeps nobody from working.
			read.screen, err = d.Outbox.HoldLease(note)
			if read.elsewhere = errors.Is(err, outbox.ErrOpenElsewhere); read.elsewhere {
				read.lease = nil // It is that of the other terminal.
			}
		}
		read.call, err = apiclient.Decoded(d.Client.Calls.Get(ctx, id))
		return read, err
	}, (*Day).onReread)
}

// leaseOpened leases a call that was opened, not taken; holder is the user who has its donor. Where
// the lease cannot be had for another reason, the call is worked on without one.
func (d *Day) leaseOpened(ctx context.Context, id, user apitype.UUID) (leased *lease, holder *apitype.LeaseHolder) {
	request := apitype.LeaseRequest{RequestUUID: apitype.NewUUID(), UserUUID: user, LeaseSeconds: new(int(leaseTime / time.Second))}
	answer, err := apiclient.Decoded(d.Client.Queue.Lease(ctx, id, request))
	if held, isHeld := errors.AsType[*apiclient.LeaseHeldError](err); isHeld {
		return nil, &held.Holder
	}
	if err != nil {
		return nil, nil
	}
	return &lease{Lease: answer, call: answer.Call.Value(), extended: d.Now()}, nil
}

// onLeased keeps the lease of a call that was opened, or gives it back where the call was left
// meanwhile.
func (d *Day) onLeased(read callRead) {
	if read.lease == nil {
		return
	}
	if d.leaseOf(read.id) == nil {
		d.leases.held = append(d.leases.held, *read.lease)
	}
	if d.claimed != read.id {
		d.releaseLease(read.id)
	}
}

// onReread takes in a reading of the call on the desk, unless it is a stale one.
func (d *Day) onReread(read callRead, err error) {
	d.onLeased(read)
	if read.seq == d.stale {
		d.stale = 0
	}
	if !d.onClaimed(read) && read.seq == d.seq {
		d.onRead(read, err)
	}
}

// onClaimed keeps the call that was read from the agent's other terminals, and reports
// whether one of them has it. A stale reading counts, too: there is one claim a call.
func (d *Day) onClaimed(read callRead) (elsewhere bool) {
	own := d.claiming[read.id]
	if read.claims {
		if own.underWay--; own.underWay == 0 {
			delete(d.claiming, read.id)
		} else {
			d.claiming[read.id] = own
		}
	}
	switch {
	case d.claimed != read.id:
		_ = read.screen.Forget() // It was left meanwhile.
	case read.screen != nil:
		d.screen = read.screen
	case read.elsewhere && (d.screen != nil || own.underWay > 0):
		// A reading of our own has it, or the last one that is under way tells.
	case read.elsewhere && own.several:
		d.claimed = apitype.UUID{} // It may have been one of our own, which has let it go.
		d.reread(read.id, read.asked)
		return true
	case read.elsewhere && d.Call == nil:
		d.seq++ // No other reading of it counts.
		d.claimed, d.Taking = apitype.UUID{}, false
		d.fail("call "+ShortID(read.id)+" is open in another terminal of yours", nil)
		return true
	case read.elsewhere:
		d.queue.pass(read.id, "open in another terminal of yours")
		d.replaceStale(d.Name()+" is open in another terminal of yours", read.asked)
		return true
	}
	return false
}

// onRead shows the call as it is now. One that somebody else has ended is said so, and
// the next one is offered.
func (d *Day) onRead(read callRead, err error) {
	d.Taking = d.Taking && err == nil
	if read.torn != nil {
		d.failOf(ofCall(read.id), ErrorText("cannot read what was typed for call "+ShortID(read.id), read.torn))
	}
	switch {
	case apiclient.KindOf(err) == apiclient.KindNotFound:
		d.queue.drop(read.id)
		text := "call " + ShortID(read.id) + " is no longer there"
		if d.Call == nil {
			d.fail(text, nil)
		} else {
			d.replaceStale(text, read.asked)
		}
		return
	case err != nil:
		d.failRead("cannot read call "+ShortID(read.id), err)
		return
	}
	d.NoteConnection(nil)
	d.queue.learn(read.call)
	if d.Call == nil {
		d.admit(arrival{asked: d.askedAt, run: func() { d.show(read) }})
		return
	}
	d.show(read)
}

// show puts on the desk what was read of its call, unless that is another one by now.
func (d *Day) show(read callRead) {
	if read.seq != d.seq {
		return
	}
	before := d.Call
	d.Call, d.Checked, d.Taking = &read.call, true, false
	if read.holder != nil || read.lease != nil {
		d.holder = read.holder
	}
	d.pickScript()
	if before == nil {
		d.Guard.Show(d.Now())
	}
	if before == nil || d.Draft().IsEmpty() {
		d.openForm(read.id, read.draft)
	}
	d.compare(before, read.asked)
	d.prefetch()
}

// compare says what somebody else has done to the call on the desk since it was listed.
func (d *Day) compare(before *apitype.Call, asked int) {
	if before == nil || d.isPending(d.Call.UUID) {
		return
	}
	switch now := d.Call; {
	case before.Status == apitype.CallRequested && now.Status != apitype.CallRequested:
		text := fmt.Sprintf("%s is %s: another agent was faster", d.Name(), now.Status)
		if d.HasDraft() {
			d.failOf(ofCall(now.UUID), text+"; what you typed stays here")
			return
		}
		d.queue.pass(now.UUID, "")
		d.remember(now.UUID, d.Name(), "ended by another agent", FateEnded)
		d.releaseLease(now.UUID)
		d.replaceStale(text, asked)
	case now.AttemptsCount > before.AttemptsCount:
		d.sayOf(now.UUID, "another agent has called %s since the call was listed", d.Name())
	default:
		if labels := changedElsewhere(*before, *now); len(labels) > 0 {
			d.sayOf(now.UUID, "the record of %s was changed elsewhere: %s", d.Name(), strings.Join(labels, ", "))
		}
	}
}

// Poll asks for what has changed since it last asked.
func (d *Day) Poll() []Event {
	d.wake()
	if !d.leases.asked {
		d.discover()
		return d.take()
	}
	if d.leases.usable {
		d.tend()
		if d.NoneLeft && d.Call == nil {
			d.readAll() // The agent waits for a call.
			return d.take()
		}
	}
	d.polls++
	if d.Call != nil && d.Checked && d.polls%2 == 0 {
		d.reread(d.Call.UUID, unasked)
		return d.take()
	}
	switch turn := d.polls / 2 % 3; {
	case d.leases.usable && turn == 1:
		d.readUpcoming()
	case d.leases.usable && turn == 2:
		d.readState()
	default:
		d.readNews()
	}
	return d.take()
}

// readAll asks for everything at once: what has changed, the queue, and the next call where the
// agent waits for one.
func (d *Day) readAll() {
	d.readNews()
	if !d.leases.asked {
		d.discover()
		return
	}
	d.leases.none = false
	if d.leases.usable {
		d.readQueue()
	}
	d.serve()
}

// readNews asks for what has changed, unless the walk of all calls brings it.
func (d *Day) readNews() {
	if d.leases.asked && (!d.queue.walking || d.queue.ended) {
		d.readChanges()
	}
}

// readChanges asks for the changes since the last ones that are known.
func (d *Day) readChanges() {
	until := apitype.NewTime(d.Now())
	options := apitype.CallListOptions{UpdatedAfter: new(d.AsOf(d.queue.since))}
	if !d.queue.bare {
		options.Include = []string{apitype.IncludePerson}
	}
	do(&d.events, func(ctx context.Context) (calls []apitype.Call, _ error) {
		for call, err := range apiclient.Readable(d.Client.Calls.All(ctx, options, apiclient.AllOptions{Limit: MostChanges}), d.Client.Omit) {
			if err != nil {
				return nil, err
			}
			calls = append(calls, call)
		}
		return calls, nil
	}, func(d *Day, calls []apitype.Call, err error) {
		if d.isRead("cannot read what has changed", err) {
			d.onChanges(calls, until)
		}
	})
}

// clockLeeway is how far the service's clock and ours may differ unnoticed. What comes
// twice does no harm.
const clockLeeway = 2 * time.Minute

// MostChanges is how many changes are taken in at a time. They come newest first: where
// there are more, those left out would never come again, and the records are read anew.
const MostChanges = 2000

// AsOf is what to ask the service for where changes up to a time of ours are known: a
// clock of ours that is ahead of the service's, or was set back meanwhile, must not keep
// them out.
func (c *Changes) AsOf(known apitype.Time) apitype.Time {
	if now := c.Now(); known.After(now) {
		known = apitype.NewTime(now)
	}
	return apitype.NewTime(known.Add(-clockLeeway - c.Client.Behind()))
}

// onChanges takes changes in without moving what the agent looks at.
func (d *Day) onChanges(calls []apitype.Call, until apitype.Time) {
	d.queue.since, d.queue.changesMissed = until, false
	d.queue.forgetReached(d.Now())
	for _, call := range calls {
		if d.IsOn(call.UUID) && d.Checked && call.LastUpdatedAt.After(d.Call.LastUpdatedAt.Time) && !d.isPending(call.UUID) {
			d.sayOf(call.UUID, "%s was changed by another agent: %s, %s", d.Name(), call.Status, render.Plural(call.AttemptsCount, "attempt", "attempts"))
			d.Call.Status, d.Call.AttemptsCount, d.Call.LastUpdatedAt = call.Status, call.AttemptsCount, call.LastUpdatedAt
			if !call.Attempts.IsZero() {
				d.Call.Attempts = call.Attempts
			}
		}
		if prefetched, have := d.queue.prefetched[call.UUID]; have && !prefetched.LastUpdatedAt.Equal(call.LastUpdatedAt) {
			delete(d.queue.prefetched, call.UUID)
		}
		d.queue.learn(call)
	}
	if len(calls) >= MostChanges && !d.leases.usable {
		d.queue.rewalk()
		d.walk()
	}
	d.keepHistoryIfDue()
	d.serve()
}

// onOutcome counts what the service has accepted, and reads the call again where it is
// on the desk.
func (d *Day) onOutcome(e outbox.Event) {
	if e.Outcome == outbox.OutcomeAccepted {
		if l := d.leaseOf(e.Entry.UUID); l != nil && l.done {
			d.endLease(l.LeaseUUID) // The change has ended it: the call may be on the desk again.
		}
		if d.Accepted[e.Entry.Op]++; e.Entry.Op == apiclient.OpDeferCall {
			d.onDeferred(e.Entry)
		}
	}
	switch {
	case !d.opening.IsZero() && d.opening == e.Entry.UUID && e.Outcome == outbox.OutcomeAccepted:
		opened := d.opening
		d.opening = apitype.UUID{}
		d.admit(arrival{asked: d.openedAt, text: "the new call is there", run: func() { d.takeCall(opened) }})
	case d.IsOn(e.Entry.UUID):
		d.reread(e.Entry.UUID, unasked)
	case d.Wanted && d.Offline == "":
		d.serve() // The service can be reached: so can the next call.
	}
}
