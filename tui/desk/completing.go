package desk

import (
	"strconv"
	"strings"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
)

// CompleteCall sends the result and takes the next call.
func (d *Day) CompleteCall() []event.Event {
	result := &apitype.CallResultRequest{CompletedAt: d.Changes.Time(), ResultCode: new(d.entered.ResultCode)}
	if notes := d.entered.Notes; strings.TrimSpace(notes) != "" {
		result.Notes = &notes
	}
	if d.entered.Rating != nil {
		result.DonorRetentionRating = new(apitype.NumberFromInt(*d.entered.Rating))
	}
	request := apitype.CompleteCallRequest{UserUUID: d.Agent, Result: result}
	if problems := request.Validate(); len(problems) > 0 {
		d.FailOf(event.OfCall(d.Call.UUID), event.ErrorText("not sent", problems))
		return d.Drain()
	}
	change, err := apiclient.CompleteCallChange(d.Call.UUID, request)
	what := d.Form().ResultWords()
	if d.entered.Rating != nil {
		what += ", " + strconv.Itoa(*d.entered.Rating)
	}
	// One group, in order: a refused change holds back the ones after it.
	label := d.Form().ResultWords() + ": " + d.Name()
	completion := changes.Change{
		Change: change,
		Label:  label,
		Says:   strings.Join(d.Form().CorrectionWords(), ", "),
		Effect: d.floor.StoredEffect(d.Call, d.Form().Result(d.entered.ResultCode)),
		Err:    err,
	}
	checks, hasChecks := d.checksChange()
	fixes := d.fixChanges()
	if len(fixes) > 0 || hasChecks {
		completion.Group = new(changes.Group)
		checks.Group = completion.Group
	}
	for _, fix := range fixes {
		fix.Group = completion.Group
		d.Changes.Add(fix)
	}
	d.finish(completion, what, true)
	if hasChecks { // Last: a refusal of them must not hold back the result.
		d.Changes.Add(checks)
	}
	return d.Drain()
}

// CancelCall ends the call without a result and takes the next one.
func (d *Day) CancelCall() []event.Event {
	d.finish(d.Changes.Cancel(d.Call.UUID, d.Say("cancel")+": "+d.Name()), d.Say("cancelled"), false)
	return d.Drain()
}

// ExpireCall ends the call as not reached and takes the next one.
func (d *Day) ExpireCall() []event.Event {
	d.finish(d.Changes.Expire(d.Call.UUID, d.Say("expire")+": "+d.Name()), d.Say("expired"), false)
	return d.Drain()
}

// MarkProcessed marks the call as processed.
func (d *Day) MarkProcessed() []event.Event {
	return d.Changes.Submit(d.Changes.Mark(apitype.EntityCall, d.Call.UUID, d.Say("mark processed")+": "+d.Name()))
}

// finish sends a change that ends work on the call, and takes the next one. The text of a
// completion goes with it; any other change leaves it as a draft.
func (d *Day) finish(c changes.Change, what string, textGoes bool) {
	id := d.Call.UUID
	d.Changes.Recent.Add(changes.Recent{
		Call: id,
		Name: d.Name(),
		At:   d.Now(),
		What: what,
		Fate: changes.FateHeld,
	})
	d.Leases.Protect(id)
	before := worked{call: *d.Call, draft: d.Draft(), progress: d.progress, undone: c.Group}
	c.Asked = d.Keys.Presses
	c.Restore = func() { d.restore(before) }
	d.Walk.Pass(id, "")
	if textGoes {
		c.Typed = &changes.Typed{Draft: before.draft, Disk: d.Changes.Drafts.From(id)}
		d.Changes.Drafts.Forget(id)
		d.entered = entry.Entered{}
	}
	d.Changes.Add(c)
	d.next()
}

// worked is a call as it was when the agent ended it, to give back.
type worked struct {
	call  apitype.Call
	draft outbox.Draft
	progress
	undone *changes.Group // The changes that have ended it. Nil if it was one alone.
}

// restore puts a call and its text back on the desk, as they were before a change.
func (d *Day) restore(before worked) {
	call := before.call
	d.Walk.Restore(call.UUID)
	d.Leases.Reopen(call.UUID)
	d.leave()
	d.Pause.OpensCall()
	draft := before.draft
	if since := d.Changes.Drafts.Newest(call.UUID, d.Changes.Drafts.Of(call.UUID)); since != nil {
		draft.Notes = outbox.JoinNotes("", draft.Notes, since.Notes)
		both := entry.Join(outbox.Draft{}, *since, draft) // Those since win.
		draft.Corrections, draft.Recorded = both.Corrections, both.Recorded
		draft.Checked, draft.CheckedAt = both.Checked, both.CheckedAt
	}
	d.Changes.Drafts.Forget(call.UUID)
	d.askedAt = d.Keys.Presses
	d.present(call)
	d.fill(draft)
	d.progress, d.undone = before.progress, before.undone
	d.Changes.Drafts.Loaded(outbox.Draft{Call: call.UUID})
	d.autosave()
	d.Leases.Trim()
}

// CompleteAlone completes the call without the corrections that the account may not make.
func (d *Day) CompleteAlone() []event.Event {
	d.Form().LeaveRefused()
	return d.CompleteCall()
}

// checksChange returns what was ticked of the call on the desk as it is sent; false if there is nothing to send, or the
// service keeps no checks.
func (d *Day) checksChange() (changes.Change, bool) {
	if !d.Has(apitype.ExtensionChecks) || len(d.entered.Checked) == 0 {
		return changes.Change{}, false
	}
	checks := apitype.CallChecks{UserUUID: d.Agent}
	for _, tick := range d.entered.Checked[:min(len(d.entered.Checked), apitype.MaxChecks)] {
		at, isKnown := d.entered.CheckedAt[tick]
		if !isKnown { // Of an earlier version.
			at = d.Now()
		}
		checks.Items = append(checks.Items, apitype.Check{Name: card.CheckOf(tick), At: apitype.NewTime(at)})
	}
	change, err := apiclient.PutChecksChange(d.Call.UUID, checks)
	label := d.Say("what was checked") + ": " + d.Name()
	return changes.Change{Change: change, Label: label, Err: err, IsExtra: true}, true
}

// required returns the checks that the organization of the call on the Desk requires. Settings change between calls
// only.
func (d *Day) required() []string {
	if d.Call == nil || !d.Has(apitype.ExtensionChecks) || d.WaitsForSettings() {
		return nil
	}
	return d.floor.Of(d.Call).RequiredChecks[d.Call.Type]
}

// fixChanges returns the updates of the call on the Desk, in the order in which they are sent.
func (d *Day) fixChanges() []changes.Change {
	label := d.Say("correct") + ": " + d.Name()
	updates, err := d.Form().Updates()
	if err != nil {
		return []changes.Change{{Label: label, Err: err}}
	}
	var fixes []changes.Change
	for _, update := range updates {
		fixes = append(fixes, changes.Change{Change: update, Label: label})
	}
	return fixes
}
