package desk

import (
	"cmp"
	"context"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pending"
)

// reread reads the call on the desk, and its draft; asked is after how many keys the agent asked
// for the call.
func (d *Day) reread(id apitype.UUID, asked int) {
	v := d.visit
	v.number++
	v.reads = true
	number, user := v.number, d.leases.agent()
	opens := d.leases.usable && d.unleased == id && d.leases.leaseOf(id) == nil
	asks := d.leases.usable && !opens
	held := d.leases.heldNow()
	call := apitype.Call{UUID: id}
	if d.IsOn(id) {
		call = *d.Call
	}
	claims := d.leases.leaseOf(id) == nil && d.claimed != id
	if claims {
		v.claimed, v.claimedBy = id, number
	}
	consented := d.consents.Person
	event.Do(d.Queue, "call read", func(ctx context.Context) (callRead, error) {
		draft, found, err := d.Outbox.Draft(id)
		read := callRead{visit: v, number: number, asked: asked, id: id, torn: err, claims: claims}
		if found {
			read.draft = &draft
		}
		note := outbox.Lease{LeaseUUID: apitype.NewUUID(), CallUUID: id, ExpiresAt: d.Now().Add(pending.LeaseTime)}
		if opens {
			read.lease, read.holder, read.leaseErr = d.leases.leaseOpened(ctx, call, user)
			read.opens = true
		}
		if asks {
			read.leases, read.leaseErr = d.leases.read(ctx, user, call.PersonUUID, held)
		}
		if read.lease != nil {
			note.LeaseUUID = read.lease.LeaseUUID // A later start goes on with it.
		}
		if read.elsewhere = claims && d.screens.claim(note); read.elsewhere {
			read.lease = nil // It belongs to the other terminal.
		}
		read.call, err = apiclient.Decoded(d.Client.Calls.Get(ctx, id))
		if err == nil && read.lease != nil {
			read.lease.call = read.call
		}
		if err == nil && read.call.PersonUUID != consented {
			read.consents = d.readConsents(ctx, read.call.PersonUUID)
		}
		return read, err
	}, d.onReread)
}

// leaseOpened leases a call that was opened, not taken. holder is the other user with a lease of its donor. Without a
// lease and a holder, the call is worked on without a lease, and err is the reason.
func (s *leases) leaseOpened(
	ctx context.Context,
	call apitype.Call,
	user apitype.UUID,
) (leased *lease, holder *apitype.LeaseHolder, err error) {
	p := s.pending.Of(call.UUID)
	if p != nil && !p.IsWanted.Load() { // Its change was undone.
		kept, err := s.pending.TakeOver(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		if kept != nil {
			return &lease{Lease: *kept, call: call, extended: s.Now()}, nil, nil
		}
	}
	request := apitype.LeaseRequest{
		RequestUUID:  apitype.NewUUID(),
		UserUUID:     user,
		LeaseSeconds: new(int(pending.LeaseTime / time.Second)),
	}
	answer, err := apiclient.Decoded(s.Client.Queue.Lease(ctx, call.UUID, request))
	if held := heldBy(err); held != nil {
		return nil, held, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return &lease{Lease: answer, call: answer.Call.Value(), extended: s.Now()}, nil, nil
}

// onReread takes in a reading of the call on the desk, unless it is a stale one.
func (d *Day) onReread(read callRead, err error) {
	isLeft := d.claimed != read.id
	passes := apiclient.KindOf(read.leaseErr) == apiclient.KindUnavailable ||
		apiclient.KindOf(read.leaseErr) == apiclient.KindUnauthenticated
	if read.opens && !passes && d.unleased == read.id {
		d.unleased = apitype.UUID{} // The service has answered.
	}
	if read.opens {
		d.Pause.MeetsLease()
	}
	if read.lease != nil {
		d.leases.hold(*read.lease, d.isCurrent(read))
		if isLeft {
			d.leases.releaseLease(read.id)
		}
	}
	if read.claims && isLeft {
		d.screens.leave(read.id)
	}
	if d.isCurrent(read) {
		d.reads = false
		read.renews = d.stale
		d.stale = d.stale && (err != nil || passes) // A reading that failed refreshes nothing.
		d.leases.onLeases(read.leases)
	}
	switch isElsewhere := read.elsewhere && read.visit == d.visit && read.number == d.claimedBy && !isLeft; {
	case isElsewhere && d.Call == nil:
		d.visit = new(visit) // No other reading of it counts.
		text := d.Say("call %s is already open in another terminal", render.ShortID(read.id))
		d.Notify(event.Notice{Level: event.Urgent, Text: text})
	case isElsewhere:
		d.queue.Pass(read.id, "open in another terminal")
		d.Gate.replaceStale(d.Say("%s is already open in another terminal", d.Name()), read.asked)
	case d.isCurrent(read):
		d.onRead(read, err)
	}
}

// onRead shows the present call. If it was ended elsewhere, it shows that and offers the next one.
func (d *Day) onRead(read callRead, err error) {
	d.Taking = d.Taking && err == nil
	if read.torn != nil {
		d.FailOf(
			event.OfCall(read.id),
			event.ErrorText(d.Say("cannot read what was typed for call %s", render.ShortID(read.id)), read.torn),
		)
	}
	switch {
	case apiclient.KindOf(err) == apiclient.KindNotFound:
		d.queue.Drop(read.id)
		text := d.Say("call %s is no longer there", render.ShortID(read.id))
		if d.Call == nil {
			d.Fail(text, nil)
		} else {
			d.Gate.replaceStale(text, read.asked)
		}
		return
	case err != nil:
		d.FailRead(d.Say("cannot read call %s", render.ShortID(read.id)), err)
		return
	}
	d.NoteConnection(nil)
	d.queue.Learn(read.call)
	if d.Call == nil {
		d.Gate.admit(arrival{asked: d.Gate.askedAt, run: func() { d.show(read) }})
		return
	}
	d.show(read)
}

// show shows the call that was read, unless the Desk has another call by now.
func (d *Day) show(read callRead) {
	if !d.isCurrent(read) {
		return
	}
	before, was, shown := d.Call, cmp.Or(d.latest, d.Call), read.call
	d.latest = nil
	if d.keepsDetails(before, read) {
		shown.Person, shown.PledgeCase = before.Person, before.PledgeCase
		d.latest = &read.call
	}
	d.Call, d.Checked, d.Taking = &shown, true, false
	d.noteReason()
	if read.consents != nil {
		d.consents = *read.consents
	}
	if read.holder != nil || read.lease != nil {
		d.holder, d.isFreed = read.holder, false
	}
	if read.lease != nil {
		d.isBlocked = read.lease.NumberBlocked
	}
	d.isErased = before != nil && (d.isErased || !before.Person.IsZero()) && read.call.Person.Pointer() == nil
	d.pickScript()
	if before == nil {
		d.Guard.Show(d.Now())
	}
	if before == nil || d.Draft().IsEmpty() {
		d.openForm(read.id, read.draft)
	}
	d.compare(before, was, read.asked)
	d.source().Prefetch()
}

// keepsDetails reports whether the card stays as it is, and changes from elsewhere are only offered. A requested
// reading, a first reading and an erasure show at once.
func (d *Day) keepsDetails(before *apitype.Call, read callRead) bool {
	if before == nil || read.renews || d.Gate.isAsked(read.asked) {
		return false
	}
	wasShown := before.Person.Pointer() != nil && !before.PledgeCase.IsZero()
	return wasShown && read.call.Person.Pointer() != nil
}

// showLatest shows the details of the call on the desk as they were read last.
func (d *Day) showLatest() {
	if d.latest != nil {
		d.Call.Person, d.Call.PledgeCase, d.latest = d.latest.Person, d.latest.PledgeCase, nil
		d.pickScript()
	}
}

// compare reports changes of the call on the Desk by others since it was listed. was is the record's earlier reading.
func (d *Day) compare(before, was *apitype.Call, asked int) {
	if before == nil || d.Changes.IsPending(d.Call.UUID) {
		return
	}
	switch now := d.Call; {
	case before.Status == apitype.CallRequested && now.Status != apitype.CallRequested:
		text := d.Say("%s: %s elsewhere", d.Name(), d.Say(string(now.Status)))
		if d.HasDraft() {
			d.Over(event.OfCall(now.UUID)) // No other agent calls for it either.
			d.FailOf(event.OfCall(now.UUID), text+"; "+d.Say("what you typed stays here"))
			return
		}
		d.queue.Pass(now.UUID, "")
		d.Changes.Recent.Add(
			changes.Recent{
				Call: now.UUID,
				Name: d.Name(),
				At:   d.Now(),
				What: d.Say("ended by another agent"),
				Fate: changes.FateEnded,
			},
		)
		d.leases.releaseLease(now.UUID)
		d.Gate.replaceStale(text, asked)
	case now.AttemptsCount > before.AttemptsCount:
		d.SayOf(now.UUID, "another agent has called %s since the call was listed", d.Name())
	default:
		d.tellChanged(d.Form().ChangedDetails(*was, *cmp.Or(d.latest, d.Call)))
	}
}

// tellChanged shows which details were changed elsewhere. It offers details that are not on the card.
func (d *Day) tellChanged(labels []string) {
	if len(labels) == 0 {
		return
	}
	text := d.Say("the record of %s was changed elsewhere: %s", d.Name(), strings.Join(labels, ", "))
	if d.latest == nil {
		d.SayOf(d.Call.UUID, "%s", text)
		return
	}
	d.Gate.offer(arrival{text: text, does: "shows it", of: d.Call.UUID, run: d.showLatest})
}

// Poll requests the changes since the last poll.
func (d *Day) Poll() []event.Event {
	d.wake()
	d.Refused.SendLate()
	d.floor.Tend()
	if !d.leases.asked {
		d.discover()
		return d.Drain()
	}
	if d.leases.usable {
		d.leases.tend()
		d.Pause.Settle()
		if d.NoneLeft && d.Call == nil {
			d.readAll() // The agent waits for a call.
			return d.Drain()
		}
	}
	d.polls++
	hasFailed := (d.stale || !d.Checked) && !d.reads && !d.Gate.IsOffered() // Its latest reading.
	if d.Call != nil && (hasFailed || d.Checked && !d.stale && d.polls%2 == 0) {
		d.reread(d.Call.UUID, unasked)
		return d.Drain()
	}
	hasLeases := d.Call != nil || len(d.leases.held) > 0
	if d.leases.usable && !d.stale && hasLeases {
		d.leases.check()
	}
	if d.leases.usable && !d.Callbacks.IsAsked() { // Not at the start: the first call comes before the list.
		d.Callbacks.Read()
	}
	isOld := d.Now().Sub(d.today.asked) >= todayEvery
	switch turn := d.polls / 2 % 4; {
	case d.leases.usable && turn == 3 && d.Callbacks.IsOld():
		d.Callbacks.Read()
	case d.leases.usable && (d.Call != nil && d.today.asked.IsZero() || turn == 3 && isOld):
		d.readToday()
	case d.leases.usable && turn == 1:
		d.leases.readUpcoming()
	case d.leases.usable && turn == 2:
		d.leases.readState()
	default:
		d.queue.ReadNews()
	}
	return d.Drain()
}

// readAll requests everything at once: the changes, the queue, and the next call if the agent waits for one.
func (d *Day) readAll() {
	d.queue.ReadNews()
	if !d.leases.asked {
		d.discover()
		return
	}
	d.leases.none = false
	if d.leases.usable {
		d.leases.readQueue()
	}
	d.serve()
}

// onNews shows that the call on the Desk was changed by another agent.
func (d *Day) onNews(call apitype.Call) {
	isNews := d.IsOn(call.UUID) && d.Checked && call.LastUpdatedAt.After(d.Call.LastUpdatedAt.Time)
	if !isNews || d.Changes.IsPending(call.UUID) {
		return
	}
	d.SayOf(
		call.UUID,
		"%s was changed by another agent: %s, %s",
		d.Name(),
		call.Status,
		render.Plural(call.AttemptsCount, "attempt", "attempts"),
	)
	d.Call.Status, d.Call.AttemptsCount, d.Call.LastUpdatedAt = call.Status, call.AttemptsCount, call.LastUpdatedAt
	if !call.Attempts.IsZero() {
		d.Call.Attempts = call.Attempts
	}
}

// onOutcome counts accepted changes, and reads the call again if it is on the Desk.
func (d *Day) onOutcome(e outbox.Event) {
	if e.Outcome == outbox.OutcomeAccepted {
		d.leases.onAccepted(e)
		if l := d.leases.leaseOf(e.Entry.UUID); l != nil && pending.EndsCall(e.Entry.Op) {
			d.leases.endLease(l.LeaseUUID) // The change has ended it: the agent has opened the call again.
			d.unleased = l.CallUUID
		}
		d.Accepted[e.Entry.Op]++
		hasEnded := e.Entry.Op == apiclient.OpCancelCall || e.Entry.Op == apiclient.OpExpireCall
		if hasEnded && d.Changes.Labels[e.Entry.ID] != "" && !d.IsOn(e.Entry.UUID) {
			d.Changes.OnDisk(func() error { return d.Changes.Drafts.EraseChoices(e.Entry.UUID) })
		}
		isDeferred := e.Entry.Op == apiclient.OpDeferCall
		if isDeferred {
			d.leases.onDeferred(e.Entry)
		}
		if isDeferred || d.Callbacks.Has(e.Entry.UUID) {
			d.Callbacks.Read()
		}
	}
	switch {
	case !d.opening.IsZero() && d.opening == e.Entry.UUID && e.Outcome == outbox.OutcomeAccepted:
		opened := d.opening
		d.opening = apitype.UUID{}
		d.Gate.admit(
			arrival{asked: d.openedAt, text: d.Say("the new call is there"), run: func() { d.takeCall(opened) }},
		)
	case d.IsOn(e.Entry.UUID):
		d.reread(e.Entry.UUID, unasked)
	case d.Wanted && d.Offline == "":
		d.serve() // The service can be reached: so can the next call.
	}
}
