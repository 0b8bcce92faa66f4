package desk

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/hours"
	"fundesk/apiclient/outbox"
	"fundesk/render"
)

// LaterOffer is a time at which a call may be due again.
type LaterOffer struct {
	Label string
	At    time.Time
}

// LaterOffers returns the times that are offered where none is typed, in the donor's time.
func (k *Card) LaterOffers() []LaterOffer {
	now := k.Now().In(k.DonorZone()).Truncate(time.Minute)
	year, month, day := now.Date()
	working := time.Date(year, month, day+1, 10, 0, 0, 0, now.Location())
	const mostHolidays = 30
	for range mostHolidays {
		if k.isWorkingDay(working) {
			break
		}
		working = working.AddDate(0, 0, 1)
	}
	return []LaterOffer{
		{k.Say("in 2 hours"), now.Add(2 * time.Hour)},
		{k.Say("tomorrow at this time"), now.AddDate(0, 0, 1)},
		{k.Say("next working day at 10"), working},
	}
}

// isWorkingDay reports whether a time is on a weekday that is no known public holiday of the donor on the Desk.
func (k *Card) isWorkingDay(at time.Time) bool {
	if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		return false
	}
	plan := hours.NewPlan(k.floor.of(k.day.Call))
	return plan == nil || !plan.DayOf(hours.CountryOf(k.day.Call.Person.Value()), at).IsHoliday
}

// ReadLater reads when the call on the desk is due again, as it is typed, in the donor's time.
func (k *Card) ReadLater(text string) (time.Time, error) {
	return apitype.ParseTimeAhead(text, k.Now(), k.DonorZone())
}

// LaterEcho returns how a time was read, in the donor's time and in ours, and the user of the callback.
func (k *Card) LaterEcho(at time.Time, forMe bool) string {
	who := k.Say("for anybody")
	if forMe {
		who = k.Say("for you")
	}
	return k.BothTimes(at) + ", " + who
}

// OutsideHours returns why no call should be made at a time, or an empty text.
func (k *Card) OutsideHours(at time.Time) string {
	why := k.againstHours(k.day.Call, at)
	if _, hours, found := strings.Cut(why, ": "); found {
		return k.Say("%s is outside calling hours: %s", k.BothTimes(at), hours)
	}
	return ""
}

// ReadingKeys returns the key of each meaning of a typed time: t for the time, d for the date, and
// otherwise its number.
func ReadingKeys(readings []apitype.TimeReading) []string {
	keys, times := make([]string, len(readings)), 0
	for _, r := range readings {
		if r.As == "time" {
			times++
		}
	}
	for i, r := range readings {
		switch {
		case r.As == "date":
			keys[i] = "d"
		case r.As == "time" && times == 1:
			keys[i] = "t"
		default:
			keys[i] = strconv.Itoa(i + 1)
		}
	}
	return keys
}

// ReadingText returns a meaning of a typed time as a person reads it.
func (k *Card) ReadingText(r apitype.TimeReading) string {
	if r.As != "" {
		return k.Say("the "+r.As) + ", " + k.BothTimes(r.At)
	}
	return k.BothTimes(r.At)
}

// WhyNotLater returns why the call on the Desk cannot be deferred.
func (d *Day) WhyNotLater() string {
	switch {
	case !d.HasQueue():
		return "the service has no queue, so calls cannot be deferred"
	case d.Call != nil:
		return d.Form.Ended()
	default:
		return ""
	}
}

// Later puts the call on the desk off, for the agent alone or for anybody, and takes the next
// one. It is held like every change; what was typed stays a draft.
func (d *Day) Later(at time.Time, forMe bool) []Event {
	call, name := d.Call.UUID, d.Name()
	request, whose := apitype.DeferRequest{NotBefore: new(apitype.NewTime(at))}, d.Say("for anybody")
	if forMe {
		request.UserUUID, whose = new(d.leases.agent()), d.Say("for you")
	}
	if l := d.leases.leaseOf(call); l != nil {
		request.LeaseUUID = &l.LeaseUUID
	}
	change, err := apiclient.DeferCallChange(call, request)
	what := d.Say("later") + ": " + SayDate(d.Say, at.In(d.Now().Location()).Format("Mon 2 Jan 15:04")) + ", " + whose
	d.finish(
		Change{
			Change: change,
			Label:  d.Say("later") + ": " + name + ", " + d.Card.BothTimes(at) + ", " + whose,
			err:    err,
		},
		what,
		false,
	)
	return d.drain()
}

// onDeferred stores when a deferred call is due.
func (s *leases) onDeferred(e outbox.Entry) {
	var request apitype.DeferRequest
	if json.Unmarshal(e.Body, &request) != nil || request.NotBefore == nil {
		return
	}
	if next := s.nextDueAt; next == nil || request.NotBefore.Before(next.Time) {
		s.nextDueAt = request.NotBefore
	}
	s.upcoming = slices.DeleteFunc(s.upcoming, func(c Candidate) bool { return c.ID == e.UUID })
}

// AskLater asks for the time and the user of a callback.
func (q *Questions) AskLater() Answer { return q.OnceEnding(q.askLater) }

func (q *Questions) askLater() Answer {
	card := q.day.Card
	whose := func(at time.Time) Answer {
		return Answer{Next: &Question{Title: card.BothTimes(at), IsKeyed: true, Choices: []Choice{
			{Key: "m", Label: q.Say("for you"), Pick: q.onCall(func() Answer { return q.Later(at, true) })},
			{Key: "a", Label: q.Say("for anybody"), Pick: q.onCall(func() Answer { return q.Later(at, false) })},
		}}}
	}
	ask := &Question{Title: "when, in the donor's time: 18:00, tomorrow 18:00, fri 10:30, in 2 hours"}
	for i, o := range card.LaterOffers() {
		pick := q.onCall(func() Answer { return whose(o.At) })
		ask.Choices = append(
			ask.Choices,
			Choice{Key: []string{"x", "y", "z"}[i], Label: o.Label + ": " + card.BothTimes(o.At), Pick: pick},
		)
	}
	ask.Typed = func(text string) Answer { return q.ReadLater(text, whose) }
	return ask.again()
}

// ReadLater reads the typed time of a callback, asks about an ambiguous one, and uses it.
func (q *Questions) ReadLater(text string, then func(time.Time) Answer) Answer {
	at, err := q.day.Card.ReadLater(text)
	ambiguous, isAmbiguous := errors.AsType[*apitype.AmbiguousTime](err)
	switch {
	case err == nil:
		return then(at)
	case !isAmbiguous:
		return Answer{Wrong: q.Say(err.Error())}
	}
	ask := &Question{
		Title:   q.Say("Which time is meant?"),
		Lines:   []string{q.Say("%q has more than one meaning.", render.Clean(text))},
		IsKeyed: true,
	}
	for i, key := range ReadingKeys(ambiguous.Readings) {
		r := ambiguous.Readings[i]
		ask.Choices = append(
			ask.Choices,
			Choice{Key: key, Label: q.day.Card.ReadingText(r), Pick: q.onCall(func() Answer { return then(r.At) })},
		)
	}
	return Answer{Next: ask}
}

// Later puts the call off. Outside calling hours it asks once.
func (q *Questions) Later(at time.Time, forMe bool) Answer {
	save := q.onCall(func() Answer { return Answer{Events: q.day.Later(at, forMe)} })
	why := q.day.Card.OutsideHours(at)
	if why == "" {
		return save()
	}
	return Answer{Next: q.confirm(q.Say("Outside calling hours"), save, why+". "+q.Say("Save it all the same?"))}
}
