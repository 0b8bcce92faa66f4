package render

import (
	"cmp"
	"strings"

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
func PersonColumns() []Column[apitype.Person] { return fieldColumns(apitype.PersonFields()) }

// PersonList are the columns of persons in a list on the screen, in their order.
func PersonList() []Listed[apitype.Person] {
	type person = apitype.Person
	return onScreen(PersonColumns(),
		Listed[person]{Name: "name", Width: 20, Grow: true, Say: func(p person, _ View) string { return PersonName(p) }},
		Listed[person]{Name: "address.city", Width: 12},
		Listed[person]{Name: "phone", Width: 19, Say: func(p person, v View) string { return v.Locale.Spoken(PersonPhone(p)) }},
		Listed[person]{Name: "createdAt", Width: 7},
		Listed[person]{Name: "email", Width: 12, Grow: true},
		Listed[person]{Name: "language", Width: 9, Say: func(p person, _ View) string { return Language(text(p.Language)) }},
		Listed[person]{Name: "uuid", Heading: "UUID", Width: 8},
	)
}

// PersonPhone is the number to dial, the mobile one where there is one; "" for none.
func PersonPhone(p apitype.Person) string {
	return cmp.Or(text(p.MobilePhoneNumber), text(p.PhoneNumber))
}
