package desk

import (
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/entry"
	"fundesk/tui/desk/event"
)

// Form returns what the agent enters for the call on the Desk.
func (c *current) Form() entry.Form {
	return entry.Form{
		Texts:   c.Texts,
		Entered: &c.entered,
		Now:     c.Now,
		Call:    c.Call,
		Latest:  c.latest,
		Choices: c.resultsOfCall,
		Effect: func(result apitype.ResultChoice) apitype.ResultEffect {
			return c.floor.StoredEffect(c.Call, result)
		},
		RefusedOps: c.refusedOps,
		Save:       c.autosave,
	}
}

// resultsOfCall returns the results of the call on the Desk. They stay the same while it is there.
func (c *current) resultsOfCall() []apitype.ResultChoice {
	if c.WhyNoResults() != "" {
		return nil
	}
	if len(c.results) == 0 {
		c.results, _ = c.Codes.Of(c.Call)
	}
	return c.results
}

func (c *current) autosave() {
	if c.Call != nil {
		c.Changes.Drafts.Put(c.Draft())
	}
}

// Draft returns what was entered for the call on the Desk.
func (c *current) Draft() outbox.Draft {
	draft := c.entered.Draft
	draft.Call, draft.Name = c.Call.UUID, c.Name()
	return draft
}

// HasDraft reports whether something was entered and not sent.
func (c *current) HasDraft() bool { return c.Call != nil && !c.Draft().IsEmpty() }

// openForm begins the form of a call with what was entered for it, if anything was.
func (c *current) openForm(call apitype.UUID, read *outbox.Draft) {
	c.entered = entry.Entered{}
	if draft := c.Changes.Drafts.Newest(call, read); draft != nil {
		c.fill(*draft)
	} else {
		c.Changes.Drafts.Loaded(outbox.Draft{Call: call})
	}
}

func (c *current) fill(draft outbox.Draft) {
	isSaved := draft.BaseURL != ""
	if isSaved {
		c.Changes.Drafts.Loaded(draft)
	}
	draft.BaseURL, draft.Account, draft.SavedAt = "", "", time.Time{} // They are the problems of the saved entries.
	c.entered = entry.Entered{Draft: draft}
	if words := c.Form().UnfinishedWords(); isSaved && len(words) > 0 {
		c.Sayf("not finished: %s", strings.Join(words, ", "))
	}
}

// tellDrafts sends the messages about drafts, which come from the background, for Receive.
func (c *current) tellDrafts(tell func(event.Result)) {
	c.Changes.Drafts.OnSaved = func() {
		tell(event.Result{Name: "drafts written", TakeIn: c.Changes.Read})
	}
	c.Changes.Drafts.OnJoined = func(call apitype.UUID) {
		tell(event.Result{Name: "draft of another terminal joined", TakeIn: func() { c.onJoined(call) }})
	}
}

// onJoined shows what another terminal has saved for a call, on the Desk or in the list.
func (c *current) onJoined(call apitype.UUID) {
	isOn := c.IsOn(call)
	if !isOn && c.Changes.Drafts.Of(call) == nil {
		return
	}
	base, saved, found := c.Changes.Drafts.Joined(call)
	switch {
	case !found:
	case isOn:
		c.entered.Draft = entry.Join(base, c.Draft(), saved)
		c.autosave()
		c.Sayf("another terminal has notes for %s, too: both are here", c.Name())
	default:
		c.Changes.Drafts.Set(saved)
	}
}
