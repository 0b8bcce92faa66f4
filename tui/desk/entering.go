package desk

import (
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/drafts"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
)

// Form returns what the agent enters for the call on the Desk.
func (d *Day) Form() entry.Form {
	return entry.Form{
		Texts:   d.Texts,
		Entered: &d.entered,
		Now:     d.Now,
		Call:    d.Call,
		Latest:  d.latest,
		Choices: d.resultsOfCall,
		Effect: func(result apitype.ResultChoice) apitype.ResultEffect {
			return d.floor.StoredEffect(d.Call, result)
		},
		RefusedOps: d.refusedOps,
		Save:       d.autosave,
	}
}

// resultsOfCall returns the results of the call on the Desk. They stay the same while it is there.
func (d *Day) resultsOfCall() []apitype.ResultChoice {
	if d.WhyNoResults() != "" {
		return nil
	}
	if len(d.results) == 0 {
		d.results, _ = d.Codes.Of(d.Call)
	}
	return d.results
}

func (d *Day) autosave() {
	if d.Call != nil {
		d.Changes.Drafts.Put(d.Draft())
	}
}

// Draft returns what was entered for the call on the Desk.
func (d *Day) Draft() outbox.Draft {
	draft := d.entered.Draft
	draft.Call, draft.Name = d.Call.UUID, d.Name()
	return draft
}

// HasDraft reports whether something was entered and not sent.
func (d *Day) HasDraft() bool { return d.Call != nil && !d.Draft().IsEmpty() }

// openForm begins the form of a call with what was entered for it, if anything was.
func (d *Day) openForm(call apitype.UUID, read *outbox.Draft) {
	d.entered = entry.Entered{}
	if draft := d.Changes.Drafts.Newest(call, read); draft != nil {
		d.fill(*draft)
	} else {
		d.Changes.Drafts.Loaded(outbox.Draft{Call: call})
	}
}

func (d *Day) fill(draft outbox.Draft) {
	if draft.BaseURL != "" { // Read from disk.
		d.Changes.Drafts.Loaded(draft)
	}
	draft.BaseURL, draft.Account, draft.SavedAt = "", "", time.Time{} // They are the problems of the saved entries.
	d.entered = entry.Entered{Draft: draft}
}

// tellDrafts sends the messages about drafts, which come from the background, for Receive.
func (d *Day) tellDrafts(tell func(event.Result)) {
	d.Changes.Drafts.OnSaved = func(err error) {
		tell(event.Result{Name: "drafts saved", TakeIn: func() { d.onSaved(err) }})
	}
	d.Changes.Drafts.OnJoined = func(j drafts.Joined) {
		tell(event.Result{Name: "draft of another terminal joined", TakeIn: func() { d.onJoined(j) }})
	}
}

// onSaved hears that drafts were written, or why not.
func (d *Day) onSaved(err error) {
	d.Changes.Drafts.Trouble = err
	d.Changes.Read()
}

// onJoined shows what another terminal has saved for the call on the Desk.
func (d *Day) onJoined(j drafts.Joined) {
	if !d.IsOn(j.Saved.Call) {
		if d.Changes.Drafts.Of(j.Saved.Call) != nil {
			d.Changes.Drafts.Set(j.Saved)
		}
		return
	}
	both := entry.Join(j.Written, d.Draft(), j.Saved)
	e := &d.entered
	e.Corrections, e.Recorded, e.Checked, e.CheckedAt = both.Corrections, both.Recorded, both.Checked, both.CheckedAt
	d.Form().SetNotes(both.Notes)
	d.Sayf("another terminal has notes for %s, too: both are here", d.Name())
}

// Overtaken returns the next overtaken detail and its record. A refused update comes before the call on the Desk.
func (d *Day) Overtaken() (whose string, f entry.Fix, asks bool) {
	whose, f, asks = d.Refused.Next()
	if asks {
		return whose, f, true
	}
	f, asks = d.Form().Overtaken()
	return d.Name(), f, asks
}

// Keep takes the agent's answer about the detail of Overtaken: the correction, or the recorded value.
func (d *Day) Keep(f entry.Fix, ours bool) []event.Event {
	if d.Refused.Asks() {
		d.Refused.Keep(ours)
	} else {
		d.showLatest()
		d.Form().Keep(f, ours)
	}
	return d.Drain()
}
