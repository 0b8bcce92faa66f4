package render

import "fundesk/apiclient/apitype"

// PledgeColumns returns the columns of pledges.
func PledgeColumns() []Column[apitype.Pledge] { return fieldColumns(apitype.PledgeFields()) }

// PledgeList returns the columns of pledges in a list on the screen, in their order. A list of the interface does not
// have the donor.
func PledgeList() []Column[apitype.Pledge] {
	type pledge = apitype.Pledge
	return onScreen(PledgeColumns(), []Column[pledge]{
		{
			Name:  "donor",
			Width: 18,
			Grow:  true,
			Cell:  func(p pledge, _ View) Text { return Text{Text: PersonName(p.Person.Value())} },
		},
		{
			Name:   "donationAmount",
			Title:  "Amount",
			Width:  12,
			Cell:   func(p pledge, v View) Text { return Text{Text: v.Locale.Grouped(p.DonationAmount)} },
			Number: func(p pledge) int64 { n, _ := p.DonationAmount.Cents(); return n },
		},
		{
			Name:  "donationInterval",
			Width: 11,
			Cell:  func(p pledge, _ View) Text { return Text{Text: Words(string(p.DonationInterval))} },
		},
		{Name: "status", Width: 11},
		{Name: "createdAt", Title: "Made", Width: 4},
		{
			Name:  "releasedAt",
			Width: 8,
			Cell:  func(p pledge, _ View) Text { return yesNo(new(p.ReleasedAt.Pointer() != nil)) },
		},
		{
			Name:  "recruitmentType",
			Title: "Via",
			Width: 6,
			Cell:  func(p pledge, _ View) Text { return Text{Text: Recruitment(p)} },
		},
		{
			Name:  "campaignCode",
			Title: "Campaign",
			Width: 8,
			Grow:  true,
		},
		{Name: "uuid", Title: "UUID", Width: 8},
	})
}
