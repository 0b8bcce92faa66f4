package sqlstore

import (
	"strings"

	"fundesk/apiclient/apitype"
)

var consentColumns = []string{"person_uuid", "ordinal", "channel", "basis", "source", "wording", "at", "user_uuid"}

func (r *reader) Consents(person apitype.UUID) ([]apitype.Consent, error) {
	return all(r.conn, `SELECT `+strings.Join(consentColumns[2:], `, `)+` FROM consents
		WHERE person_uuid = $1
		ORDER BY at DESC, ordinal DESC`, []any{identifier(person)}, consentDest)
}

func consentDest(c *apitype.Consent) []any {
	return []any{
		&c.Channel,
		&c.Basis,
		&c.Source,
		&c.Wording,
		timeDest{&c.At},
		nullUUIDDest{&c.UserUUID},
	}
}

func (t *tx) InsertConsent(person apitype.UUID, ordinal int, c apitype.Consent) error {
	args := append([]any{identifier(person), ordinal}, consentDest(&c)...)
	return t.insert(insertText("consents", consentColumns), args...)
}
