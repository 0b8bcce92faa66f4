package desk

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/tui/desk/say"
)

// Form has the agent's entries for the call on the Desk: the result, and corrections of the record.
type Form struct {
	*base
	Entered
	refusedOps map[string]bool // Kinds of corrections that the service has forbidden this account.
	conflict   *conflict       // The refused update in the present question. Nil without one.
}

// SetNotes sets the notes, which are on disk soon.
func (e *Form) SetNotes(notes string) {
	e.Notes = notes
	e.autosave()
}

// SetResult sets the result code. A code that ends calls, or all contact, also corrects the opt-ins that the service
// does not change with the result. Another code undoes that.
func (e *Form) SetResult(code string) {
	e.ResultCode, e.Proposed = code, false
	for _, key := range e.ByResult {
		e.leave(key)
	}
	e.ByResult = nil
	ends := e.endsOptIns(e.result(code))
	for _, f := range e.Fixes() {
		_, isCorrected := e.Corrections[f.Key]
		if slices.Contains(ends, f.Key) && !isCorrected && f.Was != "no" {
			e.correct(f.Key, "no", f.Was)
			e.ByResult = append(e.ByResult, f.Key)
		}
	}
	e.autosave()
}

// endsOptIns returns the details that a result sets to no, without those that the service sets itself.
func (e *Form) endsOptIns(row apitype.ResultChoice) []string {
	switch {
	case e.day.storesEffect(row) != "", e.day.Call.Person.Pointer() == nil:
		return nil
	case row.Has(apitype.EffectOptOut):
		return optInKeys[:1]
	case row.Has(apitype.EffectNoContact):
		return optInKeys
	default:
		return nil
	}
}

// Results returns the results of the call on the Desk. Their digits stay the same while the call is on the Desk.
func (e *Form) Results() []apitype.ResultChoice {
	if e.day.Call == nil || e.day.whyNoResults() != "" {
		return nil
	}
	if len(e.day.results) == 0 {
		e.day.results, _ = e.day.Codes.Of(e.day.Call)
	}
	return e.day.results
}

// result returns the settings of a result of the call on the Desk.
func (e *Form) result(code string) apitype.ResultChoice {
	for _, row := range e.Results() {
		if row.Code == code {
			return row
		}
	}
	return apitype.ResultChoice{Code: code}
}

// ResultWords returns the chosen result in words, or an empty text.
func (e *Form) ResultWords() string {
	if e.day.Call == nil || e.ResultCode == "" {
		return ""
	}
	return e.Say(ResultWords(e.result(e.ResultCode)))
}

// WhyNotComplete returns why the call cannot be completed now, or an empty text.
func (e *Form) WhyNotComplete() string {
	row := e.result(e.ResultCode)
	half, _ := e.HalfAddress()
	switch {
	case e.ResultCode == "":
		return e.Say("choose the result first")
	case row.AsksNotes && strings.TrimSpace(e.Notes) == "":
		return e.Say("write notes first: %s asks for them", e.Say(ResultWords(row)))
	case e.Ended() == "" && half != "":
		return half
	default:
		return e.Ended()
	}
}

// SetRating sets the rating. Nil removes it.
func (e *Form) SetRating(rating *int) {
	e.Rating = rating
	e.autosave()
}

func (e *Form) autosave() {
	if e.day.Call != nil {
		e.day.Changes.Autosave.Put(e.Draft())
	}
}

// Draft returns what was entered for the call on the desk.
func (e *Form) Draft() outbox.Draft {
	draft := e.Entered.Draft
	draft.Call, draft.Name = e.day.Call.UUID, e.day.Name()
	return draft
}

// DraftText returns the content of a draft in words.
func DraftText(d *Day, draft outbox.Draft) string {
	var parts []string
	add := func(n int, one, several string) {
		if n > 0 {
			parts = append(parts, d.Count(n, one, several))
		}
	}
	if draft.ResultCode != "" {
		parts = append(parts, d.Say(render.Words(draft.ResultCode)))
	}
	if draft.Rating != nil {
		parts = append(parts, d.Say("rating %d", *draft.Rating))
	}
	add(utf8.RuneCountInString(draft.Notes), "character", "characters")
	add(len(draft.Corrections), "correction", "corrections")
	add(len(draft.Checked), "detail checked", "details checked")
	return strings.Join(parts, ", ")
}

// HasDraft reports whether something was entered and not sent.
func (e *Form) HasDraft() bool { return e.day.Call != nil && !e.Draft().IsEmpty() }

// newest returns the draft of a call: the one that is not on disk yet, or else the one that was read. Nil without any.
func (e *Form) newest(call apitype.UUID, read *outbox.Draft) *outbox.Draft {
	if unwritten, found := e.day.Changes.Autosave.Unwritten(call); found {
		return &unwritten
	}
	return read
}

// openForm begins the form of a call with what was entered for it, if anything was.
func (e *Form) openForm(call apitype.UUID, read *outbox.Draft) {
	e.Entered = Entered{}
	if draft := e.newest(call, read); draft != nil {
		e.fill(*draft)
	} else {
		e.day.Changes.Autosave.Loaded(outbox.Draft{Call: call})
	}
}

func (e *Form) fill(draft outbox.Draft) {
	if draft.BaseURL != "" { // Read from disk.
		e.day.Changes.Autosave.Loaded(draft)
	}
	draft.BaseURL, draft.Account, draft.SavedAt = "", "", time.Time{} // They are the problems of the saved entries.
	e.Entered = Entered{Draft: draft}
}

// onSaved hears that drafts were written, or why not.
func (d *Day) onSaved(err error) {
	d.Changes.Trouble = err
	d.Changes.readOutbox()
}

// onJoined shows what another terminal has saved for the call on the desk.
func (e *Form) onJoined(j draftJoined) {
	if !e.day.IsOn(j.saved.Call) {
		if e.day.Changes.draftOf(j.saved.Call) != nil {
			e.day.Changes.forgetDraft(j.saved.Call)
			e.day.Changes.Drafts = append([]outbox.Draft{j.saved}, e.day.Changes.Drafts...)
		}
		return
	}
	both := joinDrafts(j.written, e.Draft(), j.saved)
	e.Corrections, e.Recorded, e.Checked, e.CheckedAt = both.Corrections, both.Recorded, both.Checked, both.CheckedAt
	e.SetNotes(both.Notes)
	e.sayf("another terminal has notes for %s, too: both are here", e.day.Name())
}

// CheckCode returns the problem with a result code, or an empty text.
func CheckCode(code string) string {
	request := apitype.CompleteCallRequest{Result: &apitype.CallResultRequest{ResultCode: &code}}
	if problems := request.Validate(); len(problems) > 0 {
		return problems[0].Message
	}
	return ""
}

// Ended returns how the call on the Desk has ended, or an empty text if it is open.
func (e *Form) Ended() string {
	call := e.day.Call
	return say.When(
		call.Status != apitype.CallRequested && call.ExternalMetadata.Pointer() == nil,
		e.Say("the call is %s already", e.Say(string(call.Status))),
	)
}

// NextNotes returns the notes of other agents for the call on the Desk, or an empty text.
func (e *Form) NextNotes() string {
	if l := e.day.leases.leaseOf(e.day.Call.UUID); l != nil {
		return apitype.TextOf(l.Note)
	}
	return ""
}

// CompleteCall sends the result and takes the next call.
func (d *Day) CompleteCall() []Event {
	result := &apitype.CallResultRequest{CompletedAt: d.Changes.now(), ResultCode: new(d.Form.ResultCode)}
	if notes := d.Form.Notes; strings.TrimSpace(notes) != "" {
		result.Notes = &notes
	}
	if d.Form.Rating != nil {
		result.DonorRetentionRating = new(apitype.NumberFromInt(*d.Form.Rating))
	}
	request := apitype.CompleteCallRequest{UserUUID: d.Agent, Result: result}
	if problems := request.Validate(); len(problems) > 0 {
		d.failOf(ofCall(d.Call.UUID), ErrorText("not sent", problems))
		return d.drain()
	}
	change, err := apiclient.CompleteCallChange(d.Call.UUID, request)
	what := d.Form.ResultWords()
	if d.Form.Rating != nil {
		what += ", " + strconv.Itoa(*d.Form.Rating)
	}
	// One group, in order: a refused change holds back the ones after it.
	label := d.Form.ResultWords() + ": " + d.Name()
	completion := Change{
		Change: change,
		Label:  label,
		says:   strings.Join(d.Form.CorrectionWords(), ", "),
		effect: d.storesEffect(d.Form.result(d.Form.ResultCode)),
		err:    err,
	}
	checks, hasChecks := d.checksChange()
	fixes := d.Form.fixChanges()
	if len(fixes) > 0 || hasChecks {
		completion.group = new(changeGroup)
		checks.group = completion.group
	}
	for _, fix := range fixes {
		fix.group = completion.group
		d.Changes.submit(fix)
	}
	d.finish(completion, what, true)
	if hasChecks { // Last: a refusal of them must not hold back the result.
		d.Changes.submit(checks)
	}
	return d.drain()
}

// CancelCall ends the call without a result and takes the next one.
func (d *Day) CancelCall() []Event {
	d.finish(d.Changes.Cancel(d.Call.UUID, d.Say("cancel")+": "+d.Name()), d.Say("cancelled"), false)
	return d.drain()
}

// ExpireCall ends the call as not reached and takes the next one.
func (d *Day) ExpireCall() []Event {
	d.finish(d.Changes.Expire(d.Call.UUID, d.Say("expire")+": "+d.Name()), d.Say("expired"), false)
	return d.drain()
}

// MarkProcessed marks the call as processed.
func (d *Day) MarkProcessed() []Event {
	return d.Changes.Submit(d.Changes.Mark(apitype.EntityCall, d.Call.UUID, d.Say("mark processed")+": "+d.Name()))
}

// finish sends a change that ends work on the call, and takes the next one. The text of a
// completion goes with it; any other change leaves it as a draft.
func (d *Day) finish(c Change, what string, textGoes bool) {
	id := d.Call.UUID
	d.Recent.remember(Recent{Call: id, Name: d.Name(), At: d.Now(), What: what, Fate: FateHeld})
	d.leases.protect(id)
	c.asked = d.Guard.presses
	c.from = &worked{
		call:     *d.Call,
		draft:    d.Form.Draft(),
		disk:     d.Changes.Autosave.From(id),
		goes:     textGoes,
		progress: d.progress,
	}
	d.queue.pass(id, "")
	if textGoes {
		d.Changes.forgetDraft(id)
		d.Form.Entered = Entered{}
	}
	d.Changes.submit(c)
	d.next()
}

// restore puts a call and its text back on the desk, as they were before a change.
func (d *Day) restore(c Change) {
	if c.from == nil {
		return
	}
	call := c.from.call
	d.queue.dismissed[call.UUID] = false
	d.leases.reopen(call.UUID)
	d.leave()
	d.opensCall()
	draft := c.from.draft
	if since := d.Form.newest(call.UUID, d.Changes.draftOf(call.UUID)); since != nil {
		draft.Notes = outbox.JoinNotes("", draft.Notes, since.Notes)
		both := joinDrafts(outbox.Draft{}, *since, draft) // Those since win.
		draft.Corrections, draft.Recorded = both.Corrections, both.Recorded
		draft.Checked, draft.CheckedAt = both.Checked, both.CheckedAt
	}
	d.Changes.forgetDraft(call.UUID)
	d.Gate.askedAt = d.Guard.presses
	d.present(call)
	d.Form.fill(draft)
	d.progress, d.undone = c.from.progress, c.group
	d.Changes.Autosave.Loaded(outbox.Draft{Call: call.UUID})
	d.Form.autosave()
	d.leases.trimLeases()
}
