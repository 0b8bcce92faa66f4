// Package callbacks has the callbacks of the agent.
package callbacks

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
)

const (
	callbacksEvery = 2 * time.Minute // How long the list of the service is used.
	callbacksRead  = 100             // The highest number that is listed.
	ringBefore     = 2 * time.Minute // The time before a callback at which it is announced.
)

// List has the agent's own callbacks, as the service listed them last. Set the exported fields once.
type List struct {
	say.Texts
	Events *event.Queue
	Client *apiclient.Client
	Now    func() time.Time
	Agent  func() apitype.UUID
	// IsAtHand reports whether the agent has a call on the Desk or has changed it: its callback is then not announced.
	IsAtHand func(call apitype.UUID) bool

	all     []apitype.Deferral // The earliest first.
	hasMore bool               // The service has later ones.
	asked   time.Time
	rung    map[apitype.UUID]time.Time // The times of the announced callbacks.
}

// Has reports whether a call is among the callbacks.
func (l *List) Has(call apitype.UUID) bool {
	return slices.ContainsFunc(l.all, func(d apitype.Deferral) bool { return d.CallUUID == call })
}

// All returns the callbacks, the earliest first.
func (l *List) All() []apitype.Deferral { return l.all }

// HasMore reports whether the agent has later callbacks, which are not listed.
func (l *List) HasMore() bool { return l.hasMore }

// Count returns the number of the callbacks.
func (l *List) Count() string {
	if l.hasMore {
		return fmt.Sprintf("%d+", len(l.all))
	}
	return strconv.Itoa(len(l.all))
}

// IsAsked reports whether the list was requested.
func (l *List) IsAsked() bool { return !l.asked.IsZero() }

// daysOfWeek is the number of days ahead for which a weekday alone names the day.
const daysOfWeek = 6

// Text returns the time, the donor and the reason of a callback.
func (l *List) Text(c apitype.Deferral) string {
	at, layout := c.NotBefore.In(l.Now().Location()), "15:04"
	switch isNear := at.Before(l.Now().AddDate(0, 0, daysOfWeek)); {
	case isSameDay(at, l.Now()):
	case isNear && at.After(l.Now()):
		layout = "Mon 15:04"
	default:
		layout = "Mon 2 Jan 15:04"
	}
	name := apitype.TextOf(c.PersonName)
	if name == "" {
		name = l.Say("call %s", render.ShortID(c.CallUUID))
	}
	text := l.Date(at.Format(layout)) + " " + name
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

// Read requests the agent's own callbacks. An account without the permission shows none.
func (l *List) Read() {
	l.asked = l.Now()
	options := apitype.QueueDeferralListOptions{UserUUID: new(l.Agent()), First: new(callbacksRead)}
	type read struct {
		all     []apitype.Deferral
		hasMore bool
	}
	event.Do(l.Events, "callbacks read", func(ctx context.Context) (read, error) {
		page, err := l.Client.Queue.Deferrals.List(ctx, options)
		if err != nil {
			return read{}, err
		}
		all := apiclient.Rows(page, func(c apitype.Deferral) apitype.Deferral { return c })
		return read{all: all, hasMore: page.HasNextPage || page.MayBeCut}, nil
	}, func(is read, err error) {
		if err == nil {
			l.all, l.hasMore = is.all, is.hasMore
			l.Ring()
		}
	})
}

// IsOld reports whether the list must be read again.
func (l *List) IsOld() bool { return l.Now().Sub(l.asked) >= callbacksEvery }

// Ring announces each callback once, shortly before its time.
func (l *List) Ring() {
	now := l.Now()
	for _, c := range l.all {
		at := c.NotBefore.Time
		if at.Sub(now) > ringBefore {
			break
		}
		if l.rung[c.CallUUID].Equal(at) || l.IsAtHand(c.CallUUID) {
			continue
		}
		if l.rung == nil {
			l.rung = map[apitype.UUID]time.Time{}
		}
		l.rung[c.CallUUID] = at
		text := l.Say("callback: %s", render.Clean(l.Text(c)))
		l.Events.Notify(event.Notice{Level: event.Told, Text: text, Rings: true})
	}
}
