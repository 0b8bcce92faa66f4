// Package pause has the agent's pause: what the agent asked for, and what the service has.
package pause

import (
	"context"
	"fmt"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
)

// Pause is the agent's pause, as the service has it. Set the exported fields once.
type Pause struct {
	say.Texts
	Events *event.Queue
	Client *apiclient.Client
	Now    func() time.Time
	Agent  func() apitype.UUID
	// OnStart is called when the service has the pause. It has ended the leases.
	OnStart func()
	// OnCrossed is called when the service has a pause during which the agent opened a call. The lease of the call has
	// ended.
	OnCrossed func()

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

// IsOn reports whether the agent takes no calls.
func (p *Pause) IsOn() bool { return p.reason != "" }

// IsSent reports whether a change of the state is under way.
func (p *Pause) IsSent() bool { return p.isSent }

// Asked returns how many pauses were sent. The service may have ended a lease that it gave before the latest one.
func (p *Pause) Asked() int { return p.asked }

// Text returns the reason and the length of the pause, or an empty text.
func (p *Pause) Text() string {
	if !p.IsOn() {
		return ""
	}
	return p.Say("paused · %s %s · any key resumes", p.Say(string(p.reason)), SpentText(p.Now().Sub(p.since)))
}

// SpentText returns a time span as minutes and seconds.
func SpentText(spent time.Duration) string {
	seconds := int(max(spent, 0).Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// Start gives the call on the Desk and all leases back, and takes no calls until the agent resumes. What was typed
// stays a draft.
func (p *Pause) Start(reason apitype.PauseReason) []event.Event {
	p.start(reason)
	return p.Events.Drain()
}

func (p *Pause) start(reason apitype.PauseReason) {
	p.ends = false
	if p.isSent { // The service takes two at one time in any order.
		p.next = reason
		return
	}
	begun := apitype.NewTime(p.Now()) // The service may have another clock, and the pause is shown by ours.
	p.setState(reason, func(_ apitype.UserState, err error) {
		isOver := p.isOver
		p.isOver = false
		switch {
		case apiclient.KindOf(err) == apiclient.KindUnknownOutcome:
			p.fail("perhaps paused; the Desk makes you ready again", err)
		case err != nil:
			p.fail("not paused", err)
		case isOver:
			p.isUnsure = true
			p.OnCrossed()
		default:
			p.show(reason, begun)
		}
	})
}

// End makes the agent ready again, at once or after the change of the state that is under way.
func (p *Pause) End() []event.Event {
	p.end()
	return p.Events.Drain()
}

func (p *Pause) end() {
	if p.isSent {
		p.ends = true
		p.Events.Sayf("the pause ends once the service answers")
		return
	}
	since := p.since
	p.setState("", func(_ apitype.UserState, err error) {
		switch {
		case apiclient.KindOf(err) == apiclient.KindUnknownOutcome:
			p.fail("perhaps ready; the Desk pauses you again", err)
		case err != nil:
			p.fail("still paused", err)
		case p.IsOn(): // No call was opened in between, which ends the pause.
			p.Events.Over(event.OfPause)
			p.Events.Sayf("the pause of %s is over", SpentText(p.Now().Sub(since)))
			p.reason = ""
		}
	})
}

// fail shows an error until the agent is paused or ready as asked.
func (p *Pause) fail(what string, err error) {
	p.Events.FailOf(event.OfPause, event.ErrorText(what, err))
}

// setState sends the reason of a pause, or that the agent is ready.
func (p *Pause) setState(reason apitype.PauseReason, takeIn func(apitype.UserState, error)) {
	p.isSent, p.isOver, p.isUnsure = true, false, false
	p.changes++
	request := apitype.UserStateRequest{State: apitype.UserReady}
	if reason != "" {
		p.asked++
		request = apitype.UserStateRequest{State: apitype.UserPaused, Reason: &reason}
	}
	agent := p.Agent()
	event.Do(p.Events, "state of the agent set", func(ctx context.Context) (apitype.UserState, error) {
		return apiclient.Decoded(p.Client.Queue.SetState(ctx, agent, request))
	}, func(state apitype.UserState, err error) {
		p.isSent = false
		next, ends := p.next, p.ends
		p.next, p.ends = "", false
		switch apiclient.KindOf(err) {
		case apiclient.KindUnavailable, apiclient.KindUnknownOutcome, apiclient.KindInterrupted:
			p.isUnsure = true // The next poll tries again.
			takeIn(state, err)
		default:
			takeIn(state, err)
			p.Settle()
		}
		if next != "" {
			p.start(next)
		} else if ends && p.IsOn() {
			p.end()
		}
	})
}

// Settle sends the state that the Desk shows, if the service may have another one.
func (p *Pause) Settle() {
	if !p.isUnsure || p.isSent {
		return
	}
	p.setState(p.reason, func(apitype.UserState, error) {})
}

// OpensCall ends a pause, because the agent opens a call.
func (p *Pause) OpensCall() {
	p.changes++
	p.next = ""
	if p.IsOn() {
		p.Events.Over(event.OfPause)
		p.Events.Sayf("the pause of %s is over", SpentText(p.Now().Sub(p.since)))
		p.reason, p.isUnsure = "", true
		p.Settle()
	} else if p.isSent {
		p.isOver = true
	}
}

// MeetsLease notes that the service has leased an opened call, before or after a pause.
func (p *Pause) MeetsLease() {
	if p.IsOn() || p.isSent {
		p.isUnsure = true
		p.Settle()
	}
}

// show takes in a pause that the service has.
func (p *Pause) show(reason apitype.PauseReason, since apitype.Time) {
	p.Events.Over(event.OfPause)
	p.reason, p.since = reason, since.Time
	p.OnStart()
}

// Changes returns how many changes of the state this Desk knows of, for OnOwnState. It is -1 while one is under way:
// the service may answer before it takes the change.
func (p *Pause) Changes() int {
	if p.isSent {
		return -1
	}
	return p.changes
}

// OnOwnState takes in the state that the service has for the agent, which another Desk may have set. It was asked for
// after so many changes of this Desk. A pause of another Desk begins only on an empty one.
func (p *Pause) OnOwnState(is apitype.QueueAgent, changes int, isEmpty bool) {
	isPaused := is.State == apitype.UserPaused && is.Reason != nil && is.Since != nil
	switch {
	case p.isSent, p.isUnsure, p.changes != changes:
	case isPaused && !p.IsOn() && isEmpty:
		p.show(*is.Reason, *is.Since)
	case !isPaused:
		p.reason = ""
	}
}
