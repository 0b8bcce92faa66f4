package desk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
)

// pause is the agent's pause, as the service has it.
type pause struct {
	reason apitype.PauseReason // Empty without a pause.
	since  time.Time
	isSent bool // A change of the state is under way.
	// isOver means that the agent opened a call while the pause was under way: it ends at once.
	isOver bool
	// isUnsure means that the service may have another state: an answer was lost, or a lease and a pause crossed.
	isUnsure bool
	next     apitype.PauseReason // Of a pause that waits for the change under way. Empty without one.
	ends     bool                // A key came during the change under way: the pause ends after it.
	changes  int                 // A reading that was asked for before the latest one is old.
	asked    int                 // Pauses that were sent. The service may have ended a lease that it gave before.
}

// IsPaused reports whether the agent takes no calls.
func (d *Day) IsPaused() bool { return d.pause.reason != "" }

// PauseText returns the reason and the length of the pause, or an empty text.
func (d *Day) PauseText() string {
	if !d.IsPaused() {
		return ""
	}
	return d.Say("paused · %s %s · any key resumes", d.Say(string(d.pause.reason)), SpentText(d.Now().Sub(d.pause.since)))
}

// SpentText returns a time span as minutes and seconds.
func SpentText(spent time.Duration) string {
	seconds := int(max(spent, 0).Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// Pause gives the call on the Desk and all leases back, and takes no calls until the agent resumes. What was typed stays
// a draft.
func (d *Day) Pause(reason apitype.PauseReason) []event.Event {
	d.startPause(reason)
	return d.Drain()
}

func (d *Day) startPause(reason apitype.PauseReason) {
	d.pause.ends = false
	if d.pause.isSent { // The service takes two at one time in any order.
		d.pause.next = reason
		return
	}
	d.setState(reason, func(state apitype.UserState, err error) {
		isOver := d.pause.isOver
		d.pause.isOver = false
		switch {
		case err != nil:
			d.Fail("not paused", err)
		case isOver:
			d.pause.isUnsure = true
			d.reopen()
		default:
			d.showPause(reason, state.Since)
		}
	})
}

// EndPause makes the agent ready again, at once or after the change of the state that is under way.
func (d *Day) EndPause() []event.Event {
	d.endPause()
	return d.Drain()
}

func (d *Day) endPause() {
	if d.pause.isSent {
		d.pause.ends = true
		d.Sayf("the pause ends once the service answers")
		return
	}
	since := d.pause.since
	d.setState("", func(_ apitype.UserState, err error) {
		switch {
		case err != nil:
			d.Fail("still paused", err)
		case d.IsPaused(): // No call was opened in between, which ends the pause.
			d.Sayf("the pause of %s is over", SpentText(d.Now().Sub(since)))
			d.pause.reason = ""
		}
	})
}

// setState sends the reason of a pause, or that the agent is ready.
func (d *Day) setState(reason apitype.PauseReason, takeIn func(apitype.UserState, error)) {
	d.pause.isSent, d.pause.isOver, d.pause.isUnsure = true, false, false
	d.pause.changes++
	request := apitype.UserStateRequest{State: apitype.UserReady}
	if reason != "" {
		d.pause.asked++
		request = apitype.UserStateRequest{State: apitype.UserPaused, Reason: &reason}
	}
	agent := d.leases.agent()
	event.Do(d.Queue, "state of the agent set", func(ctx context.Context) (apitype.UserState, error) {
		return apiclient.Decoded(d.Client.Queue.SetState(ctx, agent, request))
	}, func(state apitype.UserState, err error) {
		d.pause.isSent = false
		next, ends := d.pause.next, d.pause.ends
		d.pause.next, d.pause.ends = "", false
		switch apiclient.KindOf(err) {
		case apiclient.KindUnavailable, apiclient.KindInterrupted:
			d.pause.isUnsure = true // The next poll tries again.
			takeIn(state, err)
		default:
			takeIn(state, err)
			d.settlePause()
		}
		switch {
		case next != "":
			d.startPause(next)
		case ends && d.IsPaused():
			d.endPause()
		}
	})
}

// settlePause sends the state that the Desk shows, if the service may have another one.
func (d *Day) settlePause() {
	if !d.pause.isUnsure || d.pause.isSent {
		return
	}
	reason := d.pause.reason
	d.setState(reason, func(state apitype.UserState, err error) {
		if err == nil && reason != "" && d.IsPaused() {
			d.pause.since = state.Since.Time
		}
	})
}

// opensCall ends a pause, because the agent opens a call.
func (d *Day) opensCall() {
	d.pause.changes++
	d.pause.next = ""
	switch {
	case d.IsPaused():
		d.Sayf("the pause of %s is over", SpentText(d.Now().Sub(d.pause.since)))
		d.pause.reason, d.pause.isUnsure = "", true
		d.settlePause()
	case d.pause.isSent:
		d.pause.isOver = true
	}
}

// meetsPause notes that the service has leased an opened call, before or after a pause.
func (d *Day) meetsPause() {
	if d.IsPaused() || d.pause.isSent {
		d.pause.isUnsure = true
		d.settlePause()
	}
}

// reopen leases the call again that the agent opened while a pause was under way, which ended its lease.
func (d *Day) reopen() {
	d.endLeases()
	if d.Call != nil {
		d.unleased = d.Call.UUID
	}
	if !d.unleased.IsZero() {
		d.reread(d.unleased, d.Gate.askedAt)
	}
}

// endLeases forgets the leases that a pause has ended.
func (d *Day) endLeases() {
	for _, l := range slices.Clone(d.leases.held) {
		if !d.keepsBack(l.CallUUID) {
			d.leases.endLease(l.LeaseUUID)
		}
	}
}

// showPause takes in a pause that the service has. It has ended the leases.
func (d *Day) showPause(reason apitype.PauseReason, since apitype.Time) {
	d.pause.reason, d.pause.since = reason, since.Time
	d.leave()
	d.Wanted, d.NoneLeft = false, false
	d.endLeases()
	d.leases.readQueue() // It has the call again that was on the Desk.
}

// onOwnState takes in the state that the service has for the agent, which another Desk may have set. It was asked for
// after so many changes of this Desk.
func (d *Day) onOwnState(is apitype.QueueAgent, changes int) {
	isPaused := is.State == apitype.UserPaused && is.Reason != nil && is.Since != nil
	switch {
	case d.pause.isSent, d.pause.isUnsure, d.pause.changes != changes:
	case isPaused && !d.IsPaused() && d.Call == nil && !d.Taking:
		d.showPause(*is.Reason, *is.Since)
	case !isPaused:
		d.pause.reason = ""
	}
}
