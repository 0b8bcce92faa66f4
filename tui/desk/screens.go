package desk

import (
	"errors"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// leaveScreen lets the agent's other terminals open the call that was on the desk without a
// lease of the service.
func (d *Day) leaveScreen() {
	d.screens.leave(d.claimed)
	d.claimed = apitype.UUID{}
}

// screens are the calls that this terminal keeps from the agent's others without a lease of the
// service. It is safe for concurrent use. The terminal never keeps a call from itself.
type screens struct {
	box  *outbox.Outbox
	mu   sync.Mutex
	held map[apitype.UUID]*outbox.HeldLease
}

// claim keeps a call, and reports whether another terminal has it. A note that cannot be kept for
// another reason keeps no agent from working.
func (s *screens) claim(l outbox.Lease) (elsewhere bool) {
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

// has reports whether this terminal keeps a call: then no other one has it.
func (s *screens) has(call apitype.UUID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[call] != nil
}

// take returns the note of a call, which the caller keeps from now on. It returns nil without one.
func (s *screens) take(call apitype.UUID) *outbox.HeldLease {
	s.mu.Lock()
	defer s.mu.Unlock()
	note := s.held[call]
	delete(s.held, call)
	return note
}

// leave lets other terminals have a call.
func (s *screens) leave(call apitype.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.held[call].Forget() // The next start does.
	delete(s.held, call)
}
