package change

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/commands/cli"
	"fundesk/tui/desk/pending"
)

// A donor is kept from the queue while a change that ends their call waits. When the last such change of a call is
// dropped, its pending lease is released: the Desk that made it may be closed.

// freePatience limits the wait for the service after a drop.
const freePatience = 5 * time.Second

// freeDonors releases the pending leases of dropped changes. A failure is a warning: the changes are dropped already.
func freeDonors(ctx context.Context, s *cli.Session, dropped []outbox.Entry) {
	dropped = slices.DeleteFunc(dropped, func(e outbox.Entry) bool { return !pending.EndsCall(e.Op) })
	if len(dropped) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, freePatience)
	defer cancel()
	isElsewhere, err := releaseDropped(ctx, s, dropped)
	const stays = "the queue may keep the donor of a dropped change for a day"
	if err != nil {
		s.Warn("%s: %s; to free the donor: fundesk queue release --user UUID --pending", stays, err)
	} else if isElsewhere {
		s.Note("%s, at another service or account; there: fundesk queue release --user UUID --pending", stays)
	}
}

// releaseDropped releases the pending leases of dropped changes of the chosen service and account. isElsewhere is set
// if there are changes of others.
func releaseDropped(ctx context.Context, s *cli.Session, dropped []outbox.Entry) (isElsewhere bool, err error) {
	box, err := s.Outbox(ctx)
	if err != nil {
		return false, err
	}
	left, _, err := box.List()
	if err != nil {
		return false, err
	}
	waits := func(call apitype.UUID) bool {
		return slices.ContainsFunc(left, func(e outbox.Entry) bool { return e.UUID == call && pending.EndsCall(e.Op) })
	}
	calls := map[apitype.UUID][]apitype.UUID{} // By the users who ended them.
	for _, e := range dropped {
		if !box.Owns(e.BaseURL, e.Account) {
			isElsewhere = true
			continue
		}
		user := userOf(s, e)
		if user != nil && !waits(e.UUID) {
			calls[*user] = append(calls[*user], e.UUID)
		}
	}
	if len(calls) == 0 {
		return isElsewhere, nil
	}
	isPending, err := s.Client.Has(ctx, apitype.ExtensionPending)
	if err != nil || !isPending {
		return isElsewhere, err
	}
	for user, ended := range calls {
		if err := releasePending(ctx, s, user, ended); err != nil {
			return isElsewhere, err
		}
	}
	return isElsewhere, nil
}

// releasePending releases the pending leases of a user for some calls.
func releasePending(ctx context.Context, s *cli.Session, user apitype.UUID, calls []apitype.UUID) error {
	held, err := s.Client.Queue.Leases(ctx, apitype.QueueLeaseListOptions{UserUUID: &user})
	if err != nil {
		return err
	}
	leases, err := held.Decode()
	if err != nil {
		return err
	}
	for _, lease := range leases.Leases {
		if !lease.Pending || !slices.Contains(calls, lease.CallUUID) {
			continue
		}
		if err := s.Client.Queue.Release(ctx, lease.LeaseUUID, apitype.DeferRequest{}); err != nil {
			return err
		}
	}
	return nil
}

// userOf returns the user who made a change, or else the agent of the profile. Nil if neither is known.
func userOf(s *cli.Session, e outbox.Entry) *apitype.UUID {
	var body struct {
		UserUUID *apitype.UUID `json:"userUuid"`
	}
	isForSomebody := e.Op == apiclient.OpDeferCall // Its user is whom the callback is for.
	if isForSomebody || json.Unmarshal(e.Body, &body) != nil {
		body.UserUUID = nil
	}
	if err := s.Agent(&body.UserUUID); err != nil {
		return nil
	}
	return body.UserUUID
}
