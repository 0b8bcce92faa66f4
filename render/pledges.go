package render

import "fundesk/apiclient/apitype"

// PledgeColumns are the columns of pledges.
func PledgeColumns() []Column[apitype.Pledge] {
	type pledge = apitype.Pledge
	amount := func(name string, value func(pledge) apitype.Amount) Column[pledge] {
		return Column[pledge]{
			Name: name, Right: true,
			Value:  func(p pledge) string { return value(p).String() },
			Cell:   func(p pledge, v View) Text { return Text{Text: v.Locale.Amount(value(p))} },
			Number: func(p pledge) int64 { return cents(value(p)) },
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

// cents are those of an amount, nothing for one that is finer or too large for them.
func cents(a apitype.Amount) int64 {
	n, _ := a.Cents()
	return n
}

// PledgeList are the columns of pledges in a list on the screen, in their order. A list of the
// interface does not have the donor.
func PledgeList() []Listed[apitype.Pledge] {
	type pledge = apitype.Pledge
	return onScreen(PledgeColumns(),
		Listed[pledge]{Name: "uuid", Heading: "Pledge", Width: 9},
		Listed[pledge]{Name: "donor", Width: 14, Grow: true, Say: func(p pledge, _ View) string { return PersonName(p.Person.Value()) }},
		Listed[pledge]{Name: "status", Width: 9},
		Listed[pledge]{Name: "donationAmount", Heading: "Euros", Width: 9},
		Listed[pledge]{Name: "donationInterval", Width: 11, Say: func(p pledge, _ View) string { return Words(string(p.DonationInterval)) }},
		Listed[pledge]{Name: "createdAt", Heading: "Made", Width: 4},
		Listed[pledge]{Name: "releasedAt", Width: 8, Say: func(p pledge, _ View) string {
			return yesNo(new(p.ReleasedAt.Pointer() != nil)).Text
		}},
		Listed[pledge]{Name: "recruitmentType", Heading: "Won", Width: 6, Say: func(p pledge, _ View) string { return Recruitment(p) }},
		Listed[pledge]{Name: "campaignCode", Heading: "Campaign", Width: 8, Grow: true},
	)
}

// Recruitment is where or by what a pledge was won, in a word; "" where nobody has said.
func Recruitment(p apitype.Pledge) string {
	won := text(p.RecruitmentType)
	if won == "d2d" {
		return "door"
	}
	return Words(won)
}
