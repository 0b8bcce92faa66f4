package desk

import (
	"cmp"
	"strings"
)

// Action is something that an agent does at the desk. Its texts name the keys of other actions as {next-call}.
type Action struct {
	ID   string
	Keys string                  // In both faces, separated by blanks. A line can be typed only for one of letters.
	Word string                  // Short.
	Help string                  // What it does.
	Run  func(*Questions) Answer // Asks questions that work in every face. Nil if each face does it in its own way.
	why  func(d *Day) string     // Returns why it is not possible now. Nil if it always is.
}

// Why returns why an action does nothing now, or an empty text if it does something.
func (a Action) Why(d *Day) string {
	if a.why == nil {
		return ""
	}
	return a.why(d)
}

// ActionOf returns an action by its id.
func ActionOf(id string) (Action, bool) {
	for _, a := range Actions() {
		if a.ID == id {
			return a, true
		}
	}
	return Action{}, false
}

// Actions returns all actions of the desk.
func Actions() []Action {
	day := func(run func(*Day) []Event) func(*Questions) Answer {
		return func(q *Questions) Answer { return Answer{Events: run(q.day)} }
	}
	return []Action{
		{"next-call", "n", "next", "take the next call", day((*Day).Next), nil},
		{"dial", "d", "dial", "dial the number, and start the clock of the call", (*Questions).Dial, whyNotDial},
		{
			"not-reached",
			"a",
			"not reached",
			"not reached: record an attempt, take the next call",
			(*Questions).NotReached,
			whyNotEnd,
		},
		{
			"result",
			"c",
			"result",
			"choose the result code, then the rating",
			func(q *Questions) Answer { return q.onceAllowed(func() Answer { return q.onceWarned(q.begin) }) },
			whyNotResult,
		},
		{"rating", "r", "rating", "rate the donor's retention, 0 to 10", nil, whyNotEnd},
		{"notes", "i", "notes", "write notes (esc leaves them)", nil, whyNoCall},
		{"complete", "ctrl+s", "complete", "complete the call, take the next one", (*Questions).Complete, whyNotComplete},
		{"fix", "f", "correct", "correct the donor's details and the pledge…", (*Questions).Fixes, whyNotFix},
		{
			"tick",
			"space",
			"tick",
			"tick the fact that was checked, or take the tick back; a digit after it chooses the fact",
			(*Questions).Ticks,
			whyNotFix,
		},
		{"skip", "s", "skip", "skip the call for now", (*Questions).Skip, whyNoCall},
		{
			"later",
			"b",
			"later",
			"later: put the call off to a day and time, for you or for anybody…",
			(*Questions).AskLater,
			func(d *Day) string { return cmp.Or(d.WhyNotLater(), whyNoCall(d)) },
		},
		{
			"narrow",
			"F",
			"types and languages",
			"choose the types and languages of the calls that you take…",
			func(q *Questions) Answer { return q.Narrow().again() },
			nil,
		},
		{"cancel", "X", "cancel", "cancel the call…", (*Questions).Cancel, whyNotEnd},
		{"expire", "e", "expire", "expire the call…", (*Questions).Expire, whyNotEnd},
		{"mark-processed", "m", "mark processed", "mark the call as processed", day((*Day).MarkProcessed), whyNoCall},
		{"find", "/", "find", "find a donor who calls back: a name, or digits of a number…", nil, nil},
		{
			"accept",
			"enter",
			"accept",
			"open what the message line offers; without an offer: the next call, or your last calls",
			nil,
			nil,
		},
		{
			"last-calls",
			"H",
			"last calls",
			"your last calls, to open one again…",
			(*Questions).AskRecent,
			func(d *Day) string { return When(len(d.Recent) == 0, "you have worked on no call yet") },
		},
		{"person", "o", "person", "open the person", nil, whyNoCall},
		{"pledge", "p", "pledge", "open the pledge", nil, func(d *Day) string {
			return cmp.Or(When(d.Call != nil && d.Call.RelatedCaseUUID == nil, "the call has no pledge"), whyNoCall(d))
		}},
		{"copy", "y", "copy", "copy the number to dial", nil, whyNoCall},
		{"copy-other", "Y", "copy…", "copy another number, the e-mail address or a UUID…", nil, whyNoCall},
		{
			"resume-draft",
			"D",
			"latest draft",
			"go on with the latest draft",
			day((*Day).Resume),
			func(d *Day) string { return When(len(d.Changes.Drafts) == 0, "there is no draft") },
		},
		{"skipped", "K", "passed over", "show the calls that were passed over, and why", nil, nil},
		{"warnings", "W", "warnings", "show all reasons not to call now", nil, whyNoCall},
		{
			"undo",
			"u",
			"undo",
			"undo the last change, while it is held",
			day((*Day).Undo),
			func(d *Day) string { return When(!d.Changes.CanUndo(), "nothing to undo: no change is held") },
		},
	}
}

// When returns why if something is so, or else an empty text.
func When(is bool, why string) string {
	if is {
		return why
	}
	return ""
}

func whyNoCall(d *Day) string {
	return When(d.Call == nil, "no call on the desk: {next-call} takes the next one")
}

func whyNotEnd(d *Day) string {
	if why := whyNoCall(d); why != "" {
		return why
	}
	return d.Form.Ended()
}

func whyNotResult(d *Day) string { return cmp.Or(whyNotEnd(d), d.whyNoResults()) }

func whyNotFix(d *Day) string {
	return cmp.Or(
		whyNotEnd(d),
		When(d.Call != nil && d.Call.Person.Pointer() == nil, "the person is not shown to this account"),
	)
}

// whyNotComplete names the key, too, that does what is missing.
func whyNotComplete(d *Day) string {
	if why := cmp.Or(whyNoCall(d), d.whyNoResults()); why != "" {
		return why
	}
	why := d.Form.WhyNotComplete()
	half, _ := d.Form.HalfAddress()
	switch {
	case why == "":
		return ""
	case d.Form.ResultCode == "":
		return why + ": {result}"
	case why == half:
		return why + ": {fix}"
	case d.Form.Ended() == "":
		return why + ": {notes}"
	default:
		return why
	}
}

// WithKeys returns a text with the keys that it names, as a face has them.
func WithKeys(text string, keyOf func(id string) string) string {
	before, rest, names := strings.Cut(text, "{")
	id, after, ends := strings.Cut(rest, "}")
	if !names || !ends {
		return text
	}
	return before + keyOf(id) + WithKeys(after, keyOf)
}
