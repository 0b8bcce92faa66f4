package desk

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
)

// SetNotes takes what was typed; it is on disk soon.
func (d *Day) SetNotes(notes string) {
	d.Form.Notes = notes
	d.autosave()
}

// SetResult takes a result code. One by which the donor is not to be called again corrects the
// opt-in to phone calls, too; another one takes that back.
func (d *Day) SetResult(code string) {
	d.Form.Code, d.Form.proposed = code, false
	row, _ := d.Codes.Find(d.Call.Type, code)
	_, corrected := d.Form.Corrections[optOutKey]
	switch optIn := d.Call.Person.Value().OptInPhone; {
	case row.Effect != EffectOptOut && d.Form.optedOut:
		d.Form.leave(optOutKey)
		d.Form.optedOut = false
	case row.Effect == EffectOptOut && !corrected && d.Call.Person.Pointer() != nil && (optIn == nil || *optIn):
		d.Form.correct(optOutKey, "no", YesNo(optIn))
		d.Form.optedOut = true
	}
	d.autosave()
}

// Results are those of the call on the desk.
func (d *Day) Results() []ResultRow {
	if d.Call == nil {
		return nil
	}
	return d.Codes.Of(d.Call.Type)
}

// ResultWords are the chosen result as a person says it, "" for none.
func (d *Day) ResultWords() string {
	if d.Call == nil || d.Form.Code == "" {
		return ""
	}
	row, _ := d.Codes.Find(d.Call.Type, d.Form.Code)
	return row.Words()
}

// WhyNotComplete says why the call cannot be completed as it is, "" when it can.
func (d *Day) WhyNotComplete() string {
	row, _ := d.Codes.Find(d.Call.Type, d.Form.Code)
	half, _ := d.HalfAddress()
	switch {
	case d.Form.Code == "":
		return "choose the result first"
	case row.AsksNotes && strings.TrimSpace(d.Form.Notes) == "":
		return "write notes first: " + row.Words() + " asks for them"
	case d.Ended() == "" && half != "":
		return half
	default:
		return d.Ended()
	}
}

// SetRating takes a rating, nil for none.
func (d *Day) SetRating(rating *int) {
	d.Form.Rating = rating
	d.autosave()
}

func (d *Day) autosave() {
	if d.Call != nil {
		d.Autosave.Put(d.Draft())
	}
}

// Draft is what was entered for the call on the desk.
func (d *Day) Draft() outbox.Draft {
	return outbox.Draft{Call: d.Call.UUID, Name: d.Name(), ResultCode: d.Form.Code, Rating: d.Form.Rating, Notes: d.Form.Notes, Corrections: d.Form.Corrections, Recorded: d.Form.Recorded}
}

// DraftText says what a draft contains.
func DraftText(draft outbox.Draft) string {
	var parts []string
	add := func(n int, one, several string) {
		if n > 0 {
			parts = append(parts, render.Plural(n, one, several))
		}
	}
	if draft.ResultCode != "" {
		parts = append(parts, render.Words(draft.ResultCode))
	}
	if draft.Rating != nil {
		parts = append(parts, "rating "+strconv.Itoa(*draft.Rating))
	}
	add(utf8.RuneCountInString(draft.Notes), "character", "characters")
	add(len(draft.Corrections), "correction", "corrections")
	return strings.Join(parts, ", ")
}

// HasDraft reports whether something was entered and not sent.
func (d *Day) HasDraft() bool { return d.Call != nil && !d.Draft().IsEmpty() }

// newest is what was entered for a call: what is not on disk yet, or else what was read; nil when
// nothing was.
func (d *Day) newest(call apitype.UUID, read *outbox.Draft) *outbox.Draft {
	if unwritten, found := d.Autosave.Unwritten(call); found {
		return &unwritten
	}
	return read
}

// openForm begins the form of a call with what was entered for it, if anything was.
func (d *Day) openForm(call apitype.UUID, read *outbox.Draft) {
	d.Form = Form{}
	if draft := d.newest(call, read); draft != nil {
		d.fill(*draft)
	} else {
		d.Autosave.Loaded(outbox.Draft{Call: call})
	}
}

func (d *Day) fill(draft outbox.Draft) {
	if draft.BaseURL != "" { // Read from disk.
		d.Autosave.Loaded(draft)
	}
	d.Form = Form{Code: draft.ResultCode, Rating: draft.Rating, Notes: draft.Notes, Corrections: draft.Corrections, Recorded: draft.Recorded}
}

// onSaved hears that drafts were written, or why not.
func (d *Day) onSaved(err error) {
	d.Trouble = err
	d.readOutbox()
}

// onJoined shows what another terminal has saved for the call on the desk.
func (d *Day) onJoined(j draftJoined) {
	if !d.IsOn(j.saved.Call) {
		if d.draftOf(j.saved.Call) != nil {
			d.forgetDraft(j.saved.Call)
			d.Drafts = append([]outbox.Draft{j.saved}, d.Drafts...)
		}
		return
	}
	both := joinDrafts(j.written, d.Draft(), j.saved)
	d.Form.Corrections, d.Form.Recorded = both.Corrections, both.Recorded
	d.SetNotes(both.Notes)
	d.sayf("another terminal has notes for %s, too: both are here", d.Name())
}

// CheckCode says what is wrong with a result code, "" for nothing.
func CheckCode(code string) string {
	request := apitype.CompleteCallRequest{Result: &apitype.CallResultRequest{ResultCode: &code}}
	if problems := request.Validate(); len(problems) > 0 {
		return problems[0].Message
	}
	return ""
}

// Ended says how the call on the desk has ended, where it can end no more; "" when it can.
func (d *Day) Ended() string {
	if d.Call.Status != apitype.CallRequested && d.Call.ExternalMetadata.Pointer() == nil {
		return "the call is " + string(d.Call.Status) + " already"
	}
	return ""
}

// NotReached records an attempt and takes the next call. What was typed stays a draft.
func (d *Day) NotReached() []Event {
	d.finish(d.Attempt(d.Call.UUID, "not reached: "+d.Name()), "not reached", false)
	return d.take()
}

// NotReachedWithNote is NotReached that leaves the notes for whoever calls the donor next.
func (d *Day) NotReachedWithNote() []Event {
	change, err := apiclient.LeaveNoteChange(d.Call.UUID, apitype.NoteRequest{Text: d.Form.Notes})
	note := Change{Change: change, Label: "not reached, your notes for the next agent: " + d.Name(), err: err, group: new(changeGroup)}
	attempt := d.Attempt(d.Call.UUID, "not reached: "+d.Name())
	attempt.group = note.group
	d.submit(attempt)
	besides := d.Draft()
	besides.Notes = ""
	d.finish(note, "not reached", besides.IsEmpty()) // A result or a correction stays a draft, with the notes.
	return d.take()
}

// AsksWhereNotes reports whether an attempt asks where the notes go.
func (d *Day) AsksWhereNotes() bool {
	return d.leases.notes && strings.TrimSpace(d.Form.Notes) != ""
}

// NextNotes are what other agents left for whoever makes the call on the desk; "" for none.
func (d *Day) NextNotes() string {
	if l := d.leaseOf(d.Call.UUID); l != nil {
		return Value(l.Note)
	}
	return ""
}

// CompleteCall sends the result and takes the next call.
func (d *Day) CompleteCall() []Event {
	result := &apitype.CallResultRequest{CompletedAt: d.now(), ResultCode: new(d.Form.Code)}
	if notes := d.Form.Notes; strings.TrimSpace(notes) != "" {
		result.Notes = &notes
	}
	if d.Form.Rating != nil {
		result.DonorRetentionRating = new(apitype.NumberFromInt(*d.Form.Rating))
	}
	request := apitype.CompleteCallRequest{UserUUID: d.Agent, Result: result}
	if problems := request.Validate(); len(problems) > 0 {
		d.failOf(ofCall(d.Call.UUID), ErrorText("not sent", problems))
		return d.take()
	}
	change, err := apiclient.CompleteCallChange(d.Call.UUID, request)
	what := d.ResultWords()
	if d.Form.Rating != nil {
		what += ", " + strconv.Itoa(*d.Form.Rating)
	}
	// One group, in order: what is refused holds back the rest.
	completion := Change{Change: change, Label: d.ResultWords() + ": " + d.Name(), err: err}
	if fixes := d.fixChanges(); len(fixes) > 0 {
		completion.group = new(changeGroup)
		for _, fix := range fixes {
			fix.group = completion.group
			d.submit(fix)
		}
	}
	d.finish(completion, what, true)
	return d.take()
}

// CancelCall ends the call without a result and takes the next one.
func (d *Day) CancelCall() []Event {
	d.finish(d.Cancel(d.Call.UUID, "cancel: "+d.Name()), "cancelled", false)
	return d.take()
}

// ExpireCall ends the call as not reached and takes the next one.
func (d *Day) ExpireCall() []Event {
	d.finish(d.Expire(d.Call.UUID, "expire: "+d.Name()), "expired", false)
	return d.take()
}

// MarkProcessed marks the call as processed.
func (d *Day) MarkProcessed() []Event {
	return d.Submit(d.Mark(apitype.EntityCall, d.Call.UUID, "mark processed: "+d.Name()))
}

// finish sends a change that ends work on the call, and takes the next one. The text of a
// completion goes with it; any other change leaves it as a draft.
func (d *Day) finish(c Change, what string, textGoes bool) {
	id := d.Call.UUID
	d.remember(id, d.Name(), what, FateHeld)
	if l := d.leaseOf(id); l != nil {
		l.done = true
	}
	c.asked = d.Guard.presses
	c.from = &worked{call: *d.Call, draft: d.Draft(), disk: d.Autosave.From(id), goes: textGoes}
	d.queue.pass(id, "")
	if textGoes {
		d.forgetDraft(id)
		d.Form = Form{}
	}
	d.submit(c)
	d.next()
}

// restore puts a call and its text back on the desk, as they were before a change.
func (d *Day) restore(c Change) {
	if c.from == nil {
		return
	}
	call := c.from.call
	d.queue.dismissed[call.UUID] = false
	if l := d.leaseOf(call.UUID); l != nil {
		l.done = false
	}
	d.leave()
	draft := c.from.draft
	if since := d.newest(call.UUID, d.draftOf(call.UUID)); since != nil {
		draft.Notes = outbox.JoinNotes("", draft.Notes, since.Notes)
		both := joinDrafts(outbox.Draft{}, *since, draft) // Those since win.
		draft.Corrections, draft.Recorded = both.Corrections, both.Recorded
	}
	d.forgetDraft(call.UUID)
	d.askedAt = d.Guard.presses
	d.present(call)
	d.fill(draft)
	d.Autosave.Loaded(outbox.Draft{Call: call.UUID})
	d.autosave()
	d.trimLeases()
}
