package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
)

// Card returns the call on the Desk as it is shown. Without a call it knows the settings and the names of users.
func (c *current) Card() card.Card {
	k := card.Card{
		Form:             c.Form(),
		Place:            c.place(),
		Agent:            c.Agent,
		AgentName:        c.AgentName,
		Languages:        c.Languages,
		ResultWords:      c.Codes.Words,
		Required:         c.required(),
		Known:            c.known,
		Progress:         c.progress.Progress,
		HasQueue:         c.Leases.State != nil,
		IsRevealed:       c.IsRevealed,
		KeepsReasons:     c.Has(apitype.ExtensionAttempts),
		Remains:          c.undone.Remains(c.Texts),
		HasUndoneAttempt: c.undone.HasAttempt(),
		Replaces:         c.replaces(),
		ShownAt:          c.Keys.ShownAt,
		Struck:           c.struckKinds(),
	}
	if c.Call != nil {
		k.MaxAttempts = c.maxAttempts(c.Call)
		if l := c.Leases.Of(c.Call.UUID); l != nil {
			k.Lease = l
		}
	}
	return k
}

// place returns the settings of the floor for the call on the Desk.
func (c *current) place() card.Place {
	p := card.Place{IsKnown: !c.WaitsForSettings(), Hours: c.Hours}
	if c.Call != nil {
		p.Floor = c.floor.Of(c.Call)
	}
	return p
}

// Warnings returns what an agent should know before calling the donor on the Desk.
func (c *current) Warnings() []string {
	ofPerson, ofNumber := c.Walk.Others(*c.Call)
	return c.Card().Warnings(card.Elsewhere{
		Called:   c.Walk.ReachedReason(c.Call.UUID, c.Call.PersonUUID),
		OfPerson: ofPerson,
		OfNumber: ofNumber,
	})
}
