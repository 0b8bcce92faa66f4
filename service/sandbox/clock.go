package sandbox

import (
	"time"

	"fundesk/apiclient/apitype"
)

// Now is the service's time.
func (s *Sandbox) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

func (s *Sandbox) now() time.Time {
	if s.stopped != nil {
		return *s.stopped
	}
	return s.set.Add(s.system().Sub(s.since))
}

func (s *Sandbox) clock() Clock {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Clock{Time: apitype.NewTime(s.now()), Stopped: s.stopped != nil}
}

// rewind sets the clock to where it was at the start.
func (s *Sandbox) rewind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set, s.since, s.stopped = s.start, s.system().Round(0), nil
}

// setClock changes all that an order names, or nothing.
func (s *Sandbox) setClock(o clockOrder) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := s.now()
	switch {
	case o.Time != nil && o.Move != "":
		return invalid("time and move exclude each other: a clock is set or moved")
	case o.Time != nil:
		to = o.Time.Time
	case o.Move != "":
		by, err := time.ParseDuration(o.Move)
		if err != nil {
			return invalid("move %q is not a duration such as 36h or -10m", o.Move)
		}
		to = to.Add(by)
		if _, err := apitype.ParseTime(apitype.NewTime(to).String()); err != nil {
			return invalid("move %q leads out of the years that the service knows, 1900 to 9999", o.Move)
		}
	case o.Stopped == nil:
		return invalid("name a time, a duration to move by, or whether the clock is stopped")
	}
	stopped := s.stopped != nil
	if o.Stopped != nil {
		stopped = *o.Stopped
	}
	s.set, s.since, s.stopped = to, s.system().Round(0), nil
	if stopped {
		s.stopped = &to
	}
	return nil
}
