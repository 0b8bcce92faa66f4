package lease

import (
	"context"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/pending"
)

// Opening is what a reading of a call for the Desk asks about its lease. Make it with [Leases.Opening].
type Opening struct {
	// Locks means that it keeps the call from the agent's other terminals, because there is no lease of it yet.
	Locks bool

	leases *Leases
	call   apitype.Call
	user   apitype.UUID
	takes  bool           // It leases the call.
	asks   bool           // It asks for the live leases.
	held   []apitype.UUID // The leases that were held when it was asked.
}

// Opened is the answer to an Opening.
type Opened struct {
	Opening
	Lease       *Lease               // Of the call, if it was leased. Nil without one.
	Holder      *apitype.LeaseHolder // The other user with a lease of the donor. Nil if there is none.
	Err         error                // The error of the service.
	IsElsewhere bool                 // Another terminal of the agent has the call.

	live live
}

// Opening returns the question about a call that is read for the Desk. wantsLease leases the call if it has no lease.
// isLocked means that this terminal keeps the call from the others already.
func (s *Leases) Opening(call apitype.Call, wantsLease, isLocked bool) Opening {
	hasLease := s.of(call.UUID) != nil
	takes := s.HasQueue && wantsLease && !hasLease
	locks := !hasLease && !isLocked
	if p := s.pending.Of(call.UUID); locks && p != nil && p.Note != nil {
		s.locks.keep(call.UUID, p.Note) // Its change is still being saved.
		p.Note = nil
	}
	return Opening{
		Locks:  locks,
		leases: s,
		call:   call,
		user:   s.Agent(),
		takes:  takes,
		asks:   s.HasQueue && !takes,
		held:   s.ids(),
	}
}

// Ask does the requests. It may run in the background.
func (o Opening) Ask(ctx context.Context) Opened {
	s := o.leases
	opened := Opened{Opening: o}
	if o.takes {
		opened.Lease, opened.Holder, opened.Err = s.lease(ctx, o.call, o.user)
	}
	if o.asks {
		opened.live, opened.Err = s.read(ctx, o.user, o.call.PersonUUID, o.held)
	}
	note := outbox.Lease{
		LeaseUUID: apitype.NewUUID(),
		CallUUID:  o.call.UUID,
		UserUUID:  s.noted(o.user),
		ExpiresAt: s.Now().Add(pending.LeaseTime),
	}
	if opened.Lease != nil {
		note.LeaseUUID = opened.Lease.LeaseUUID // A later start goes on with it.
	}
	if o.Locks && s.locks.lock(note) {
		opened.IsElsewhere, opened.Lease = true, nil // The lease belongs to the other terminal.
	}
	return opened
}

// lease leases a call that was opened, not taken. holder is the other user with a lease of its donor. Without a lease
// and a holder, the call is worked on without a lease, and err is the reason.
func (s *Leases) lease(
	ctx context.Context,
	call apitype.Call,
	user apitype.UUID,
) (leased *Lease, holder *apitype.LeaseHolder, err error) {
	p := s.pending.Of(call.UUID)
	if p != nil && !p.IsWanted.Load() { // Its change was undone.
		kept, err := s.pending.TakeOver(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		if kept != nil {
			return &Lease{Lease: *kept, Call: call, extendedAt: s.Now()}, nil, nil
		}
	}
	request := apitype.LeaseRequest{
		RequestUUID:  apitype.NewUUID(),
		UserUUID:     user,
		LeaseSeconds: seconds(),
	}
	answer, err := apiclient.Decoded(s.Client.Queue.Lease(ctx, call.UUID, request))
	if held := heldBy(err); held != nil {
		return nil, held, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return &Lease{Lease: answer, Call: answer.Call.Value(), extendedAt: s.Now()}, nil, nil
}

// Takes reports whether the call was to be leased.
func (o Opening) Takes() bool { return o.takes }

// IsUnanswered reports whether the service could not be asked, and may be asked again.
func (o Opened) IsUnanswered() bool {
	kind := apiclient.KindOf(o.Err)
	return kind == apiclient.KindUnavailable || kind == apiclient.KindUnauthenticated
}

// Keep takes the lease of an answer in. isLeft means that the call has left the Desk: the lease is given back.
// isLatest means that no later reading of the call was asked for: its lease replaces an earlier one.
func (s *Leases) Keep(o Opened, isLatest, isLeft bool) {
	if o.Lease != nil {
		s.hold(*o.Lease, isLatest)
		if isLeft {
			s.Release(o.call.UUID)
		}
	}
	if o.Locks && isLeft {
		s.Unlock(o.call.UUID)
	}
}

// See takes the live leases of the latest answer in.
func (s *Leases) See(o Opened) { s.onLive(o.live) }

// hold adds the lease of an opened call. The latest reading replaces an earlier lease.
func (s *Leases) hold(l Lease, isLatest bool) {
	if before := s.of(l.CallUUID); before != nil {
		if !isLatest || before.LeaseUUID == l.LeaseUUID {
			return
		}
		s.end(before.LeaseUUID)
	}
	s.held = append(s.held, l)
}
