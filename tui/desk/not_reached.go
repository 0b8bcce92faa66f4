package desk

import (
	"slices"
	"strconv"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/say"
)

// ReasonWords returns the reason of an attempt in words.
func ReasonWords(reason apitype.NotReached) string {
	return strings.ReplaceAll(string(reason), "-", " ")
}

// struckNumber is a number of the donor that does not exist, by an attempt.
type struckNumber struct {
	kind  string       // Of [Number].
	group *changeGroup // With the attempt. If that is undone, the number stands again.
}

// IsStruck reports whether a number of the donor was found not to exist while the call is on the Desk.
func (k *Card) IsStruck(kind string) bool {
	return slices.ContainsFunc(k.day.struck, func(s struckNumber) bool { return s.kind == kind && !s.group.isBack() })
}

// isBack reports whether all of a group was undone.
func (g *changeGroup) isBack() bool {
	return len(g.parts) > 0 && !slices.ContainsFunc(g.parts, func(p *part) bool { return p.fate != partBack })
}

// NotReached records an attempt and takes the next call. What was typed stays a draft.
func (d *Day) NotReached() []Event { return d.NotReachedFor("") }

// NotReachedFor is NotReached with a reason, which may be empty.
func (d *Day) NotReachedFor(reason apitype.NotReached) []Event {
	attempt, describes := d.attempt(reason)
	if next, isLeft := d.numberAfter(reason); isLeft {
		d.struck = append(d.struck, struckNumber{d.dialledKind(), attempt.group})
		attempt.next = d.Say("the card stays, and the %s number is next", d.Say(next.Kind))
		d.Changes.submit(attempt)
	} else {
		d.finish(attempt, d.notReachedWords(reason), false)
	}
	for _, change := range describes {
		d.Changes.submit(change)
	}
	return d.drain()
}

// NotReachedWithNote is NotReachedFor that also leaves the notes for the next agent.
func (d *Day) NotReachedWithNote(reason apitype.NotReached) []Event {
	attempt, describes := d.attempt(reason)
	change, err := apiclient.LeaveNoteChange(d.Call.UUID, apitype.NoteRequest{Text: d.Form.Notes})
	note := Change{
		Change: change,
		Label:  d.Say("not reached, your notes for the next agent") + ": " + d.Name(),
		err:    err,
		group:  attempt.group,
	}
	d.Changes.submit(attempt)
	besides := d.Form.Draft()
	besides.Notes = ""
	// A result or a correction stays a draft, with the notes.
	d.finish(note, d.notReachedWords(reason), besides.IsEmpty())
	for _, change := range describes {
		d.Changes.submit(change)
	}
	return d.drain()
}

func (d *Day) notReachedWords(reason apitype.NotReached) string {
	if reason == "" {
		return d.Say("not reached")
	}
	return d.Say("not reached") + ", " + d.Say(ReasonWords(reason))
}

// attempt returns the attempt for the call on the Desk, and its description if there is one. Its time is the time of
// dialling.
func (d *Day) attempt(reason apitype.NotReached) (attempt Change, describes []Change) {
	at := *d.Changes.now()
	if dialled := d.Card.Dialled(); !dialled.IsZero() {
		at = apitype.NewTime(dialled)
	}
	attempt = d.Changes.attemptAt(d.Call.UUID, &at, d.notReachedWords(reason)+": "+d.Name())
	attempt.group = new(changeGroup)
	request := apitype.AttemptReasonRequest{}
	if reason != "" {
		request.Reason = &reason
	}
	kind := apitype.PhoneKind(d.dialledKind())
	hasChoice := len(Numbers(d.Call.Person.Pointer())) > 1
	if kind != "" && (reason != "" || hasChoice) {
		request.Number = &kind
	}
	isEmpty := request.Reason == nil && request.Number == nil
	if isEmpty || !d.has(apitype.ExtensionAttempts) {
		return attempt, nil
	}
	change, err := apiclient.DescribeAttemptChange(d.Call.UUID, at, request)
	label := d.Say("reason of the attempt") + ": " + d.Name()
	described := Change{Change: change, Label: label, err: err, isExtra: true, group: attempt.group}
	return attempt, []Change{described}
}

// dialledKind returns which number was dialled last: the first one, if the agent dialled by hand, or an empty text.
func (d *Day) dialledKind() string {
	if n := len(d.dialled); n > 0 {
		return d.dialled[n-1].kind
	}
	if all := Numbers(d.Call.Person.Pointer()); len(all) == 1 {
		return all[0].Kind
	}
	return ""
}

// numberAfter returns another number that was not dialled yet, after one that does not exist.
func (d *Day) numberAfter(reason apitype.NotReached) (Number, bool) {
	kind := d.dialledKind()
	if reason != apitype.NotReachedNoSuchNumber || kind == "" {
		return Number{}, false
	}
	for _, n := range Numbers(d.Call.Person.Pointer()) {
		if n.Kind != kind && d.Card.Rang(n.Kind).IsZero() && !d.Card.IsStruck(n.Kind) {
			return n, true
		}
	}
	return Number{}, false
}

// NotReachedWhy asks why the donor was not reached, and records the attempt.
func (q *Questions) NotReachedWhy() Answer {
	return q.OnceEnding(func() Answer {
		ask := &Question{Title: q.Say("Not reached: why?"), IsKeyed: true}
		for i, reason := range apitype.NotReachedReasons {
			pick := q.onCall(func() Answer { return q.notReached(reason) })
			ask.Choices = append(ask.Choices, Choice{
				Key:   strconv.Itoa(i + 1),
				Label: q.Say(ReasonWords(reason)),
				Pick:  pick,
			})
		}
		return ask.again()
	})
}

func whyNoReasons(d *Day) string {
	if why := whyNotEnd(d); why != "" {
		return why
	}
	return say.When(
		!d.has(apitype.ExtensionAttempts),
		"this service keeps no reasons of attempts: {not-reached} records the attempt",
	)
}

// NotReached records an attempt. It asks about typed notes.
func (q *Questions) NotReached() Answer {
	return q.OnceEnding(func() Answer { return q.notReached("") })
}

func (q *Questions) notReached(reason apitype.NotReached) Answer {
	record := func() Answer { return q.recordAttempt(reason) }
	undone := q.day.undone
	if !undone.hasAttempt() {
		return record()
	}
	again := q.Say("Another key records another attempt. Record it all the same?")
	return Answer{Next: q.confirm(q.Say("An attempt was recorded"), record, undone.remains(q.base)+". "+again)}
}

func (q *Questions) recordAttempt(reason apitype.NotReached) Answer {
	d := q.day
	_, stays := d.numberAfter(reason)
	if !d.has(apitype.ExtensionNotes) || strings.TrimSpace(d.Form.Notes) == "" || stays {
		return Answer{Events: d.NotReachedFor(reason)}
	}
	return Answer{Next: &Question{Title: q.Say("Not reached: where do your notes go?"), Choices: []Choice{
		{
			Key:   "n",
			Label: q.Say("with the attempt: the next agent reads them"),
			Pick:  q.onCall(does(func() []Event { return d.NotReachedWithNote(reason) })),
		},
		{
			Key:   "d",
			Label: q.Say("into a draft: only you see them"),
			Pick:  q.onCall(does(func() []Event { return d.NotReachedFor(reason) })),
		},
	}}}
}
