package desk

import (
	"context"
	"errors"
	"os/exec"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/event"
)

// NumberPlace is replaced by the number in the arguments of [Options].Dial.
const NumberPlace = "{number}"

// Dial calls a number with the program of the profile, and starts the clock of the call. Without a program
// the agent dials by hand. The number is a part of one argument: no shell reads it.
func (d *Day) Dial(number card.Number) []event.Event {
	rang := d.Card().RangText(number)
	d.dials = append(d.dials, card.DialledNumber{Kind: number.Kind, At: d.Now()})
	if len(d.Options.Dial) == 0 {
		text := d.Say("Dial the %s number by hand: the clock is running.", d.Say(number.Kind))
		d.Notify(event.Notice{Text: text + rang})
		return d.Drain()
	}
	argv := make([]string, len(d.Options.Dial))
	for i, arg := range d.Options.Dial {
		argv[i] = strings.ReplaceAll(arg, NumberPlace, number.Digits)
	}
	owner, program := event.OfCall(d.Call.UUID), d.Options.Dial[0]
	event.Do(d.Queue, "number dialled", func(ctx context.Context) (any, error) {
		// The call goes on when the Desk ends.
		return nil, exec.CommandContext(context.WithoutCancel(ctx), program, argv[1:]...).
			Run()
		//nolint:gosec // The agent's own profile names the program.
	}, func(_ any, err error) {
		if err == nil {
			return
		}
		cause := "it ended with an error"
		if errors.Is(err, exec.ErrNotFound) {
			cause = "there is no such program"
		}
		d.FailOf(owner, d.Say("cannot dial with %s: %s; the setting is dial of the profile", program, d.Say(cause)))
	})
	d.Notify(event.Notice{Text: d.Say("dialling the %s number", d.Say(number.Kind)) + rang})
	return d.Drain()
}

// struckNumber is a number of the donor that does not exist, by an attempt.
type struckNumber struct {
	kind  string         // Of [card.Number].
	group *changes.Group // With the attempt. An undo restores the number.
}

// NotReached records an attempt and takes the next call. What was typed stays a draft. reason may be empty.
func (d *Day) NotReached(reason apitype.NotReached) []event.Event {
	attempt, describes := d.attempt(reason)
	if next, isLeft := d.Card().NumberAfter(reason); isLeft {
		d.struck = append(d.struck, struckNumber{d.Card().KindOf(reason), attempt.Group})
		attempt.Next = d.Say("the card stays, and the %s number is next", d.Say(next.Kind))
		d.Changes.Add(attempt)
	} else {
		d.finish(attempt, d.Card().NotReachedText(reason), false)
	}
	d.Changes.Add(describes...)
	return d.Drain()
}

// NotReachedWithNote is NotReached that also leaves the notes for the next agent.
func (d *Day) NotReachedWithNote(reason apitype.NotReached) []event.Event {
	attempt, describes := d.attempt(reason)
	change, err := apiclient.LeaveNoteChange(d.Call.UUID, apitype.NoteRequest{Text: d.entered.Notes})
	note := changes.Change{
		Change: change,
		Label:  d.Say("not reached, your notes for the next agent") + ": " + d.Name(),
		Err:    err,
		Group:  attempt.Group,
	}
	d.Changes.Add(attempt)
	besides := d.Draft()
	besides.Notes = ""
	// A result or a correction stays a draft, with the notes.
	d.finish(note, d.Card().NotReachedText(reason), besides.IsEmpty())
	d.Changes.Add(describes...)
	return d.Drain()
}

// attempt returns the attempt for the call on the Desk, and its description if there is one. Its time is the time of
// dialling.
func (d *Day) attempt(reason apitype.NotReached) (attempt changes.Change, describes []changes.Change) {
	at := *d.Changes.Time()
	if dialled := d.Card().Dialled(); !dialled.IsZero() {
		at = apitype.NewTime(dialled)
	}
	attempt = d.Changes.AttemptAt(d.Call.UUID, &at, d.Card().NotReachedText(reason)+": "+d.Name())
	attempt.Group = new(changes.Group)
	request := apitype.AttemptReasonRequest{}
	if reason != "" {
		request.Reason = &reason
	}
	kind := apitype.PhoneKind(d.Card().KindOf(reason))
	hasChoice := len(card.Numbers(d.Call.Person.Pointer())) > 1
	if kind != "" && (reason != "" || hasChoice) {
		request.Number = &kind
	}
	isEmpty := request.Reason == nil && request.Number == nil
	if isEmpty || !d.Has(apitype.ExtensionAttempts) {
		return attempt, nil
	}
	change, err := apiclient.DescribeAttemptChange(d.Call.UUID, at, request)
	label := d.Say("reason of the attempt") + ": " + d.Name()
	described := changes.Change{Change: change, Label: label, Err: err, IsExtra: true, Group: attempt.Group}
	return attempt, []changes.Change{described}
}

// Later schedules a callback of the call on the Desk, for the agent alone or for any agent, and takes the next
// one. It is held like every change; what was typed stays a draft.
func (d *Day) Later(c apitype.Callback, forMe bool) []event.Event {
	call, name, whose := d.Call.UUID, d.Name(), d.Card().WhoseCallback(forMe)
	request := apitype.DeferRequest{NotBefore: new(apitype.NewTime(c.At))}
	if forMe {
		request.UserUUID = new(d.Leases.Agent())
	}
	if c.Reason != "" {
		request.Reason = &c.Reason
	}
	if l := d.Leases.Of(call); l != nil {
		request.LeaseUUID = &l.LeaseUUID
	}
	change, err := apiclient.DeferCallChange(call, request)
	what := d.Say("later") + ": " + d.Date(c.At.In(d.Now().Location()).Format("Mon 2 Jan 15:04")) + ", " + whose
	d.finish(
		changes.Change{
			Change: change,
			Label:  d.Say("later") + ": " + name + ", " + d.Card().BothTimes(c.At) + ", " + whose,
			Err:    err,
		},
		what,
		false,
	)
	return d.Drain()
}

// noteReason keeps the reason that the lease of the call on the Desk has, also for when the lease has ended.
func (d *Day) noteReason() {
	l := d.Leases.Of(d.Call.UUID)
	if l != nil && l.Reason != nil {
		d.callbackReason = *l.Reason
	}
}
