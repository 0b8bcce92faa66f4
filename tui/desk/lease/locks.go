package lease

import (
	"errors"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// localLocks has the calls that this terminal keeps from the agent's others without a lease of the service. It is safe
// for concurrent use. The terminal never keeps a call from itself.
type localLocks struct {
	box  *outbox.Outbox
	mu   sync.Mutex
	held map[apitype.UUID]*outbox.HeldLease
}

// lock keeps a call, and reports whether another terminal has it. A note that cannot be kept for another reason keeps
// no agent from working.
func (s *localLocks) lock(l outbox.Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[l.CallUUID] != nil {
		return false
	}
	note, err := s.box.HoldLease(l)
	if s.held == nil {
		s.held = map[apitype.UUID]*outbox.HeldLease{}
	}
	s.held[l.CallUUID] = note
	return errors.Is(err, outbox.ErrOpenElsewhere)
}

// keep goes on with the note of a call that this terminal keeps already.
func (s *localLocks) keep(call apitype.UUID, note *outbox.HeldLease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[apitype.UUID]*outbox.HeldLease{}
	}
	if s.held[call] == nil {
		s.held[call] = note
	}
}

// has reports whether this terminal keeps a call: then no other one has it.
func (s *localLocks) has(call apitype.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[call] != nil
}

// take returns the note of a call, which the caller keeps from now on. It returns nil without one.
func (s *localLocks) take(call apitype.UUID) *outbox.HeldLease {
	s.mu.Lock()
	defer s.mu.Unlock()
	note := s.held[call]
	delete(s.held, call)
	return note
}

// leave lets other terminals have a call.
func (s *localLocks) leave(call apitype.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.held[call].Forget() // The next start does.
	delete(s.held, call)
}
