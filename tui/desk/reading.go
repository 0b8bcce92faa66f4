package desk

import (
	"cmp"
	"context"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/transition"
)

// reread reads the call on the Desk or for it, its draft and its lease. asked is the number of keys that had come when
// the agent asked for the call.
func (d *Day) reread(id apitype.UUID, asked int) {
	v := d.visit
	asks := &reading{id: id, asked: asked}
	v.reading = asks
	call := apitype.Call{UUID: id}
	if d.IsOn(id) {
		call = *d.Call
	}
	opening := d.Leases.Opening(call, v.unleased == id, v.locked() == id)
	if opening.Locks {
		v.lockedBy = asks
	}
	consented := d.consents.Person
	event.Do(d.Queue, "call read", func(ctx context.Context) (callRead, error) {
		draft, found, err := d.Outbox.Draft(id)
		read := callRead{reading: asks, torn: err}
		if found {
			read.draft = &draft
		}
		read.opened = opening.Ask(ctx)
		read.call, err = apiclient.Decoded(d.Client.Calls.Get(ctx, id))
		if err != nil {
			return read, err
		}
		if read.opened.Lease != nil {
			read.opened.Lease.Call = read.call
		}
		if read.call.PersonUUID != consented {
			read.consents = readConsents(ctx, d.Client, read.call.PersonUUID)
		}
		return read, nil
	}, d.onReread)
}

// onReread takes in a reading of the call on the desk, unless it is a stale one.
func (d *Day) onReread(read callRead, err error) {
	isLeft := d.locked() != read.id
	read.isAnswered = true
	opened := read.opened
	if opened.Takes() {
		if !opened.IsUnanswered() && d.unleased == read.id {
			d.unleased = apitype.UUID{}
		}
		d.Pause.MeetsLease()
	}
	d.Leases.Keep(opened, d.isCurrent(read.reading), isLeft)
	if d.isCurrent(read.reading) {
		read.renews = d.IsStale()
		if err == nil && !opened.IsUnanswered() { // A reading that failed refreshes nothing.
			d.refresh()
		}
		d.Leases.See(opened)
	}
	switch isElsewhere := opened.IsElsewhere && read.reading == d.lockedBy; {
	case isElsewhere && d.Call == nil:
		d.visit = new(visit) // No other reading of it counts.
		text := d.Say("call %s is already open in another terminal", render.ShortID(read.id))
		d.Notify(event.Notice{Level: event.Urgent, Text: text})
	case isElsewhere:
		d.Walk.Pass(read.id, "open in another terminal")
		d.Transitions.ReplaceStale(d.Say("%s is already open in another terminal", d.Name()), read.asked)
	case d.isCurrent(read.reading):
		d.onRead(read, err)
	}
}

// onRead shows the present call. If it was ended elsewhere, it shows that and offers the next one.
func (d *Day) onRead(read callRead, err error) {
	if err != nil && d.IsOpening() {
		d.become(stateEmpty)
	}
	if read.torn != nil {
		d.FailOf(
			event.OfCall(read.id),
			event.ErrorText(d.Say("cannot read what was typed for call %s", render.ShortID(read.id)), read.torn),
		)
	}
	switch {
	case apiclient.KindOf(err) == apiclient.KindNotFound:
		d.Walk.Drop(read.id)
		text := d.Say("call %s is no longer there", render.ShortID(read.id))
		if d.Call == nil {
			d.Fail(text, nil)
		} else {
			d.Transitions.ReplaceStale(text, read.asked)
		}
		return
	case err != nil:
		d.FailRead(d.Say("cannot read call %s", render.ShortID(read.id)), err)
		return
	}
	d.NoteConnection(nil)
	d.Walk.Learn(read.call)
	if d.Call == nil {
		d.Transitions.Apply(transition.Transition{Asked: d.askedAt, Run: func() { d.show(read) }})
		return
	}
	d.show(read)
}

// show shows the call that was read, unless the Desk has another call by now.
func (d *Day) show(read callRead) {
	if !d.isCurrent(read.reading) {
		return
	}
	before, was, shown := d.Call, cmp.Or(d.latest, d.Call), read.call
	d.latest = nil
	if d.keepsDetails(before, read) {
		shown.Person, shown.PledgeCase = before.Person, before.PledgeCase
		d.latest = &read.call
	}
	d.visit.show(shown)
	d.noteReason()
	if read.consents != nil {
		d.consents = *read.consents
	}
	opened := read.opened
	if opened.Holder != nil || opened.Lease != nil {
		d.holder, d.isFreed = opened.Holder, false
	}
	if opened.Lease != nil {
		d.isBlocked = opened.Lease.NumberBlocked
	}
	d.isErased = before != nil && (d.isErased || !before.Person.IsZero()) && read.call.Person.Pointer() == nil
	d.pickScript()
	if before == nil {
		d.Keys.Show(d.Now())
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
	if before == nil || read.renews || d.Transitions.IsAsked(read.asked) {
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
		d.Walk.Pass(now.UUID, "")
		d.Changes.Recent.Add(
			changes.Recent{
				Call: now.UUID,
				Name: d.Name(),
				At:   d.Now(),
				What: d.Say("ended by another agent"),
				Fate: changes.FateEnded,
			},
		)
		d.Leases.Release(now.UUID)
		d.Transitions.ReplaceStale(text, asked)
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
	d.Transitions.Propose(transition.Transition{Text: text, Does: "shows it", Of: d.Call.UUID, Run: d.showLatest})
}

// Poll requests the changes since the last poll.
func (d *Day) Poll() []event.Event {
	d.wake()
	d.Refused.SendLate()
	d.floor.Tend()
	if !d.Leases.IsDiscovered {
		d.Leases.Discover()
		return d.Drain()
	}
	if d.Leases.HasQueue {
		d.Leases.Tend()
		d.Pause.Settle()
		if d.IsNoneLeft() {
			d.readAll() // The agent waits for a call.
			return d.Drain()
		}
	}
	d.polls++
	isUpToDate := d.state == stateRead
	hasFailed := !isUpToDate && !d.isReading() && !d.Transitions.IsProposed() // The latest reading.
	if d.Call != nil && (hasFailed || isUpToDate && d.polls%2 == 0) {
		d.reread(d.Call.UUID, transition.Unasked)
		return d.Drain()
	}
	hasLeases := d.Call != nil || !d.Leases.IsEmpty()
	if d.Leases.HasQueue && !d.IsStale() && hasLeases {
		d.Leases.Check()
	}
	if d.Leases.HasQueue && !d.Callbacks.IsAsked() { // Not at the start: the first call comes before the list.
		d.Callbacks.Read()
	}
	switch turn := d.polls / 2 % 4; {
	case d.Leases.HasQueue && turn == 3 && d.Callbacks.IsOld():
		d.Callbacks.Read()
	case d.Leases.HasQueue && (d.Call != nil && !d.Work.IsAsked() || turn == 3 && d.Work.IsOld()):
		d.Work.Read()
	case d.Leases.HasQueue && (turn == 1 || d.Leases.IsListOld()):
		d.Leases.ReadUpcoming()
	case d.Leases.HasQueue && turn == 2:
		d.Leases.ReadState()
	default:
		d.Walk.ReadNews()
	}
	return d.Drain()
}

// readAll requests everything at once: the changes, the queue, and the next call if the agent waits for one.
func (d *Day) readAll() {
	d.Walk.ReadNews()
	if !d.Leases.IsDiscovered {
		d.Leases.Discover()
		return
	}
	d.Leases.TakeAgain()
	if d.Leases.HasQueue {
		d.Leases.ReadQueue()
	}
	d.serve()
}

// onNews shows that the call on the Desk was changed by another agent.
func (d *Day) onNews(call apitype.Call) {
	isNews := d.IsOn(call.UUID) && d.IsCallRead() && call.LastUpdatedAt.After(d.Call.LastUpdatedAt.Time)
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
		if d.Leases.OnAccepted(e) {
			d.unleased = e.Entry.UUID
		}
		d.Accepted[e.Entry.Op]++
		hasEnded := e.Entry.Op == apiclient.OpCancelCall || e.Entry.Op == apiclient.OpExpireCall
		if hasEnded && d.Changes.Labels[e.Entry.ID] != "" && !d.IsOn(e.Entry.UUID) {
			d.Changes.OnDisk(func() error { return d.Changes.Drafts.EraseChoices(e.Entry.UUID) })
		}
		isDeferred := e.Entry.Op == apiclient.OpDeferCall
		if isDeferred {
			d.Leases.OnDeferred(e.Entry)
		}
		if isDeferred || d.Callbacks.Has(e.Entry.UUID) {
			d.Callbacks.Read()
		}
	}
	switch {
	case !d.opening.IsZero() && d.opening == e.Entry.UUID && e.Outcome == outbox.OutcomeAccepted:
		opened := d.opening
		d.opening = apitype.UUID{}
		d.Transitions.Apply(
			transition.Transition{
				Asked: d.openedAt,
				Text:  d.Say("the new call is there"),
				Run:   func() { d.takeCall(opened) },
			},
		)
	case d.IsOn(e.Entry.UUID):
		d.reread(e.Entry.UUID, transition.Unasked)
	case d.IsWaiting() && d.Offline == "":
		d.serve() // The service can be reached: so can the next call.
	}
}
