package desk

import (
	"context"
	"errors"
	"slices"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
)

// leasesRead has the live leases of the agent, and the lease of the person on the Desk, according to the service.
type leasesRead struct {
	isKnown bool           // The service answered.
	asked   []apitype.UUID // The leases that were held when it was asked.
	person  apitype.UUID
	all     []apitype.Lease
	// isBlocked reports whether a number of the person is blocked. Nil if it is unknown.
	isBlocked *bool
}

// read requests the leases of a user and the lease of a person. person may be zero.
func (s *leases) read(ctx context.Context, user, person apitype.UUID, asked []apitype.UUID) (leasesRead, error) {
	has, err := s.Client.Has(ctx, apitype.ExtensionPending)
	if err != nil || !has {
		return leasesRead{}, err
	}
	options := apitype.QueueLeaseListOptions{UserUUID: &user}
	if !person.IsZero() {
		options.PersonUUID = &person
	}
	answer, err := apiclient.Decoded(s.Client.Queue.Leases(ctx, options))
	read := leasesRead{isKnown: err == nil, asked: asked, person: person, all: answer.Leases}
	read.isBlocked = answer.NumberBlocked
	return read, err
}

// heldNow returns the leases that are held, for read.
func (s *leases) heldNow() (ids []apitype.UUID) {
	for _, l := range s.held {
		ids = append(ids, l.LeaseUUID)
	}
	return ids
}

// check asks whether the leases are still this desk's, and which user holds the person on the card.
func (s *leases) check() {
	var person apitype.UUID
	if s.seat.Call != nil {
		person = s.seat.Call.PersonUUID
	}
	user, asked := s.agent(), s.heldNow()
	event.Do(s.Queue, "leases read", func(ctx context.Context) (leasesRead, error) {
		return s.read(ctx, user, person, asked)
	}, func(read leasesRead, err error) {
		if s.IsRead("cannot read the leases", err) {
			s.onLeases(read)
		}
	})
}

// onLeases notes which leases were freed or taken by another user.
func (s *leases) onLeases(read leasesRead) {
	if !read.isKnown {
		return
	}
	isLive := func(id apitype.UUID) bool {
		return slices.ContainsFunc(read.all, func(l apitype.Lease) bool { return l.LeaseUUID == id })
	}
	for _, l := range slices.Clone(s.held) {
		if slices.Contains(read.asked, l.LeaseUUID) && !isLive(l.LeaseUUID) {
			s.isFreed(l)
		}
	}
	for _, l := range read.all {
		isLate := l.Pending && l.UserUUID == s.agent() && s.ended[l.CallUUID] && !s.pending.IsWanted(l.CallUUID)
		if isLate {
			s.settleLate(l)
		}
	}
	if call := s.seat.Call; call != nil && call.PersonUUID == read.person {
		s.seat.noteHolder(read.all, s.agent())
		if read.isBlocked != nil {
			s.seat.isBlocked = *read.isBlocked
		}
	}
	s.showing.serve()
}

// settleLate releases a pending lease that a late repeat made after the change was accepted.
func (s *leases) settleLate(l apitype.Lease) {
	event.Do(s.Queue, "late lease released", func(ctx context.Context) (any, error) {
		return nil, s.Client.Queue.Release(ctx, l.LeaseUUID, apitype.DeferRequest{})
	}, func(any, error) {}) // The next reading finds it again.
}

// heldBy returns the holder of a donor in an error, or nil.
func heldBy(err error) *apitype.LeaseHolder {
	held, isHeld := errors.AsType[*apiclient.LeaseHeldError](err)
	if !isHeld {
		return nil
	}
	return &held.Holder
}
