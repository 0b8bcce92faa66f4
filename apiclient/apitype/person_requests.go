package apitype

import (
	"time"
)

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
