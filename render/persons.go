package render

import (
	"cmp"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
)

// PersonName is a person's name as it is spoken, "" when nothing of it is known.
func PersonName(p apitype.Person) string {
	first := p.FirstName
	if first == nil {
		first = p.Initials
	}
	var parts []string
	for _, part := range []*string{p.AcademicTitle, first, p.LastNamePrefix, p.LastName} {
		if part != nil && *part != "" {
			parts = append(parts, *part)
		}
	}
	return strings.Join(parts, " ")
}

// ErasedColumns are the columns of persons who were erased.
func ErasedColumns() []Column[apitype.ErasedPerson] {
	return []Column[apitype.ErasedPerson]{
		shown(column("uuid", func(p apitype.ErasedPerson) string { return p.UUID.String() }), ""),
		shown(timeColumn("erasedAt", "", func(p apitype.ErasedPerson) *apitype.Time { return &p.ErasedAt }), ""),
	}
}

// PersonColumns are the columns of persons.
func PersonColumns() []Column[apitype.Person] {
	type person = apitype.Person
	text1 := func(name string, value func(person) *string) Column[person] {
		return column(name, func(p person) string { return text(value(p)) })
	}
	address := func(name string, value func(apitype.Address) string) Column[person] {
		return column("address."+name, func(p person) string { return value(p.Address.Value()) })
	}
	optIn := func(name string, value func(person) *bool) Column[person] {
		return Column[person]{
			Name:  name,
			Value: func(p person) string { return text(value(p)) },
			Cell:  func(p person, _ View) Text { return yesNo(value(p)) },
		}
	}
	return []Column[person]{
		{Name: "uuid", Value: func(p person) string { return uuidText(p.UUID) }, Default: true},
		text1("academicTitle", func(p person) *string { return p.AcademicTitle }),
		text1("initials", func(p person) *string { return p.Initials }),
		shown(text1("firstName", func(p person) *string { return p.FirstName }), "first name"),
		shown(text1("lastNamePrefix", func(p person) *string { return p.LastNamePrefix }), "prefix"),
		shown(text1("lastName", func(p person) *string { return p.LastName }), "last name"),
		{
			Name: "dateOfBirth", Flexible: true,
			Value: func(p person) string { return text(p.DateOfBirth) },
			Cell:  func(p person, v View) Text { return Text{Text: birthday(p, v.Locale)} },
		},
		text1("socialSecurityNumber", func(p person) *string { return p.SocialSecurityNumber.Pointer() }),
		text1("iban", func(p person) *string { return p.IBAN }),
		phoneColumn("phoneNumber", func(p person) *string { return p.PhoneNumber }),
		shown(phoneColumn("mobilePhoneNumber", func(p person) *string { return p.MobilePhoneNumber }), "mobile"),
		shown(text1("email", func(p person) *string { return p.Email }), "e-mail"),
		column("gender", func(p person) string { return text(p.Gender) }),
		optIn("optInEmail", func(p person) *bool { return p.OptInEmail }),
		optIn("optInPhone", func(p person) *bool { return p.OptInPhone }),
		optIn("optInMail", func(p person) *bool { return p.OptInMail }),
		optIn("optInSms", func(p person) *bool { return p.OptInSMS }),
		text1("language", func(p person) *string { return p.Language }),
		address("street", func(a apitype.Address) string { return a.Street }),
		address("houseNumber", func(a apitype.Address) string { return a.HouseNumber }),
		address("houseNumberExtension", func(a apitype.Address) string { return text(a.HouseNumberExtension) }),
		address("zipCode", func(a apitype.Address) string { return a.ZipCode }),
		shown(address("city", func(a apitype.Address) string { return a.City }), "city"),
		address("country", func(a apitype.Address) string { return a.Country }),
		timeColumn("mandate.createdAt", "", func(p person) *apitype.Time { return embeddedTime(p.Mandate.Pointer()) }),
		column("owningOrganization.uuid", func(p person) string { return uuidText(p.OwningOrganization.Value().UUID) }),
		column("owningOrganization.name", func(p person) string { return p.OwningOrganization.Value().Name }),
		column("owningOrganization.abbreviation", func(p person) string { return p.OwningOrganization.Value().Abbreviation }),
		column("qualityResult.percentage", func(p person) string { return quality(p) }),
		shown(timeColumn("createdAt", "", func(p person) *apitype.Time { return &p.CreatedAt }), "created"),
	}
}

// PersonList are the columns of persons in a list on the screen, in their order.
func PersonList() []Listed[apitype.Person] {
	type person = apitype.Person
	return onScreen(PersonColumns(),
		Listed[person]{Name: "uuid", Heading: "Person", Width: 9},
		Listed[person]{Name: "name", Width: 18, Grow: true, Say: func(p person, _ View) string { return PersonName(p) }},
		Listed[person]{Name: "address.city", Width: 12},
		Listed[person]{Name: "phone", Width: 14, Say: func(p person, v View) string { return v.Locale.Phone(PersonPhone(p)) }},
		Listed[person]{Name: "createdAt", Width: 7},
		Listed[person]{Name: "language", Width: 9, Say: func(p person, _ View) string { return Language(text(p.Language)) }},
		Listed[person]{Name: "email", Width: 16, Grow: true},
	)
}

// PersonPhone is the number to dial, the mobile one where there is one; "" for none.
func PersonPhone(p apitype.Person) string {
	return cmp.Or(text(p.MobilePhoneNumber), text(p.PhoneNumber))
}

func birthday(p apitype.Person, l Locale) string {
	if p.DateOfBirth == nil {
		return ""
	}
	return l.Date(p.DateOfBirth.Midnight(), time.DateOnly)
}

func embeddedTime(m *apitype.Mandate) *apitype.Time {
	if m == nil {
		return nil
	}
	return &m.CreatedAt
}

func quality(p apitype.Person) string {
	if q := p.QualityResult.Pointer(); q != nil {
		return q.Percentage.String()
	}
	return ""
}
