package lease

import (
	"context"
	"errors"
	"slices"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/desk/event"
)

// live has the live leases of the agent, and the lease of the person on the Desk, according to the service.
type live struct {
	isKnown bool           // The service answered.
	asked   []apitype.UUID // The leases that were held when it was asked.
	person  apitype.UUID
	all     []apitype.Lease
	// isBlocked reports whether a number of the person is blocked. Nil if it is unknown.
	isBlocked *bool
}

// read requests the leases of a user and the lease of a person. person may be zero.
func (s *Leases) read(ctx context.Context, user, person apitype.UUID, asked []apitype.UUID) (live, error) {
	has, err := s.Client.Has(ctx, apitype.ExtensionPending)
	if err != nil || !has {
		return live{}, err
	}
	options := apitype.QueueLeaseListOptions{UserUUID: &user}
	if !person.IsZero() {
		options.PersonUUID = &person
	}
	answer, err := apiclient.Decoded(s.Client.Queue.Leases(ctx, options))
	read := live{
		isKnown: err == nil,
		asked:   asked,
		person:  person,
		all:     answer.Leases,
	}
	read.isBlocked = answer.NumberBlocked
	return read, err
}

// Check asks whether the leases are still this Desk's, and which user holds the person on the card.
func (s *Leases) Check() {
	var person apitype.UUID
	if call := s.Desk.Call(); call != nil {
		person = call.PersonUUID
	}
	user, asked := s.Agent(), s.ids()
	event.Do(s.Events, "leases read", func(ctx context.Context) (live, error) {
		return s.read(ctx, user, person, asked)
	}, func(read live, err error) {
		if s.Connection.IsRead("cannot read the leases", err) {
			s.onLive(read)
		}
	})
}

// onLive notes which leases were freed or taken by another user.
func (s *Leases) onLive(read live) {
	if !read.isKnown {
		return
	}
	isLive := func(id apitype.UUID) bool {
		return slices.ContainsFunc(read.all, func(l apitype.Lease) bool { return l.LeaseUUID == id })
	}
	for _, l := range slices.Clone(s.held) {
		if slices.Contains(read.asked, l.LeaseUUID) && !isLive(l.LeaseUUID) {
			s.onFreed(l)
		}
	}
	for _, l := range read.all {
		isLate := l.Pending && l.UserUUID == s.Agent() && s.ended[l.CallUUID] && !s.pending.IsWanted(l.CallUUID)
		if isLate {
			s.settleLate(l)
		}
	}
	if call := s.Desk.Call(); call != nil && call.PersonUUID == read.person {
		s.Desk.OnPerson(holderIn(read.all, s.Agent()), read.isBlocked)
	}
	s.Desk.Serve()
}

// holderIn returns the other user with a lease in a list, or nil.
func holderIn(all []apitype.Lease, agent apitype.UUID) *apitype.LeaseHolder {
	var holder *apitype.LeaseHolder
	for _, l := range all {
		if l.UserUUID != agent {
			holder = &apitype.LeaseHolder{
				UserUUID:  l.UserUUID,
				Name:      l.Name,
				TakenAt:   l.TakenAt,
				ExpiresAt: l.ExpiresAt,
			}
		}
	}
	return holder
}

// settleLate releases a pending lease that a late repeat made after the change was accepted.
func (s *Leases) settleLate(l apitype.Lease) {
	event.Do(s.Events, "late lease released", func(ctx context.Context) (any, error) {
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
