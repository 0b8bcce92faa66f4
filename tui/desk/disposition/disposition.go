// Package disposition makes the changes that record how an agent has ended work on a call: completed, not reached,
// deferred, cancelled or expired. It reads values and changes nothing: [Func] takes the call as the agent sees it.
//
//	day.Finish(disposition.Complete)
//	day.Finish(disposition.NotReached(apitype.NotReachedVoicemail))
package disposition

import (
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/changes"
)

// Call is the call on the Desk, with what a change of it needs.
type Call struct {
	card.Card
	Author      changes.Author
	User        apitype.UUID // The user of the agent's own callbacks.
	KeepsChecks bool         // The service keeps what was checked.
}

// Disposition has the changes of one key. They are sent in order.
type Disposition struct {
	Before         []changes.Change
	changes.Change                  // Ends work on the call.
	After          []changes.Change // A refusal of them holds nothing back.

	What     string // In words, for the list of recent calls.
	TextGoes bool   // What was typed goes with it. Otherwise it stays a draft.
	// DeadNumber is the kind of a number that does not exist, if another one is next. The call then stays on the Desk.
	DeadNumber string
	Invalid    error // Why the entries cannot be sent. Nothing is changed then.
}

// Func makes one kind of disposition.
type Func func(Call) Disposition

// label returns a change of the call as it is shown.
func (c Call) label(what string) string { return what + ": " + card.CallName(c.Texts, *c.Call) }

// group makes the changes one group, so that an undo takes all of them back.
func (d *Disposition) group() {
	d.Group = new(changes.Group)
	for _, others := range [][]changes.Change{d.Before, d.After} {
		for i := range others {
			others[i].Group = d.Group
		}
	}
}

// Cancel ends the call without a result.
func Cancel(c Call) Disposition {
	return Disposition{
		Change: c.Author.Cancel(c.Call.UUID, c.label(c.Say("cancel"))),
		What:   c.Say("cancelled"),
	}
}

// Expire ends the call as not reached.
func Expire(c Call) Disposition {
	return Disposition{
		Change: c.Author.Expire(c.Call.UUID, c.label(c.Say("expire"))),
		What:   c.Say("expired"),
	}
}
