package service

import (
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

// pledgeCondition is what must hold in addition to the state.
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

// unmet says why a condition does not hold, "" when it does.
func (c pledgeCondition) unmet(row PledgeRow, pledge *apitype.Pledge, now apitype.Time) string {
	switch {
	case c == whenReleased && !released(row, now):
		return "is not released yet"
	case c == whenNotReleased && released(row, now):
		return "is released already"
	case c == whenEnded && (pledge.EndsAt == nil || pledge.EndsAt.After(now.Time)):
		return "has not reached its end"
	default:
		return ""
	}
}

// actOnPledge moves a pledge by an action. A pledge that is there already stays as it
// is; an external one goes there from any state. Spec gap: G1.
func actOnPledge(row *PledgeRow, pledge *apitype.Pledge, action apitype.PledgeAction, now apitype.Time) error {
	to := pledgeTransitions[slices.IndexFunc(pledgeTransitions, func(t pledgeTransition) bool { return t.Action == action })].To
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
	return nil
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

// newPledge is the pledge that a creation describes. Spec gap: G6.
func newPledge(id apitype.UUID, r apitype.CreatePledgeRequest, refs pledgeRefs, now apitype.Time) apitype.Pledge {
	pledge := apitype.Pledge{
		UUID: id, Status: apitype.PledgeLead, StartsAt: r.StartsAt, EndsAt: r.EndsAt,
		CreatedAt: r.CreatedAt, UpdatedAt: now,
		OwningOrganizationUUID: r.OwningOrganizationUUID, RecruitingOrganizationUUID: r.RecruitingOrganizationUUID,
		RecruitingLocationLabel: r.RecruitingLocationLabel,
		InitialDonationAmount:   r.InitialDonationAmount, DonationAmount: r.InitialDonationAmount,
		InitialDonationInterval: r.InitialDonationInterval, DonationInterval: r.InitialDonationInterval,
		PreferredPaymentDay: r.PreferredPaymentDay, RecruitmentType: r.RecruitmentType,
		RecruiterUserUUID: r.RecruiterUserUUID, ExternalMetadata: r.ExternalMetadata,
		OwningOrganization:     apitype.Embed(refs.owner.OrganizationReference),
		RecruitingOrganization: apitype.Embed(refs.recruiter.OrganizationReference),
		FocusAreas:             apitype.Embed(refs.focusAreas),
		ExternalSource:         apitype.EmbedPointer(r.ExternalSource),
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
