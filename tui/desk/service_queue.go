package desk

import (
	"context"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
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

// Has reports whether the service has announced an extension.
func (b *base) Has(extension string) bool { return b.Client != nil && b.Client.Announces(extension) }

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
	since, agent := apitype.NewTime(time.Date(year, month, day, 0, 0, 0, 0, time.Local)), d.Leases.Agent()
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
		d.Pause.OnOwnState(is, changes, d.Call == nil && !d.IsOpening())
		d.today.missed = max(is.Attempts-d.Accepted[apiclient.OpAddAttempt], 0)
		d.today.reached = max(is.Completed-d.Accepted[apiclient.OpCompleteCall], 0)
	})
}

// Tick is called every second, so that a due callback need not wait for the next poll.
func (d *Day) Tick() []event.Event {
	d.wake()
	d.Leases.WarnOfEnd()
	d.Changes.Release()
	d.Transitions.ApplyWaiting()
	hasNext := d.Leases.HasAhead() || d.Walk.HasAhead()
	if d.IsWaiting() && d.Call == nil && d.Transitions.IsFree() && hasNext {
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
