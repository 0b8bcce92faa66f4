package changes

import (
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// Change is one change of a record for the service. Most of them come from an [Author].
type Change struct {
	apiclient.Change
	Label string // As it is shown: "complete: A. Jansen".
	Err   error  // Why it cannot be sent at all.
	// Says is the effect on the donor in words, such as "may not be phoned any more". Empty without one.
	Says string
	// Next is what the agent does next, shown once the change is on disk. Empty without it.
	Next string
	// Effect is the effect on the donor that the service should store. Empty without one.
	Effect apitype.ResultEffect
	// Group has the changes of the same key. Nil means that the change is alone.
	Group *Group
	// IsExtra means that the rest of the group may be saved without this change, which shows no message.
	IsExtra bool
	AtOnce  bool // It is not held: no undo takes it back.
	// Restore puts the call that the change has ended back on the Desk. Nil if the change ended none.
	Restore func()
	Typed   *Typed // The text that goes with it. Nil if the draft stays.

	asked int    // After how many keys the agent made it.
	batch *Batch // Nil without one.
	index int    // Of its record in the batch.
}

// Typed is the draft that goes with a change, and the draft on disk that it came from. It is erased once the change is
// in the outbox, and comes back with an undo.
type Typed struct{ Draft, Disk outbox.Draft }

// Author makes the changes of an agent.
type Author struct {
	Agent              *apitype.UUID // Sent with attempts. Nil sends none.
	ExternalSourceName string        // Sent with processed marks.
	Now                func() time.Time
}

// Time returns the present time for a request.
func (a Author) Time() *apitype.Time { return new(apitype.NewTime(a.Now())) }

// Attempt returns an attempt that was made now.
func (a Author) Attempt(call apitype.UUID, label string) Change {
	return a.AttemptAt(call, a.Time(), label)
}

// AttemptAt returns an attempt that was made at a time.
func (a Author) AttemptAt(call apitype.UUID, at *apitype.Time, label string) Change {
	change, err := apiclient.AddAttemptChange(call, apitype.AddAttemptRequest{UserUUID: a.Agent, AttemptAt: at})
	return Change{Change: change, Label: label, Err: err}
}

// Cancel ends a call without a result.
func (a Author) Cancel(call apitype.UUID, label string) Change {
	change, err := apiclient.CancelCallChange(call, apitype.CancelCallRequest{CancelledAt: a.Time()})
	return Change{Change: change, Label: label, Err: err}
}

// Expire ends a call without reaching the person.
func (a Author) Expire(call apitype.UUID, label string) Change {
	change, err := apiclient.ExpireCallChange(call, apitype.ExpireCallRequest{ExpiredAt: a.Time()})
	return Change{Change: change, Label: label, Err: err}
}

// Action returns a status action on a pledge that was shown with the status from.
func (a Author) Action(
	pledge apitype.UUID,
	act apitype.PledgeAction,
	from apitype.PledgeStatus,
	label string,
) Change {
	return Change{Change: apiclient.PledgeActionChange(pledge, act, from), Label: label}
}

// Mark marks a record as processed.
func (a Author) Mark(entity apitype.EntityName, id apitype.UUID, label string) Change {
	entry := apitype.ProcessedEntry{EntityName: entity, EntityUUID: id, ProcessedAt: *a.Time()}
	if a.ExternalSourceName != "" {
		entry.ExternalSourceName = new(a.ExternalSourceName)
	}
	change, err := apiclient.MarkProcessedChange([]apitype.ProcessedEntry{entry})
	return Change{Change: change, Label: label, Err: err}
}
