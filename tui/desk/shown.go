package desk

import (
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
)

// Card returns the call on the Desk as it is shown. Without a call it knows the settings and the names of users.
func (d *Day) Card() card.Card {
	k := card.Card{
		Form:             d.Form(),
		Place:            d.place(),
		Agent:            d.Agent,
		AgentName:        d.AgentName,
		Languages:        d.Languages,
		ResultWords:      d.Codes.Words,
		Required:         d.required(),
		Holder:           d.holder,
		HasQueue:         d.Leases.State != nil,
		IsFreed:          d.isFreed,
		IsBlocked:        d.isBlocked,
		IsErased:         d.isErased,
		IsRevealed:       d.IsRevealed,
		KeepsReasons:     d.Has(apitype.ExtensionAttempts),
		CallbackReason:   d.callbackReason,
		Remains:          d.undone.Remains(d.Texts),
		HasUndoneAttempt: d.undone.HasAttempt(),
		ShownAt:          d.Keys.ShownAt,
		Dials:            d.dials,
		Struck:           d.struckKinds(),
		Script:           d.script,
		Walk:             d.walk,
		Consents:         d.consents,
	}
	if d.Call != nil {
		k.MaxAttempts = d.maxAttempts(d.Call)
		if l := d.Leases.Of(d.Call.UUID); l != nil {
			k.Lease = l
		}
	}
	return k
}

// place returns the settings of the floor for the call on the Desk.
func (d *Day) place() card.Place {
	p := card.Place{IsKnown: !d.WaitsForSettings(), Hours: d.Hours}
	if d.Call != nil {
		p.Floor = d.floor.Of(d.Call)
	}
	return p
}

// Warnings returns what an agent should know before calling the donor on the Desk.
func (d *Day) Warnings() []string {
	ofPerson, ofNumber := d.Walk.Others(*d.Call)
	return d.Card().Warnings(card.Elsewhere{
		Called:   d.Walk.ReachedReason(d.Call.UUID, d.Call.PersonUUID),
		OfPerson: ofPerson,
		OfNumber: ofNumber,
	})
}
