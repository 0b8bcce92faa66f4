package desk

import (
	"time"

	"fundesk/tui/desk/transition"
)

// sleepTime is the longest time without news before everything on the Desk counts as stale.
const sleepTime = 30 * time.Second

func (s *seat) wake() {
	before, now := s.awake, s.Now().Round(0)
	s.awake = now
	if before.IsZero() || now.Sub(before).Abs() <= sleepTime {
		return
	}
	s.Keys.LastAt = now // The agent is back.
	s.Leases.Wake(now)
	if s.Call != nil {
		s.reread(s.Call.UUID, transition.Unasked)
		s.sleep()
	}
}
