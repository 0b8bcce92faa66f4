package servicetest

import (
	"fmt"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Record returns the record of a load with some data, which decides its kind.
func Record(data any) service.LoadRecord {
	switch data.(type) {
	case service.LoadedFocusArea:
		return service.LoadRecord{Kind: service.LoadFocusArea, Data: data}
	case service.LoadedPerson:
		return service.LoadRecord{Kind: service.LoadPerson, Data: data}
	case service.LoadedPledge:
		return service.LoadRecord{Kind: service.LoadPledge, Data: data}
	case service.LoadedCall:
		return service.LoadRecord{Kind: service.LoadCall, Data: data}
	case service.LoadedTransaction:
		return service.LoadRecord{Kind: service.LoadTransaction, Data: data}
	}
	panic(fmt.Sprintf("no record of a load has a %T", data))
}

// LoadAll saves records of some data, as Load does.
func (h *Harness) LoadAll(all ...any) {
	h.t.Helper()
	var records []service.LoadRecord
	for _, data := range all {
		records = append(records, Record(data))
	}
	h.Load(records...)
}

// NewPerson returns a person of an organization, with nothing but what a person needs.
func NewPerson(owner apitype.UUID, at apitype.Time) service.LoadedPerson {
	p := service.LoadedPerson{OwningOrganizationUUID: owner, RecruitingOrganizationUUID: owner}
	p.UUID, p.CreatedAt = apitype.NewUUID(), at
	return p
}

// NewPledge returns an active monthly pledge of 1 euro of a person.
func NewPledge(person, owner apitype.UUID, at apitype.Time) service.LoadedPledge {
	return service.LoadedPledge{PersonUUID: &person, Pledge: apitype.Pledge{
		UUID:                       apitype.NewUUID(),
		Status:                     apitype.PledgeActive,
		StartsAt:                   at,
		CreatedAt:                  at,
		UpdatedAt:                  at,
		OwningOrganizationUUID:     owner,
		RecruitingOrganizationUUID: owner,
		RecruiterUserUUID:          person,
		InitialDonationAmount:      apitype.Cents(100),
		DonationAmount:             apitype.Cents(100),
		InitialDonationInterval:    "monthly",
		DonationInterval:           "monthly",
	}}
}

// NewCall returns a happy call of a person that waits.
func NewCall(person apitype.UUID, at apitype.Time) service.LoadedCall {
	return service.LoadedCall{Call: apitype.Call{
		UUID:          apitype.NewUUID(),
		Status:        apitype.CallRequested,
		Type:          apitype.CallHappy,
		RequestedAt:   at,
		LastUpdatedAt: at,
		PersonUUID:    person,
	}}
}

// NewTransaction returns a transaction of 1 euro for a pledge.
func NewTransaction(pledge, person apitype.UUID, at apitype.Time) service.LoadedTransaction {
	return service.LoadedTransaction{PledgeUUID: pledge, Transaction: apitype.Transaction{
		UUID:       apitype.NewUUID(),
		PersonUUID: &person,
		Amount:     apitype.Cents(100),
		Status:     "paid",
		CreatedAt:  at,
		UpdatedAt:  at,
	}}
}
