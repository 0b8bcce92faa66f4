package service

import (
	"errors"
	"slices"

	"fundesk/apiclient/apitype"
)

// pledge saves a pledge with its signature file.
func (l *loader) pledge(p LoadedPledge) error {
	owner, err := l.organizationOf("/owningOrganizationUuid", p.OwningOrganizationUUID)
	if err != nil {
		return err
	}
	recruiter, err := l.organizationOf("/recruitingOrganizationUuid", p.RecruitingOrganizationUUID)
	if err != nil {
		return err
	}
	if err := errors.Join(required(p.UUID), p.check()); err != nil {
		return err
	}
	row := PledgeRow{
		Person: p.person(), External: p.ExternalSource.Pointer() != nil, ReleasedAt: p.ReleasedAt.Pointer(),
		HasSignature: len(p.Signature) > 0, Private: []byte(`{}`), Rev: 1,
	}
	if _, ok := l.persons[row.Person]; !ok {
		return refused("/person/uuid", "names no person")
	}
	if row.ReleasedAt == nil && !row.External && p.Status == apitype.PledgeLead {
		row.ReleasedAt = new(apitype.NewTime(p.CreatedAt.Add(owner.CoolingOff))) // Spec gap: G2
	}
	pledge := p.Pledge
	pledge.ReleasedAt, pledge.SignatureSignedURL = apitype.Embedded[apitype.Time]{}, nil
	pledge.RecruiterUser, pledge.Person = apitype.Embedded[apitype.RecruiterUser]{}, apitype.Embedded[apitype.Person]{}
	pledge.Transactions, pledge.Calls = apitype.Embedded[[]apitype.Transaction]{}, apitype.Embedded[[]apitype.Call]{}
	pledge.OwningOrganization = apitype.Embed(owner.OrganizationReference)
	pledge.RecruitingOrganization = apitype.Embed(recruiter.OrganizationReference)
	pledge.ExternalSource = apitype.EmbedPointer(p.ExternalSource.Pointer())
	areas, err := l.areasOf(p)
	if err != nil {
		return err
	}
	pledge.FocusAreas = apitype.Embed(areas)
	if err := row.write(pledge); err != nil {
		return err
	}
	l.rows.Pledges = append(l.rows.Pledges, row)
	l.donors[row.UUID] = row.Person
	if row.HasSignature {
		l.rows.Signatures = append(l.rows.Signatures, SignatureRow{Pledge: row.UUID, Content: p.Signature})
	}
	return nil
}

// areasOf are the focus areas that a pledge names, by uuid or embedded.
func (l *loader) areasOf(p LoadedPledge) ([]apitype.FocusArea, error) {
	ids := p.FocusAreaUUIDs
	if len(ids) == 0 {
		for _, area := range p.FocusAreas.Value() {
			ids = append(ids, area.UUID)
		}
	}
	areas := make([]apitype.FocusArea, 0, len(ids))
	for _, id := range ids {
		area, err := known(l.focusAreas, id, l.tx.FocusArea)
		if errors.Is(err, ErrNoRow) || (err == nil && area.Organization != p.OwningOrganizationUUID) {
			return nil, refused("/focusAreaUuids", "names no focus area of the owning organization")
		}
		if err != nil {
			return nil, err
		}
		areas = append(areas, area.FocusArea)
	}
	return areas, nil
}

// person is the pledge's person, named by uuid or embedded.
func (p *LoadedPledge) person() apitype.UUID {
	if p.PersonUUID != nil {
		return *p.PersonUUID
	}
	return p.Person.Value().UUID
}

// check refuses a pledge that the interface could not have answered.
func (p *LoadedPledge) check() error {
	var v apitype.Violations
	if !slices.Contains(apitype.PledgeStatuses, p.Status) {
		v.Add("/status", "must be one of %s", joined(apitype.PledgeStatuses))
	}
	for _, field := range []struct {
		pointer string
		missing bool
	}{
		{"/startsAt", p.StartsAt.IsZero()},
		{"/createdAt", p.CreatedAt.IsZero()},
		{"/recruiterUserUuid", p.RecruiterUserUUID.IsZero()},
		{"/initialDonationInterval", p.InitialDonationInterval == ""},
		{"/person/uuid", p.person().IsZero()},
	} {
		if field.missing {
			v.Add(field.pointer, "is required")
		}
	}
	if p.UpdatedAt.IsZero() {
		p.UpdatedAt = p.CreatedAt
	}
	if p.DonationInterval == "" {
		p.DonationInterval = p.InitialDonationInterval
	}
	if day := p.PreferredPaymentDay; day != nil && (*day < 1 || *day > 28) {
		v.Add("/preferredPaymentDay", "must be a whole number from 1 to 28")
	}
	return invalid(v)
}
