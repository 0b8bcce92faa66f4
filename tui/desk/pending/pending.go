// Package pending keeps the leases of calls that the agent has ended.
//
// A donor is protected from the key that ends a call to the accepted change. The lease of the call is pending while a
// change of it is saved, held, queued, unsure, refused, or waits behind a refusal: the queue offers the donor to no
// agent.
package pending

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// How long leases last.
const (
	LeaseTime  = 15 * time.Minute // From when it was taken or extended.
	ExtendTime = 10 * time.Minute // The rest of a lease at which it is extended after a key.
)

// renewTime is the rest of a pending lease at which it is extended.
const renewTime = time.Hour

// Leases has the calls whose lease is or should be pending. It is safe for concurrent use: the sender makes a lease
// pending before it sends a change of it.
type Leases struct {
	Client *apiclient.Client
	Now    func() time.Time

	mu     sync.Mutex
	all    map[apitype.UUID]*Lease
	opened apitype.UUID // The last new call. Zero before there is one.
	opener apitype.UUID // The user who opens it.
}

// Lease is the pending lease of one call.
type Lease struct {
	Call, User apitype.UUID
	Saving     int // Changes of it that are not on disk yet.
	// Note is of the lease, until the changes are on disk: after a crash the next Desk has the call again. Nil without
	// one.
	Note      *outbox.HeldLease
	Holder    apitype.UUID // The known holder of the donor when the agent ended the call. Zero without one.
	IsWanted  atomic.Bool  // A change waits. Otherwise the lease is released.
	IsEnded   atomic.Bool  // The accepted change ended the lease.
	isSending atomic.Bool  // The change is on its way: it may end the lease at any moment.
	isFreed   atomic.Bool  // It was pending, and another user released it: it is not leased again.
	IsOpening atomic.Bool  // Its change was undone: the opened call takes the lease over.

	mu    sync.Mutex // Of what follows, and held during a request.
	lease apitype.UUID
	until time.Time // Zero before it is pending.
}

// Of returns the pending lease of a call, or nil.
func (s *Leases) Of(call apitype.UUID) *Lease {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[call]
}

// List returns all, in the order of their calls.
func (s *Leases) List() []*Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Lease
	for _, l := range s.all {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *Lease) int { return a.Call.Compare(b.Call) })
	return all
}

// Want wants the lease of a call to be pending, for a user. lease is its live lease, or zero.
func (s *Leases) Want(call, user, lease apitype.UUID) *Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[call]
	if l == nil {
		l = &Lease{Call: call, User: user, lease: lease}
		if s.all == nil {
			s.all = map[apitype.UUID]*Lease{}
		}
		s.all[call] = l
	}
	l.IsWanted.Store(true)
	l.IsEnded.Store(false)
	l.isFreed.Store(false)
	l.IsOpening.Store(false)
	return l
}

// Forget drops one that is not wanted, and reports whether it did: a change may wait again.
func (s *Leases) Forget(l *Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.IsWanted.Load() {
		return false
	}
	if s.all[l.Call] == l {
		delete(s.all, l.Call)
	}
	return true
}

// IsWanted reports whether a change of a call waits.
func (s *Leases) IsWanted(call apitype.UUID) bool {
	l := s.Of(call)
	return l != nil && l.IsWanted.Load()
}

// Settle makes the lease of a call pending, or releases a lease that is not wanted any more. It does not touch the
// lease of a call whose change is in flight.
func (s *Leases) Settle(ctx context.Context, l *Lease) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isSending.Load() && l.IsWanted.Load() {
		return nil
	}
	return s.settleLocked(ctx, l)
}

// settleToSend settles a call before its change is sent.
func (s *Leases) settleToSend(ctx context.Context, l *Lease) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isSending.Store(true)
	return s.settleLocked(ctx, l)
}

func (s *Leases) settleLocked(ctx context.Context, l *Lease) error {
	if l.IsEnded.Load() {
		return nil
	}
	if !l.IsWanted.Load() && l.IsOpening.Load() {
		return nil
	}
	if !l.IsWanted.Load() {
		return s.release(ctx, l)
	}
	if l.isFreed.Load() || l.until.Sub(s.Now()) > renewTime {
		return nil
	}
	lasts := apitype.PendingLease
	isPending, err := s.Client.Has(ctx, apitype.ExtensionPending)
	if err != nil {
		return err
	}
	seconds := new(int(LeaseTime / time.Second))
	if !isPending {
		lasts = renewTime + LeaseTime - ExtendTime // An older service keeps it by plain leases.
	}
	if !l.lease.IsZero() {
		request := apitype.ExtendRequest{LeaseSeconds: seconds}
		if isPending {
			request.Pending = new(true)
		}
		_, err := s.Client.Queue.Extend(ctx, l.lease, request)
		if err == nil {
			l.until = s.Now().Add(lasts)
			return nil
		}
		if apiclient.KindOf(err) != apiclient.KindNotFound {
			return err
		}
		l.lease = apitype.UUID{}
		if !l.until.IsZero() && isPending {
			l.isFreed.Store(true)
			return nil
		}
	}
	request := apitype.LeaseRequest{
		RequestUUID:  apitype.NewUUID(),
		UserUUID:     l.User,
		LeaseSeconds: seconds,
		Pending:      isPending,
	}
	leased, err := apiclient.Decoded(s.Client.Queue.Lease(ctx, l.Call, request))
	if err != nil {
		return err
	}
	l.lease, l.until = leased.LeaseUUID, s.Now().Add(lasts)
	return nil
}

// release gives the lease back and forgets it. Its lock is held.
func (s *Leases) release(ctx context.Context, l *Lease) error {
	if !l.lease.IsZero() {
		err := s.Client.Queue.Release(ctx, l.lease, apitype.DeferRequest{})
		if err != nil {
			return err
		}
	}
	l.lease, l.until = apitype.UUID{}, time.Time{}
	s.Forget(l)
	return nil
}

// TakeOver returns the lease of a call whose change was undone, as a plain one: no other agent gets the donor in
// between. It returns nil if there is none, or if a change waits again.
func (s *Leases) TakeOver(ctx context.Context, l *Lease) (*apitype.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.IsWanted.Load() {
		return nil, nil
	}
	if !l.lease.IsZero() {
		l.until = time.Time{} // If the answer is lost, the lease may be plain.
		kept, err := apiclient.Decoded(s.Client.Queue.Extend(ctx, l.lease, apitype.ExtendRequest{
			LeaseSeconds: new(int(LeaseTime / time.Second)),
			Ahead:        new(false),
			Pending:      new(false),
		}))
		switch {
		case err == nil && !kept.Pending && s.Forget(l):
			return &kept, nil
		case err == nil && !kept.Pending: // It becomes pending again.
			return nil, nil
		case apiclient.KindOf(err) == apiclient.KindNotFound:
			l.lease = apitype.UUID{}
		case err != nil:
			return nil, err
		}
	}
	l.IsOpening.Store(false) // A service that keeps it pending gets it back.
	return nil, s.release(ctx, l)
}

// Open lets the creation of a call lease the call for the user who opens it.
func (s *Leases) Open(call, user apitype.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened, s.opener = call, user
}

// openerOf returns the user who opens a new call, or zero.
func (s *Leases) openerOf(call apitype.UUID) apitype.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	if call != s.opened {
		return apitype.UUID{}
	}
	return s.opener
}

// Prepare makes all wanted leases pending before a change is sent, and adds the lease to a deferral. An error delays
// the change.
func (s *Leases) Prepare(ctx context.Context, e outbox.Entry) (apiclient.Change, error) {
	for _, l := range s.List() {
		isOwn := l.Call == e.UUID && EndsCall(e.Op)
		settle := s.Settle
		if isOwn {
			settle = s.settleToSend
		}
		err := settle(ctx, l)
		switch apiclient.KindOf(err) {
		case apiclient.KindUnavailable, apiclient.KindUnauthenticated, apiclient.KindInterrupted:
			s.isBack(e.UUID)
			return e.Change, err
		}
	}
	if e.Op == apiclient.OpCreateCall {
		change := e.Change
		change.LeaseFor = s.openerOf(e.UUID)
		return change, nil
	}
	l := s.Of(e.UUID)
	if l == nil || e.Op != apiclient.OpDeferCall {
		return e.Change, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var request apitype.DeferRequest
	if l.lease.IsZero() || json.Unmarshal(e.Body, &request) != nil {
		return e.Change, nil
	}
	request.LeaseUUID = &l.lease
	named, err := apiclient.DeferCallChange(e.UUID, request)
	if err != nil {
		return e.Change, nil
	}
	change := e.Change
	change.Body = named.Body
	return change, nil
}

// isBack notes that the change of a call is not sent now.
func (s *Leases) isBack(call apitype.UUID) {
	if l := s.Of(call); l != nil {
		l.isSending.Store(false)
	}
}

// Hear notes that a change is no longer on its way. An accepted one has ended the lease: it is wanted no more.
func (s *Leases) Hear(e outbox.Event) {
	l := s.Of(e.Entry.UUID)
	if l == nil || e.IsForeign || !EndsCall(e.Entry.Op) {
		return
	}
	if e.Outcome == outbox.OutcomeAccepted {
		l.IsEnded.Store(true)
		l.IsWanted.Store(false)
	}
	l.isSending.Store(false)
}

// Left returns the lease of an undone change that could not be given back. It returns false if a request of it is under
// way, or there is none.
func (l *Lease) Left() (apitype.UUID, bool) {
	if !l.mu.TryLock() {
		return apitype.UUID{}, false
	}
	defer l.mu.Unlock()
	return l.lease, !l.IsWanted.Load() && !l.IsEnded.Load() && !l.lease.IsZero()
}

// EndsCall reports whether an operation ends work on a call.
func EndsCall(op string) bool {
	switch op {
	case apiclient.OpAddAttempt,
		apiclient.OpCompleteCall,
		apiclient.OpCancelCall,
		apiclient.OpExpireCall,
		apiclient.OpDeferCall:
		return true
	}
	return false
}
