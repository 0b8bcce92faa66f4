package apitype

import (
	"cmp"
	"net/url"
	"time"
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
			Help:    "what stands before the last name, such as van der",
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
		{Sent: "mandate.id", Recast: true, In: Written, Flag: "mandate-id", Help: "identifier of the mandate"},
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

// CreatePersonRequest is the body of a person creation.
// POST /api/v1/persons (interface: Persons)
type CreatePersonRequest struct {
	UUID                       *UUID           `json:"uuid,omitzero"` // Generated when omitted.
	OwningOrganizationUUID     UUID            `json:"owningOrganizationUuid"`
	RecruitingOrganizationUUID UUID            `json:"recruitingOrganizationUuid"`
	AcademicTitle              *string         `json:"academicTitle,omitzero"`
	DateOfBirth                *Date           `json:"dateOfBirth,omitzero"`          // Local date.
	SocialSecurityNumber       *string         `json:"socialSecurityNumber,omitzero"` // Digits without separators.
	Gender                     *Gender         `json:"gender,omitzero"`
	PhoneNumber                *string         `json:"phoneNumber,omitzero"`       // International format.
	MobilePhoneNumber          *string         `json:"mobilePhoneNumber,omitzero"` // International format.
	Email                      *string         `json:"email,omitzero"`
	Language                   *string         `json:"language,omitzero"` // ISO 639-1 code.
	IBAN                       *string         `json:"iban,omitzero"`
	Name                       *Name           `json:"name,omitzero"`
	Address                    *Address        `json:"address,omitzero"`
	OptIns                     *OptIns         `json:"optIns,omitzero"`
	Mandate                    *MandateRequest `json:"mandate,omitzero"`
}

// Name is a person's name in a creation.
type Name struct {
	Initials       *string `json:"initials,omitzero"`
	FirstName      *string `json:"firstName,omitzero"`
	LastNamePrefix *string `json:"lastNamePrefix,omitzero"`
	LastName       *string `json:"lastName,omitzero"`
}

// OptIns has the channels that a person agreed to, in a creation.
type OptIns struct {
	Email *bool `json:"email,omitzero"`
	Mail  *bool `json:"mail,omitzero"`
	Phone *bool `json:"phone,omitzero"`
	SMS   *bool `json:"sms,omitzero"`
}

// MandateRequest is a mandate in a creation. CreatedAt is the processing time when
// omitted.
type MandateRequest struct {
	ID        *string `json:"id,omitzero"`
	CreatedAt *Time   `json:"createdAt,omitzero"`
}

// Validate checks the shape of the request and puts identifiers such as the IBAN into
// the form that is stored.
func (r *CreatePersonRequest) Validate(now time.Time) Violations {
	var v Violations
	newUUID(&v, "/uuid", r.UUID)
	requireUUID(&v, "/owningOrganizationUuid", r.OwningOrganizationUUID)
	requireUUID(&v, "/recruitingOrganizationUuid", r.RecruitingOrganizationUUID)
	optionalText(&v, "/academicTitle", r.AcademicTitle, maxText)
	if r.DateOfBirth != nil {
		r.DateOfBirth.validate(&v, "/dateOfBirth", now)
	}
	normalizeField(&v, "/socialSecurityNumber", &r.SocialSecurityNumber, checkSocialSecurityNumber)
	optionalEnum(&v, "/gender", r.Gender, Genders)
	normalizeField(&v, "/phoneNumber", &r.PhoneNumber, checkPhone)
	normalizeField(&v, "/mobilePhoneNumber", &r.MobilePhoneNumber, checkPhone)
	normalizeField(&v, "/email", &r.Email, checkEmail)
	normalizeField(&v, "/language", &r.Language, checkLanguage)
	normalizeField(&v, "/iban", &r.IBAN, checkIBAN)
	if n := r.Name; n != nil {
		optionalText(&v, "/name/initials", n.Initials, maxText)
		optionalText(&v, "/name/firstName", n.FirstName, maxText)
		optionalText(&v, "/name/lastNamePrefix", n.LastNamePrefix, maxText)
		optionalText(&v, "/name/lastName", n.LastName, maxText)
	}
	if r.Address != nil {
		r.Address.Validate(&v, "/address")
	}
	if r.Mandate != nil {
		optionalText(&v, "/mandate/id", r.Mandate.ID, maxText)
	}
	return v
}

// Validate checks a whole address at pointer and writes its country in capitals.
func (a *Address) Validate(v *Violations, pointer string) {
	requireText(v, pointer+"/street", a.Street, maxAddress)
	requireText(v, pointer+"/houseNumber", a.HouseNumber, maxAddress)
	optionalText(v, pointer+"/houseNumberExtension", a.HouseNumberExtension, maxAddress)
	requireText(v, pointer+"/zipCode", a.ZipCode, maxAddress)
	requireText(v, pointer+"/city", a.City, maxAddress)
	if a.Country == "" {
		v.Add(pointer+"/country", "is required")
		return
	}
	country := &a.Country
	normalizeField(v, pointer+"/country", &country, checkCountry)
	a.Country = *country
}

// UpdatePersonRequest is the body of a partial update of a person.
// PUT /api/v1/persons/{uuid}/actions/update (interface: Persons)
type UpdatePersonRequest struct {
	AcademicTitle        Patch[string]       `json:"academicTitle,omitzero"`
	DateOfBirth          Patch[Date]         `json:"dateOfBirth,omitzero"`          // Local date.
	SocialSecurityNumber Patch[string]       `json:"socialSecurityNumber,omitzero"` // Digits without separators.
	Gender               Patch[Gender]       `json:"gender,omitzero"`
	PhoneNumber          Patch[string]       `json:"phoneNumber,omitzero"`       // International format.
	MobilePhoneNumber    Patch[string]       `json:"mobilePhoneNumber,omitzero"` // International format.
	Email                Patch[string]       `json:"email,omitzero"`
	Language             Patch[string]       `json:"language,omitzero"` // ISO 639-1 code.
	IBAN                 Patch[string]       `json:"iban,omitzero"`
	Name                 Patch[NamePatch]    `json:"name,omitzero"`
	Address              Patch[AddressPatch] `json:"address,omitzero"`
	OptIns               Patch[OptInsPatch]  `json:"optIns,omitzero"`
	Mandate              Patch[MandatePatch] `json:"mandate,omitzero"`
}

// NamePatch is the name in an update; clearing it clears all of it. Spec gap: P3.
type NamePatch struct {
	Initials       Patch[string] `json:"initials,omitzero"`
	FirstName      Patch[string] `json:"firstName,omitzero"`
	LastNamePrefix Patch[string] `json:"lastNamePrefix,omitzero"`
	LastName       Patch[string] `json:"lastName,omitzero"`
}

// AddressPatch is the address in an update. Only the extension can be cleared alone.
// Spec gap: P3.
type AddressPatch struct {
	Street               Patch[string] `json:"street,omitzero"`
	HouseNumber          Patch[string] `json:"houseNumber,omitzero"`
	HouseNumberExtension Patch[string] `json:"houseNumberExtension,omitzero"`
	ZipCode              Patch[string] `json:"zipCode,omitzero"`
	City                 Patch[string] `json:"city,omitzero"`
	Country              Patch[string] `json:"country,omitzero"`
}

// OptInsPatch is the opt-ins in an update.
type OptInsPatch struct {
	Email Patch[bool] `json:"email,omitzero"`
	Mail  Patch[bool] `json:"mail,omitzero"`
	Phone Patch[bool] `json:"phone,omitzero"`
	SMS   Patch[bool] `json:"sms,omitzero"`
}

// MandatePatch is the mandate in an update.
type MandatePatch struct {
	ID        Patch[string] `json:"id,omitzero"`
	CreatedAt Patch[Time]   `json:"createdAt,omitzero"`
}

// Validate checks the shape of the request and puts identifiers into the form that is
// stored. Whether a partial address is whole depends on the record it is merged into.
func (r *UpdatePersonRequest) Validate(now time.Time) Violations {
	var v Violations
	optionalText(&v, "/academicTitle", r.AcademicTitle.value, maxText)
	if day, ok := r.DateOfBirth.Value(); ok {
		day.validate(&v, "/dateOfBirth", now)
	}
	normalizeField(&v, "/socialSecurityNumber", &r.SocialSecurityNumber.value, checkSocialSecurityNumber)
	optionalEnum(&v, "/gender", r.Gender.value, Genders)
	normalizeField(&v, "/phoneNumber", &r.PhoneNumber.value, checkPhone)
	normalizeField(&v, "/mobilePhoneNumber", &r.MobilePhoneNumber.value, checkPhone)
	normalizeField(&v, "/email", &r.Email.value, checkEmail)
	normalizeField(&v, "/language", &r.Language.value, checkLanguage)
	normalizeField(&v, "/iban", &r.IBAN.value, checkIBAN)
	if n := r.Name.value; n != nil {
		optionalText(&v, "/name/initials", n.Initials.value, maxText)
		optionalText(&v, "/name/firstName", n.FirstName.value, maxText)
		optionalText(&v, "/name/lastNamePrefix", n.LastNamePrefix.value, maxText)
		optionalText(&v, "/name/lastName", n.LastName.value, maxText)
	}
	if a := r.Address.value; a != nil {
		a.validate(&v)
	}
	if m := r.Mandate.value; m != nil {
		optionalText(&v, "/mandate/id", m.ID.value, maxText)
		if m.CreatedAt.IsClear() {
			v.Add("/mandate/createdAt", "cannot be cleared alone; clear the mandate")
		}
	}
	return v
}

func (a *AddressPatch) validate(v *Violations) {
	parts := []struct {
		name  string
		patch Patch[string]
	}{
		{"street", a.Street},
		{"houseNumber", a.HouseNumber},
		{"zipCode", a.ZipCode},
		{"city", a.City},
		{"country", a.Country},
	}
	for _, part := range parts {
		if part.patch.IsClear() {
			v.Add("/address/"+part.name, "cannot be cleared alone; clear the address")
		}
		optionalText(v, "/address/"+part.name, part.patch.value, maxAddress)
	}
	optionalText(v, "/address/houseNumberExtension", a.HouseNumberExtension.value, maxAddress)
	if a.Country.value != nil && *a.Country.value != "" {
		normalizeField(v, "/address/country", &a.Country.value, checkCountry)
	}
}
