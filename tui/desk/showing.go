package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/render"
)

// takeCall takes the call off the desk and reads a certain one for it.
func (s *seat) takeCall(id apitype.UUID) {
	s.Leases.ReleaseOthers(id)
	s.leave()
	s.Pause.OpensCall()
	s.askedAt = s.Keys.Presses
	s.become(stateOpening)
	s.unleased = id
	s.reread(id, s.askedAt)
}

// mayServe reports whether the call that the agent waits for may come on the desk now.
func (s *seat) mayServe() bool {
	return s.IsWaiting() && s.Call == nil && s.Changes.Drafts.IsRead &&
		(s.Transitions.IsAsked(s.askedAt) || s.Transitions.IsFree())
}

// present puts a call on the desk and reads it again.
func (s *seat) present(call apitype.Call) {
	s.Call = &call
	s.become(stateListed)
	s.noteCallback()
	s.Keys.Show(s.Now())
	s.openForm(call.UUID, s.Changes.Drafts.Of(call.UUID))
	s.pickScript()
	l := s.Leases.Of(call.UUID)
	if l == nil {
		s.unleased = call.UUID
	} else if l.Ahead {
		s.Leases.Extend(call.UUID)
	}
	s.reread(call.UUID, s.askedAt)
	s.source().Prefetch()
	if s.Leases.HasQueue && !s.Callbacks.IsAsked() {
		s.Callbacks.Read()
	}
}

// onNews shows that the call on the Desk was changed by another agent.
func (s *seat) onNews(call apitype.Call) {
	isNews := s.IsOn(call.UUID) && s.IsCallRead() && call.LastUpdatedAt.After(s.Call.LastUpdatedAt.Time)
	if !isNews || s.Changes.IsPending(call.UUID) {
		return
	}
	s.SayOf(
		call.UUID,
		"%s was changed by another agent: %s, %s",
		s.Name(),
		call.Status,
		render.Plural(call.AttemptsCount, "attempt", "attempts"),
	)
	s.Call.Status, s.Call.AttemptsCount, s.Call.LastUpdatedAt = call.Status, call.AttemptsCount, call.LastUpdatedAt
	if !call.Attempts.IsZero() {
		s.Call.Attempts = call.Attempts
	}
}

// onDiscovered begins to read calls, from the queue of the service or from the list.
func (s *seat) onDiscovered(err error) {
	isAnnounced := s.Has(apitype.ExtensionSettings) || err != nil // Without an answer they may be.
	s.floor.Announce(isAnnounced)
	if !s.IsRead("cannot ask whether the service has a queue", err) {
		return
	}
	s.Walk.Begin(!s.Leases.HasQueue)
	if s.Leases.HasQueue {
		s.Leases.ReadQueue()
		s.Codes.ReadLatest(s.State)
	}
	s.serve()
}

// onPause clears the Desk for a pause. The queue has the call again that was there.
func (s *seat) onPause() {
	s.leave()
	s.Leases.OnPause()
	s.Leases.ReadQueue()
}

// onCrossedPause leases the call again that the agent opened while a pause was under way, which ended its lease.
func (s *seat) onCrossedPause() {
	s.Leases.OnPause()
	if s.Call != nil {
		s.unleased = s.Call.UUID
	}
	if !s.unleased.IsZero() {
		s.reread(s.unleased, s.askedAt)
	}
}
