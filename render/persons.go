package render

import (
	"cmp"
	"strings"

	"fundesk/apiclient/apitype"
)

// PersonColumns returns the columns of persons.
func PersonColumns() []Column[apitype.Person] { return fieldColumns(apitype.PersonFields()) }

// ErasedColumns returns the columns of erased persons.
func ErasedColumns() []Column[apitype.ErasedPerson] {
	return []Column[apitype.ErasedPerson]{
		shown(column("uuid", func(p apitype.ErasedPerson) string { return p.UUID.String() }), ""),
		shown(timeColumn("erasedAt", "", func(p apitype.ErasedPerson) *apitype.Time { return &p.ErasedAt }), ""),
	}
}

// PersonList returns the columns of persons in a list on the screen, in their order.
func PersonList() []Column[apitype.Person] {
	type person = apitype.Person
	return onScreen(PersonColumns(), []Column[person]{
		{
			Name:  "name",
			Width: 20,
			Grow:  true,
			Cell:  func(p person, _ View) Text { return Text{Text: PersonName(p)} },
		},
		{Name: "address.city", Width: 12},
		{
			Name:  "phone",
			Width: 19,
			Cell:  func(p person, v View) Text { return Text{Text: v.Locale.Spoken(PersonPhone(p))} },
		},
		{Name: "createdAt", Width: 7},
		{Name: "email", Width: 12, Grow: true},
		{
			Name:  "language",
			Width: 9,
			Cell:  func(p person, _ View) Text { return Text{Text: Language(text(p.Language))} },
		},
		{Name: "uuid", Title: "UUID", Width: 8},
	})
}

// PersonName returns a person's name as it is spoken, or an empty text.
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

// PersonPhone returns the number to dial, the mobile one if there is one, or an empty text.
func PersonPhone(p apitype.Person) string {
	return cmp.Or(text(p.MobilePhoneNumber), text(p.PhoneNumber))
}
