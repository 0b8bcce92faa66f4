package disposition

import (
	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
)

// NotReached records an attempt. What was typed stays a draft. The reason may be empty. After a number that does not
// exist, the call stays on the Desk if the donor has another number.
func NotReached(reason apitype.NotReached) Func {
	return func(c Call) Disposition {
		made := Disposition{What: c.NotReachedText(reason)}
		made.Change, made.After = attempt(c, reason)
		made.group()
		if next, isLeft := c.NumberAfter(reason); isLeft {
			made.DeadNumber = c.KindOf(reason)
			made.Next = c.Say("the card stays, and the %s number is next", c.Say(next.Kind))
		}
		return made
	}
}

// NotReachedWithNote is NotReached that also leaves the notes for the next agent.
func NotReachedWithNote(reason apitype.NotReached) Func {
	return func(c Call) Disposition {
		change, err := apiclient.LeaveNoteChange(c.Call.UUID, apitype.NoteRequest{Text: c.Notes})
		besides := c.Draft
		besides.Notes = ""
		tried, described := attempt(c, reason)
		made := Disposition{
			Before: []changes.Change{tried},
			Change: changes.Change{
				Change: change,
				Label:  c.label(c.Say("not reached, your notes for the next agent")),
				Err:    err,
			},
			After:    described,
			What:     c.NotReachedText(reason),
			TextGoes: besides.IsEmpty(), // A result or a correction stays a draft, with the notes.
		}
		made.group()
		return made
	}
}

// attempt returns the attempt of a call, and its description if there is one. Its time is the time of dialling.
func attempt(c Call, reason apitype.NotReached) (changes.Change, []changes.Change) {
	at := *c.Author.Time()
	if dialled := c.Dialled(); !dialled.IsZero() {
		at = apitype.NewTime(dialled)
	}
	tried := c.Author.AttemptAt(c.Call.UUID, &at, c.label(c.NotReachedText(reason)))
	request := apitype.AttemptReasonRequest{}
	if reason != "" {
		request.Reason = &reason
	}
	kind := apitype.PhoneKind(c.KindOf(reason))
	hasChoice := len(card.Numbers(c.Call.Person.Pointer())) > 1
	if kind != "" && (reason != "" || hasChoice) {
		request.Number = &kind
	}
	isEmpty := request.Reason == nil && request.Number == nil
	if isEmpty || !c.KeepsReasons {
		return tried, nil
	}
	change, err := apiclient.DescribeAttemptChange(c.Call.UUID, at, request)
	label := c.label(c.Say("reason of the attempt"))
	return tried, []changes.Change{{
		Change:  change,
		Label:   label,
		Err:     err,
		IsExtra: true,
	}}
}

// Later schedules a callback, for the agent alone or for any agent. What was typed stays a draft.
func Later(at apitype.Callback, forMe bool) Func {
	return func(c Call) Disposition {
		request := apitype.DeferRequest{NotBefore: new(apitype.NewTime(at.At)), Replaces: c.Replaces}
		if forMe {
			request.UserUUID = &c.User
		}
		if at.Reason != "" {
			request.Reason = &at.Reason
		}
		if c.Lease != nil {
			request.LeaseUUID = &c.Lease.LeaseUUID
		}
		change, err := apiclient.DeferCallChange(c.Call.UUID, request)
		later, whose := c.Say("later"), c.WhoseCallback(forMe)
		return Disposition{
			Change: changes.Change{
				Change: change,
				Label:  c.label(later) + ", " + c.BothTimes(at.At) + ", " + whose,
				Err:    err,
			},
			What: later + ": " + c.Date(at.At.In(c.Now().Location()).Format("Mon 2 Jan 15:04")) + ", " + whose,
		}
	}
}
