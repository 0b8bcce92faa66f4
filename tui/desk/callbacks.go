package desk

import (
	"context"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/event"
)

const (
	callbacksEvery = 2 * time.Minute // How long the list of the service is used.
	callbacksRead  = 100             // The highest number that is listed.
	ringBefore     = 2 * time.Minute // How long before its time a callback rings.
)

// callbacks are the agent's own callbacks, as the service listed them last.
type callbacks struct {
	all   []apitype.Deferral // The earliest first.
	asked time.Time
	rung  map[apitype.UUID]time.Time // The times of the callbacks that have rung.
}

// has reports whether a call is among the callbacks.
func (c callbacks) has(call apitype.UUID) bool {
	return slices.ContainsFunc(c.all, func(d apitype.Deferral) bool { return d.CallUUID == call })
}

// Callbacks returns the agent's own callbacks, the earliest first.
func (d *Day) Callbacks() []apitype.Deferral { return d.callbacks.all }

// daysOfWeek is the number of days ahead for which a weekday alone names the day.
const daysOfWeek = 6

// CallbackText returns the time, the donor and the reason of a callback.
func (d *Day) CallbackText(c apitype.Deferral) string {
	at, layout := c.NotBefore.In(d.Now().Location()), "15:04"
	switch isNear := at.Before(d.Now().AddDate(0, 0, daysOfWeek)); {
	case isSameDay(at, d.Now()):
	case isNear && at.After(d.Now()):
		layout = "Mon 15:04"
	default:
		layout = "Mon 2 Jan 15:04"
	}
	name := apitype.TextOf(c.PersonName)
	if name == "" {
		name = d.Say("call %s", render.ShortID(c.CallUUID))
	}
	text := d.Date(at.Format(layout)) + " " + name
	if reason := apitype.TextOf(c.Reason); reason != "" {
		text += " · " + reason
	}
	return text
}

func isSameDay(a, b time.Time) bool {
	year, month, day := a.Date()
	y, m, d := b.Date()
	return year == y && month == m && day == d
}

// readCallbacks requests the agent's own callbacks. An account without the permission shows none.
func (d *Day) readCallbacks() {
	d.callbacks.asked = d.Now()
	options := apitype.QueueDeferralListOptions{UserUUID: new(d.leases.agent()), First: new(callbacksRead)}
	event.Do(d.Queue, "callbacks read", func(ctx context.Context) ([]apitype.Deferral, error) {
		page, err := d.Client.Queue.Deferrals.List(ctx, options)
		return apiclient.Rows(page, func(c apitype.Deferral) apitype.Deferral { return c }), err
	}, func(all []apitype.Deferral, err error) {
		if err == nil {
			d.callbacks.all = all
			d.ring()
		}
	})
}

// areCallbacksOld reports whether the list must be read again.
func (d *Day) areCallbacksOld() bool { return d.Now().Sub(d.callbacks.asked) >= callbacksEvery }

// ring announces each callback once, shortly before its time.
func (d *Day) ring() {
	now := d.Now()
	for _, c := range d.callbacks.all {
		at := c.NotBefore.Time
		if at.Sub(now) > ringBefore {
			break
		}
		if d.callbacks.rung[c.CallUUID].Equal(at) || d.IsOn(c.CallUUID) || d.Changes.isPending(c.CallUUID) {
			continue
		}
		if d.callbacks.rung == nil {
			d.callbacks.rung = map[apitype.UUID]time.Time{}
		}
		d.callbacks.rung[c.CallUUID] = at
		d.Notify(event.Notice{Text: d.Say("callback: %s", render.Clean(d.CallbackText(c))), Rings: true})
	}
}

// noteReason keeps the reason that the lease of the call on the Desk has, also for when the lease has ended.
func (d *Day) noteReason() {
	l := d.leases.leaseOf(d.Call.UUID)
	if l != nil && l.Reason != nil {
		d.callbackReason = *l.Reason
	}
}
