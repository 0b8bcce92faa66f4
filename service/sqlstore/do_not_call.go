package sqlstore

import (
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var blockColumns = []string{"organization", "digest", "person_uuid", "blocked_at", "call_uuid", "user_uuid"}

func (t *tx) InsertBlock(b service.Block) error {
	_, err := t.exec(`INSERT INTO do_not_call (`+strings.Join(blockColumns, `, `)+`) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (organization, digest, person_uuid) DO NOTHING`,
		identifier(b.Organization),
		identifier(b.Number),
		identifier(b.Person),
		b.At.UnixMilli(),
		nullUUIDDest{&b.Call},
		nullUUIDDest{&b.User})
	return err
}

func (t *tx) DeleteBlocks(organization apitype.UUID, person *apitype.UUID, numbers []apitype.UUID) error {
	q := &listQuery{}
	owner := q.arg(identifier(organization))
	which := `digest` + isOne(bind(q, numbers, identifier))
	if len(numbers) == 0 {
		which = `1 = 0`
	}
	if person != nil {
		own := q.arg(identifier(*person))
		none := q.arg(identifier(apitype.UUID{}))
		which = `person_uuid = ` + own + ` OR person_uuid = ` + none + ` AND ` + which
	}
	_, err := t.exec(`DELETE FROM do_not_call WHERE organization = `+owner+` AND (`+which+`)`, q.args...)
	return err
}

func (r *reader) BlockedSince(numbers []apitype.UUID, scope service.Scope) (at *apitype.Time, err error) {
	q := &listQuery{}
	q.conds = append(q.conds, `digest`+isOne(bind(q, numbers, identifier)))
	if places, some := q.organizations(scope); some {
		q.conds = append(q.conds, `organization`+isOne(places))
	}
	err = r.row(`SELECT MIN(blocked_at) FROM do_not_call WHERE `+strings.Join(q.conds, ` AND `), q.args...).
		scan(nullTimeDest{&at})
	return at, err
}
