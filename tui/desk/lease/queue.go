package lease

import (
	"context"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/queue"
)

// Shown is the highest number of calls of the queue that are shown.
const Shown = 40

// ClosedText returns how many calls wait for the calling hours of their donors, and until when, or an empty text.
func (s *Leases) ClosedText() string {
	state := s.State
	if state == nil || state.Closed == 0 {
		return ""
	}
	count := s.Locale.Count(state.Closed)
	if state.OpensAt == nil {
		return s.Say("%s wait outside calling hours", count)
	}
	now := s.Now()
	opens := state.OpensAt.In(now.Location())
	layout := "15:04"
	if opens.Sub(now) > 6*24*time.Hour {
		layout = "Mon 2 Jan 15:04"
	} else if opens.YearDay() != now.YearDay() {
		layout = "Mon 15:04"
	}
	return s.Say("%s wait until %s", count, s.Date(opens.Format(layout)))
}

// Offers returns the next calls: the leased ones, then the queue of the service.
func (s *Leases) Offers(limit int) []queue.Candidate {
	var next []queue.Candidate
	if l := s.ahead(); l != nil {
		c := queue.CandidateOf(l.Call)
		c.Due = l.DueAt != nil
		next = append(next, c)
	}
	due := 0
	if s.State != nil {
		due = s.State.Due
	}
	for i, c := range s.upcoming {
		c.Due = i < due // They come first.
		isHere := s.of(c.ID) != nil || s.isOn(c.ID)
		if len(next) < limit && !isHere && !s.KeepsBack(c.ID) {
			next = append(next, c)
		}
	}
	return next[:min(len(next), limit)]
}

// ReadQueue asks for the queue as the service has it.
func (s *Leases) ReadQueue() {
	s.ReadUpcoming()
	s.ReadState()
}

func (s *Leases) queueOptions() apitype.QueueOptions {
	return apitype.QueueOptions{QueueFilter: s.Desk.Filter(), UserUUID: new(s.Agent())}
}

// IsListOld reports whether the last count was lower than the list of the next calls: other agents took some of them.
func (s *Leases) IsListOld() bool { return s.isListOld }

// compareList compares the list of the next calls with a new count.
func (s *Leases) compareList() {
	listed := len(s.Offers(Shown))
	if s.ahead() != nil {
		listed-- // It is taken, and so not counted.
	}
	s.isListOld = listed > s.State.Waiting+s.State.Due
}

// ReadUpcoming asks for the calls that come next.
func (s *Leases) ReadUpcoming() {
	s.isListOld = false
	options := apitype.QueueCallListOptions{QueueOptions: s.queueOptions(), First: new(Shown)}
	event.Do(s.Events, "upcoming calls read", func(ctx context.Context) ([]queue.Candidate, error) {
		page, err := s.Client.Queue.Calls.List(ctx, options)
		return apiclient.Rows(page, queue.CandidateOf), err
	}, s.onUpcoming)
}

// ReadState asks for the counts of the queue.
func (s *Leases) ReadState() {
	options, takes := s.queueOptions(), s.takes
	event.Do(s.Events, "queue counted", func(ctx context.Context) (apitype.QueueState, error) {
		return apiclient.Decoded(s.Client.Queue.State(ctx, options))
	}, func(state apitype.QueueState, err error) {
		s.onState(state, err)
		if takes != s.takes {
			s.countTaken()
		}
	})
}

// countTaken subtracts later takes from a count. A take counts only up to a limit.
func (s *Leases) countTaken() {
	if s.State != nil && s.waiting < apitype.MaxWaiting {
		s.State.Waiting = s.waiting
		s.compareList()
	}
}

func (s *Leases) onUpcoming(calls []queue.Candidate, err error) {
	if !s.Connection.IsRead("cannot read the queue", err) {
		return
	}
	s.upcoming = calls
	if len(calls) > 0 {
		s.isNone = false
	}
	s.Desk.Serve()
}

func (s *Leases) onState(state apitype.QueueState, err error) {
	if !s.Connection.IsRead("cannot read the queue", err) {
		return
	}
	before := s.State
	s.State = &state
	s.compareList()
	s.Messages.Show(state.Messages)
	if state.Due > 0 && (before == nil || state.Due > before.Due) {
		s.callbackDue()
	}
	s.Desk.Serve()
}

// callbackDue shows that a callback is due. It releases the prefetched call, so that the donor comes next.
func (s *Leases) callbackDue() {
	s.isNone = false
	if l := s.ahead(); l != nil {
		if l.DueAt != nil {
			return
		}
		s.Release(l.CallUUID)
	}
	s.Events.Sayf("a callback is due: it comes next")
}

// Tick counts the queue again once the next callback is due.
func (s *Leases) Tick() {
	next := s.nextDueAt
	if next != nil && !next.After(s.Now().Add(-s.Client.Behind())) {
		s.nextDueAt = nil
		s.ReadState()
	}
}
