package lease

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pending"
)

// PassOver gives the call back that the agent skipped, so that others come first. If its lease has ended, it can only
// be given back once it comes again.
func (s *Leases) PassOver(call apitype.UUID) {
	s.unreturned = apitype.UUID{}
	if s.HasQueue && s.of(call) == nil {
		s.unreturned = call
	}
	s.Release(call)
}

// Release ends the lease of a call, if it has one, so that other users may get the call.
func (s *Leases) Release(call apitype.UUID) {
	l := s.of(call)
	if l == nil {
		return
	}
	id := l.LeaseUUID
	s.end(id)
	s.isNone = false
	if s.pending.IsWanted(call) {
		return // A take was faster: this lease becomes pending.
	}
	event.Do(s.Events, "lease released", func(ctx context.Context) (any, error) {
		return nil, s.Client.Queue.Release(ctx, id, apitype.DeferRequest{})
	}, func(any, error) { // A lease that cannot be released expires.
		if s.Callbacks.Has(call) {
			s.Callbacks.Read()
		}
	})
}

// end forgets a lease, without a request.
func (s *Leases) end(id apitype.UUID) {
	s.held = slices.DeleteFunc(s.held, func(l Lease) bool {
		if l.LeaseUUID != id {
			return false
		}
		_ = l.note.Forget() // It expires.
		return true
	})
}

// ReleaseOthers gives back all leases except that of a call that the agent opens.
func (s *Leases) ReleaseOthers(opened apitype.UUID) {
	for _, l := range slices.Clone(s.held) {
		if l.CallUUID != opened {
			s.Release(l.CallUUID)
		}
	}
	s.unreturned = apitype.UUID{}
}

// Trim releases all leases except those of the call on the Desk and of one prefetched call.
func (s *Leases) Trim() {
	ahead := s.ahead()
	for _, l := range slices.Clone(s.held) {
		if !s.isOn(l.CallUUID) && (ahead == nil || l.LeaseUUID != ahead.LeaseUUID) {
			s.Release(l.CallUUID)
		}
	}
}

// ReleaseAhead gives the prefetched call back, because the agent takes other calls from now on.
func (s *Leases) ReleaseAhead() {
	if l := s.ahead(); l != nil {
		s.Release(l.CallUUID)
	}
	s.isNone, s.upcoming = false, nil
}

// OnPause forgets the leases that a pause has ended.
func (s *Leases) OnPause() {
	for _, l := range slices.Clone(s.held) {
		if !s.KeepsBack(l.CallUUID) {
			s.end(l.LeaseUUID)
		}
	}
}

// Unlock lets the agent's other terminals have a call that this one kept without a lease. call may be zero.
func (s *Leases) Unlock(call apitype.UUID) { s.locks.leave(call) }

// End releases the leases of a Desk that ends, in at most two seconds. Leases that cannot be released expire. locked is
// the call that this terminal keeps without a lease, or zero.
func (s *Leases) End(locked apitype.UUID) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var group sync.WaitGroup
	for _, l := range s.held {
		group.Go(func() {
			err := s.Client.Queue.Release(ctx, l.LeaseUUID, apitype.DeferRequest{})
			if !errors.Is(err, context.DeadlineExceeded) {
				_ = l.note.Forget()
			}
		})
	}
	for _, p := range s.pending.List() { // They outlive the Desk.
		p.IsOpening.Store(false)
		group.Go(func() { _ = s.pending.Settle(ctx, p) })
	}
	group.Wait()
	s.held = nil
	s.Unlock(locked)
	for _, p := range s.pending.List() {
		s.leaveUndone(p)
	}
}

// leaveUndone lets the next start give back the lease of an undone change, if that failed now: it would stay pending.
func (s *Leases) leaveUndone(p *pending.Lease) {
	id, isLeft := p.Left()
	if !isLeft {
		return
	}
	note, err := s.Outbox.HoldLease(outbox.Lease{
		LeaseUUID: id,
		CallUUID:  p.Call,
		UserUUID:  s.noted(p.User),
		ExpiresAt: s.Now().Add(pending.LeaseTime),
	})
	if err == nil { // Without a note, the lease ends after a day.
		_ = note.Leave()
	}
}
