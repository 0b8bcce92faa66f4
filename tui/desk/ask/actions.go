package ask

import (
	"cmp"
	"slices"
	"strings"

	"fundesk/apiclient/outbox"
	"fundesk/tui/desk"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/say"
)

// Action is something that an agent does at the desk. Its texts name the keys of other actions as {next-call}.
type Action struct {
	ID   string
	Keys string                   // In both faces, separated by blanks.
	Line string                   // The key where keys are typed as a line. Empty for the first of Keys.
	Word string                   // Short.
	Help string                   // What it does.
	Run  func(*Questions) Answer  // Asks questions that work in every face. Nil if each face does it in its own way.
	why  func(d *desk.Day) string // Returns why it is not possible now. Nil if it always is.
}

// Why returns why an action does nothing now, or an empty text if it does something.
func (a Action) Why(d *desk.Day) string {
	if a.why == nil {
		return ""
	}
	return a.why(d)
}

// LineKey returns the key where keys are typed as a line.
func (a Action) LineKey() string {
	if a.Line != "" {
		return a.Line
	}
	key, _, _ := strings.Cut(a.Keys, " ")
	return key
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
	day := func(run func(*desk.Day) []event.Event) func(*Questions) Answer {
		return func(q *Questions) Answer { return Answer{Events: run(q.day)} }
	}
	return []Action{
		{
			ID:   "next-call",
			Keys: "n",
			Word: "next",
			Help: "take the next call",
			Run:  day((*desk.Day).Next),
		},
		{
			ID:   "dial",
			Keys: "d",
			Word: "dial",
			Help: "dial the number, and start the clock of the call",
			Run:  (*Questions).Dial,
			why:  whyNotDial,
		},
		{
			ID:   "not-reached",
			Keys: "a",
			Word: "not reached",
			Help: "not reached: record an attempt, take the next call",
			Run:  (*Questions).NotReached,
			why:  whyNotEnd,
		},
		{
			ID:   "not-reached-why",
			Keys: "A",
			Word: "not reached…",
			Help: "not reached, with the reason: no answer, busy, voicemail, no such number…",
			Run:  (*Questions).NotReachedWhy,
			why:  whyNoReasons,
		},
		{
			ID:   "result",
			Keys: "c",
			Word: "result",
			Help: "choose the result code, then the rating",
			Run: func(q *Questions) Answer {
				return q.onceAllowed(func() Answer { return q.onceWarned(q.begin) })
			},
			why: whyNotResult,
		},
		{
			ID:   "rating",
			Keys: "r",
			Word: "rating",
			Help: "rate the donor's retention, 0 to 10",
			why:  whyNotEnd,
		},
		{
			ID:   "notes",
			Keys: "i",
			Word: "notes",
			Help: "write notes (esc leaves them)",
			why:  whyNoCall,
		},
		{
			ID:   "complete",
			Keys: "ctrl+s",
			Line: "S",
			Word: "complete",
			Help: "complete the call, take the next one",
			Run:  (*Questions).Complete,
			why:  whyNotComplete,
		},
		{
			ID:   "fix",
			Keys: "f",
			Word: "correct",
			Help: "correct the donor's details and the pledge…",
			Run:  (*Questions).Fixes,
			why:  whyNotFix,
		},
		{
			ID:   "tick",
			Keys: "space",
			Line: "t",
			Word: "tick",
			Help: "tick the detail that you checked, or untick it; a digit after it chooses the detail",
			Run:  (*Questions).Ticks,
			why:  whyNotFix,
		},
		{
			ID:   "script",
			Keys: ".",
			Word: "script",
			Help: "tick the present step of the script, and go on; an answer goes into the notes",
			Run:  (*Questions).NextStep,
			why:  whyNoScript,
		},
		{
			ID:   "script-back",
			Keys: ",",
			Line: "<",
			Word: "a step back",
			Help: "go back to the previous step of the script",
			Run:  (*Questions).PreviousStep,
			why:  whyNoStepBack,
		},
		{
			ID:   "skip",
			Keys: "s",
			Word: "skip",
			Help: "skip the call for now",
			Run:  (*Questions).Skip,
			why:  whyNoCall,
		},
		{
			ID:   "later",
			Keys: "b",
			Word: "later",
			Help: "later: schedule a callback, for you or for any agent…",
			Run:  (*Questions).AskLater,
			why:  func(d *desk.Day) string { return cmp.Or(whyNotLater(d), whyNoCall(d)) },
		},
		{
			ID:   "callbacks",
			Keys: "C",
			Word: "my callbacks",
			Help: "your callbacks with their reasons, to open one…",
			Run:  (*Questions).AskCallbacks,
			why:  whyNoCallbacks,
		},
		{
			ID:   "narrow",
			Keys: "F",
			Word: "types and languages",
			Help: "choose the types and languages of the calls that you take…",
			Run:  func(q *Questions) Answer { return q.Narrow().again() },
		},
		{
			ID:   "cancel",
			Keys: "X",
			Word: "cancel",
			Help: "cancel the call…",
			Run:  (*Questions).Cancel,
			why:  whyNotEnd,
		},
		{
			ID:   "expire",
			Keys: "e",
			Word: "expire",
			Help: "expire the call…",
			Run:  (*Questions).Expire,
			why:  whyNotEnd,
		},
		{
			ID:   "mark-processed",
			Keys: "m",
			Word: "mark processed",
			Help: "mark the call as processed",
			Run:  (*Questions).MarkProcessed,
			why:  whyNoCall,
		},
		{
			ID:   "find",
			Keys: "/",
			Word: "find",
			Help: "find a donor who calls back: a name, or digits of a number…",
		},
		{
			ID:   "accept",
			Keys: "enter",
			Line: "l",
			Word: "accept",
			Help: "open what the message line offers; without an offer: the next call, or your last calls",
		},
		{
			ID:   "last-calls",
			Keys: "H",
			Word: "last calls",
			Help: "your last calls, to open one again…",
			Run:  (*Questions).AskRecent,
			why: func(d *desk.Day) string {
				return say.When(len(d.Changes.Recent) == 0, "you have not worked on a call yet")
			},
		},
		{
			ID:   "pause",
			Keys: "P",
			Word: "pause",
			Help: "pause: break, lunch, coaching or technical; your calls are given back…",
			Run:  (*Questions).AskPause,
			why:  whyNotPause,
		},
		{
			ID:   "person",
			Keys: "o",
			Word: "person",
			Help: "open the person",
			why:  whyNoCall,
		},
		{
			ID:   "pledge",
			Keys: "p",
			Word: "pledge",
			Help: "open the pledge",
			why:  whyNoPledge,
		},
		{
			ID:   "copy",
			Keys: "y",
			Word: "copy",
			Help: "copy the number to dial",
			why:  whyNoCall,
		},
		{
			ID:   "copy-other",
			Keys: "Y",
			Word: "copy…",
			Help: "copy another number, the e-mail address or a UUID…",
			why:  whyNoCall,
		},
		{
			ID:   "resume-draft",
			Keys: "D",
			Word: "latest draft",
			Help: "go on with the latest draft",
			Run:  day((*desk.Day).Resume),
			why:  whyNoDraft,
		},
		{
			ID:   "skipped",
			Keys: "K",
			Word: "passed over",
			Help: "show the calls that were passed over, and why",
		},
		{
			ID:   "warnings",
			Keys: "W",
			Word: "warnings",
			Help: "show all reasons not to call now",
			why:  whyNoCall,
		},
		{
			ID:   "undo",
			Keys: "u",
			Word: "undo",
			Help: "undo the last change, while it is held",
			Run:  day(func(d *desk.Day) []event.Event { return d.Changes.Undo() }),
			why: func(d *desk.Day) string {
				return say.When(!d.Changes.CanUndo(), "nothing to undo: no change is held")
			},
		},
	}
}

func whyNoCall(d *desk.Day) string {
	return say.When(d.Call == nil, "no call on the desk: {next-call} takes the next one")
}

func whyNoDraft(d *desk.Day) string {
	isOther := func(draft outbox.Draft) bool { return !d.IsOn(draft.Call) }
	if len(d.Changes.Drafts.All) == 0 {
		return "there is no draft"
	}
	if !slices.ContainsFunc(d.Changes.Drafts.All, isOther) {
		return "the draft is open already"
	}
	return ""
}

func whyNoPledge(d *desk.Day) string {
	return cmp.Or(say.When(d.Call != nil && d.Call.RelatedCaseUUID == nil, "the call has no pledge"), whyNoCall(d))
}

func whyNotEnd(d *desk.Day) string {
	if why := whyNoCall(d); why != "" {
		return why
	}
	return d.Form().Ended()
}

func whyNotResult(d *desk.Day) string { return cmp.Or(whyNotEnd(d), d.WhyNoResults()) }

// whyNotComplete also names the key for the missing step.
func whyNotComplete(d *desk.Day) string {
	if why := cmp.Or(whyNoCall(d), d.WhyNoResults()); why != "" {
		return why
	}
	why := d.Form().WhyNotComplete()
	half, _ := d.Form().HalfAddress()
	if why == "" {
		return ""
	}
	if d.Form().ResultCode == "" {
		return why + ": {result}"
	}
	if why == half {
		return why + ": {fix}"
	}
	if d.Form().Ended() == "" {
		return why + ": {notes}"
	}
	return why
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

// whyNotFix returns why details of the call on the Desk cannot be corrected, or an empty text.
func whyNotFix(d *desk.Day) string {
	if why := whyNotEnd(d); why != "" {
		return why
	}
	return say.When(d.Call.Person.Pointer() == nil, "the person is not shown to this account")
}

// whyNotLater returns why the call on the Desk cannot be deferred.
func whyNotLater(d *desk.Day) string {
	if !d.Leases.HasQueue {
		return "the service has no queue, so calls cannot be deferred"
	}
	if d.Call != nil {
		return d.Form().Ended()
	}
	return ""
}
