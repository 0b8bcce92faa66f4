package desk

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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

// LaterOffers returns the times that an empty line offers, in the donor's time.
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

// isWorkingDay reports whether a time is on a weekday that is not a known public holiday of the donor on the Desk.
func (k *Card) isWorkingDay(at time.Time) bool {
	if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		return false
	}
	plan := hours.NewPlan(k.floor.of(k.day.Call))
	return plan == nil || !plan.DayOf(hours.CountryOf(k.day.Call.Person.Value()), at).IsHoliday
}

// ReadLater reads when and why the call on the desk is due again, as it is typed, in the donor's time.
func (k *Card) ReadLater(text string) (apitype.Callback, error) {
	within := func(at time.Time) bool { return k.againstHours(k.day.Call, at) == "" }
	place := apitype.CallbackPlace{Now: k.Now(), Zone: k.DonorZone(), Within: within}
	return apitype.ParseCallback(text, place)
}

// LaterEcho returns how a callback was read, in the donor's time and in ours, with its user and its reason.
func (k *Card) LaterEcho(c apitype.Callback, forMe bool) string {
	echo := k.BothTimes(c.At)
	if c.IsMoved {
		echo += " (" + k.Say("the clocks go forward") + ")"
	}
	echo += ", " + k.whose(forMe)
	if c.Reason != "" {
		echo += " · " + c.Reason
	}
	return echo
}

// whose returns the user of a callback.
func (k *Card) whose(forMe bool) string {
	if forMe {
		return k.Say("for you")
	}
	return k.Say("for any agent")
}

// WrongReason returns why a reason cannot be kept, or an empty text.
func (k *Card) WrongReason(reason string) string {
	switch {
	case reason == "":
		return ""
	case !k.has(apitype.ExtensionAttempts):
		return "this service keeps no reason: type the time alone, and the rest into the notes"
	case utf8.RuneCountInString(reason) > apitype.MaxDeferralReason:
		return "the reason has more than 200 characters: shorten it"
	default:
		return ""
	}
}

// At returns a callback without a reason.
func At(at time.Time) apitype.Callback {
	return apitype.Callback{TimeReading: apitype.TimeReading{At: at}}
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
func ReadingKeys(readings []apitype.Callback) []string {
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

// ReadingText returns a meaning of a typed callback as a person reads it.
func (k *Card) ReadingText(c apitype.Callback) string {
	text := k.BothTimes(c.At)
	if c.As != "" {
		text = k.Say("the "+c.As) + ", " + text
	}
	if c.Reason != "" {
		text += " · " + c.Reason
	}
	return text
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

// Later schedules a callback of the call on the Desk, for the agent alone or for any agent, and takes the next
// one. It is held like every change; what was typed stays a draft.
func (d *Day) Later(c apitype.Callback, forMe bool) []Event {
	call, name, whose := d.Call.UUID, d.Name(), d.Card.whose(forMe)
	request := apitype.DeferRequest{NotBefore: new(apitype.NewTime(c.At))}
	if forMe {
		request.UserUUID = new(d.leases.agent())
	}
	if c.Reason != "" {
		request.Reason = &c.Reason
	}
	if l := d.leases.leaseOf(call); l != nil {
		request.LeaseUUID = &l.LeaseUUID
	}
	change, err := apiclient.DeferCallChange(call, request)
	what := d.Say("later") + ": " + d.Date(c.At.In(d.Now().Location()).Format("Mon 2 Jan 15:04")) + ", " + whose
	d.finish(
		Change{
			Change: change,
			Label:  d.Say("later") + ": " + name + ", " + d.Card.BothTimes(c.At) + ", " + whose,
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
	whose := func(c apitype.Callback) Answer {
		return Answer{Next: &Question{Title: card.ReadingText(c), IsKeyed: true, Choices: []Choice{
			{Key: "m", Label: q.Say("for you"), Pick: q.onCall(func() Answer { return q.Later(c, true) })},
			{Key: "a", Label: q.Say("for any agent"), Pick: q.onCall(func() Answer { return q.Later(c, false) })},
		}}}
	}
	ask := &Question{Title: "when, in the donor's time: 18:00, tomorrow 18:00, fri 10:30, in 2 hours"}
	for i, o := range card.LaterOffers() {
		pick := q.onCall(func() Answer { return whose(At(o.At)) })
		ask.Choices = append(
			ask.Choices,
			Choice{Key: []string{"x", "y", "z"}[i], Label: o.Label + ": " + card.BothTimes(o.At), Pick: pick},
		)
	}
	ask.Typed = func(text string) Answer { return q.ReadLater(text, whose) }
	return ask.again()
}

// ReadLater reads the typed time of a callback, asks about an ambiguous one, and uses it.
func (q *Questions) ReadLater(text string, then func(apitype.Callback) Answer) Answer {
	read, err := q.day.Card.ReadLater(text)
	ambiguous, isAmbiguous := errors.AsType[*apitype.AmbiguousCallback](err)
	if isAmbiguous {
		read.Reason = ambiguous.Callbacks[0].Reason
	}
	wrong := q.day.Card.WrongReason(read.Reason)
	switch {
	case (err == nil || isAmbiguous) && wrong != "":
		return Answer{Wrong: q.Say(wrong)}
	case err == nil:
		return then(read)
	case !isAmbiguous:
		return Answer{Wrong: q.Say(err.Error())}
	}
	ask := &Question{
		Title:   q.Say("Which time do you mean?"),
		Lines:   []string{q.Say("%q has more than one meaning.", render.Clean(text))},
		IsKeyed: true,
	}
	for i, key := range ReadingKeys(ambiguous.Callbacks) {
		c := ambiguous.Callbacks[i]
		pick := q.onCall(func() Answer { return then(c) })
		ask.Choices = append(ask.Choices, Choice{Key: key, Label: q.day.Card.ReadingText(c), Pick: pick})
	}
	return Answer{Next: ask}
}

// Later puts the call off. It asks once about a time outside calling hours, or far ahead.
func (q *Questions) Later(c apitype.Callback, forMe bool) Answer {
	save := q.onCall(func() Answer { return Answer{Events: q.day.Later(c, forMe)} })
	title, why := q.Say("Outside calling hours"), q.day.Card.OutsideHours(c.At)
	if days := int(c.At.Sub(q.Now()).Hours() / 24); days > farAhead {
		title, why = q.Say("Far ahead"), q.Say("%s is %d days ahead", q.day.Card.BothTimes(c.At), days)
	}
	if why == "" {
		return save()
	}
	return Answer{Next: q.confirm(title, save, why+". "+q.Say("Save it all the same?"))}
}

// farAhead is the highest number of days until a callback that is saved without a question.
const farAhead = 60
