package embedded

import (
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// pledge makes a pledge of a person, in any state that its age allows.
func (s *sampler) pledge(person service.LoadedPerson, owner sampleOrganization) service.LoadedPledge {
	created := person.CreatedAt
	age := s.today.Sub(created.Time)
	released := created.Add(14 * day)
	p := service.LoadedPledge{}
	p.UUID = s.uuid()
	p.CreatedAt, p.UpdatedAt = created, created
	p.StartsAt = apitype.NewTime(created.Truncate(day).AddDate(0, 1, 1-created.Day()))
	p.OwningOrganizationUUID = owner.reference.UUID
	p.RecruitingOrganizationUUID = owner.reference.UUID
	if s.maybe(12) {
		p.RecruitingOrganizationUUID = pick(s, s.owners).reference.UUID
	}
	p.RecruiterUserUUID = pick(s, s.recruiters)
	p.Person = apitype.Embed(apitype.Person{UUID: person.UUID, PersonUUID: person.UUID, CreatedAt: person.CreatedAt})
	s.terms(&p)
	p.FocusAreaUUIDs = []apitype.UUID{pick(s, owner.focusAreas)}
	p.Status = stateOf(s, words().PledgeStates, age)
	if p.Status != apitype.PledgeDropped {
		p.ReleasedAt = apitype.Embed(apitype.NewTime(released))
	}
	switch p.Status {
	case apitype.PledgeActive, apitype.PledgeCancelled:
		p.UpdatedAt = apitype.NewTime(s.past(released.Add(s.between(time.Hour, max(2*time.Hour, age-14*day)))))
	case apitype.PledgeDropped:
		p.UpdatedAt = apitype.NewTime(s.past(created.Add(s.between(time.Hour, 12*day))))
	case apitype.PledgeFulfilled:
		p.EndsAt = new(apitype.NewTime(s.today.Add(-s.between(time.Hour, 30*day))))
		p.UpdatedAt = apitype.NewTime(s.past(p.EndsAt.Add(6 * time.Hour)))
	}
	s.origin(&p)
	s.send(service.LoadPledge, p)
	return p
}

// terms makes what was promised: amount, interval, day and kind.
func (s *sampler) terms(p *service.LoadedPledge) {
	p.InitialDonationAmount = apitype.Cents(
		weighted(s, []weight[int64]{{500, 2}, {750, 2}, {1000, 6}, {1250, 3}, {1500, 4}, {2500, 2}, {5000, 1}}),
	)
	p.DonationAmount = p.InitialDonationAmount
	p.InitialDonationInterval = weighted(
		s,
		[]weight[apitype.DonationInterval]{
			{"monthly", 80},
			{"quarterly", 8},
			{"half-yearly", 3},
			{"yearly", 6},
			{"once", 3},
		},
	)
	p.DonationInterval = p.InitialDonationInterval
	if s.maybe(8) {
		p.DonationAmount = apitype.Cents(1750)
	}
	if s.maybe(40) {
		p.PreferredPaymentDay = new(1 + s.rand.IntN(28))
	}
	p.RecruitmentType = new(weighted(s, []weight[apitype.RecruitmentType]{{"d2d", 60}, {"street", 40}}))
	p.RecruitingLocationLabel = new(pick(s, words().Locations))
	if s.maybe(50) {
		p.CampaignCode = new(pick(s, words().Campaigns))
	}
}

// origin chooses the manager of the pledge, and its signature.
func (s *sampler) origin(p *service.LoadedPledge) {
	if s.maybe(20) {
		p.ExternalSource = apitype.Embed(
			apitype.ExternalSource{Name: "recruitment-app", Identifier: "P-" + s.digits(7)},
		)
		p.ExternalMetadata = new(apitype.Object(`{"device":"tablet-` + s.digits(2) + `","batch":` + s.digits(5) + `}`))
	}
	if s.maybe(70) {
		p.Signature = []byte(signatureImage)
	}
	if p.Status == apitype.PledgeActive {
		p.CollectionDate = new(apitype.NewTime(s.today.AddDate(0, 1, 2-s.today.Day())))
	}
}

// signatureImage draws the signature of all sample pledges.
const signatureImage = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 40">` +
	`<path d="M5 30 Q20 5 30 25 T55 20 T80 25 T115 12" fill="none" stroke="black"/></svg>`

// transactions makes the payments of a pledge.
func (s *sampler) transactions(person service.LoadedPerson, pledge service.LoadedPledge) {
	count := 0
	switch pledge.Status {
	case apitype.PledgeActive, apitype.PledgeFulfilled:
		count = 1 + s.rand.IntN(3)
	case apitype.PledgeCancelled:
		count = s.rand.IntN(2)
	}
	scanned := *pledge.RecruitmentType == "street" && s.maybe(40)
	if scanned {
		count++
	}
	at := pledge.CreatedAt.Time
	for i := range count {
		t := service.LoadedTransaction{PledgeUUID: pledge.UUID}
		t.UUID, t.PersonUUID = s.uuid(), &person.UUID
		t.Origin = &apitype.ExternalSource{Name: "collection-run", Identifier: "C-" + s.digits(6)}
		t.Amount = pledge.DonationAmount
		t.Name = new(strings.TrimSpace(*person.Initials + " " + *person.LastName))
		t.IBAN = person.IBAN
		t.Description = new("Donation")
		t.Provider = new("demo-bank")
		t.Method = new("direct_debit")
		t.Status = weighted(s, []weight[string]{{"paid", 88}, {"failed", 7}, {"refunded", 5}})
		if scanned && i == 0 {
			t.Method, t.Status = new(apitype.PaymentQRMethod), "paid"
			t.Description = new("First donation by QR code")
		} else {
			at = at.Add(s.between(20*day, 35*day))
		}
		t.ReferenceID, t.TransactionID = new("R"+s.digits(8)), new("T"+s.digits(10))
		t.ProviderMetadata = new(apitype.Object(`{"run":` + s.digits(4) + `}`))
		t.CreatedAt = apitype.NewTime(s.past(at))
		t.UpdatedAt = apitype.NewTime(s.past(at.Add(s.between(time.Minute, 2*day))))
		s.send(service.LoadTransaction, t)
	}
}
