package lease

import (
	"context"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/card"
	"fundesk/tui/desk/event"
	"fundesk/tui/desk/pending"
)

// warnTime is the time without a key after which the agent is warned that the lease will end.
const warnTime = 12 * time.Minute

// WarnOfEnd shows that the lease of the call on the Desk is about to end, until a key comes.
func (s *Leases) WarnOfEnd() {
	call := s.Desk.Call()
	ends := call != nil && s.of(call.UUID) != nil && s.Keys.NoneFor(warnTime, s.Now())
	if !ends {
		s.Events.Over(event.OfLease)
	} else if !s.Events.Owns(event.OfLease) {
		name := card.CallName(s.Texts, *call)
		s.Events.FailOf(
			event.OfLease,
			s.Say("%s is reserved for you for 3 more minutes: any key keeps the donor", name),
		)
	}
}

// Wake extends the leases after the computer slept, and ends those that have run out.
func (s *Leases) Wake(now time.Time) {
	for _, l := range slices.Clone(s.held) {
		if now.Sub(l.extendedAt.Round(0)) < pending.LeaseTime {
			s.extend(l)
			continue
		}
		s.end(l.LeaseUUID)
		if s.isOn(l.CallUUID) {
			s.Desk.OnFreed()
		}
	}
}

// onFreed notes that a lease has ended that was not given back here. It is not taken again unless the agent asks.
func (s *Leases) onFreed(l Lease) {
	s.end(l.LeaseUUID)
	if !s.isOn(l.CallUUID) {
		return
	}
	s.Desk.OnFreed()
	if s.Desk.Call().Status == apitype.CallRequested { // Otherwise there is nothing left to call for.
		s.failOf(l, "%s is no longer reserved for you: another agent may call, too")
	}
}

// failOf shows an error about the call of a lease. The format has a place for the donor.
func (s *Leases) failOf(l Lease, format string) {
	s.Events.FailOf(event.OfCall(l.CallUUID), s.Say(format, card.CallName(s.Texts, l.Call)))
}

// Tend extends the leases of a Desk in use, and releases the leases of an idle one. It is called every few seconds.
func (s *Leases) Tend() {
	s.WarnOfEnd()
	for _, p := range s.pending.List() {
		if !s.isOn(p.Call) {
			p.IsOpening.Store(false) // The agent has left it again.
		}
		s.settle(p)
	}
	if !s.Keys.AreIdle(s.Now()) {
		s.ExtendInUse()
		return
	}
	for _, l := range slices.Clone(s.held) {
		s.Release(l.CallUUID)
		if s.isOn(l.CallUUID) {
			s.Desk.OnFreed()
			s.failOf(l, "%s is no longer reserved for you: no key for 15 minutes")
		}
	}
}

// ExtendInUse extends the leases that end soon, if a key came since they were extended.
func (s *Leases) ExtendInUse() {
	for _, l := range slices.Clone(s.held) {
		endsSoon := l.extendedAt.Add(pending.LeaseTime).Sub(s.Now()) < pending.ExtendTime
		if endsSoon && s.Keys.LastAt.After(l.extendedAt) {
			s.extend(l)
		}
	}
}

// Extend extends the lease of a call, if it has one.
func (s *Leases) Extend(call apitype.UUID) {
	if l := s.of(call); l != nil {
		s.extend(*l)
	}
}

// extend extends a lease from now on. It also reports to the service that a prefetched call is shown.
func (s *Leases) extend(l Lease) {
	request := apitype.ExtendRequest{LeaseSeconds: seconds()}
	if l.Ahead && s.isOn(l.CallUUID) {
		request.Ahead = new(false)
	}
	event.Do(s.Events, "lease extended", func(ctx context.Context) (apitype.Lease, error) {
		return apiclient.Decoded(s.Client.Queue.Extend(ctx, l.LeaseUUID, request))
	}, func(kept apitype.Lease, err error) { s.onExtended(l.LeaseUUID, kept, err) })
}

func (s *Leases) onExtended(id apitype.UUID, kept apitype.Lease, err error) {
	i := slices.IndexFunc(s.held, func(l Lease) bool { return l.LeaseUUID == id })
	switch {
	case i < 0:
	case apiclient.KindOf(err) == apiclient.KindNotFound:
		s.onFreed(s.held[i])
	case err != nil:
		s.Connection.FailRead("cannot keep the lease", err)
	default:
		s.Events.Over("cannot keep the lease")
		l := &s.held[i]
		l.ExpiresAt, l.Ahead, l.extendedAt = kept.ExpiresAt, kept.Ahead, s.Now()
	}
}
