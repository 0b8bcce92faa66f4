package sqlstore

import (
	"database/sql"
	"slices"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var consentColumns = []string{"person_uuid", "ordinal", "channel", "basis", "source", "wording", "at", "user_uuid"}

func (r *reader) Consents(person apitype.UUID) ([]apitype.Consent, error) {
	return all(r.conn, `SELECT `+strings.Join(consentColumns[2:], `, `)+` FROM consents
		WHERE person_uuid = $1
		ORDER BY at DESC, ordinal DESC`, []any{identifier(person)}, consentDest)
}

func (r *reader) ConsentsOf(
	persons []apitype.UUID,
	bytes int,
) (of map[apitype.UUID][]apitype.Consent, isWhole bool, err error) {
	of, isWhole = map[apitype.UUID][]apitype.Consent{}, true
	cond, arg := r.engine.among("person_uuid", persons)
	text := `SELECT person_uuid, ` + strings.Join(consentColumns[2:], `, `) + ` FROM consents WHERE ` + cond + `
		ORDER BY person_uuid, at DESC, ordinal DESC`
	read := 0
	err = r.each(text, []any{arg}, func(rows *sql.Rows) error {
		var person apitype.UUID
		var c apitype.Consent
		if err := rows.Scan(append([]any{uuidDest{&person}}, consentDest(&c)...)...); err != nil {
			return err
		}
		of[person] = append(of[person], c)
		read += service.ConsentSize(c)
		if bytes > 0 && read > bytes {
			isWhole = false
			return errFull
		}
		return nil
	})
	return of, isWhole, err
}

// ObjectedAt also reads what an objection leaves elsewhere, because the lines of the audit may be pruned: the blocks of
// the person, and calls that were completed with the effect no-contact. A withdrawn consent leaves a block, too, which
// does not have the time of that consent. The lines of changes that share a commit with this one are not in the table
// yet.
func (r *reader) ObjectedAt(person apitype.UUID, channel apitype.ConsentChannel) (*apitype.Time, error) {
	field := map[apitype.ConsentChannel]string{
		apitype.ChannelPhone: "optInPhone",
		apitype.ChannelEmail: "optInEmail",
		apitype.ChannelMail:  "optInMail",
		apitype.ChannelSMS:   "optInSms",
	}[channel]
	var at *apitype.Time
	err := r.row(`SELECT MAX(at) FROM (
			SELECT done_at AS at FROM audit
			WHERE person_number = (SELECT number FROM persons WHERE uuid = $1)
				AND (operation = 'person.no-contact' OR operation = 'person.opt-out' AND $2 = 'optInPhone' OR
					operation = 'person.update' AND ',' || fields || ',' LIKE '%,' || $2 || ',%')
			UNION ALL
			SELECT blocked_at FROM do_not_call
			WHERE person_uuid = $1 AND $2 = 'optInPhone' AND (call_uuid IS NOT NULL OR NOT EXISTS (
				SELECT 1 FROM consents WHERE person_uuid = $1 AND channel = 'phone' AND basis = 'withdrawn'))
			UNION ALL
			SELECT `+r.lastEvent()+` FROM calls
			WHERE person_number = (SELECT number FROM persons WHERE uuid = $1)
				AND `+r.engine.contains(`private`, `$3`)+`
		) objections`, identifier(person), field, []byte(service.EffectOfNoContact)).scan(nullTimeDest{&at})
	for _, line := range r.lines {
		isLater := at == nil || line.At.After(at.Time)
		if isObjection(line, person, field) && isLater {
			at = &line.At
		}
	}
	return at, err
}

// isObjection does for a line that is not in the table yet what ObjectedAt asks of the others.
func isObjection(line service.AuditLine, person apitype.UUID, field string) bool {
	if line.Person == nil || *line.Person != person {
		return false
	}
	switch line.Operation {
	case service.AuditPersonNoContact:
		return true
	case service.AuditPersonOptOut:
		return field == "optInPhone"
	case service.AuditPersonUpdate:
		return slices.Contains(strings.Split(line.Fields, ","), field)
	default:
		return false
	}
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
