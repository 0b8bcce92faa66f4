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

// Marks has the calls whose lease is or should be pending. It is safe for concurrent use: the sender marks a call
// before it sends a change of it.
type Marks struct {
	Client *apiclient.Client
	Now    func() time.Time

	mu  sync.Mutex
	all map[apitype.UUID]*Mark
}

// Mark is the pending lease of one call.
type Mark struct {
	Call, User apitype.UUID
	Saving     int          // Changes of it that are not on disk yet.
	Holder     apitype.UUID // The known holder of the donor when the agent ended the call. Zero without one.
	IsWanted   atomic.Bool  // A change waits. Otherwise the lease is released.
	IsEnded    atomic.Bool  // The accepted change ended the lease.
	isSending  atomic.Bool  // The change is on its way: it may end the lease at any moment.
	isFreed    atomic.Bool  // It was pending, and another user released it: it is not leased again.
	IsOpening  atomic.Bool  // Its change was undone: the opened call takes the lease over.

	mu    sync.Mutex // Of what follows, and held during a request.
	lease apitype.UUID
	until time.Time // Zero before it is marked.
}

// Of returns the mark of a call, or nil.
func (s *Marks) Of(call apitype.UUID) *Mark {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[call]
}

// List returns all marks.
func (s *Marks) List() (all []*Mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.all {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *Mark) int { return a.Call.Compare(b.Call) })
	return all
}

// Want marks a call for a user. lease is its live lease, or zero.
func (s *Marks) Want(call, user, lease apitype.UUID) *Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.all[call]
	if m == nil {
		m = &Mark{Call: call, User: user, lease: lease}
		if s.all == nil {
			s.all = map[apitype.UUID]*Mark{}
		}
		s.all[call] = m
	}
	m.IsWanted.Store(true)
	m.IsEnded.Store(false)
	m.isFreed.Store(false)
	m.IsOpening.Store(false)
	return m
}

// Forget drops a mark that is not wanted, and reports whether it did: a change may wait again.
func (s *Marks) Forget(m *Mark) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.IsWanted.Load() {
		return false
	}
	if s.all[m.Call] == m {
		delete(s.all, m.Call)
	}
	return true
}

// IsWanted reports whether a change of a call waits.
func (s *Marks) IsWanted(call apitype.UUID) bool {
	m := s.Of(call)
	return m != nil && m.IsWanted.Load()
}

// Settle makes the lease of a call pending, or releases a lease that is not wanted any more. It does not touch the
// lease of a call whose change is in flight.
func (s *Marks) Settle(ctx context.Context, m *Mark) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isSending.Load() && m.IsWanted.Load() {
		return nil
	}
	return s.settleLocked(ctx, m)
}

// settleToSend settles a call before its change is sent.
func (s *Marks) settleToSend(ctx context.Context, m *Mark) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.isSending.Store(true)
	return s.settleLocked(ctx, m)
}

func (s *Marks) settleLocked(ctx context.Context, m *Mark) error {
	switch {
	case m.IsEnded.Load():
		return nil
	case !m.IsWanted.Load() && m.IsOpening.Load():
		return nil
	case !m.IsWanted.Load():
		return s.release(ctx, m)
	case m.isFreed.Load(), m.until.Sub(s.Now()) > renewTime:
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
	if !m.lease.IsZero() {
		request := apitype.ExtendRequest{LeaseSeconds: seconds}
		if isPending {
			request.Pending = new(true)
		}
		_, err := s.Client.Queue.Extend(ctx, m.lease, request)
		if err == nil {
			m.until = s.Now().Add(lasts)
			return nil
		}
		if apiclient.KindOf(err) != apiclient.KindNotFound {
			return err
		}
		m.lease = apitype.UUID{}
		if !m.until.IsZero() && isPending {
			m.isFreed.Store(true)
			return nil
		}
	}
	request := apitype.LeaseRequest{
		RequestUUID:  apitype.NewUUID(),
		UserUUID:     m.User,
		LeaseSeconds: seconds,
		Pending:      isPending,
	}
	leased, err := apiclient.Decoded(s.Client.Queue.Lease(ctx, m.Call, request))
	if err != nil {
		return err
	}
	m.lease, m.until = leased.LeaseUUID, s.Now().Add(lasts)
	return nil
}

// release gives the pending lease back and forgets the mark. The mark's lock is held.
func (s *Marks) release(ctx context.Context, m *Mark) error {
	if !m.lease.IsZero() {
		err := s.Client.Queue.Release(ctx, m.lease, apitype.DeferRequest{})
		if err != nil {
			return err
		}
	}
	m.lease, m.until = apitype.UUID{}, time.Time{}
	s.Forget(m)
	return nil
}

// TakeOver returns the lease of a call whose change was undone, as a plain one: no other agent gets the donor in
// between. It returns nil if there is none, or if a change waits again.
func (s *Marks) TakeOver(ctx context.Context, m *Mark) (*apitype.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.IsWanted.Load() {
		return nil, nil
	}
	if !m.lease.IsZero() {
		m.until = time.Time{} // If the answer is lost, the lease may be plain.
		kept, err := apiclient.Decoded(s.Client.Queue.Extend(ctx, m.lease, apitype.ExtendRequest{
			LeaseSeconds: new(int(LeaseTime / time.Second)),
			Ahead:        new(false),
			Pending:      new(false),
		}))
		switch {
		case err == nil && !kept.Pending && s.Forget(m):
			return &kept, nil
		case err == nil && !kept.Pending: // The mark makes it pending again.
			return nil, nil
		case apiclient.KindOf(err) == apiclient.KindNotFound:
			m.lease = apitype.UUID{}
		case err != nil:
			return nil, err
		}
	}
	m.IsOpening.Store(false) // A service that keeps it pending gets it back.
	return nil, s.release(ctx, m)
}

// Prepare marks all unmarked calls before a change is sent, and adds the lease to a deferral. An error delays the
// change.
func (s *Marks) Prepare(ctx context.Context, e outbox.Entry) (apiclient.Change, error) {
	for _, m := range s.List() {
		isOwn := m.Call == e.UUID && EndsCall(e.Op)
		settle := s.Settle
		if isOwn {
			settle = s.settleToSend
		}
		err := settle(ctx, m)
		switch apiclient.KindOf(err) {
		case apiclient.KindUnavailable, apiclient.KindUnauthenticated, apiclient.KindInterrupted:
			s.isBack(e.UUID)
			return e.Change, err
		}
	}
	m := s.Of(e.UUID)
	if m == nil || e.Op != apiclient.OpDeferCall {
		return e.Change, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var request apitype.DeferRequest
	if m.lease.IsZero() || json.Unmarshal(e.Body, &request) != nil {
		return e.Change, nil
	}
	request.LeaseUUID = &m.lease
	named, err := apiclient.DeferCallChange(e.UUID, request)
	if err != nil {
		return e.Change, nil
	}
	change := e.Change
	change.Body = named.Body
	return change, nil
}

// isBack notes that the change of a call is not sent now.
func (s *Marks) isBack(call apitype.UUID) {
	if m := s.Of(call); m != nil {
		m.isSending.Store(false)
	}
}

// Hear notes that a change is no longer on its way. An accepted one has ended the lease: it is marked no more.
func (s *Marks) Hear(e outbox.Event) {
	m := s.Of(e.Entry.UUID)
	if m == nil || e.IsForeign || !EndsCall(e.Entry.Op) {
		return
	}
	if e.Outcome == outbox.OutcomeAccepted {
		m.IsEnded.Store(true)
		m.IsWanted.Store(false)
	}
	m.isSending.Store(false)
}

// Left returns the lease of an undone change that could not be given back. It returns false if a request of it is under
// way, or there is none.
func (m *Mark) Left() (lease apitype.UUID, isLeft bool) {
	if !m.mu.TryLock() {
		return lease, false
	}
	defer m.mu.Unlock()
	return m.lease, !m.IsWanted.Load() && !m.IsEnded.Load() && !m.lease.IsZero()
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
