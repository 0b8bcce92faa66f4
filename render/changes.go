package render

import (
	"strings"

	"fundesk/apiclient/apitype"
)

// ChangeColumns returns the columns of changes.
func ChangeColumns() []Column[apitype.Change] {
	type change = apitype.Change
	return []Column[change]{
		shown(timeColumn("time", "", func(c change) *apitype.Time { return &c.Time }), ""),
		shown(column("entity", func(c change) string { return string(c.Entity) }), ""),
		shown(column("uuid", func(c change) string { return c.UUID.String() }), ""),
		shown(column("operation", func(c change) string { return c.Operation }), ""),
		shown(column("fields", func(c change) string { return strings.Join(c.Fields, ",") }), ""),
		column("position", func(c change) string { return c.Position }),
	}
}
