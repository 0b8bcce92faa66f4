package desk

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
)

// pause is the agent's pause, as the service has it.
type pause struct {
	reason apitype.PauseReason // Empty without a pause.
	since  time.Time
	isSent bool // A change of the state is under way.
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
func (d *Day) Pause(reason apitype.PauseReason) []Event {
	request := apitype.UserStateRequest{State: apitype.UserPaused, Reason: &reason}
	d.setState(request, func(state apitype.UserState, err error) {
		if err != nil {
			d.fail("not paused", err)
			return
		}
		d.showPause(reason, state.Since)
	})
	return d.drain()
}

// EndPause makes the agent ready again.
func (d *Day) EndPause() []Event {
	if d.pause.isSent {
		return d.drain()
	}
	d.setState(apitype.UserStateRequest{State: apitype.UserReady}, func(_ apitype.UserState, err error) {
		if err != nil {
			d.fail("still paused", err)
			return
		}
		d.sayf("the pause of %s is over", SpentText(d.Now().Sub(d.pause.since)))
		d.pause = pause{}
	})
	return d.drain()
}

func (d *Day) setState(request apitype.UserStateRequest, takeIn func(apitype.UserState, error)) {
	d.pause.isSent = true
	agent := d.leases.agent()
	do(&d.events, "state of the agent set", func(ctx context.Context) (apitype.UserState, error) {
		return apiclient.Decoded(d.Client.Queue.SetState(ctx, agent, request))
	}, func(state apitype.UserState, err error) {
		d.pause.isSent = false
		takeIn(state, err)
	})
}

// showPause takes in a pause that the service has. It has ended the leases.
func (d *Day) showPause(reason apitype.PauseReason, since apitype.Time) {
	d.pause.reason, d.pause.since = reason, since.Time
	d.leave()
	d.Wanted, d.NoneLeft = false, false
	for _, l := range slices.Clone(d.leases.held) {
		if !d.keepsBack(l.CallUUID) {
			d.leases.endLease(l.LeaseUUID)
		}
	}
}

// onOwnState takes in the state that the service has for the agent, which another Desk may have set.
func (d *Day) onOwnState(is apitype.QueueAgent) {
	isPaused := is.State == apitype.UserPaused && is.Reason != nil && is.Since != nil
	switch {
	case d.pause.isSent:
	case isPaused && !d.IsPaused() && d.Call == nil:
		d.showPause(*is.Reason, *is.Since)
	case !isPaused:
		d.pause = pause{}
	}
}

// AskPause asks for the reason of a pause.
func (q *Questions) AskPause() Answer {
	ask := &Question{Title: q.Say("Pause"), IsKeyed: true}
	for i, reason := range apitype.PauseReasons {
		ask.Choices = append(ask.Choices, Choice{
			Key:   strconv.Itoa(i + 1),
			Label: q.Say(string(reason)),
			Pick:  does(func() []Event { return q.day.Pause(reason) }),
		})
	}
	return ask.again()
}

func whyNotPause(d *Day) string {
	return When(
		!d.has(apitype.ExtensionUserState),
		"this service keeps no pauses: quit, or leave the Desk without a call",
	)
}
