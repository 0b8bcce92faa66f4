package desk

import (
	"context"
	"slices"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pending"
	"fundesk/tui/desk/queue"
)

// NewSender returns a sender of the outbox that makes the leases of the calls pending before it sends a change.
func (d *Day) NewSender(o outbox.SenderOptions) *outbox.Sender {
	o.Prepare = d.leases.pending.Prepare
	notify := o.Notify
	o.Notify = func(e outbox.Event) {
		d.leases.pending.Hear(e)
		if notify != nil {
			notify(e)
		}
	}
	return d.Outbox.Sender(d.Client, o)
}

// protect makes the lease of a call pending that the agent has ended.
func (s *leases) protect(call apitype.UUID) {
	if !s.usable {
		return
	}
	var id apitype.UUID
	note := s.screens.take(call)
	if l := s.leaseOf(call); l != nil {
		id = l.LeaseUUID
		if note == nil {
			note, l.note = l.note, nil
		}
		s.endLease(id)
	}
	s.upcoming = slices.DeleteFunc(s.upcoming, func(c queue.Candidate) bool { return c.ID == call })
	p := s.pending.Want(call, s.agent(), id)
	p.Saving++
	if note != nil {
		_ = p.Note.Forget() // Of an earlier lease.
		p.Note = note
	}
	p.Holder = apitype.UUID{}
	if holder := s.seat.holder; holder != nil {
		p.Holder = holder.UserUUID
	}
	s.settle(p)
}

// isSaved notes that a change that ended a call is on disk, or could not be saved.
func (s *leases) isSaved(call apitype.UUID) {
	if p := s.pending.Of(call); p != nil && p.Saving > 0 {
		p.Saving--
		if p.Saving == 0 {
			_ = p.Note.Forget() // It expires.
			p.Note = nil
		}
	}
}

// unprotect releases the pending lease of a call whose change was undone or dropped.
func (s *leases) unprotect(call apitype.UUID) {
	if p := s.pending.Of(call); p != nil {
		p.IsWanted.Store(false)
		s.settle(p)
	}
}

// reopen leaves the pending lease of a call whose change was undone to the opened call.
func (s *leases) reopen(call apitype.UUID) {
	if p := s.pending.Of(call); p != nil {
		p.IsOpening.Store(true)
		p.IsWanted.Store(false)
	}
}

// settle brings a pending lease into its wanted state.
func (s *leases) settle(p *pending.Lease) {
	event.Do(s.Queue, "pending lease settled", func(ctx context.Context) (any, error) {
		return nil, s.pending.Settle(ctx, p)
	}, func(_ any, err error) { s.onSettled(p, err) })
}

// onSettled names a colleague who now holds the donor. tend repeats other failures.
func (s *leases) onSettled(p *pending.Lease, err error) {
	if p.IsWanted.Load() {
		held := heldBy(err)
		if held != nil && held.UserUUID != p.User && held.UserUUID != p.Holder {
			p.Holder = held.UserUUID
			text := s.Say("%s has this donor now: your change is sent anyway", s.holderName(held))
			s.FailOf(event.OfCall(p.Call), text)
		}
	}
}

// onAccepted forgets the pending lease of a call with an accepted change, which ended it.
func (s *leases) onAccepted(e outbox.Event) {
	p := s.pending.Of(e.Entry.UUID)
	if p == nil || !pending.EndsCall(e.Entry.Op) {
		return
	}
	if e.IsForeign { // It may have become pending after that.
		s.unprotect(p.Call)
		return
	}
	p.IsEnded.Store(true)
	p.IsWanted.Store(false)
	s.pending.Forget(p)
	if s.ended == nil {
		s.ended = map[apitype.UUID]bool{}
	}
	s.ended[p.Call] = true
}

// reconcile makes the leases pending of changes that an earlier Desk left, and of failed changes. It releases the
// leases of calls without changes.
func (s *leases) reconcile(entries []outbox.Entry) {
	if !s.usable {
		return
	}
	waits := map[apitype.UUID]bool{}
	for _, e := range entries {
		if !pending.EndsCall(e.Op) {
			continue
		}
		waits[e.UUID] = true
		p := s.pending.Of(e.UUID)
		if p != nil && p.IsEnded.Load() {
			continue // It was accepted since the outbox was read.
		}
		isLeft := e.Tries > 0 || e.State == outbox.StateRejected || e.CreatedAt.Before(s.startedAt)
		if isLeft && !s.pending.IsWanted(e.UUID) {
			s.settle(s.pending.Want(e.UUID, s.agent(), apitype.UUID{}))
		}
	}
	for _, p := range s.pending.List() {
		if p.IsWanted.Load() && p.Saving == 0 && !waits[p.Call] {
			s.unprotect(p.Call)
		}
	}
}

// keepsBack reports whether a call is not offered: a change of it is saved or waits, or was refused.
func (s *leases) keepsBack(call apitype.UUID) bool {
	return s.pending.IsWanted(call) || s.isChanged(call)
}

// holderName returns the name of the user who holds a donor.
func (s *leases) holderName(held *apitype.LeaseHolder) string {
	return card.Card{Form: entry.Form{Texts: s.Texts}, AgentName: s.AgentName}.HolderName(held)
}
