package desk

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

// A donor is protected from the key that ends a call to the accepted change. The lease of the call is pending while a
// change of it is saved, held, queued, unsure, refused, or waits behind a refusal: the queue offers the donor to no
// agent.

// renewTime is the rest of a pending lease at which it is extended.
const renewTime = time.Hour

// marks has the calls whose lease is or should be pending. It is safe for concurrent use: the sender marks a call
// before it sends a change of it.
type marks struct {
	client *apiclient.Client
	now    func() time.Time

	mu  sync.Mutex
	all map[apitype.UUID]*mark
}

// mark is the pending lease of one call.
type mark struct {
	call, user apitype.UUID
	saving     int          // Changes of it that are not on disk yet.
	known      apitype.UUID // The known holder of the donor when the agent ended the call. Zero without one.
	isWanted   atomic.Bool  // A change waits. Otherwise the lease is released.
	isEnded    atomic.Bool  // The accepted change ended the lease.
	isSending  atomic.Bool  // The change is on its way: it may end the lease at any moment.
	isFreed    atomic.Bool  // It was pending, and another user released it: it is not leased again.
	isOpening  atomic.Bool  // Its change was undone: the opened call takes the lease over.

	mu    sync.Mutex // Of what follows, and held during a request.
	lease apitype.UUID
	until time.Time // Zero before it is marked.
}

// of returns the mark of a call, or nil.
func (s *marks) of(call apitype.UUID) *mark {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[call]
}

// list returns all marks.
func (s *marks) list() (all []*mark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.all {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *mark) int { return a.call.Compare(b.call) })
	return all
}

// want marks a call for a user. lease is its live lease, or zero.
func (s *marks) want(call, user, lease apitype.UUID) *mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.all[call]
	if m == nil {
		m = &mark{call: call, user: user, lease: lease}
		if s.all == nil {
			s.all = map[apitype.UUID]*mark{}
		}
		s.all[call] = m
	}
	m.isWanted.Store(true)
	m.isEnded.Store(false)
	m.isFreed.Store(false)
	m.isOpening.Store(false)
	return m
}

// forget drops a mark that is not wanted, and reports whether it did: a change may wait again.
func (s *marks) forget(m *mark) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.isWanted.Load() {
		return false
	}
	if s.all[m.call] == m {
		delete(s.all, m.call)
	}
	return true
}

// isWanted reports whether a change of a call waits.
func (s *marks) isWanted(call apitype.UUID) bool {
	m := s.of(call)
	return m != nil && m.isWanted.Load()
}

// settle makes the lease of a call pending, or releases a lease that is not wanted any more. It does not touch the
// lease of a call whose change is in flight.
func (s *marks) settle(ctx context.Context, m *mark) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isSending.Load() && m.isWanted.Load() {
		return nil
	}
	return s.settleLocked(ctx, m)
}

// settleToSend settles a call before its change is sent.
func (s *marks) settleToSend(ctx context.Context, m *mark) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.isSending.Store(true)
	return s.settleLocked(ctx, m)
}

func (s *marks) settleLocked(ctx context.Context, m *mark) error {
	switch {
	case m.isEnded.Load():
		return nil
	case !m.isWanted.Load() && m.isOpening.Load():
		return nil
	case !m.isWanted.Load():
		return s.release(ctx, m)
	case m.isFreed.Load(), m.until.Sub(s.now()) > renewTime:
		return nil
	}
	lasts := apitype.PendingLease
	isPending, err := s.client.Has(ctx, apitype.ExtensionPending)
	if err != nil {
		return err
	}
	seconds := new(int(leaseTime / time.Second))
	if !isPending {
		lasts = renewTime + leaseTime - extendTime // An older service keeps it by plain leases.
	}
	if !m.lease.IsZero() {
		request := apitype.ExtendRequest{LeaseSeconds: seconds}
		if isPending {
			request.Pending = new(true)
		}
		_, err := s.client.Queue.Extend(ctx, m.lease, request)
		if err == nil {
			m.until = s.now().Add(lasts)
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
		UserUUID:     m.user,
		LeaseSeconds: seconds,
		Pending:      isPending,
	}
	leased, err := apiclient.Decoded(s.client.Queue.Lease(ctx, m.call, request))
	if err != nil {
		return err
	}
	m.lease, m.until = leased.LeaseUUID, s.now().Add(lasts)
	return nil
}

// release gives the pending lease back and forgets the mark. The mark's lock is held.
func (s *marks) release(ctx context.Context, m *mark) error {
	if !m.lease.IsZero() {
		err := s.client.Queue.Release(ctx, m.lease, apitype.DeferRequest{})
		if err != nil {
			return err
		}
	}
	m.lease, m.until = apitype.UUID{}, time.Time{}
	s.forget(m)
	return nil
}

// takeOver returns the lease of a call whose change was undone, as a plain one: no other agent gets the donor in
// between. It returns nil if there is none, or if a change waits again.
func (s *marks) takeOver(ctx context.Context, m *mark) (*apitype.Lease, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.isWanted.Load() {
		return nil, nil
	}
	if !m.lease.IsZero() {
		m.until = time.Time{} // If the answer is lost, the lease may be plain.
		kept, err := apiclient.Decoded(s.client.Queue.Extend(ctx, m.lease, apitype.ExtendRequest{
			LeaseSeconds: new(int(leaseTime / time.Second)),
			Ahead:        new(false),
			Pending:      new(false),
		}))
		switch {
		case err == nil && !kept.Pending && s.forget(m):
			return &kept, nil
		case err == nil && !kept.Pending: // The mark makes it pending again.
			return nil, nil
		case apiclient.KindOf(err) == apiclient.KindNotFound:
			m.lease = apitype.UUID{}
		case err != nil:
			return nil, err
		}
	}
	m.isOpening.Store(false) // A service that keeps it pending gets it back.
	return nil, s.release(ctx, m)
}

// prepare marks all unmarked calls before a change is sent, and adds the lease to a deferral. An error delays the
// change.
func (s *marks) prepare(ctx context.Context, e outbox.Entry) (apiclient.Change, error) {
	for _, m := range s.list() {
		isOwn := m.call == e.UUID && endsCall(e.Op)
		settle := s.settle
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
	m := s.of(e.UUID)
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
func (s *marks) isBack(call apitype.UUID) {
	if m := s.of(call); m != nil {
		m.isSending.Store(false)
	}
}

// hear notes that a change is no longer on its way. An accepted one has ended the lease: it is marked no more.
func (s *marks) hear(e outbox.Event) {
	m := s.of(e.Entry.UUID)
	if m == nil || e.IsForeign || !endsCall(e.Entry.Op) {
		return
	}
	if e.Outcome == outbox.OutcomeAccepted {
		m.isEnded.Store(true)
		m.isWanted.Store(false)
	}
	m.isSending.Store(false)
}

// NewSender returns a sender of the outbox that makes the leases of the calls pending before it sends a change.
func (d *Day) NewSender(o outbox.SenderOptions) *outbox.Sender {
	o.Prepare = d.leases.marks.prepare
	notify := o.Notify
	o.Notify = func(e outbox.Event) {
		d.leases.marks.hear(e)
		if notify != nil {
			notify(e)
		}
	}
	return d.Outbox.Sender(d.Client, o)
}

// endsCall reports whether an operation ends work on a call.
func endsCall(op string) bool {
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
	m := s.marks.want(call, s.agent(), id)
	m.saving++
	m.known = apitype.UUID{}
	if holder := s.day.holder; holder != nil {
		m.known = holder.UserUUID
	}
	s.settle(m)
}

// isSaved notes that a change that ended a call is on disk, or could not be saved.
func (s *leases) isSaved(call apitype.UUID) {
	if m := s.marks.of(call); m != nil && m.saving > 0 {
		m.saving--
	}
}

// unprotect releases the pending lease of a call whose change was undone or dropped.
func (s *leases) unprotect(call apitype.UUID) {
	if m := s.marks.of(call); m != nil {
		m.isWanted.Store(false)
		s.settle(m)
	}
}

// reopen leaves the pending lease of a call whose change was undone to the opened call.
func (s *leases) reopen(call apitype.UUID) {
	if m := s.marks.of(call); m != nil {
		m.isOpening.Store(true)
		m.isWanted.Store(false)
	}
}

// settle brings a mark into its wanted state.
func (s *leases) settle(m *mark) {
	do(&s.events, "mark settled", func(ctx context.Context) (any, error) {
		return nil, s.marks.settle(ctx, m)
	}, func(_ any, err error) { s.onSettled(m, err) })
}

// onSettled names a colleague who now holds the donor. tend repeats other failures.
func (s *leases) onSettled(m *mark, err error) {
	if m.isWanted.Load() {
		held := heldBy(err)
		if held != nil && held.UserUUID != m.user && held.UserUUID != m.known {
			m.known = held.UserUUID
			text := s.Say("%s has this donor by now: your change is sent all the same", s.day.Card().HolderName(held))
			s.failOf(ofCall(m.call), text)
		}
	}
}

// onAccepted ends the mark of a call with an accepted change, which ended the lease.
func (s *leases) onAccepted(e outbox.Event) {
	m := s.marks.of(e.Entry.UUID)
	if m == nil || !endsCall(e.Entry.Op) {
		return
	}
	if e.IsForeign { // It may have been marked after that.
		s.unprotect(m.call)
		return
	}
	m.isEnded.Store(true)
	m.isWanted.Store(false)
	s.marks.forget(m)
	if s.ended == nil {
		s.ended = map[apitype.UUID]bool{}
	}
	s.ended[m.call] = true
}

// reconcile marks the calls of changes that an earlier Desk left, and of failed changes. It releases the leases of
// calls without changes.
func (s *leases) reconcile() {
	if !s.usable {
		return
	}
	waits := map[apitype.UUID]bool{}
	for _, e := range s.day.Changes.Entries {
		if !endsCall(e.Op) {
			continue
		}
		waits[e.UUID] = true
		m := s.marks.of(e.UUID)
		if m != nil && m.isEnded.Load() {
			continue // It was accepted since the outbox was read.
		}
		isLeft := e.Tries > 0 || e.State == outbox.StateRejected || e.CreatedAt.Before(s.startedAt)
		if isLeft && !s.marks.isWanted(e.UUID) {
			s.settle(s.marks.want(e.UUID, s.agent(), apitype.UUID{}))
		}
	}
	for _, m := range s.marks.list() {
		if m.isWanted.Load() && m.saving == 0 && !waits[m.call] {
			s.unprotect(m.call)
		}
	}
}

// keepsBack reports whether a call is not offered: a change of it is saved or waits, or was refused.
func (d *Day) keepsBack(call apitype.UUID) bool {
	isRefused := func(e outbox.Entry) bool {
		return e.UUID == call && e.State == outbox.StateRejected && endsCall(e.Op)
	}
	return d.leases.marks.isWanted(call) || d.Changes.isPending(call) ||
		slices.ContainsFunc(d.Changes.Entries, isRefused)
}
