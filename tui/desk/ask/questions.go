// Package ask has the actions of the Desk and the questions that they ask, for each of its faces.
package ask

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/render"
	"fundesk/tui/desk"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/disposition"
	"fundesk/tui/desk/donors"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
)

// Question asks the agent to choose, to type a line, or either. A face shows it and follows the answer. Its texts may
// contain text of the service.
type Question struct {
	Title   string
	Lines   []string
	Hint    string
	Choices []Choice
	Typed   func(text string) Answer // Called with a typed line. Nil allows none.
	Empty   func() Answer            // Called for an empty line. If it is nil, the agent leaves the question.
	Value   string                   // The text to begin with.
	Line    string                   // The unfinished line of the call that keeps the typed text. Empty keeps none.
	// HasLines means that a typed text may have several lines.
	HasLines bool
	IsKeyed  bool // Its choices have keys, and no cursor: Enter chooses nothing.
	IsLate   bool // It may open by itself, so the agent must see it before it takes an answer.
	// StaysOpen means that choices are ticked one after the other. Enter leaves it, unless the cursor was moved to one.
	StaysOpen bool
	// Left is called when the agent leaves without an answer. It may return another question. Nil does nothing.
	Left func() *Question
}

// Choice is an answer that is offered.
type Choice struct {
	Key   string // Empty if the face chooses it.
	Label string
	Why   string // Why it cannot be chosen; "" when it can.
	IsOn  *bool  // Set for options that can be turned on and off.
	Pick  func() Answer
}

// Answer is the consequence of a choice or a typed text.
type Answer struct {
	Events []event.Event
	Then   func() Answer // Called after the events and their results. May be nil.
	Next   *Question     // The next question. May be nil.
	Wrong  string        // Why nothing was taken: the same is asked again.
}

// IsYesNo reports whether a question is answered with yes or no.
func (q *Question) IsYesNo() bool { return len(q.Choices) == 1 && q.Choices[0].Key == "y" }

// Questions asks what an action of the desk needs to know, and follows the answers.
type Questions struct {
	say.Texts
	day       *desk.Day
	warned    warned       // The agent goes on after this text.
	unchecked apitype.UUID // The call that the agent completes without required checks. Zero without one.
	// The call for which the agent goes on although the donor may not be called. Zero without one.
	forbidden apitype.UUID
}

// New makes the questions of a desk.
func New(d *desk.Day) *Questions { return &Questions{Texts: d.Texts, day: d} }

// warned is the last warning: the call, and the holder of the donor or zero.
type warned struct{ call, holder apitype.UUID }

// Forbidden returns a question before the first call to a donor that may not be called, or nil.
func (q *Questions) Forbidden(then func() Answer) *Question {
	text := q.day.Card().ForbidsText()
	call := q.day.Call.UUID
	if text == "" || q.forbidden == call {
		return nil
	}
	return q.confirm(q.Say("This donor may not be called"), func() Answer {
		q.forbidden = call
		return then()
	}, text+". "+q.Say("Go on anyway?"))
}

// onceAllowed begins work on a donor. It asks once if the donor may not be called.
func (q *Questions) onceAllowed(then func() Answer) Answer {
	asks := q.Forbidden(then)
	if asks == nil {
		return then()
	}
	return Answer{Next: asks}
}

// confirm asks for a yes, and does something then, if the call is still on the desk.
func (q *Questions) confirm(title string, yes func() Answer, lines ...string) *Question {
	return &Question{
		Title:   title,
		Lines:   lines,
		Choices: []Choice{{Key: "y", Label: q.Say("yes"), Pick: q.onCall(yes)}},
	}
}

// onCall does something unless the call has left the Desk during the question.
func (q *Questions) onCall(then func() Answer) func() Answer {
	isOn := q.isOnCall()
	return func() Answer {
		if isOn() {
			return then()
		}
		return Answer{}
	}
}

// isOnCall returns a function that reports whether the call is still on the Desk. Without a call it always is.
func (q *Questions) isOnCall() func() bool {
	d, call := q.day, apitype.UUID{}
	if d.Call != nil {
		call = d.Call.UUID
	}
	return func() bool { return call.IsZero() || d.IsOn(call) }
}

// does returns an answer that does something of the day.
func does(do func() []event.Event) func() Answer {
	return func() Answer { return Answer{Events: do()} }
}

// finish returns an answer that ends work on the call on the Desk.
func (q *Questions) finish(how disposition.Func) func() Answer {
	return does(func() []event.Event { return q.day.Finish(how) })
}

// Warned returns a question before the first work on a donor who is not reserved for this agent alone, or nil.
func (q *Questions) Warned(then func() Answer) *Question {
	text := q.day.Card().LeaseText()
	is := warned{call: q.day.Call.UUID}
	if holder := q.day.Card().Holder; holder != nil {
		is.holder = holder.UserUUID
	}
	if text == "" || q.warned == is {
		return nil
	}
	title := q.Say("Another agent has this donor")
	if is.holder.IsZero() {
		title = q.Say("Another agent may have this donor")
	}
	return q.confirm(title, func() Answer {
		q.warned = is
		return then()
	}, text+". "+q.Say("Go on anyway?"))
}

// onceWarned ends the call or begins to work on it. If the donor is not reserved for this agent alone, it asks once.
func (q *Questions) onceWarned(then func() Answer) Answer {
	asks := q.Warned(then)
	if asks == nil {
		return then()
	}
	return Answer{Next: asks}
}

// OnceEnding does something that ends the call. If the donor is not this agent's alone it asks once. A freed donor is
// leased with the key, so that no colleague is given the donor before the agent has answered. If a colleague was
// faster, a yes is followed by the question that names them.
func (q *Questions) OnceEnding(then func() Answer) Answer {
	asks := q.Warned(func() Answer { return q.onceWarned(then) })
	if asks == nil {
		return then()
	}
	answer := Answer{Next: asks}
	if q.day.Card().IsFreed && q.day.Card().Holder == nil {
		answer.Events = q.day.KeepLease()
	}
	return answer
}

// Skip passes the call over.
func (q *Questions) Skip() Answer { return q.OnceEnding(does(q.day.Skip)) }

// Cancel asks before the call is cancelled.
func (q *Questions) Cancel() Answer {
	return q.end(
		"Cancel",
		q.Say("The donor gets no more calls about this. The call counts as cancelled, not as unsuccessful."),
		disposition.Cancel,
	)
}

// Expire asks before the call is expired.
func (q *Questions) Expire() Answer {
	return q.end(
		"Expire",
		q.Say("The donor was not reached and gets no more calls about this. The call counts as unsuccessful."),
		disposition.Expire,
	)
}

// MarkProcessed marks the call as processed.
func (q *Questions) MarkProcessed() Answer {
	d := q.day
	mark := d.Changes.Mark(apitype.EntityCall, d.Call.UUID, q.Say("mark processed")+": "+d.Name())
	return Answer{Events: d.Changes.Submit(mark)}
}

// end asks before the call is ended without a result, with the consequence for the donor.
func (q *Questions) end(title, means string, how disposition.Func) Answer {
	lines := []string{
		q.Say(title+" the call to %s, requested %s?", q.day.Name(), q.day.Ago(q.day.Call.RequestedAt.Time)),
		means,
	}
	if q.day.Draft().HasWords() {
		lines = append(lines, q.Say("What you typed is not sent with it; it stays as a draft."))
	}
	form := q.day.Form()
	if result := form.Result(form.ResultCode); result.Has(apitype.EffectOptOut) || result.Has(apitype.EffectNoContact) {
		says := q.Say("%q is not saved by this. To save it, press n, and complete the call.", form.ResultWords())
		lines = append(lines, says)
	}
	return q.OnceEnding(func() Answer {
		return q.confirm(q.Say(title+" the call"), q.finish(how), lines...).again()
	})
}

// Overtaken asks which value of each overtaken detail stays, and does something once all are answered.
func (q *Questions) Overtaken(then func() Answer) Answer {
	d := q.day
	whose, fix, asks := d.Overtaken()
	if !asks {
		return then()
	}
	keep := func(ours bool) func() Answer {
		return func() Answer {
			events := d.Keep(fix, ours)
			next := q.Overtaken(then)
			next.Events = append(events, next.Events...)
			return next
		}
	}
	return Answer{Next: &Question{
		Title:   q.Say("Changed elsewhere: %s, %s", q.Say(fix.Label), whose),
		IsKeyed: true,
		Lines:   []string{q.Say("The record has another value than when you corrected it. Which one stays?")},
		Choices: []Choice{
			{
				Key:   "k",
				Label: q.Say("theirs") + ": " + cmp.Or(q.day.Card().FixValue(fix, fix.Was, true), q.Say("none")),
				Pick:  keep(false),
			},
			{
				Key:   "o",
				Label: q.Say("ours") + ": " + cmp.Or(q.day.Card().FixValue(fix, fix.Is, false), q.Say("none")),
				Pick:  keep(true),
			},
		},
		Left: func() *Question {
			d.Refused.Leave() // It stays in the outbox as it is.
			return nil
		},
	}}
}

// Complete sends the entries once the agent has decided about overtaken details. It asks first if the account may not
// make a correction, or the result contradicts the corrections.
func (q *Questions) Complete() Answer { return q.OnceEnding(q.complete) }

func (q *Questions) complete() Answer {
	d := q.day
	if _, _, asks := d.Overtaken(); asks {
		return q.Overtaken(q.onCall(func() Answer {
			if d.Form().WhyNotComplete() != "" {
				return Answer{} // The result went with the correction.
			}
			return q.Complete()
		}))
	}
	if refused := d.Form().RefusedCorrections(); len(refused) > 0 {
		lines := []string{q.Say("You may not correct:")}
		for _, fix := range refused {
			lines = append(lines, "  "+q.Say(fix.Label)+" "+q.day.Card().FixText(fix))
		}
		lines = append(
			lines,
			q.Say(
				"The service would refuse these, and the result too. Send the result without them? Tell your "+
					"supervisor.",
			),
		)
		alone := func() Answer {
			d.Form().LeaveRefused()
			return q.finish(disposition.Complete)()
		}
		return Answer{Next: q.confirm(q.Say("Send the result alone"), alone, lines...)}
	}
	missing := d.Card().MissingChecks()
	if len(missing) > 0 && q.unchecked != d.Call.UUID {
		call := d.Call.UUID
		lines := []string{
			q.Say("Required and not ticked: %s.", strings.Join(missing, ", ")),
			q.Say("Send the result anyway? The call is marked as not checked."),
		}
		return Answer{Next: q.confirm(q.Say("Not everything was checked"), func() Answer {
			q.unchecked = call
			return q.complete()
		}, lines...)}
	}
	if d.Form().DeniesCorrections() {
		line := q.Say(
			"The result says %q. Send it with the corrections anyway?",
			render.Clean(d.Form().ResultWords()),
		)
		return Answer{Next: q.confirm(q.Say("The record was corrected"), q.finish(disposition.Complete), line)}
	}
	return q.finish(disposition.Complete)()
}

// Result asks for a result code in one line of text, and does something with it.
func (q *Questions) Result(then func() Answer) *Question {
	d := q.day
	ask := &Question{Title: q.Say("Result code"), Value: d.Form().ResultCode, Line: entry.ResultLine}
	take := func(code string) func() Answer {
		return q.onCall(func() Answer {
			d.Form().SetResult(code)
			d.Form().KeepLine(entry.ResultLine, "")
			return then()
		})
	}
	for _, row := range d.Form().Results() {
		ask.Choices = append(ask.Choices, Choice{Label: q.Say(entry.ResultWords(row)), Pick: take(row.Code)})
	}
	isOn := q.isOnCall()
	ask.Typed = func(code string) Answer {
		if !isOn() {
			return Answer{}
		}
		code = strings.TrimSpace(code)
		if len(ask.Choices) == 0 { // The card shows the key "/", although the question is open already.
			code = strings.TrimPrefix(code, "/")
		}
		if problem := entry.CheckCode(code); problem != "" {
			return Answer{Wrong: q.Say(problem)}
		}
		isKnown := slices.ContainsFunc(d.Form().Results(), func(r apitype.ResultChoice) bool { return r.Code == code })
		if isKnown || len(ask.Choices) == 0 {
			return take(code)()
		}
		sure := q.confirm(
			q.Say("A new result code"),
			take(code),
			q.Say("No such call has had the result %q so far. Use it anyway?", render.Clean(code)),
		)
		sure.Left, ask.Value = func() *Question { return ask }, code
		return Answer{Next: sure}
	}
	return ask
}

// begin keeps the lease and asks for the result.
func (q *Questions) begin() Answer {
	next := q.Form()
	next.Events = append(q.day.KeepLease(), next.Events...)
	return next
}

// Form asks for the result, the rating and the notes, one after the other, and sends them. An empty answer keeps the
// earlier entry.
func (q *Questions) Form() Answer {
	d, kept := q.day, ""
	if d.HasDraft() {
		kept = q.Say(", or as entered")
	}
	notes := &Question{Title: q.Say("notes, empty for none") + kept, HasLines: true}
	notes.Empty = q.onCall(func() Answer {
		if why := d.Form().WhyNotComplete(); why != "" {
			return Answer{Wrong: why}
		}
		return q.Complete()
	})
	notes.Typed = func(text string) Answer {
		d.Form().SetNotes(text)
		return notes.Empty()
	}
	rating := &Question{
		Title: q.Say("rating from 0 to 10, empty for none") + kept,
		Empty: func() Answer { return Answer{Next: notes} },
	}
	rating.Typed = func(text string) Answer {
		n, err := strconv.Atoi(text)
		if err != nil {
			return Answer{Wrong: "the rating must be a number"}
		}
		if n < 0 || n > 10 {
			return Answer{Wrong: "the rating must be from 0 to 10"}
		}
		d.Form().SetRating(&n)
		return Answer{Next: notes}
	}
	result := q.Result(rating.again)
	result.Title = q.Say("result code") + kept
	result.Empty = func() Answer {
		if d.Form().ResultCode == "" {
			return Answer{Wrong: "a result is needed"}
		}
		return rating.again()
	}
	return result.again()
}

func (q *Question) again() Answer { return Answer{Next: q} }

// NewCall asks for the subject of a new call to a donor without an open call.
func (q *Questions) NewCall(c donors.Caller) *Question {
	ask := &Question{Title: q.Say("%s has no open call", c.Name), IsLate: true}
	for _, kind := range apitype.CallTypes {
		pick := func() Answer { return Answer{Events: q.day.NewCall(c, kind)} }
		ask.Choices = append(
			ask.Choices,
			Choice{Label: q.Say("a new call") + ": " + q.Say(render.Words(string(kind))), Pick: pick},
		)
	}
	return ask
}

// AskRecent offers the last calls with their outcome.
func (q *Questions) AskRecent() Answer {
	return q.Recent(func(r changes.Recent) string { return r.What + ": " + q.Say(r.Fate.String()) }, "{undo}").again()
}

// Recent offers the last calls, to open one again. text returns the outcome of each in the words of the face.
func (q *Questions) Recent(text func(changes.Recent) string, undo string) *Question {
	ask := &Question{Title: q.Say("My last calls"), Hint: q.Say("Enter opens one again")}
	for _, r := range q.day.Changes.Recent {
		c := Choice{
			Label: r.At.Format("15:04") + "  " + r.Name + "  " + text(r),
			Pick:  func() Answer { return Answer{Events: q.day.Take(r.Call)} },
		}
		if r.Fate == changes.FateHeld && q.day.Changes.HeldFor(r) > 0 {
			c.Why = q.Say("%s undoes it", undo)
		}
		ask.Choices = append(ask.Choices, c)
	}
	return ask
}

// Dial dials the donor's first number. Once that was dialled, it dials the next one.
func (q *Questions) Dial() Answer {
	next, _ := q.day.Card().NextNumber()
	return q.DialNumber(next)
}

// DialNumber dials a number, and keeps the lease.
func (q *Questions) DialNumber(n card.Number) Answer {
	dial := func() Answer {
		events := q.day.KeepLease()
		return Answer{Events: append(events, q.day.Dial(n)...)}
	}
	return q.onceAllowed(func() Answer { return q.onceWarned(dial) })
}

// Ticks asks which facts were checked, until the agent leaves.
func (q *Questions) Ticks() Answer {
	ask := &Question{Title: "what was checked"}
	for _, f := range q.day.Card().Facts(func(said string) string { return q.Say(cmp.Or(said, "unknown")) }) {
		label := f.Label + ": " + cmp.Or(f.String(), q.Say("none"))
		if f.Checked {
			label += ", " + q.Say("checked")
		}
		ask.Choices = append(
			ask.Choices,
			Choice{Key: cmp.Or(f.Press, f.ID), Label: label, Pick: q.onCall(func() Answer {
				q.day.Form().Tick(f.ID)
				return q.Ticks()
			})},
		)
	}
	return Answer{Next: ask}
}
