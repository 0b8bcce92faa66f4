package apitype

import (
	"cmp"
	"net/url"
)

// Gender of a person. The client shows any value. Spec gap: R9.
type Gender string

// Genders are the values that the service takes.
var Genders = []Gender{"male", "female", "other", "unknown"}

// Person is a donor: every person answer and each node of the person list.
type Person struct {
	UUID UUID `json:"uuid"`
	// Deprecated: use UUID.
	PersonUUID           UUID             `json:"personUuid"`
	AcademicTitle        *string          `json:"academicTitle"`
	Initials             *string          `json:"initials"`
	FirstName            *string          `json:"firstName"`
	LastNamePrefix       *string          `json:"lastNamePrefix"`
	LastName             *string          `json:"lastName"`
	DateOfBirth          *Date            `json:"dateOfBirth"`                   // Local date.
	SocialSecurityNumber Embedded[string] `json:"socialSecurityNumber,omitzero"` // Digits without separators.
	IBAN                 *string          `json:"iban"`
	PhoneNumber          *string          `json:"phoneNumber"`       // International format.
	MobilePhoneNumber    *string          `json:"mobilePhoneNumber"` // International format.
	Email                *string          `json:"email"`
	Gender               *Gender          `json:"gender"`
	OptInEmail           *bool            `json:"optInEmail"`
	OptInPhone           *bool            `json:"optInPhone"`
	OptInMail            *bool            `json:"optInMail"`
	OptInSMS             *bool            `json:"optInSms"`
	Language             *string          `json:"language"` // ISO 639-1 code.
	CreatedAt            Time             `json:"createdAt"`

	Address            Embedded[Address]               `json:"address,omitzero"`
	Mandate            Embedded[Mandate]               `json:"mandate,omitzero"`
	OwningOrganization Embedded[OrganizationReference] `json:"owningOrganization,omitzero"`
	QualityResult      Embedded[QualityResult]         `json:"qualityResult,omitzero"`

	Revision *Number         `json:"_revision,omitzero"` // In exports for editing only.
	Consents *NewestConsents `json:"consents,omitzero"`  // In exports with consents only.
}

// PersonFields returns the fields of a person, in the order of their columns.
func PersonFields() []Field[Person] {
	address := func(value func(Address) any) func(Person) any {
		return func(p Person) any { return value(p.Address.Value()) }
	}
	owner := func(value func(OrganizationReference) any) func(Person) any {
		return func(p Person) any { return value(p.OwningOrganization.Value()) }
	}
	return []Field[Person]{
		{
			Name:    "uuid",
			In:      Created,
			Default: true,
			Help:    "UUID (version 4) of the new person; chosen when omitted",
			Value:   func(p Person) any { return p.UUID },
		},
		{
			Name:  "academicTitle",
			In:    Written,
			Help:  "academic title",
			Value: func(p Person) any { return p.AcademicTitle },
		},
		{
			Name:    "initials",
			Sent:    "name.initials",
			Kind:    NameField,
			In:      Written,
			Help:    "initials",
			Example: "A.B.",
			Key:     "b",
			Label:   "initials",
			Value:   func(p Person) any { return p.Initials },
		},
		{
			Name:    "firstName",
			Sent:    "name.firstName",
			Kind:    NameField,
			In:      Written,
			Title:   "first name",
			Default: true,
			Help:    "first name",
			Example: "Anna",
			Key:     "4",
			Label:   "first name",
			Value:   func(p Person) any { return p.FirstName },
		},
		{
			Name:    "lastNamePrefix",
			Sent:    "name.lastNamePrefix",
			Kind:    NameField,
			In:      Written,
			Title:   "prefix",
			Default: true,
			Help:    "prefix of the last name, such as van der",
			Example: "van",
			Key:     "t",
			Label:   "prefix",
			Value:   func(p Person) any { return p.LastNamePrefix },
		},
		{
			Name:    "lastName",
			Sent:    "name.lastName",
			Kind:    NameField,
			In:      Written,
			Title:   "last name",
			Default: true,
			Help:    "last name",
			Example: "Jansen",
			Key:     "a",
			Label:   "last name",
			Value:   func(p Person) any { return p.LastName },
		},
		{
			Name:    "dateOfBirth",
			Kind:    DateField,
			In:      Written,
			Help:    "date of birth, YYYY-MM-DD",
			Example: "1990-12-31",
			Key:     "7",
			Label:   "born",
			Value:   func(p Person) any { return p.DateOfBirth },
		},
		{
			Name:   "socialSecurityNumber",
			In:     Written,
			Help:   "social security number, digits only",
			Secret: true,
			Value:  func(p Person) any { return p.SocialSecurityNumber.Pointer() },
		},
		{
			Name:    "iban",
			In:      Written,
			Help:    "IBAN",
			Example: "NL91ABNA0417164300",
			Key:     "8",
			Label:   "IBAN",
			Secret:  true,
			Value:   func(p Person) any { return p.IBAN },
		},
		{
			Name:    "phoneNumber",
			Kind:    PhoneField,
			In:      Written,
			Help:    "phone number, international format",
			Example: "+31201234567",
			Key:     "2",
			Label:   "home",
			Value:   func(p Person) any { return p.PhoneNumber },
		},
		{
			Name:    "mobilePhoneNumber",
			Kind:    PhoneField,
			In:      Written,
			Title:   "mobile",
			Default: true,
			Help:    "mobile phone number, international format",
			Example: "+31612345678",
			Key:     "1",
			Label:   "mobile",
			Value:   func(p Person) any { return p.MobilePhoneNumber },
		},
		{
			Name:    "email",
			In:      Written,
			Title:   "e-mail",
			Default: true,
			Help:    "e-mail address",
			Example: "anna@example.org",
			Key:     "3",
			Label:   "e-mail",
			Value:   func(p Person) any { return p.Email },
		},
		{
			Name:    "gender",
			In:      Written,
			Help:    "gender: male, female, other or unknown",
			Example: "female",
			Values:  Texts(Genders),
			Value:   func(p Person) any { return p.Gender },
		},
		{
			Name:    "optInEmail",
			Sent:    "optIns.email",
			Kind:    YesNoField,
			In:      Written,
			Flag:    "opt-in-email",
			Help:    "may be e-mailed",
			Example: "true",
			Key:     "o",
			Label:   "e-mail wanted",
			Value:   func(p Person) any { return p.OptInEmail },
		},
		{
			Name:    "optInPhone",
			Sent:    OptInPhonePath,
			Kind:    YesNoField,
			In:      Written,
			Flag:    "opt-in-phone",
			Help:    "may be called",
			Example: "true",
			Key:     "9",
			Label:   "may be phoned",
			Value:   func(p Person) any { return p.OptInPhone },
		},
		{
			Name:    "optInMail",
			Sent:    "optIns.mail",
			Kind:    YesNoField,
			In:      Written,
			Flag:    "opt-in-mail",
			Help:    "may be sent letters",
			Example: "true",
			Key:     "p",
			Label:   "post wanted",
			Value:   func(p Person) any { return p.OptInMail },
		},
		{
			Name:    "optInSms",
			Sent:    "optIns.sms",
			Kind:    YesNoField,
			In:      Written,
			Flag:    "opt-in-sms",
			Help:    "may be sent text messages",
			Example: "false",
			Key:     "r",
			Label:   "sms wanted",
			Value:   func(p Person) any { return p.OptInSMS },
		},
		{
			Name:    "language",
			In:      Written,
			Help:    "ISO 639-1 code of the language",
			Example: "nl",
			Key:     "5",
			Label:   "language",
			Value:   func(p Person) any { return p.Language },
		},
		{
			Name:    "address.street",
			In:      Written,
			Help:    "street",
			Example: "Dorpsstraat",
			Key:     "6",
			Label:   "street",
			Value:   address(func(a Address) any { return a.Street }),
		},
		{
			Name:    "address.houseNumber",
			In:      Written,
			Help:    "house number",
			Example: "1",
			Key:     "d",
			Label:   "house number",
			Value:   address(func(a Address) any { return a.HouseNumber }),
		},
		{
			Name:  "address.houseNumberExtension",
			In:    Written,
			Help:  "extension of the house number",
			Key:   "e",
			Label: "addition",
			Value: address(func(a Address) any { return a.HouseNumberExtension }),
		},
		{
			Name:    "address.zipCode",
			In:      Written,
			Help:    "zip code",
			Example: "1234 AB",
			Key:     "f",
			Label:   "postcode",
			Value:   address(func(a Address) any { return a.ZipCode }),
		},
		{
			Name:    "address.city",
			In:      Written,
			Title:   "city",
			Default: true,
			Help:    "city",
			Example: "Utrecht",
			Key:     "g",
			Label:   "city",
			Value:   address(func(a Address) any { return a.City }),
		},
		{
			Name:    "address.country",
			In:      Written,
			Help:    "two-letter code of the country",
			Example: "NL",
			Key:     "h",
			Label:   "country",
			Value:   address(func(a Address) any { return a.Country }),
		},
		{
			Sent:   "mandate.id",
			Recast: true,
			In:     Written,
			Flag:   "mandate-id",
			Help:   "identifier of the mandate",
		},
		{
			Name: "mandate.createdAt",
			Kind: TimeField,
			In:   Written,
			Flag: "mandate-created-at",
			Help: "time of the mandate",
			Value: func(p Person) any {
				if m := p.Mandate.Pointer(); m != nil {
					return &m.CreatedAt
				}
				return nil
			},
		},
		{
			Name:    "owningOrganization.uuid",
			Sent:    "owningOrganizationUuid",
			In:      Created,
			Help:    "organization that owns the person (default: the profile's)",
			Example: ExampleUUID,
			Value:   owner(func(o OrganizationReference) any { return o.UUID }),
		},
		{
			Sent:    "recruitingOrganizationUuid",
			In:      Created,
			Help:    "organization that recruited the person (default: the profile's)",
			Example: ExampleUUID,
		},
		{Name: "owningOrganization.name", Value: owner(func(o OrganizationReference) any { return o.Name })},
		{
			Name:  "owningOrganization.abbreviation",
			Value: owner(func(o OrganizationReference) any { return o.Abbreviation }),
		},
		{Name: "qualityResult.percentage", Value: func(p Person) any {
			if q := p.QualityResult.Pointer(); q != nil {
				return q.Percentage
			}
			return nil
		}},
		{
			Name:    "createdAt",
			Kind:    TimeField,
			Title:   "created",
			Default: true,
			Value:   func(p Person) any { return &p.CreatedAt },
		},
	}
}

// OptInPhonePath is the path of the opt-in for phone in bodies.
const OptInPhonePath = "optIns.phone"

// Address is a postal address.
type Address struct {
	Street               string  `json:"street"`
	HouseNumber          string  `json:"houseNumber"`
	HouseNumberExtension *string `json:"houseNumberExtension"`
	ZipCode              string  `json:"zipCode"`
	City                 string  `json:"city"`
	Country              string  `json:"country"` // ISO 3166-1 alpha-2 code.
}

// Mandate is a person's permission to collect from the account.
type Mandate struct {
	CreatedAt Time `json:"createdAt"`
}

// QualityResult is the service's rating of a person's data.
type QualityResult struct {
	Score       Number       `json:"score"`
	MaxScore    Number       `json:"maxScore"`
	Percentage  Number       `json:"percentage"`
	CreatedAt   Time         `json:"createdAt"`
	GateResults []GateResult `json:"gateResults"`
}

// GateResult is the outcome of one check of a quality result.
type GateResult struct {
	Identifier  string `json:"identifier"`
	Category    string `json:"category"`
	Score       Number `json:"score"`
	MaxScore    Number `json:"maxScore"`
	Percentage  Number `json:"percentage"`
	Explanation string `json:"explanation"`
	Metadata    Object `json:"metadata"`
}

// PersonListOptions are the parameters of the person list.
// GET /api/v1/persons (interface: Persons)
type PersonListOptions struct {
	Paging
	OwningOrganizationUUIDs []UUID
	CreatedAfter            *Time
	IBAN                    string
	// UpdatedAfter chooses persons that were changed or created, for services that announce ExtensionFilters.
	UpdatedAfter *Time
	// Search finds persons by a name, number or address, where ExtensionSearch is announced.
	Search    string
	Revisions bool // Edges carry them, where ExtensionRevisions is announced.
	Consents  bool // Edges carry the consents, where ExtensionDetails is announced.
}

// ErasedPerson is an erased person, without any data.
type ErasedPerson struct {
	UUID     UUID `json:"uuid"`
	ErasedAt Time `json:"erasedAt"`
}

// ErasureListOptions are the parameters of the list of erased persons.
// GET /fundesk/v1/erasures
type ErasureListOptions struct{ Paging }

// ParseErasureListOptions reads query parameters.
func ParseErasureListOptions(values url.Values) (ErasureListOptions, Violations) {
	return parseQuery(within(func(o *ErasureListOptions) *Paging { return &o.Paging }, pageFilters()), values, nil)
}

// PersonFilters returns the filters of the person list.
func PersonFilters() []Filter[PersonListOptions] {
	return []Filter[PersonListOptions]{
		{
			"owningOrganizationUuids",
			"owning-organization",
			"only persons of this organization (repeatable)",
			func(o *PersonListOptions) field {
				return uuidsField(&o.OwningOrganizationUUIDs)
			},
		},
		{
			"createdAfter",
			"",
			"only persons created after this time",
			func(o *PersonListOptions) field { return timeField(&o.CreatedAfter) },
		},
		{"iban", "", "only persons with this IBAN", func(o *PersonListOptions) field { return textField(&o.IBAN) }},
	}
}

// PersonSearch returns the filter of the person list by typed text, for services that announce ExtensionSearch.
func PersonSearch() Filter[PersonListOptions] {
	help := "only persons with this name, phone number, e-mail address, postcode and house number, or IBAN"
	return Filter[PersonListOptions]{
		Name:  "search",
		Help:  help,
		field: func(o *PersonListOptions) field { return searchField(&o.Search) },
	}
}

// personParameters returns all parameters of the person list. updatedAfter, search and those of edges are extensions.
func personParameters() []Filter[PersonListOptions] {
	updated := Filter[PersonListOptions]{
		Name:  "updatedAfter",
		field: func(o *PersonListOptions) field { return timeField(&o.UpdatedAfter) },
	}
	revisions := revisionsFilter(func(o *PersonListOptions) *bool { return &o.Revisions })
	paging := within(func(o *PersonListOptions) *Paging { return &o.Paging }, pageFilters())
	consents := switchFilter("consents", func(o *PersonListOptions) *bool { return &o.Consents })
	return append(append(PersonFilters(), updated, PersonSearch(), revisions, consents), paging...)
}

// Query returns the options as query parameters.
func (o PersonListOptions) Query() url.Values { return queryOf(personParameters(), o) }

// ParsePersonListOptions reads query parameters.
func ParsePersonListOptions(values url.Values) (PersonListOptions, Violations) {
	o, v := parseQuery(personParameters(), values, nil)
	o.IBAN = cmp.Or(NormalizeIBAN(o.IBAN), o.IBAN) // A blank one finds no person.
	return o, v
}
