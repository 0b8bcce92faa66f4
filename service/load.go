package service

import (
	"fundesk/apiclient/apitype"
)

// LoadKind is the kind of a record that comes in from outside the interface.
type LoadKind string

// The kinds of records that can be loaded.
const (
	LoadOrganization LoadKind = "organization"
	LoadUser         LoadKind = "user"
	LoadFocusArea    LoadKind = "focusArea"
	LoadPerson       LoadKind = "person"
	LoadPledge       LoadKind = "pledge"
	LoadCall         LoadKind = "call"
	LoadTransaction  LoadKind = "transaction"
)

// LoadKinds are all kinds, each after those that it refers to.
var LoadKinds = []LoadKind{LoadOrganization, LoadUser, LoadFocusArea, LoadPerson, LoadPledge, LoadCall, LoadTransaction}

// LoadedOrganization is an organization with its settings.
type LoadedOrganization struct {
	apitype.OrganizationReference
	MaxCallAttempts *int    `json:"maxCallAttempts,omitzero"` // None by default. Spec gap: C5.
	CoolingOff      *string `json:"coolingOff,omitzero"`      // A duration such as 336h, the default. Spec gap: G2.
}

// LoadedUser is a user, such as a recruiter.
type LoadedUser = apitype.RecruiterUser

// LoadedFocusArea is a focus area with its organization.
type LoadedFocusArea struct {
	apitype.FocusArea
	OrganizationUUID apitype.UUID `json:"organizationUuid"`
}

// LoadedPerson is a person as it is answered, with what answers do not show.
type LoadedPerson struct {
	apitype.Person
	OwningOrganizationUUID     apitype.UUID   `json:"owningOrganizationUuid"`
	RecruitingOrganizationUUID apitype.UUID   `json:"recruitingOrganizationUuid"`
	Mandate                    *LoadedMandate `json:"mandate,omitzero"` // In place of the person's own.
}

// LoadedMandate is a mandate with its identifier.
type LoadedMandate struct {
	ID        *string      `json:"id,omitzero"`
	CreatedAt apitype.Time `json:"createdAt"`
}

// LoadedPledge is a pledge as it is answered, with what answers do not show. With
// ExternalSource it is external. ReleasedAt may lie in the future.
type LoadedPledge struct {
	apitype.Pledge
	PersonUUID     *apitype.UUID  `json:"personUuid,omitzero"` // Or the uuid of Person.
	FocusAreaUUIDs []apitype.UUID `json:"focusAreaUuids,omitzero"`
	Signature      []byte         `json:"signature,omitzero"` // The signature file; base64 in JSON.
}

// LoadedCall is a call as it is answered. With ExternalMetadata it is external.
type LoadedCall struct {
	apitype.Call
	ExternalSource *apitype.ExternalSource `json:"externalSource,omitzero"`
}

// LoadedTransaction is a transaction with its pledge.
type LoadedTransaction struct {
	apitype.Transaction
	PledgeUUID apitype.UUID `json:"pledgeUuid"`
}

// LoadRecord is one line of a load: a kind and one of the Loaded types.
type LoadRecord struct {
	Kind LoadKind `json:"kind"`
	Data any      `json:"data"`
	// Line is where the record came from, for the error that refuses it; 0: nowhere.
	Line int `json:"-"`
}
