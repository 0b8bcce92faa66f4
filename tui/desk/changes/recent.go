package changes

import (
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// Fate is the outcome of the work on a call.
type Fate int

// The fates.
const (
	FateHeld    Fate = iota // It can be taken back.
	FateWaits               // In the outbox: on its way, or the service cannot be reached.
	FateSent                // The service has it.
	FateRefused             // The service did not take it.
	FateLater               // The call was deferred.
	FateEnded               // Another user was faster.
)

// String returns the fate in a word.
func (f Fate) String() string {
	return []string{"held", "waiting", "sent", "refused", "deferred", "ended"}[f]
}

// fates has the fate of a sent change by its outcome.
var fates = map[outbox.Outcome]Fate{
	outbox.OutcomeAccepted: FateSent,
	outbox.OutcomeRejected: FateRefused,
	outbox.OutcomeUnsure:   FateWaits,
	outbox.OutcomeWaiting:  FateWaits,
}

// Recent is a call that the agent has worked on.
type Recent struct {
	Call  apitype.UUID
	Name  string
	At    time.Time
	What  string // Its outcome in words.
	Fate  Fate
	entry string // Its change in the outbox. Empty before it is there.
}

// mostRecent is about how many calls an agent makes in an hour.
const mostRecent = 10

// RecentCalls are the calls that the agent has worked on, the latest first.
type RecentCalls []Recent

// Add puts a call before the others.
func (all *RecentCalls) Add(r Recent) {
	*all = slices.Insert(*all, 0, r)
	*all = (*all)[:min(len(*all), mostRecent)]
}

// saved stores the entry of the change that ended a call, or forgets the work if the change was not saved.
func (all *RecentCalls) saved(call apitype.UUID, entry string, err error) {
	i := slices.IndexFunc(
		*all,
		func(r Recent) bool { return r.Call == call && r.entry == "" && r.Fate == FateHeld },
	)
	switch {
	case i < 0:
	case err != nil:
		*all = slices.Delete(*all, i, i+1)
	default:
		(*all)[i].entry = entry
	}
}

// hear stores the progress of an entry.
func (all *RecentCalls) hear(e outbox.Event) {
	if e.Outcome == outbox.OutcomeDropped {
		all.forget(e.Entry.ID)
	}
	for i := range *all {
		r := &(*all)[i]
		if r.entry == "" || r.entry != e.Entry.ID {
			continue
		}
		r.Fate = fates[e.Outcome]
		if r.Fate == FateSent && e.Entry.Op == apiclient.OpDeferCall {
			r.Fate = FateLater
		}
	}
}

// forget removes work that was undone.
func (all *RecentCalls) forget(entry string) {
	*all = slices.DeleteFunc(*all, func(r Recent) bool { return r.entry == entry })
}
