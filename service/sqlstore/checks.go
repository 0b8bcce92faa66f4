package sqlstore

import (
	"database/sql"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var missingColumns = []string{"uuid", "number", "person_uuid", "owner", "completed_at", "user_uuid", "names"}

func (t *tx) SetMissingChecks(m service.MissingChecks) error {
	if err := t.DeleteMissingChecks(m.Call); err != nil {
		return err
	}
	_, err := t.exec(`INSERT INTO missing_checks (`+strings.Join(missingColumns, `, `)+`)
		VALUES ($1, (SELECT number FROM calls WHERE uuid = $1), $2, $3, $4, $5, $6)`,
		identifier(m.Call),
		identifier(m.Person),
		identifier(m.Owner),
		m.CompletedAt.UnixMilli(),
		nullUUIDDest{&m.User},
		m.Names)
	return err
}

func (t *tx) DeleteMissingChecks(call apitype.UUID) error {
	_, err := t.exec(`DELETE FROM missing_checks WHERE uuid = $1`, identifier(call))
	return err
}

func (r *reader) MissingChecks(scope service.Scope, part service.Range) ([]service.MissingChecks, error) {
	q := &listQuery{table: "missing_checks", time: "completed_at"}
	q.scope(scope, `t.owner`)
	text := q.page(`t.uuid, t.completed_at, t.user_uuid, t.names`, ``, part)
	return readPage(r, text, q.args, part, func(result *sql.Rows) (m service.MissingChecks, err error) {
		err = result.Scan(uuidDest{&m.Call}, timeDest{&m.CompletedAt}, nullUUIDDest{&m.User}, &m.Names)
		return m, err
	})
}
