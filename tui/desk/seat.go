package desk

import (
	"time"

	"fundesk/tui/desk/callbacks"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pause"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/transition"
)

// seat begins and ends the visits: it brings a call to the Desk, reads it, and takes the next one.
type seat struct {
	*current
	Transitions *transition.Transitions // The changes of the call on the Desk that were not made yet.
	Pause       *pause.Pause
	Callbacks   *callbacks.List // Of the agent.

	askedAt int       // After how many keys the agent asked for the call that is to come.
	awake   time.Time // When the desk was last seen to run, by the wall clock.
}

// source is the source of the next call: the queue of the service, or a walk through the list of calls.
type source interface {
	// Serve gives the waiting agent a call, or looks for one.
	Serve()
	// Prefetch looks for the call after the one on the Desk.
	Prefetch()
	// Offers returns the calls that come next, in their order, up to limit.
	Offers(limit int) []queue.Candidate
}

// source returns the source in use.
func (s *seat) source() source {
	if s.Leases.HasQueue {
		return s.Leases
	}
	return s.Walk
}

// serve gives the waiting agent a call, or looks for one.
func (s *seat) serve() { s.source().Serve() }

// next clears the Desk and waits for another call.
func (s *seat) next() {
	s.leave()
	s.askedAt = s.Keys.Presses
	s.become(stateWaiting)
	s.Leases.TakeAgain()
	s.serve()
}

// leave ends the visit of the call on the Desk and begins an empty one. The draft stays.
func (s *seat) leave() {
	if s.Call != nil {
		s.Over(event.OfCall(s.Call.UUID))
		s.Transitions.CallLeft(s.Call.UUID)
	}
	s.Leases.Unlock(s.locked())
	s.floor.Apply()
	s.Changes.Drafts.FlushSoon()
	if s.HasDraft() {
		// Until the disk is read again, the draft is known from here.
		draft := s.Draft()
		draft.SavedAt = s.Now()
		s.Changes.SetDraft(draft)
	}
	s.visit = new(visit)
}
