package lease

import (
	"context"
	"encoding/json"
	"slices"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pending"
	"fundesk/tui/desk/queue"
)

// NewSender returns a sender of the outbox that makes the leases of the calls pending before it sends a change.
func (s *Leases) NewSender(o outbox.SenderOptions) *outbox.Sender {
	o.Prepare = s.pending.Prepare
	notify := o.Notify
	o.Notify = func(e outbox.Event) {
		s.pending.Hear(e)
		if notify != nil {
			notify(e)
		}
	}
	return s.Outbox.Sender(s.Client, o)
}

// Protect makes the lease of a call pending that the agent has ended.
func (s *Leases) Protect(call apitype.UUID) {
	if !s.HasQueue {
		return
	}
	var id apitype.UUID
	note := s.locks.take(call)
	if l := s.of(call); l != nil {
		id = l.LeaseUUID
		if note == nil {
			note, l.note = l.note, nil
		}
		s.end(id)
	}
	s.upcoming = slices.DeleteFunc(s.upcoming, func(c queue.Candidate) bool { return c.ID == call })
	p := s.pending.Want(call, s.Agent(), id)
	p.Saving++
	if note != nil {
		_ = p.Note.Forget() // Of an earlier lease.
		p.Note = note
	}
	p.Holder = apitype.UUID{}
	if holder := s.Desk.Holder(); holder != nil {
		p.Holder = holder.UserUUID
	}
	s.settle(p)
}

// OnSaved notes that a change that ended a call is on disk, or could not be saved.
func (s *Leases) OnSaved(call apitype.UUID) {
	if p := s.pending.Of(call); p != nil && p.Saving > 0 {
		p.Saving--
		if p.Saving == 0 {
			_ = p.Note.Forget() // It expires.
			p.Note = nil
		}
	}
}

// unprotect releases the pending lease of a call whose change was undone or dropped.
func (s *Leases) unprotect(call apitype.UUID) {
	if p := s.pending.Of(call); p != nil {
		p.IsWanted.Store(false)
		s.settle(p)
	}
}

// Reopen leaves the pending lease of a call whose change was undone to the opened call.
func (s *Leases) Reopen(call apitype.UUID) {
	if p := s.pending.Of(call); p != nil {
		p.IsOpening.Store(true)
		p.IsWanted.Store(false)
	}
}

// settle brings a pending lease into its wanted state.
func (s *Leases) settle(p *pending.Lease) {
	event.Do(s.Events, "pending lease settled", func(ctx context.Context) (any, error) {
		return nil, s.pending.Settle(ctx, p)
	}, func(_ any, err error) { s.onSettled(p, err) })
}

// onSettled names a colleague who now holds the donor. tend repeats other failures.
func (s *Leases) onSettled(p *pending.Lease, err error) {
	if p.IsWanted.Load() {
		held := heldBy(err)
		if held != nil && held.UserUUID != p.User && held.UserUUID != p.Holder {
			p.Holder = held.UserUUID
			text := s.Say("%s has this donor now: your change is sent anyway", s.holderName(held))
			s.Events.FailOf(event.OfCall(p.Call), text)
		}
	}
}

// OnAccepted forgets the pending lease of a call with an accepted change, which ended it. It reports whether the change
// has ended another lease, too: the agent has opened the call again.
func (s *Leases) OnAccepted(e outbox.Event) bool {
	if !pending.EndsCall(e.Entry.Op) {
		return false
	}
	s.endPending(e)
	if s.of(e.Entry.UUID) == nil {
		return false
	}
	s.Release(e.Entry.UUID) // The service may have made it after the change.
	return true
}

func (s *Leases) endPending(e outbox.Event) {
	p := s.pending.Of(e.Entry.UUID)
	if p == nil {
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

// OnDeferred notes when a deferred call is due.
func (s *Leases) OnDeferred(e outbox.Entry) {
	var request apitype.DeferRequest
	if json.Unmarshal(e.Body, &request) != nil || request.NotBefore == nil {
		return
	}
	if next := s.nextDueAt; next == nil || request.NotBefore.Before(next.Time) {
		s.nextDueAt = request.NotBefore
	}
	s.upcoming = slices.DeleteFunc(s.upcoming, func(c queue.Candidate) bool { return c.ID == e.UUID })
}

// Open lets the creation of a call lease the call for the agent.
func (s *Leases) Open(call apitype.UUID) {
	if s.HasQueue {
		s.pending.Open(call, s.Agent())
	}
}

// Reconcile makes the leases pending of changes that an earlier Desk left, and of failed changes. It releases the
// leases of calls without changes.
func (s *Leases) Reconcile(entries []outbox.Entry) {
	if !s.HasQueue {
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
			s.settle(s.pending.Want(e.UUID, s.Agent(), apitype.UUID{}))
		}
	}
	for _, p := range s.pending.List() {
		if p.IsWanted.Load() && p.Saving == 0 && !waits[p.Call] {
			s.unprotect(p.Call)
		}
	}
}
