package service

import (
	"cmp"
	"slices"

	"fundesk/apiclient/apitype"
)

// pledgeTransition is one move that the rules allow a service-managed pledge.
type pledgeTransition struct {
	Action apitype.PledgeAction
	From   apitype.PledgeStatus
	To     apitype.PledgeStatus
	When   pledgeCondition
}

// pledgeCondition is a condition in addition to the status.
type pledgeCondition int

const (
	always pledgeCondition = iota
	whenReleased
	whenNotReleased
	whenEnded
)

// pledgeTransitions are the moves that the rules allow. Spec gap: G1.
var pledgeTransitions = []pledgeTransition{
	{apitype.ActionActivate, apitype.PledgeLead, apitype.PledgeActive, whenReleased},
	{apitype.ActionDrop, apitype.PledgeLead, apitype.PledgeDropped, whenNotReleased},
	{apitype.ActionCancel, apitype.PledgeLead, apitype.PledgeCancelled, whenReleased},
	{apitype.ActionCancel, apitype.PledgeActive, apitype.PledgeCancelled, always},
	{apitype.ActionFulfill, apitype.PledgeActive, apitype.PledgeFulfilled, whenEnded},
}

// released reports whether a pledge's release time has come; nothing else releases it.
// Spec gap: G2.
func released(row PledgeRow, now apitype.Time) bool {
	return row.ReleasedAt != nil && !row.ReleasedAt.After(now.Time)
}

// unmet returns the reason why a condition does not hold, or an empty text.
func (c pledgeCondition) unmet(row PledgeRow, pledge *apitype.Pledge, now apitype.Time) string {
	if c == whenReleased && !released(row, now) {
		return "is not released yet"
	}
	if c == whenNotReleased && released(row, now) {
		return "is released already"
	}
	if c == whenEnded && (pledge.EndsAt == nil || pledge.EndsAt.After(now.Time)) {
		return "has not reached its end"
	}
	return ""
}

// actOnPledge moves a pledge by an action. A pledge that is there already stays as it
// is; an external one goes there from any state. Spec gap: G1.
func actOnPledge(row *PledgeRow, pledge *apitype.Pledge, action apitype.PledgeAction, now apitype.Time) error {
	isOfAction := func(t pledgeTransition) bool { return t.Action == action }
	to := pledgeTransitions[slices.IndexFunc(pledgeTransitions, isOfAction)].To
	if pledge.Status == to {
		return nil
	}
	if !row.External {
		i := slices.IndexFunc(pledgeTransitions, func(t pledgeTransition) bool {
			return t.Action == action && t.From == pledge.Status
		})
		if i < 0 {
			return conflict("the pledge is %s and does not take the action %s", pledge.Status, action)
		}
		if why := pledgeTransitions[i].When.unmet(*row, pledge, now); why != "" {
			return conflict("the pledge is %s, %s and does not take the action %s", pledge.Status, why, action)
		}
		if to == apitype.PledgeDropped {
			row.ReleasedAt = nil // Dropped before: never released. Spec gap: G2
		}
	}
	pledge.Status, pledge.UpdatedAt = to, now
	return revise("pledge", &row.Private, func(private *pledgePrivate) {
		private.StatusAt = &now
		switch to {
		case apitype.PledgeCancelled:
			private.CancelledAt = &now
		case apitype.PledgeDropped:
			private.DroppedAt = &now
		case apitype.PledgeFulfilled:
			private.FulfilledAt = &now
		}
	})
}

// end returns when a pledge ended. That is the latest of endsAt and the times of its cancellation, drop and
// fulfilment, or else its last change of status. It returns nil for a lead and an active pledge.
func (p pledgePrivate) end(pledge apitype.Pledge) *apitype.Time {
	if pledge.Status == apitype.PledgeLead || pledge.Status == apitype.PledgeActive {
		return nil
	}
	var latest *apitype.Time
	for _, at := range []*apitype.Time{pledge.EndsAt, p.CancelledAt, p.DroppedAt, p.FulfilledAt} {
		if at != nil && (latest == nil || at.After(latest.Time)) {
			latest = at
		}
	}
	return cmp.Or(latest, p.StatusAt, &pledge.UpdatedAt)
}

// keepStatusTime saves when the status of a pledge changed last, before an update moves the time of the pledge.
func (p *PledgeRow) keepStatusTime(pledge apitype.Pledge) error {
	var private pledgePrivate
	if err := decode("pledge", p.Private, &private); err != nil || private.StatusAt != nil {
		return err
	}
	private.StatusAt = new(pledge.UpdatedAt)
	var err error
	p.Private, err = encode("pledge", private)
	return err
}

func patchPledge(p *apitype.Pledge, r apitype.UpdatePledgeRequest) {
	r.RecruitingLocationLabel.Apply(&p.RecruitingLocationLabel)
	if interval, ok := r.DonationInterval.Value(); ok {
		p.DonationInterval = interval
	}
	if amount, ok := r.DonationAmount.Value(); ok {
		p.DonationAmount = amount
	}
	if user, ok := r.RecruiterUserUUID.Value(); ok {
		p.RecruiterUserUUID = user
	}
	if start, ok := r.StartsAt.Value(); ok {
		p.StartsAt = start
	}
	r.EndsAt.Apply(&p.EndsAt)
	r.ExternalMetadata.Apply(&p.ExternalMetadata)
}

// newPledge returns the pledge of a creation. Spec gap: G6.
func newPledge(id apitype.UUID, r apitype.CreatePledgeRequest, refs pledgeRefs, now apitype.Time) apitype.Pledge {
	pledge := apitype.Pledge{
		UUID:                       id,
		Status:                     apitype.PledgeLead,
		StartsAt:                   r.StartsAt,
		EndsAt:                     r.EndsAt,
		CreatedAt:                  r.CreatedAt,
		UpdatedAt:                  now,
		OwningOrganizationUUID:     r.OwningOrganizationUUID,
		RecruitingOrganizationUUID: r.RecruitingOrganizationUUID,
		RecruitingLocationLabel:    r.RecruitingLocationLabel,
		InitialDonationAmount:      r.InitialDonationAmount,
		DonationAmount:             r.InitialDonationAmount,
		InitialDonationInterval:    r.InitialDonationInterval,
		DonationInterval:           r.InitialDonationInterval,
		PreferredPaymentDay:        r.PreferredPaymentDay,
		RecruitmentType:            r.RecruitmentType,
		RecruiterUserUUID:          r.RecruiterUserUUID,
		ExternalMetadata:           r.ExternalMetadata,
		OwningOrganization:         apitype.Embed(refs.owner.OrganizationReference),
		RecruitingOrganization:     apitype.Embed(refs.recruiter.OrganizationReference),
		FocusAreas:                 apitype.Embed(refs.focusAreas),
		ExternalSource:             apitype.EmbedPointer(r.ExternalSource),
	}
	if !r.IsExternal() {
		return pledge
	}
	if r.Status != nil {
		pledge.Status = *r.Status
	}
	if r.DonationAmount != nil {
		pledge.DonationAmount = *r.DonationAmount
	}
	if r.DonationInterval != nil {
		pledge.DonationInterval = *r.DonationInterval
	}
	return pledge
}
