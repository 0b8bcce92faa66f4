package render

import "fundesk/apiclient/apitype"

// NewestConsentColumns returns the columns of the newest consents of a person, if they were read with the person.
func NewestConsentColumns() []Column[apitype.Person] {
	columns := fieldColumns(apitype.ConsentFields())
	for i, c := range columns {
		columns[i].Default = c.Name == "consents.phone.basis" || c.Name == "consents.phone.source" ||
			c.Name == "consents.phone.at"
	}
	return columns
}

// ConsentColumns returns the columns of a person's consents.
func ConsentColumns() []Column[apitype.Consent] {
	type consent = apitype.Consent
	return []Column[consent]{
		shown(column("channel", func(c consent) string { return string(c.Channel) }), ""),
		shown(column("basis", func(c consent) string { return string(c.Basis) }), ""),
		shown(timeColumn("at", "", func(c consent) *apitype.Time { return &c.At }), ""),
		shown(column("source", func(c consent) string { return text(c.Source) }), ""),
		shown(column("wording", func(c consent) string { return text(c.Wording) }), ""),
		column("userUuid", func(c consent) string { return text(c.UserUUID) }),
	}
}
