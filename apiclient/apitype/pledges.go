package apitype

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// PledgeStatus is the state of a pledge. Lead is the first.
type PledgeStatus string

// The states of a pledge.
const (
	PledgeLead      PledgeStatus = "lead"      // To be collected.
	PledgeActive    PledgeStatus = "active"    // Being collected.
	PledgeDropped   PledgeStatus = "dropped"   // Dropped before it was ever collected or released.
	PledgeCancelled PledgeStatus = "cancelled" // Cancelled after it was collected or released.
	PledgeFulfilled PledgeStatus = "fulfilled" // Ended after reaching its end date.
)

// PledgeStatuses returns all statuses of a pledge.
var PledgeStatuses = []PledgeStatus{PledgeLead, PledgeActive, PledgeDropped, PledgeCancelled, PledgeFulfilled}

// DonationInterval is the interval of collections. The client shows any value.
type DonationInterval string

// DonationIntervals are the values that the service takes. Spec gap: G4.
var DonationIntervals = []DonationInterval{"once", "monthly", "quarterly", "half-yearly", "yearly"}

// RecruitmentType is the kind of place of a recruitment.
type RecruitmentType string

// RecruitmentTypes are d2d (door-to-door) and street.
var RecruitmentTypes = []RecruitmentType{"d2d", "street"}

// PledgeAction is a status action on a pledge. The client sends any value.
// Spec gap: G1.
type PledgeAction string

// The status actions of our service. Spec gap: G1.
const (
	ActionActivate PledgeAction = "activate"
	ActionDrop     PledgeAction = "drop"
	ActionCancel   PledgeAction = "cancel"
	ActionFulfill  PledgeAction = "fulfill"
)

// PledgeActions are the status actions of our service.
var PledgeActions = []PledgeAction{ActionActivate, ActionDrop, ActionCancel, ActionFulfill}

// Pledge is a person's commitment to donate, also called a pledge case: every pledge
// answer and each node of the pledge list.
type Pledge struct {
	UUID       UUID           `json:"uuid"`
	Status     PledgeStatus   `json:"status"`
	StartsAt   Time           `json:"startsAt"`
	EndsAt     *Time          `json:"endsAt"`
	CreatedAt  Time           `json:"createdAt"`
	UpdatedAt  Time           `json:"updatedAt"` // Changes to the pledge's calls do not change it.
	ReleasedAt Embedded[Time] `json:"releasedAt,omitzero"`
	// Deprecated: use OwningOrganization.
	OwningOrganizationUUID UUID `json:"owningOrganizationUuid"`
	// Deprecated: use RecruitingOrganization.
	RecruitingOrganizationUUID UUID             `json:"recruitingOrganizationUuid"`
	RecruitingLocationLabel    *string          `json:"recruitingLocationLabel"`
	InitialDonationAmount      Amount           `json:"initialDonationAmount"` // Euros, at the moment of submission.
	DonationAmount             Amount           `json:"donationAmount"`        // Euros, current.
	InitialDonationInterval    DonationInterval `json:"initialDonationInterval"`
	DonationInterval           DonationInterval `json:"donationInterval"`
	PreferredPaymentDay        *int             `json:"preferredPaymentDay"` // Day of the month, 1 to 28.
	RecruitmentType            *RecruitmentType `json:"recruitmentType"`
	// Deprecated: use RecruiterUser.
	RecruiterUserUUID  UUID    `json:"recruiterUserUuid"`
	SignatureSignedURL *string `json:"signatureSignedUrl"` // Temporary, valid for one hour.
	ExternalMetadata   *Object `json:"externalMetadata"`
	CampaignCode       *string `json:"campaignCode"`
	CollectionDate     *Time   `json:"collectionDate"`

	OwningOrganization     Embedded[OrganizationReference] `json:"owningOrganization,omitzero"`
	RecruitingOrganization Embedded[OrganizationReference] `json:"recruitingOrganization,omitzero"`
	RecruiterUser          Embedded[RecruiterUser]         `json:"recruiterUser,omitzero"`
	Person                 Embedded[Person]                `json:"person,omitzero"`
	Transactions           Embedded[[]Transaction]         `json:"transactions,omitzero"`
	Calls                  Embedded[[]Call]                `json:"calls,omitzero"`
	FocusAreas             Embedded[[]FocusArea]           `json:"focusAreas,omitzero"`
	ExternalSource         Embedded[ExternalSource]        `json:"externalSource,omitzero"`

	Revision *Number `json:"_revision,omitzero"` // In exports for editing only.
}

// PledgeFields returns the fields of a pledge, in the order of their columns.
func PledgeFields() []Field[Pledge] {
	person := func(value func(Person) any) func(Pledge) any {
		return func(p Pledge) any { return value(p.Person.Value()) }
	}
	return []Field[Pledge]{
		{
			Name:    "uuid",
			In:      Created,
			Default: true,
			Help:    "UUID (version 4) of the new pledge; chosen when omitted",
			Value:   func(p Pledge) any { return p.UUID },
		},
		{
			Name:    "status",
			Kind:    WordField,
			In:      Created,
			Default: true,
			Help:    "external pledges: lead, active, dropped, cancelled or fulfilled",
			Values:  Texts(PledgeStatuses),
			Value:   func(p Pledge) any { return p.Status },
		},
		{
			Name:    "donationAmount",
			Kind:    AmountField,
			In:      Written | OfExternal,
			Title:   "euro",
			Default: true,
			Help:    "current amount in euros; when creating, for external pledges only",
			Example: "12.50",
			Key:     "0",
			Label:   "amount",
			Value:   func(p Pledge) any { return p.DonationAmount },
		},
		{
			Name:    "donationInterval",
			In:      Written | OfExternal,
			Title:   "interval",
			Default: true,
			Help:    "once, monthly, quarterly, half-yearly or yearly; when creating, for external pledges only",
			Example: "monthly",
			Key:     "u",
			Label:   "interval",
			Values:  Texts(DonationIntervals),
			Value:   func(p Pledge) any { return p.DonationInterval },
		},
		{
			Name:    "initialDonationAmount",
			Kind:    AmountField,
			In:      Created,
			Help:    "amount in euros",
			Example: "12.50",
			Value:   func(p Pledge) any { return p.InitialDonationAmount },
		},
		{
			Name:    "initialDonationInterval",
			In:      Created,
			Help:    "once, monthly, quarterly, half-yearly or yearly",
			Example: "monthly",
			Values:  Texts(DonationIntervals),
			Value:   func(p Pledge) any { return p.InitialDonationInterval },
		},
		{
			Name:    "startsAt",
			Kind:    TimeField,
			In:      Written,
			Title:   "starts",
			Help:    "start of the pledge",
			Example: "2026-12-01",
			Value:   func(p Pledge) any { return &p.StartsAt },
		},
		{
			Name:  "endsAt",
			Kind:  TimeField,
			In:    Written,
			Title: "ends",
			Help:  "end of the pledge",
			Key:   "w",
			Label: "ends",
			Value: func(p Pledge) any { return p.EndsAt },
		},
		{
			Name:    "createdAt",
			Kind:    TimeField,
			In:      Created,
			Title:   "created",
			Default: true,
			Help:    "time of the pledge (default: now)",
			Value:   func(p Pledge) any { return &p.CreatedAt },
		},
		{
			Name:  "updatedAt",
			Kind:  TimeField,
			Title: "updated",
			Value: func(p Pledge) any { return &p.UpdatedAt },
		},
		{
			Name:    "releasedAt",
			Kind:    TimeField,
			In:      Created,
			Title:   "released",
			Default: true,
			Help:    "external pledges: time of the release",
			Value:   func(p Pledge) any { return p.ReleasedAt.Pointer() },
		},
		{
			Name:    "person.uuid",
			Sent:    "personUuid",
			In:      Created,
			Help:    "person who pledges",
			Example: ExampleUUID,
			Value:   person(func(p Person) any { return p.UUID }),
		},
		{Name: "person.firstName", Value: person(func(p Person) any { return p.FirstName })},
		{Name: "person.lastNamePrefix", Value: person(func(p Person) any { return p.LastNamePrefix })},
		{Name: "person.lastName", Value: person(func(p Person) any { return p.LastName })},
		{Name: "person.email", Value: person(func(p Person) any { return p.Email })},
		{Name: "person.mobilePhoneNumber", Value: person(func(p Person) any { return p.MobilePhoneNumber })},
		{
			Name:    "owningOrganizationUuid",
			In:      Created,
			Help:    "organization that owns the pledge (default: the profile's)",
			Example: ExampleUUID,
			Value:   func(p Pledge) any { return p.OwningOrganizationUUID },
		},
		{
			Name:    "owningOrganization.abbreviation",
			Title:   "owner",
			Default: true,
			Value:   func(p Pledge) any { return p.OwningOrganization.Value().Abbreviation },
		},
		{
			Name:    "recruitingOrganizationUuid",
			In:      Created,
			Help:    "organization that recruited the donor (default: the profile's)",
			Example: ExampleUUID,
			Value:   func(p Pledge) any { return p.RecruitingOrganizationUUID },
		},
		{
			Name:  "recruitingOrganization.abbreviation",
			Value: func(p Pledge) any { return p.RecruitingOrganization.Value().Abbreviation },
		},
		{
			Name:    "recruitingLocationLabel",
			In:      Written,
			Help:    "where the donor was recruited",
			Example: "Utrecht Centraal",
			Value:   func(p Pledge) any { return p.RecruitingLocationLabel },
		},
		{
			Name:    "recruitmentType",
			In:      Created,
			Help:    "d2d or street",
			Example: "street",
			Values:  Texts(RecruitmentTypes),
			Value:   func(p Pledge) any { return p.RecruitmentType },
		},
		{
			Name:    "recruiterUserUuid",
			In:      Written,
			Help:    "user who recruited the donor",
			Example: ExampleUUID,
			Value:   func(p Pledge) any { return p.RecruiterUserUUID },
		},
		{Name: "recruiterUser.name", Value: func(p Pledge) any { return p.RecruiterUser.Value().Name }},
		{
			Name:    "preferredPaymentDay",
			Kind:    NumberField,
			In:      Created,
			Help:    "day of the month, 1 to 28",
			Example: "1",
			Value:   func(p Pledge) any { return p.PreferredPaymentDay },
		},
		{Name: "campaignCode", Value: func(p Pledge) any { return p.CampaignCode }},
		{
			Name:  "collectionDate",
			Kind:  TimeField,
			Title: "collection",
			Value: func(p Pledge) any { return p.CollectionDate },
		},
		{
			Name:  "externalSource.name",
			In:    Created,
			Flag:  "external-source-name",
			Help:  "name of the external system; makes the pledge external",
			Value: func(p Pledge) any { return p.ExternalSource.Value().Name },
		},
		{
			Name:  "externalSource.identifier",
			In:    Created,
			Flag:  "external-source-identifier",
			Help:  "identifier in the external system; makes the pledge external",
			Value: func(p Pledge) any { return p.ExternalSource.Value().Identifier },
		},
		{
			Sent: "externalMetadata",
			Kind: ObjectField,
			In:   Written,
			Help: "properties of an external system, a JSON object",
		},
		{
			Sent:   "focusAreaUuids",
			Recast: true,
			Kind:   UUIDsField,
			In:     Created,
			Help:   "focus areas of the organization (repeatable)",
		},
		{
			Sent: "cancelledAt",
			Kind: TimeField,
			In:   Created,
			Help: "external pledges: time of the cancellation",
		},
		{
			Sent: "droppedAt",
			Kind: TimeField,
			In:   Created,
			Help: "external pledges: time of the drop",
		},
	}
}

// RecruiterUser is the recruiter of a donor.
type RecruiterUser struct {
	UUID       UUID   `json:"uuid"`
	Identifier string `json:"identifier"`
	Name       string `json:"name"`
}

// FocusArea is a subject that an organization collects for.
type FocusArea struct {
	UUID           UUID            `json:"uuid"`
	Name           string          `json:"name"`
	ExternalSource *ExternalSource `json:"externalSource"`
}

// PaymentQRMethod is the method of a transaction that began with a bank-payment QR
// code. Spec gap: L13.
const PaymentQRMethod = "payment_qr"

// Transaction is a payment, embedded in calls and pledges.
type Transaction struct {
	UUID             UUID            `json:"uuid"`
	PersonUUID       *UUID           `json:"personUuid"` // Nil when the account may not see the person. Spec gap: A3.
	Origin           *ExternalSource `json:"origin"`
	Amount           Amount          `json:"amount"` // Euros.
	Name             *string         `json:"name"`
	IBAN             *string         `json:"iban"`
	Description      *string         `json:"description"`
	Provider         *string         `json:"provider"`
	Method           *string         `json:"method"`
	ReferenceID      *string         `json:"referenceId"`
	TransactionID    *string         `json:"transactionId"`
	ProviderMetadata *Object         `json:"providerMetadata"`
	CreatedAt        Time            `json:"createdAt"`
	UpdatedAt        Time            `json:"updatedAt"`
	Status           string          `json:"status"`
}

// PledgeListOptions are the parameters of the pledge list.
// GET /api/v1/pledges (interface: Pledges)
type PledgeListOptions struct {
	Paging
	Include       []string // PledgeIncludes.
	PersonUUID    *UUID
	WithPaymentQR *bool // Has a transaction of PaymentQRMethod. Spec gap: L13.
	Status        *PledgeStatus
	UpdatedAfter  *Time
	ReleasedAfter *Time
	Revisions     bool // Edges carry them, where ExtensionRevisions is announced.
}

// PaymentQRParameter is the name of the WithPaymentQR filter at our service. Another
// service names it after a payment scheme.
const PaymentQRParameter = "withPaymentQr"

// PledgeIncludes are the parts that the pledge list embeds: IncludePerson only where ExtensionSearch is announced.
var PledgeIncludes = []string{IncludePerson, IncludeTransactions}

// PledgeFilters returns the filters of the pledge list.
func PledgeFilters() []Filter[PledgeListOptions] {
	return []Filter[PledgeListOptions]{
		{"include", "", "embedded objects: person, transactions (repeatable)", func(o *PledgeListOptions) field {
			return listField(&o.Include, PledgeIncludes, false)
		}},
		{
			"personUuid",
			"person",
			"only pledges of this person",
			func(o *PledgeListOptions) field { return uuidField(&o.PersonUUID) },
		},
		{
			PaymentQRParameter,
			"",
			"only pledges with a payment by QR code (=false: only those without)",
			func(o *PledgeListOptions) field {
				return boolField(&o.WithPaymentQR)
			},
		},
		{
			"status",
			"",
			"only pledges in this state: lead, active, dropped, cancelled, fulfilled",
			func(o *PledgeListOptions) field {
				return enumField(&o.Status, PledgeStatuses)
			},
		},
		{
			"updatedAfter",
			"",
			"only pledges updated after this time",
			func(o *PledgeListOptions) field { return timeField(&o.UpdatedAfter) },
		},
		{
			"releasedAfter",
			"",
			"only pledges released after this time",
			func(o *PledgeListOptions) field { return timeField(&o.ReleasedAfter) },
		},
	}
}

func pledgeParameters() []Filter[PledgeListOptions] {
	revisions := revisionsFilter(func(o *PledgeListOptions) *bool { return &o.Revisions })
	paging := within(func(o *PledgeListOptions) *Paging { return &o.Paging }, pageFilters())
	return append(append(PledgeFilters(), revisions), paging...)
}

// Query returns the options as query parameters.
func (o PledgeListOptions) Query() url.Values { return queryOf(pledgeParameters(), o) }

// ParsePledgeListOptions reads query parameters.
func ParsePledgeListOptions(values url.Values) (PledgeListOptions, Violations) {
	return parseQuery(pledgeParameters(), values, func(o *PledgeListOptions) Violations { return o.Validate() })
}

// Validate checks the values of include.
func (o PledgeListOptions) Validate() Violations {
	var v Violations
	for _, name := range o.Include {
		if !slices.Contains(PledgeIncludes, name) {
			v.addParameter("include", "must be one of %s", strings.Join(PledgeIncludes, ", "))
		}
	}
	return v
}

// CreatePledgeRequest is the body of a pledge creation. ExternalSource makes the
// pledge external.
// POST /api/v1/pledges (interface: Pledges)
type CreatePledgeRequest struct {
	UUID                       *UUID             `json:"uuid,omitzero"` // Generated when omitted.
	PersonUUID                 UUID              `json:"personUuid"`
	Status                     *PledgeStatus     `json:"status,omitzero"` // External pledges only.
	CreatedAt                  Time              `json:"createdAt"`
	OwningOrganizationUUID     UUID              `json:"owningOrganizationUuid"`
	RecruitingOrganizationUUID UUID              `json:"recruitingOrganizationUuid"`
	RecruitingLocationLabel    *string           `json:"recruitingLocationLabel,omitzero"`
	DonationInterval           *DonationInterval `json:"donationInterval,omitzero"` // External pledges only.
	DonationAmount             *Amount           `json:"donationAmount,omitzero"`   // Euros; external pledges only.
	InitialDonationInterval    DonationInterval  `json:"initialDonationInterval"`
	InitialDonationAmount      Amount            `json:"initialDonationAmount"` // Euros.
	RecruitmentType            *RecruitmentType  `json:"recruitmentType,omitzero"`
	RecruiterUserUUID          UUID              `json:"recruiterUserUuid"`
	StartsAt                   Time              `json:"startsAt"`
	FocusAreaUUIDs             []UUID            `json:"focusAreaUuids,omitzero"`
	CancelledAt                *Time             `json:"cancelledAt,omitzero"`         // External pledges only.
	PreferredPaymentDay        *int              `json:"preferredPaymentDay,omitzero"` // Day of the month, 1 to 28.
	DroppedAt                  *Time             `json:"droppedAt,omitzero"`           // External pledges only.
	ReleasedAt                 *Time             `json:"releasedAt,omitzero"`          // External pledges only.
	EndsAt                     *Time             `json:"endsAt,omitzero"`
	ExternalMetadata           *Object           `json:"externalMetadata,omitzero"`
	ExternalSource             *ExternalSource   `json:"externalSource,omitzero"`
}

// IsExternal reports whether the pledge will be managed in an external system.
func (r *CreatePledgeRequest) IsExternal() bool { return r.ExternalSource != nil }

// Validate checks the shape of the request and which fields its mode forbids.
// Spec gap: G6.
func (r *CreatePledgeRequest) Validate(now time.Time) Violations {
	var v Violations
	newUUID(&v, "/uuid", r.UUID)
	requireUUID(&v, "/personUuid", r.PersonUUID)
	optionalEnum(&v, "/status", r.Status, PledgeStatuses)
	requireTime(&v, "/createdAt", r.CreatedAt)
	if r.CreatedAt.After(now.Add(24 * time.Hour)) { // Spec gap: G11
		v.Add("/createdAt", "must not be in the future")
	}
	requireUUID(&v, "/owningOrganizationUuid", r.OwningOrganizationUUID)
	requireUUID(&v, "/recruitingOrganizationUuid", r.RecruitingOrganizationUUID)
	optionalText(&v, "/recruitingLocationLabel", r.RecruitingLocationLabel, maxText)
	optionalEnum(&v, "/donationInterval", r.DonationInterval, DonationIntervals)
	if r.DonationAmount != nil {
		r.DonationAmount.validate(&v, "/donationAmount")
	}
	requireEnum(&v, "/initialDonationInterval", r.InitialDonationInterval, DonationIntervals)
	r.InitialDonationAmount.validate(&v, "/initialDonationAmount")
	optionalEnum(&v, "/recruitmentType", r.RecruitmentType, RecruitmentTypes)
	requireUUID(&v, "/recruiterUserUuid", r.RecruiterUserUUID)
	requireTime(&v, "/startsAt", r.StartsAt)
	if day := r.PreferredPaymentDay; day != nil && (*day < 1 || *day > 28) {
		v.Add("/preferredPaymentDay", "must be a whole number from 1 to 28")
	}
	if r.IsExternal() {
		r.validateExternal(&v)
	} else {
		r.validateManaged(&v)
	}
	return v
}

// validateManaged refuses what a service-managed creation must not carry.
func (r *CreatePledgeRequest) validateManaged(v *Violations) {
	refuse(v, "is not allowed for a service-managed pledge; it starts as lead", givenField{"status", r.Status != nil})
	refuse(
		v,
		"is not allowed for a service-managed pledge; use initialDonationInterval",
		givenField{"donationInterval", r.DonationInterval != nil},
	)
	refuse(
		v,
		"is not allowed for a service-managed pledge; use initialDonationAmount",
		givenField{"donationAmount", r.DonationAmount != nil},
	)
	refuse(
		v,
		"is not allowed for a service-managed pledge; use the status action",
		givenField{"cancelledAt", r.CancelledAt != nil},
		givenField{"droppedAt", r.DroppedAt != nil},
	)
	refuse(
		v,
		"is not allowed for a service-managed pledge; it follows from the cooling-off period",
		givenField{"releasedAt", r.ReleasedAt != nil},
	)
	validateEnd(v, &r.StartsAt, r.EndsAt)
}

// validateExternal checks what only an external creation carries.
func (r *CreatePledgeRequest) validateExternal(v *Violations) {
	r.ExternalSource.validate(v, "/externalSource")
	status := PledgeLead
	if r.Status != nil {
		status = *r.Status
	}
	refuse(v, "does not fit the status", givenField{"cancelledAt", r.CancelledAt != nil && status != PledgeCancelled},
		givenField{"droppedAt", r.DroppedAt != nil && status != PledgeDropped})
}

// validateEnd wants the end of a service-managed pledge not before its start.
// Spec gap: G8.
func validateEnd(v *Violations, start, end *Time) {
	if start != nil && end != nil && end.Before(start.Time) {
		v.Add("/endsAt", "must not be before startsAt")
	}
}

// UpdatePledgeRequest is the body of a partial update of a pledge.
// PUT /api/v1/pledges/{uuid}/actions/update (interface: Pledges)
type UpdatePledgeRequest struct {
	RecruitingLocationLabel Patch[string]           `json:"recruitingLocationLabel,omitzero"`
	DonationInterval        Patch[DonationInterval] `json:"donationInterval,omitzero"` // Service-managed pledges only.
	// Euros; service-managed pledges only.
	DonationAmount    Patch[Amount] `json:"donationAmount,omitzero"`
	RecruiterUserUUID Patch[UUID]   `json:"recruiterUserUuid,omitzero"`
	StartsAt          Patch[Time]   `json:"startsAt,omitzero"`
	EndsAt            Patch[Time]   `json:"endsAt,omitzero"` // Service-managed pledges only.
	ExternalMetadata  Patch[Object] `json:"externalMetadata,omitzero"`
}

// Validate checks the shape of the request. Which fields the mode forbids, and whether
// the end lies before the start, depends on the stored record: see ValidateFor.
func (r *UpdatePledgeRequest) Validate() Violations {
	var v Violations
	optionalText(&v, "/recruitingLocationLabel", r.RecruitingLocationLabel.value, maxText)
	optionalEnum(&v, "/donationInterval", r.DonationInterval.value, DonationIntervals)
	if amount, ok := r.DonationAmount.Value(); ok {
		amount.validate(&v, "/donationAmount")
	}
	if id, ok := r.RecruiterUserUUID.Value(); ok {
		requireUUID(&v, "/recruiterUserUuid", id)
	}
	refuse(
		&v,
		"cannot be cleared", // Spec gap: G7
		givenField{
			"donationInterval",
			r.DonationInterval.IsClear(),
		},
		givenField{"donationAmount", r.DonationAmount.IsClear()},
		givenField{"recruiterUserUuid", r.RecruiterUserUUID.IsClear()},
		givenField{"startsAt", r.StartsAt.IsClear()},
	)
	return v
}

// ValidateFor checks the request against the pledge that it will change.
// Spec gaps: G5, G8.
func (r *UpdatePledgeRequest) ValidateFor(pledge Pledge, external bool) Violations {
	var v Violations
	if external {
		refuse(
			&v,
			"is not allowed for an external pledge",
			givenField{"donationInterval", !r.DonationInterval.IsZero()},
			givenField{"donationAmount", !r.DonationAmount.IsZero()},
			givenField{"endsAt", !r.EndsAt.IsZero()},
		)
		return v
	}
	start, end := &pledge.StartsAt, pledge.EndsAt
	r.StartsAt.Apply(&start)
	r.EndsAt.Apply(&end)
	validateEnd(&v, start, end)
	return v
}
