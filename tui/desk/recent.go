package desk

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

// Recent is a call that the agent has worked on.
type Recent struct {
	Call  apitype.UUID
	Name  string
	At    time.Time
	What  string // Its outcome in words.
	Fate  Fate
	entry string // Its change in the outbox; "" until it is there.
}

// mostRecent is about how many calls an agent makes in an hour.
const mostRecent = 10

// RecentCalls are the calls that the agent has worked on, the latest first.
type RecentCalls []Recent

// remember puts a call before the others.
func (all *RecentCalls) remember(r Recent) {
	*all = slices.Insert(*all, 0, r)
	*all = (*all)[:min(len(*all), mostRecent)]
}

// HeldFor returns how long the work on a call can still be taken back.
func (c *Changes) HeldFor(r Recent) time.Duration {
	for _, h := range c.Held {
		if h.id == r.entry && h.id != "" {
			return h.Until.Sub(c.Now())
		}
	}
	return 0
}

// entered stores the entry of the change of a call, or that it was not saved.
func (all *RecentCalls) entered(q queued) {
	if q.change.from == nil {
		return
	}
	i := slices.IndexFunc(
		*all,
		func(r Recent) bool { return r.Call == q.change.UUID && r.entry == "" && r.Fate == FateHeld },
	)
	switch {
	case i < 0:
	case q.err != nil:
		*all = slices.Delete(*all, i, i+1)
	default:
		(*all)[i].entry = q.entry.ID
	}
}

// hear stores the progress of an entry.
func (all *RecentCalls) hear(e outbox.Event) {
	if e.Outcome == outbox.OutcomeDropped {
		all.forget(e.Entry.ID)
	}
	for i := range *all {
		if r := &(*all)[i]; r.entry != "" && r.entry == e.Entry.ID {
			r.Fate = map[outbox.Outcome]Fate{
				outbox.OutcomeAccepted: FateSent,
				outbox.OutcomeRejected: FateRefused,
				outbox.OutcomeUnsure:   FateWaits,
				outbox.OutcomeWaiting:  FateWaits,
			}[e.Outcome]
			if r.Fate == FateSent && e.Entry.Op == apiclient.OpDeferCall {
				r.Fate = FateLater
			}
		}
	}
}

// forget takes out the work that was taken back.
func (all *RecentCalls) forget(entry string) {
	*all = slices.DeleteFunc(*all, func(r Recent) bool { return r.entry == entry })
}
