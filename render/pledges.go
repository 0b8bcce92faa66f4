package render

import "fundesk/apiclient/apitype"

// PledgeColumns are the columns of pledges.
func PledgeColumns() []Column[apitype.Pledge] { return fieldColumns(apitype.PledgeFields()) }

// PledgeList are the columns of pledges in a list on the screen, in their order. A list of the
// interface does not have the donor.
func PledgeList() []Listed[apitype.Pledge] {
	type pledge = apitype.Pledge
	return onScreen(PledgeColumns(),
		Listed[pledge]{Name: "donor", Width: 18, Grow: true, Say: func(p pledge, _ View) string { return PersonName(p.Person.Value()) }},
		Listed[pledge]{
			Name: "donationAmount", Heading: "Amount", Width: 12,
			Say:    func(p pledge, v View) string { return v.Locale.Grouped(p.DonationAmount) },
			Number: func(p pledge) int64 { n, _ := p.DonationAmount.Cents(); return n },
		},
		Listed[pledge]{Name: "donationInterval", Width: 11, Say: func(p pledge, _ View) string { return Words(string(p.DonationInterval)) }},
		Listed[pledge]{Name: "status", Width: 11},
		Listed[pledge]{Name: "createdAt", Heading: "Made", Width: 4},
		Listed[pledge]{Name: "releasedAt", Width: 8, Say: func(p pledge, _ View) string {
			return yesNo(new(p.ReleasedAt.Pointer() != nil)).Text
		}},
		Listed[pledge]{Name: "recruitmentType", Heading: "Won", Width: 6, Say: func(p pledge, _ View) string { return Recruitment(p) }},
		Listed[pledge]{Name: "campaignCode", Heading: "Campaign", Width: 8, Grow: true},
		Listed[pledge]{Name: "uuid", Heading: "UUID", Width: 8},
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
