package desk

import (
	"context"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/queue"
)

// codesShown is the number of latest completed calls that are read for their results.
const codesShown = 100

// readCodes finds the known results if the profile does not have them.
func (d *Day) readCodes() {
	if d.Codes.AreKnown() {
		return
	}
	type result struct {
		kind apitype.CallType
		code string
	}
	options := apitype.CallListOptions{
		Statuses: []apitype.CallStatus{apitype.CallCompleted},
		Paging:   apitype.Paging{First: new(codesShown)},
	}
	event.Do(d.Queue, "completed calls read", func(ctx context.Context) ([]result, error) {
		page, err := d.Client.Calls.List(ctx, options)
		return apiclient.Rows(page, func(call apitype.Call) result {
			return result{call.Type, apitype.TextOf(call.Result.Value().ResultCode)}
		}), err
	}, func(results []result, err error) {
		if !d.IsRead("cannot read the results", err) {
			return
		}
		for _, r := range results {
			d.Codes.See(r.kind, r.code)
		}
	})
}

// HasQueue reports whether the calls come from a queue of the service.
func (d *Day) HasQueue() bool { return d.leases.usable }

// Has reports whether the service has announced an extension.
func (b *base) Has(extension string) bool { return b.Client != nil && b.Client.Announces(extension) }

// QueueState returns the service's counts, or nil without any.
func (d *Day) QueueState() *apitype.QueueState { return d.leases.state }

// ClosedText returns how many calls wait for the calling hours of their donors, and until when, or an empty text.
func (d *Day) ClosedText() string {
	state := d.leases.state
	if state == nil || state.Closed == 0 {
		return ""
	}
	count := d.Locale.Count(state.Closed)
	if state.OpensAt == nil {
		return d.Say("%s wait outside calling hours", count)
	}
	now := d.Now()
	opens := state.OpensAt.In(now.Location())
	layout := "15:04"
	switch {
	case opens.Sub(now) > 6*24*time.Hour:
		layout = "Mon 2 Jan 15:04"
	case opens.YearDay() != now.YearDay():
		layout = "Mon 15:04"
	}
	return d.Say("%s wait until %s", count, d.Date(opens.Format(layout)))
}

// Offers returns the next calls: the leased ones, then the queue of the service.
func (s *leases) Offers(limit int) []queue.Candidate {
	var next []queue.Candidate
	if l := s.ahead(); l != nil {
		c := queue.CandidateOf(l.call)
		c.Due = l.DueAt != nil
		next = append(next, c)
	}
	due := 0
	if s.state != nil {
		due = s.state.Due
	}
	for i, c := range s.upcoming {
		c.Due = i < due // They come first.
		if len(next) < limit && s.leaseOf(c.ID) == nil && !s.keepsBack(c.ID) && !s.seat.IsOn(c.ID) {
			next = append(next, c)
		}
	}
	return next[:min(len(next), limit)]
}

// readQueue asks for the queue as the service has it.
func (s *leases) readQueue() {
	s.readUpcoming()
	s.readState()
}

func (s *leases) queueOptions() apitype.QueueOptions {
	return apitype.QueueOptions{QueueFilter: s.Filter, UserUUID: new(s.agent())}
}

func (s *leases) readUpcoming() {
	options := apitype.QueueCallListOptions{QueueOptions: s.queueOptions(), First: new(queueShown)}
	event.Do(s.Queue, "upcoming calls read", func(ctx context.Context) ([]queue.Candidate, error) {
		page, err := s.Client.Queue.Calls.List(ctx, options)
		return apiclient.Rows(page, queue.CandidateOf), err
	}, s.onUpcoming)
}

func (s *leases) readState() {
	options, takes := s.queueOptions(), s.takes
	event.Do(s.Queue, "queue counted", func(ctx context.Context) (apitype.QueueState, error) {
		return apiclient.Decoded(s.Client.Queue.State(ctx, options))
	}, func(state apitype.QueueState, err error) {
		s.onState(state, err)
		if takes != s.takes {
			s.countTaken()
		}
	})
}

// today has the agent's work since midnight, by the last answer of the service.
type today struct {
	asked           time.Time
	missed, reached int // Without the changes of this session that the service had accepted by then.
}

// todayEvery is the time after which the agent's day is read again.
const todayEvery = time.Minute

// Today returns how many calls the agent has made today, and how many donors were reached, in this session and, if the
// service reports it, before and elsewhere.
func (d *Day) Today() (called, reached int) {
	reached = d.today.reached + d.Accepted[apiclient.OpCompleteCall]
	return reached + d.today.missed + d.Accepted[apiclient.OpAddAttempt], reached
}

// readToday asks what the agent has done today. An account that may not know counts this session.
func (d *Day) readToday() {
	d.today.asked = d.Now()
	year, month, day := d.today.asked.Local().Date()
	since, agent := apitype.NewTime(time.Date(year, month, day, 0, 0, 0, 0, time.Local)), d.leases.agent()
	changes := d.Pause.Changes()
	options := apitype.QueueAgentsOptions{Since: &since}
	if d.Client.Announces(apitype.ExtensionAgentsByUser) { // Other services count all agents.
		options.UserUUID = &agent
	}
	event.Do(d.Queue, "work of the day read", func(ctx context.Context) (apitype.QueueAgents, error) {
		return apiclient.Decoded(d.Client.Queue.Agents(ctx, options))
	}, func(answer apitype.QueueAgents, err error) {
		if err != nil {
			return
		}
		is := apitype.QueueAgent{}
		if i := slices.IndexFunc(
			answer.Agents,
			func(a apitype.QueueAgent) bool { return a.UserUUID == agent },
		); i >= 0 {
			is = answer.Agents[i]
		}
		d.Pause.OnOwnState(is, changes, d.Call == nil && !d.Taking)
		d.today.missed = max(is.Attempts-d.Accepted[apiclient.OpAddAttempt], 0)
		d.today.reached = max(is.Completed-d.Accepted[apiclient.OpCompleteCall], 0)
	})
}

// countTaken subtracts later takes from a count. A take counts only up to a limit.
func (s *leases) countTaken() {
	if s.state != nil && s.waiting < apitype.MaxWaiting {
		s.state.Waiting = s.waiting
	}
}

// Tick is called every second, so that a due callback need not wait for the next poll.
func (d *Day) Tick() []event.Event {
	d.wake()
	d.leases.warnOfEnd()
	d.Changes.Release()
	d.Gate.admitWaiting()
	hasNext := d.leases.ahead() != nil || d.queue.HasAhead()
	if d.Wanted && d.Call == nil && d.Gate.isFree() && hasNext {
		d.serve()
	}
	d.Refused.SendLate()
	d.Callbacks.Ring()
	if d.floor.HasFailed() {
		d.floor.Tend()
	}
	if next := d.leases.nextDueAt; next != nil && !next.After(d.Now().Add(-d.Client.Behind())) {
		d.leases.nextDueAt = nil
		d.leases.readState()
	}
	return d.Drain()
}

func (s *leases) onUpcoming(calls []queue.Candidate, err error) {
	if !s.IsRead("cannot read the queue", err) {
		return
	}
	s.upcoming = calls
	if len(calls) > 0 {
		s.none = false
	}
	s.showing.serve()
}

func (s *leases) onState(state apitype.QueueState, err error) {
	if !s.IsRead("cannot read the queue", err) {
		return
	}
	before := s.state
	s.state = &state
	s.messages.Show(state.Messages)
	if state.Due > 0 && (before == nil || state.Due > before.Due) {
		s.callbackDue()
	}
	s.showing.serve()
}

// callbackDue shows that a callback is due. It releases the prefetched call, so that the donor comes next.
func (s *leases) callbackDue() {
	s.none = false
	if l := s.ahead(); l != nil {
		if l.DueAt != nil {
			return
		}
		s.releaseLease(l.CallUUID)
	}
	s.Sayf("a callback is due: it comes next")
}
