package desk

import (
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/say"
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
		HasQueue:         d.leases.state != nil,
		IsFreed:          d.isFreed,
		IsBlocked:        d.isBlocked,
		IsErased:         d.isErased,
		IsRevealed:       d.IsRevealed,
		KeepsReasons:     d.Has(apitype.ExtensionAttempts),
		CallbackReason:   d.callbackReason,
		Remains:          d.undone.Remains(d.Texts),
		HasUndoneAttempt: d.undone.HasAttempt(),
		ShownAt:          d.Guard.shownAt,
		Dials:            d.dials,
		Struck:           d.struckKinds(),
		Script:           d.script,
		Walk:             d.walk,
		Consents:         d.consents,
	}
	if d.Call != nil {
		k.MaxAttempts = d.maxAttempts(d.Call)
		if l := d.leases.leaseOf(d.Call.UUID); l != nil {
			k.Lease = &l.Lease
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
	ofPerson, ofNumber := d.otherOpenCalls(*d.Call)
	return d.Card().Warnings(card.Elsewhere{
		Called:   d.queue.reachedReason(d.Call.UUID, d.Call.PersonUUID),
		OfPerson: ofPerson,
		OfNumber: ofNumber,
	})
}

// otherOpenCalls counts the known requested calls of the same person and of the same number, in the queue and of the
// pledge.
func (d *Day) otherOpenCalls(call apitype.Call) (ofPerson, ofNumber int) {
	ofPerson, ofNumber = d.queue.others(call)
	if pledge := call.PledgeCase.Pointer(); pledge != nil {
		for _, other := range pledge.Calls.Value() {
			if other.Status == apitype.CallRequested && other.UUID != call.UUID && d.queue.index(other.UUID) < 0 {
				ofPerson++
			}
		}
	}
	return ofPerson, ofNumber
}

// against returns why a call is not offered in this session, or an empty text. Reasons by attempts change with the
// time: see Day.Offers.
func against(texts say.Texts, call apitype.Call) string {
	if p := call.Person.Pointer(); p != nil && p.OptInPhone != nil && !*p.OptInPhone {
		return card.ReasonOptedOut
	}
	if call.Status != apitype.CallRequested {
		return texts.Say("is %s", texts.Say(string(call.Status)))
	}
	return ""
}

// localeLanguages returns the languages of the environment, by LANGUAGE or the locale. A locale such as C has none.
func localeLanguages(getenv func(string) string) []string {
	for _, name := range []string{"LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"} {
		var found []string
		for tag := range strings.SplitSeq(getenv(name), ":") {
			if len(tag) == 2 || (len(tag) > 2 && strings.ContainsAny(tag[2:3], "_-.@")) {
				if code := strings.ToLower(tag[:2]); !slices.Contains(found, code) {
					found = append(found, code)
				}
			}
		}
		if getenv(name) != "" {
			return found
		}
	}
	return nil
}
