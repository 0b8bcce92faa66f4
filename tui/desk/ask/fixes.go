package ask

import (
	"cmp"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk/entry"
)

// Fixes asks which detail is wrong, and what is right, until the agent leaves.
func (q *Questions) Fixes() Answer {
	ask := &Question{Title: "what is wrong"}
	for _, f := range q.day.Form().Fixes() {
		c := Choice{
			Key:   f.Press,
			Label: q.Say(f.Label) + ": " + cmp.Or(q.day.Card().FixText(f), q.Say("none")),
			Why:   f.Why,
			Pick:  q.onCall(q.fix(f).again),
		}
		if f.IsYesNo() {
			is := map[bool]string{true: "yes", false: "no"}[f.Is == "no"]
			c.Pick = q.onCall(func() Answer { return q.correct(f, is) })
		}
		ask.Choices = append(ask.Choices, c)
	}
	return Answer{Next: ask}
}

// fix asks for the right value of a detail.
func (q *Questions) fix(f entry.Fix) *Question {
	ask := &Question{Title: q.Say(f.Label), Empty: func() Answer {
		if next, found := q.day.Form().AfterStreet(f, ""); found {
			return q.fix(next).again()
		}
		return q.Fixes()
	}}
	if f.IsInterval() {
		for _, interval := range apitype.DonationIntervals {
			pick := func() Answer { return q.correct(f, string(interval)) }
			ask.Choices = append(ask.Choices, Choice{Label: q.Say(render.Words(string(interval))), Pick: pick})
		}
	} else {
		ask.Choices = []Choice{{Key: "delete", Label: "to delete it", Pick: func() Answer { return q.correct(f, "") }}}
		ask.Typed = func(text string) Answer {
			return q.FixMeaning(f, text, func(value string) Answer { return q.correct(f, value) })
		}
	}
	ask.Choices = append(ask.Choices, Choice{Key: "undo", Label: "for as recorded", Pick: func() Answer {
		q.day.Form().Uncorrect(f)
		return q.Fixes()
	}})
	return ask
}

// correct corrects a detail. A part of an address leads to its next missing part.
func (q *Questions) correct(f entry.Fix, value string) Answer {
	if wrong := q.day.Form().Correct(f, value); wrong != "" {
		return Answer{Wrong: q.Say(f.Label) + " " + q.Say(wrong)}
	}
	if why, missing := q.day.Form().HalfAddress(); why != "" && strings.HasPrefix(f.Key, "address/") {
		ask := q.fix(missing)
		ask.Lines = []string{why}
		return ask.again()
	}
	if next, found := q.day.Form().AfterStreet(f, value); found {
		return q.fix(next).again()
	}
	return q.Fixes()
}

// FixMeaning asks which of its meanings a typed value of a detail has, and does something with it.
func (q *Questions) FixMeaning(f entry.Fix, typed string, then func(value string) Answer) Answer {
	doubt := q.day.Form().Doubt(f, typed)
	if doubt == nil || strings.TrimSpace(typed) == "" {
		return then(typed)
	}
	ask := &Question{Title: doubt.Title, Lines: doubt.Lines, IsKeyed: true}
	for _, meaning := range doubt.Meanings {
		pick := q.onCall(func() Answer { return then(meaning.Value) })
		ask.Choices = append(ask.Choices, Choice{Key: meaning.Key, Label: meaning.Label, Pick: pick})
	}
	return ask.again()
}
