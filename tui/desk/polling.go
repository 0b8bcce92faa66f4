package desk

import (
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/transition"
)

// Poll requests the changes since the last poll.
func (d *Day) Poll() []event.Event {
	d.wake()
	d.Refused.SendLate()
	d.floor.Tend()
	if !d.Leases.IsDiscovered {
		d.Leases.Discover()
		return d.Drain()
	}
	if d.Leases.HasQueue {
		d.Leases.Tend()
		d.Pause.Settle()
		if d.IsNoneLeft() {
			d.readAll() // The agent waits for a call.
			return d.Drain()
		}
	}
	d.polls++
	isUpToDate := d.state == stateRead
	hasFailed := !isUpToDate && !d.isReading() && !d.Transitions.IsProposed() // The latest reading.
	isTurn := hasFailed || isUpToDate && d.polls%2 == 0
	if d.Call != nil && isTurn {
		d.reread(d.Call.UUID, transition.Unasked)
		return d.Drain()
	}
	hasLeases := d.Call != nil || !d.Leases.IsEmpty()
	if d.Leases.HasQueue && !d.IsStale() && hasLeases {
		d.Leases.Check()
	}
	if d.Leases.HasQueue && !d.Callbacks.IsAsked() { // Not at the start: the first call comes before the list.
		d.Callbacks.Read()
	}
	switch turn := d.polls / 2 % 4; {
	case !d.Leases.HasQueue:
		d.Walk.ReadNews()
	case turn == 3 && d.Callbacks.IsOld():
		d.Callbacks.Read()
	case d.Call != nil && !d.Work.IsAsked(), turn == 3 && d.Work.IsOld():
		d.Work.Read()
	case turn == 1, d.Leases.IsListOld():
		d.Leases.ReadUpcoming()
	case turn == 2:
		d.Leases.ReadState()
	default:
		d.Walk.ReadNews()
	}
	return d.Drain()
}

// readAll requests everything at once: the changes, the queue, and the next call if the agent waits for one.
func (s *seat) readAll() {
	s.Walk.ReadNews()
	if !s.Leases.IsDiscovered {
		s.Leases.Discover()
		return
	}
	s.Leases.TakeAgain()
	if s.Leases.HasQueue {
		s.Leases.ReadQueue()
	}
	s.serve()
}

// Tick is called every second, so that a due callback need not wait for the next poll.
func (d *Day) Tick() []event.Event {
	d.wake()
	d.Leases.WarnOfEnd()
	d.Changes.Release()
	d.Transitions.ApplyWaiting()
	hasNext := d.Leases.HasAhead() || d.Walk.HasNext()
	isFree := d.Call == nil && d.Transitions.IsFree()
	if d.IsWaiting() && isFree && hasNext {
		d.serve()
	}
	d.Refused.SendLate()
	d.Callbacks.Ring()
	if d.floor.HasFailed() {
		d.floor.Tend()
	}
	d.Leases.Tick()
	return d.Drain()
}

// Wake notes that the Desk is running. If the clock shows that it was not, because the computer slept, everything on
// the screen is old. It reads the call, its person and the leases again, and until then IsStale is true.
func (d *Day) Wake() []event.Event {
	d.wake()
	return d.Drain()
}

// KeepLeases extends the leases of a Desk in use without keys. It is called every few seconds.
func (d *Day) KeepLeases() []event.Event {
	d.wake()
	d.Leases.ExtendInUse()
	return d.Drain()
}
