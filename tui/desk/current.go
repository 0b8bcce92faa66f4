package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
	"fundesk/tui/desk/debounce"
	"fundesk/tui/desk/floor"
	"fundesk/tui/desk/lease"
	"fundesk/tui/desk/queue"
	"fundesk/tui/desk/refused"
	"fundesk/tui/desk/say"
)

// current is the call on the Desk as the agent sees it and enters something for it.
type current struct {
	*base
	*visit     // Of the call on the Desk. Never nil.
	Changes    *changes.Session
	Codes      *floor.Codes
	Refused    *refused.Corrections
	Leases     *lease.Leases // Of the queue of the service.
	Walk       *queue.Walk   // Chooses calls if the service has no queue.
	Keys       *debounce.Keys
	IsRevealed bool // Shows secret values without a mask.

	scripts    card.Scripts    // Of the configuration folder.
	refusedOps map[string]bool // Kinds of corrections that the service has forbidden this account.
}

// Name returns the person of the call on the Desk.
func (c *current) Name() string {
	if c.Call == nil {
		return ""
	}
	return card.CallName(c.Texts, *c.Call)
}

// WhyNoResults returns why the results of the call on the Desk are not offered. Results of the profile always are.
func (c *current) WhyNoResults() string {
	isWaiting := c.WaitsForSettings() && c.Call != nil && !c.Codes.IsKnown(c.Call.Type)
	return say.When(isWaiting, "the results of the floor are being read: try again in a moment")
}

// required returns the checks that the organization of the call on the Desk requires. Settings change between calls
// only.
func (c *current) required() []string {
	if c.Call == nil || !c.Has(apitype.ExtensionChecks) || c.WaitsForSettings() {
		return nil
	}
	return c.floor.Of(c.Call).RequiredChecks[c.Call.Type]
}

// noteCallback keeps the callback that the first lease of the call on the Desk had, also for when the lease has ended.
// A lease uses up a callback that is due.
func (c *current) noteCallback() {
	l := c.Leases.Of(c.Call.UUID)
	if l == nil {
		return
	}
	if l.Reason != nil {
		c.CallbackReason = *l.Reason
	}
	if c.callback == nil && c.Has(apitype.ExtensionPending) {
		c.callback = &apitype.Replaces{}
		if l.DueAt != nil && l.DueAt.After(l.TakenAt.Time) {
			c.callback.NotBefore = l.DueAt
		}
	}
}

// replaces returns the callback that a new one replaces, or nil if it is not known. An attempt uses up a callback.
func (c *current) replaces() *apitype.Replaces {
	if c.callback == nil || c.undone.HasAttempt() {
		return nil
	}
	if len(c.struckKinds()) > 0 {
		return &apitype.Replaces{}
	}
	return c.callback
}

// onPerson notes which other user holds the donor on the Desk, and whether a number of the donor is blocked, if known.
func (c *current) onPerson(holder *apitype.LeaseHolder, isBlocked *bool) {
	c.known.Holder = holder
	if isBlocked != nil {
		c.known.IsBlocked = *isBlocked
	}
}
