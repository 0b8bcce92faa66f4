package ask

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/say"
)

// NotReachedWhy asks why the donor was not reached, and records the attempt.
func (q *Questions) NotReachedWhy() Answer {
	return q.OnceEnding(func() Answer {
		ask := &Question{Title: q.Say("Not reached: why?"), IsKeyed: true}
		for i, reason := range apitype.NotReachedReasons {
			pick := q.onCall(func() Answer { return q.notReached(reason) })
			ask.Choices = append(ask.Choices, Choice{
				Key:   strconv.Itoa(i + 1),
				Label: q.Say(card.ReasonWords(reason)),
				Pick:  pick,
			})
		}
		return ask.again()
	})
}

func whyNoReasons(d *desk.Day) string {
	if why := whyNotEnd(d); why != "" {
		return why
	}
	return say.When(
		!d.Has(apitype.ExtensionAttempts),
		"this service keeps no reasons of attempts: {not-reached} records the attempt",
	)
}

// NotReached records an attempt. It asks about typed notes.
func (q *Questions) NotReached() Answer {
	return q.OnceEnding(func() Answer { return q.notReached("") })
}

func (q *Questions) notReached(reason apitype.NotReached) Answer {
	record := func() Answer { return q.recordAttempt(reason) }
	if !q.day.Card().HasUndoneAttempt {
		return record()
	}
	again := q.Say("Another key records another attempt. Record it anyway?")
	return Answer{Next: q.confirm(q.Say("An attempt was recorded"), record, q.day.Card().Remains+". "+again)}
}

func (q *Questions) recordAttempt(reason apitype.NotReached) Answer {
	d := q.day
	_, stays := d.Card().NumberAfter(reason)
	if !d.Has(apitype.ExtensionNotes) || strings.TrimSpace(d.Form().Notes) == "" || stays {
		return q.finish(disposition.NotReached(reason))()
	}
	return Answer{Next: &Question{Title: q.Say("Not reached: where do your notes go?"), Choices: []Choice{
		{
			Key:   "n",
			Label: q.Say("with the attempt: the next agent reads them"),
			Pick:  q.onCall(q.finish(disposition.NotReachedWithNote(reason))),
		},
		{
			Key:   "d",
			Label: q.Say("into a draft: only you see them"),
			Pick:  q.onCall(q.finish(disposition.NotReached(reason))),
		},
	}}}
}

// AskLater asks for the time and the user of a callback.
func (q *Questions) AskLater() Answer { return q.OnceEnding(q.askLater) }

func (q *Questions) askLater() Answer {
	shown := q.day.Card()
	whose := func(c apitype.Callback) Answer {
		return Answer{Next: &Question{Title: shown.ReadingText(c), IsKeyed: true, Choices: []Choice{
			{Key: "m", Label: q.Say("for you"), Pick: q.onCall(func() Answer { return q.Later(c, true) })},
			{Key: "a", Label: q.Say("for any agent"), Pick: q.onCall(func() Answer { return q.Later(c, false) })},
		}}}
	}
	ask := &Question{Title: "when, in the donor's time: 18:00, tomorrow 18:00, fri 10:30, in 2 hours"}
	for i, o := range shown.LaterOffers() {
		pick := q.onCall(func() Answer { return whose(card.At(o.At)) })
		ask.Choices = append(
			ask.Choices,
			Choice{Key: []string{"x", "y", "z"}[i], Label: o.Label + ": " + shown.BothTimes(o.At), Pick: pick},
		)
	}
	ask.Typed = func(text string) Answer { return q.ReadLater(text, whose) }
	return ask.again()
}

// ReadLater reads the typed time of a callback, asks about an ambiguous one, and uses it.
func (q *Questions) ReadLater(text string, then func(apitype.Callback) Answer) Answer {
	read, err := q.day.Card().ReadLater(text)
	ambiguous, isAmbiguous := errors.AsType[*apitype.AmbiguousCallback](err)
	if isAmbiguous {
		read.Reason = ambiguous.Callbacks[0].Reason
	}
	wrong := q.day.Card().WrongReason(read.Reason)
	if (err == nil || isAmbiguous) && wrong != "" {
		return Answer{Wrong: q.Say(wrong)}
	}
	if err == nil {
		return then(read)
	}
	if !isAmbiguous {
		return Answer{Wrong: q.Say(err.Error())}
	}
	ask := &Question{
		Title:   q.Say("Which time do you mean?"),
		Lines:   []string{q.Say("%q has more than one meaning.", render.Clean(text))},
		IsKeyed: true,
	}
	for i, key := range card.ReadingKeys(ambiguous.Callbacks) {
		c := ambiguous.Callbacks[i]
		pick := q.onCall(func() Answer { return then(c) })
		ask.Choices = append(ask.Choices, Choice{Key: key, Label: q.day.Card().ReadingText(c), Pick: pick})
	}
	return Answer{Next: ask}
}

// Later puts the call off. It asks once about a time outside calling hours, or far ahead.
func (q *Questions) Later(c apitype.Callback, forMe bool) Answer {
	save := q.onCall(func() Answer {
		q.day.Form().KeepLine(entry.CallbackLine, "")
		return q.finish(disposition.Later(c, forMe))()
	})
	title, why := "Outside calling hours", []string{}
	if days := int(c.At.Sub(q.day.Now()).Hours() / 24); days > farAhead {
		title = "Far ahead"
		why = append(why, q.Say("%s is %d days ahead", q.day.Card().BothTimes(c.At), days)+".")
	}
	if outside := q.day.Card().OutsideHours(c.At); outside != "" {
		why = append(why, outside+".")
	}
	if len(why) == 0 {
		return save()
	}
	return Answer{Next: q.confirm(q.Say(title), save, append(why, q.Say("Save it anyway?"))...)}
}

// farAhead is the highest number of days until a callback that is saved without a question.
const farAhead = 60

func whyNotDial(d *desk.Day) string {
	return cmp.Or(
		whyNoCall(d),
		say.When(d.Call != nil && len(card.Numbers(d.Call.Person.Pointer())) == 0, "no number is known"),
	)
}
