package desk

import (
	"context"
	"slices"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/pending"
)

// NewSender returns a sender of the outbox that makes the leases of the calls pending before it sends a change.
func (d *Day) NewSender(o outbox.SenderOptions) *outbox.Sender {
	o.Prepare = d.leases.marks.Prepare
	notify := o.Notify
	o.Notify = func(e outbox.Event) {
		d.leases.marks.Hear(e)
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
	if l := s.leaseOf(call); l != nil {
		id = l.LeaseUUID
		s.endLease(id)
	}
	s.upcoming = slices.DeleteFunc(s.upcoming, func(c Candidate) bool { return c.ID == call })
	m := s.marks.Want(call, s.agent(), id)
	m.Saving++
	m.Holder = apitype.UUID{}
	if holder := s.day.holder; holder != nil {
		m.Holder = holder.UserUUID
	}
	s.settle(m)
}

// isSaved notes that a change that ended a call is on disk, or could not be saved.
func (s *leases) isSaved(call apitype.UUID) {
	if m := s.marks.Of(call); m != nil && m.Saving > 0 {
		m.Saving--
	}
}

// unprotect releases the pending lease of a call whose change was undone or dropped.
func (s *leases) unprotect(call apitype.UUID) {
	if m := s.marks.Of(call); m != nil {
		m.IsWanted.Store(false)
		s.settle(m)
	}
}

// reopen leaves the pending lease of a call whose change was undone to the opened call.
func (s *leases) reopen(call apitype.UUID) {
	if m := s.marks.Of(call); m != nil {
		m.IsOpening.Store(true)
		m.IsWanted.Store(false)
	}
}

// settle brings a mark into its wanted state.
func (s *leases) settle(m *pending.Mark) {
	do(&s.events, "mark settled", func(ctx context.Context) (any, error) {
		return nil, s.marks.Settle(ctx, m)
	}, func(_ any, err error) { s.onSettled(m, err) })
}

// onSettled names a colleague who now holds the donor. tend repeats other failures.
func (s *leases) onSettled(m *pending.Mark, err error) {
	if m.IsWanted.Load() {
		held := heldBy(err)
		if held != nil && held.UserUUID != m.User && held.UserUUID != m.Holder {
			m.Holder = held.UserUUID
			text := s.Say("%s has this donor by now: your change is sent all the same", s.day.Card().HolderName(held))
			s.failOf(ofCall(m.Call), text)
		}
	}
}

// onAccepted ends the mark of a call with an accepted change, which ended the lease.
func (s *leases) onAccepted(e outbox.Event) {
	m := s.marks.Of(e.Entry.UUID)
	if m == nil || !pending.EndsCall(e.Entry.Op) {
		return
	}
	if e.IsForeign { // It may have been marked after that.
		s.unprotect(m.Call)
		return
	}
	m.IsEnded.Store(true)
	m.IsWanted.Store(false)
	s.marks.Forget(m)
	if s.ended == nil {
		s.ended = map[apitype.UUID]bool{}
	}
	s.ended[m.Call] = true
}

// reconcile marks the calls of changes that an earlier Desk left, and of failed changes. It releases the leases of
// calls without changes.
func (s *leases) reconcile() {
	if !s.usable {
		return
	}
	waits := map[apitype.UUID]bool{}
	for _, e := range s.day.Changes.Entries {
		if !pending.EndsCall(e.Op) {
			continue
		}
		waits[e.UUID] = true
		m := s.marks.Of(e.UUID)
		if m != nil && m.IsEnded.Load() {
			continue // It was accepted since the outbox was read.
		}
		isLeft := e.Tries > 0 || e.State == outbox.StateRejected || e.CreatedAt.Before(s.startedAt)
		if isLeft && !s.marks.IsWanted(e.UUID) {
			s.settle(s.marks.Want(e.UUID, s.agent(), apitype.UUID{}))
		}
	}
	for _, m := range s.marks.List() {
		if m.IsWanted.Load() && m.Saving == 0 && !waits[m.Call] {
			s.unprotect(m.Call)
		}
	}
}

// keepsBack reports whether a call is not offered: a change of it is saved or waits, or was refused.
func (d *Day) keepsBack(call apitype.UUID) bool {
	isRefused := func(e outbox.Entry) bool {
		return e.UUID == call && e.State == outbox.StateRejected && pending.EndsCall(e.Op)
	}
	return d.leases.marks.IsWanted(call) || d.Changes.isPending(call) ||
		slices.ContainsFunc(d.Changes.Entries, isRefused)
}
