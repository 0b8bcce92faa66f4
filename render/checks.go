package render

import "fundesk/apiclient/apitype"

// CallCheck is one check of a call.
type CallCheck struct {
	CallUUID apitype.UUID  `json:"callUuid"`
	Name     string        `json:"name"`
	At       apitype.Time  `json:"at"`
	UserUUID *apitype.UUID `json:"userUuid"`
}

// CheckColumns returns the columns of the checks of calls.
func CheckColumns() []Column[CallCheck] {
	return []Column[CallCheck]{
		shown(column("callUuid", func(c CallCheck) string { return uuidText(c.CallUUID) }), "call"),
		shown(column("name", func(c CallCheck) string { return c.Name }), "checked"),
		shown(timeColumn("at", "", func(c CallCheck) *apitype.Time { return &c.At }), ""),
		shown(column("userUuid", func(c CallCheck) string { return text(c.UserUUID) }), "user"),
	}
}
