package service

import (
	"errors"

	"fundesk/apiclient/apitype"
)

// person saves a person, as a creation would have made it.
func (l *loader) person(p LoadedPerson) error {
	owner, err := l.organizationOf("/owningOrganizationUuid", p.OwningOrganizationUUID)
	if err != nil {
		return err
	}
	if _, err := l.organizationOf("/recruitingOrganizationUuid", p.RecruitingOrganizationUUID); err != nil {
		return err
	}
	request, v := p.creation(l.now)
	if err := errors.Join(required(p.UUID), invalid(v)); err != nil {
		return err
	}
	row, err := newPerson(p.UUID, request, owner, p.CreatedAt)
	if quality := p.QualityResult.Pointer(); quality != nil && err == nil {
		row.Quality, err = encode("quality result", quality)
	}
	if err != nil {
		return err
	}
	l.rows.Persons = append(l.rows.Persons, row)
	l.persons[row.UUID] = row
	return nil
}

// creation returns the request that creates the person, and what the interface could not have answered.
func (p LoadedPerson) creation(now apitype.Time) (r apitype.CreatePersonRequest, v apitype.Violations) {
	if p.CreatedAt.IsZero() {
		v.Add("/createdAt", "is required")
	}
	if !p.PersonUUID.IsZero() && p.PersonUUID != p.UUID {
		v.Add("/personUuid", "must equal uuid")
	}
	if o := p.OwningOrganization.Pointer(); o != nil && o.UUID != p.OwningOrganizationUUID {
		v.Add("/owningOrganization/uuid", "must equal owningOrganizationUuid")
	}
	r = apitype.CreatePersonRequest{
		OwningOrganizationUUID: p.OwningOrganizationUUID, RecruitingOrganizationUUID: p.RecruitingOrganizationUUID,
		AcademicTitle: p.AcademicTitle, DateOfBirth: p.DateOfBirth, SocialSecurityNumber: p.SocialSecurityNumber.Pointer(),
		Gender: p.Gender, PhoneNumber: p.PhoneNumber, MobilePhoneNumber: p.MobilePhoneNumber, Email: p.Email,
		Language: p.Language, IBAN: p.IBAN, Address: p.Address.Pointer(),
		Name:   &apitype.Name{Initials: p.Initials, FirstName: p.FirstName, LastNamePrefix: p.LastNamePrefix, LastName: p.LastName},
		OptIns: &apitype.OptIns{Email: p.OptInEmail, Mail: p.OptInMail, Phone: p.OptInPhone, SMS: p.OptInSMS},
	}
	if m := p.Mandate; m != nil {
		if m.CreatedAt.IsZero() {
			v.Add("/mandate/createdAt", "is required")
		}
		r.Mandate = &apitype.MandateRequest{ID: m.ID, CreatedAt: &m.CreatedAt}
	}
	return r, append(v, r.Validate(now.Time)...)
}
