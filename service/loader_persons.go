package service

import (
	"errors"

	"fundesk/apiclient/apitype"
)

// person saves a person.
func (l *loader) person(p LoadedPerson) error {
	owner, err := l.known("/owningOrganizationUuid", p.OwningOrganizationUUID)
	if err != nil {
		return err
	}
	if _, err := l.known("/recruitingOrganizationUuid", p.RecruitingOrganizationUUID); err != nil {
		return err
	}
	if err := errors.Join(required(p.UUID), p.check(l.now)); err != nil {
		return err
	}
	person := p.Person
	person.PersonUUID = person.UUID
	person.SocialSecurityNumber = apitype.EmbedPointer(p.SocialSecurityNumber.Pointer())
	person.Address = apitype.EmbedPointer(p.Address.Pointer())
	person.OwningOrganization = apitype.Embed(owner.OrganizationReference)
	person.Mandate = apitype.EmbedPointer[apitype.Mandate](nil)
	row := PersonRow{Recruiting: p.RecruitingOrganizationUUID, UpdatedAt: p.CreatedAt, Rev: 1}
	if p.Mandate != nil {
		person.Mandate, row.MandateID = apitype.Embed(apitype.Mandate{CreatedAt: p.Mandate.CreatedAt}), p.Mandate.ID
	}
	if quality := p.QualityResult.Pointer(); quality != nil {
		if row.Quality, err = encode("quality result", quality); err != nil {
			return err
		}
	}
	person.QualityResult = apitype.Embedded[apitype.QualityResult]{}
	if err := row.write(person); err != nil {
		return err
	}
	l.rows.Persons = append(l.rows.Persons, row)
	l.owners[row.UUID] = row.Owner
	l.donors[row.UUID] = donorOf(person)
	return nil
}

// check refuses a person that the interface could not have answered.
func (p *LoadedPerson) check(now apitype.Time) error {
	var v apitype.Violations
	if p.CreatedAt.IsZero() {
		v.Add("/createdAt", "is required")
	}
	if !p.PersonUUID.IsZero() && p.PersonUUID != p.UUID {
		v.Add("/personUuid", "must equal uuid")
	}
	if o := p.OwningOrganization.Pointer(); o != nil && o.UUID != p.OwningOrganizationUUID {
		v.Add("/owningOrganization/uuid", "must equal owningOrganizationUuid")
	}
	if p.Mandate != nil && p.Mandate.CreatedAt.IsZero() {
		v.Add("/mandate/createdAt", "is required")
	}
	same := apitype.CreatePersonRequest{
		OwningOrganizationUUID: p.OwningOrganizationUUID, RecruitingOrganizationUUID: p.RecruitingOrganizationUUID,
		AcademicTitle: p.AcademicTitle, DateOfBirth: p.DateOfBirth, SocialSecurityNumber: p.SocialSecurityNumber.Pointer(),
		Gender: p.Gender, PhoneNumber: p.PhoneNumber, MobilePhoneNumber: p.MobilePhoneNumber, Email: p.Email,
		Language: p.Language, IBAN: p.IBAN, Address: p.Address.Pointer(),
		Name: &apitype.Name{Initials: p.Initials, FirstName: p.FirstName, LastNamePrefix: p.LastNamePrefix, LastName: p.LastName},
	}
	v = append(v, same.Validate(now.Time)...)
	p.IBAN, p.Language = same.IBAN, same.Language
	return invalid(v)
}
