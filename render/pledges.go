package render

import "fundesk/apiclient/apitype"

// PledgeColumns are the columns of pledges.
func PledgeColumns() []Column[apitype.Pledge] {
	type pledge = apitype.Pledge
	amount := func(name string, value func(pledge) apitype.Amount) Column[pledge] {
		return Column[pledge]{
			Name: name, Right: true,
			Value: func(p pledge) string { return value(p).String() },
			Cell:  func(p pledge, v View) Text { return Text{Text: v.Locale.Amount(value(p))} },
		}
	}
	person := func(name string, value func(apitype.Person) *string) Column[pledge] {
		return column("person."+name, func(p pledge) string { return text(value(p.Person.Value())) })
	}
	return []Column[pledge]{
		{Name: "uuid", Value: func(p pledge) string { return uuidText(p.UUID) }, Default: true},
		statusColumn(func(p pledge) string { return string(p.Status) }),
		shown(amount("donationAmount", func(p pledge) apitype.Amount { return p.DonationAmount }), "euro"),
		shown(column("donationInterval", func(p pledge) string { return string(p.DonationInterval) }), "interval"),
		amount("initialDonationAmount", func(p pledge) apitype.Amount { return p.InitialDonationAmount }),
		column("initialDonationInterval", func(p pledge) string { return string(p.InitialDonationInterval) }),
		timeColumn("startsAt", "starts", func(p pledge) *apitype.Time { return &p.StartsAt }),
		timeColumn("endsAt", "ends", func(p pledge) *apitype.Time { return p.EndsAt }),
		shown(timeColumn("createdAt", "", func(p pledge) *apitype.Time { return &p.CreatedAt }), "created"),
		timeColumn("updatedAt", "updated", func(p pledge) *apitype.Time { return &p.UpdatedAt }),
		shown(timeColumn("releasedAt", "", func(p pledge) *apitype.Time { return p.ReleasedAt.Pointer() }), "released"),
		column("person.uuid", func(p pledge) string { return uuidText(p.Person.Value().UUID) }),
		person("firstName", func(p apitype.Person) *string { return p.FirstName }),
		person("lastNamePrefix", func(p apitype.Person) *string { return p.LastNamePrefix }),
		person("lastName", func(p apitype.Person) *string { return p.LastName }),
		person("email", func(p apitype.Person) *string { return p.Email }),
		person("mobilePhoneNumber", func(p apitype.Person) *string { return p.MobilePhoneNumber }),
		column("owningOrganizationUuid", func(p pledge) string { return uuidText(p.OwningOrganizationUUID) }),
		shown(column("owningOrganization.abbreviation", func(p pledge) string { return p.OwningOrganization.Value().Abbreviation }), "owner"),
		column("recruitingOrganizationUuid", func(p pledge) string { return uuidText(p.RecruitingOrganizationUUID) }),
		column("recruitingOrganization.abbreviation", func(p pledge) string { return p.RecruitingOrganization.Value().Abbreviation }),
		column("recruitingLocationLabel", func(p pledge) string { return text(p.RecruitingLocationLabel) }),
		column("recruitmentType", func(p pledge) string { return text(p.RecruitmentType) }),
		column("recruiterUserUuid", func(p pledge) string { return uuidText(p.RecruiterUserUUID) }),
		column("recruiterUser.name", func(p pledge) string { return p.RecruiterUser.Value().Name }),
		column("preferredPaymentDay", func(p pledge) string { return text(p.PreferredPaymentDay) }),
		column("campaignCode", func(p pledge) string { return text(p.CampaignCode) }),
		timeColumn("collectionDate", "collection", func(p pledge) *apitype.Time { return p.CollectionDate }),
		column("externalSource.name", func(p pledge) string { return p.ExternalSource.Value().Name }),
		column("externalSource.identifier", func(p pledge) string { return p.ExternalSource.Value().Identifier }),
	}
}
