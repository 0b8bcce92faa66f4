package sqlstore

import (
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

var blockColumns = []string{"organization", "digest", "person_uuid", "blocked_at", "call_uuid", "user_uuid"}

func (t *tx) InsertBlock(b service.Block) error {
	known := `NOTHING`
	if b.Person.IsZero() {
		known = `UPDATE SET blocked_at = excluded.blocked_at`
	}
	_, err := t.exec(`INSERT INTO do_not_call (`+strings.Join(blockColumns, `, `)+`) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (organization, digest, person_uuid) DO `+known,
		identifier(b.Organization),
		identifier(b.Number),
		identifier(b.Person),
		b.At.UnixMilli(),
		nullUUIDDest{&b.Call},
		nullUUIDDest{&b.User})
	return err
}

func (t *tx) DeleteBlocks(l service.Lifting) ([]apitype.UUID, error) {
	q := &listQuery{}
	owner := q.arg(identifier(l.Organization))
	which := `digest` + isOne(bind(q, l.Numbers, identifier))
	if len(l.Numbers) == 0 {
		which = `1 = 0`
	}
	if l.Until != nil {
		which += ` AND blocked_at <= ` + q.arg(l.Until.UnixMilli())
	}
	if l.Person != nil {
		own := q.arg(identifier(*l.Person))
		none := q.arg(identifier(apitype.UUID{}))
		which = `person_uuid = ` + own + ` OR person_uuid = ` + none + ` AND ` + which
	}
	return t.identifiers(
		`DELETE FROM do_not_call WHERE organization = `+owner+` AND (`+which+`) RETURNING digest`,
		q.args...)
}

// BlockOf writes the block again as it is: a transaction that lifts it at the same time would not see the call that is
// about to be kept.
func (t *tx) BlockOf(organization apitype.UUID, numbers []apitype.UUID) (*apitype.UUID, error) {
	q := &listQuery{}
	q.where(`organization = %s`, identifier(organization))
	q.conds = append(q.conds, `digest`+isOne(bind(q, numbers, identifier)))
	text := `UPDATE do_not_call SET blocked_at = blocked_at WHERE ` + strings.Join(q.conds, ` AND `) +
		` RETURNING digest`
	found, err := t.identifiers(text, q.args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

func (t *tx) WaitingWithTerms(organization apitype.UUID, terms []string) ([]apitype.UUID, error) {
	cond, arg := t.engine.amongTexts("s.term", "$1", terms)
	return t.identifiers(`SELECT DISTINCT q.person_uuid FROM search_terms s
		JOIN calls k ON k.person_number = s.number
		JOIN queue_calls q ON q.call_number = k.number
		WHERE `+cond+` AND s.owner = $2`, arg, identifier(organization))
}

func (t *tx) WaitingBlockedBy(organization apitype.UUID, numbers []apitype.UUID) ([]apitype.UUID, error) {
	q := &listQuery{}
	q.where(`owner = %s`, identifier(organization))
	q.conds = append(q.conds, `blocked_by`+isOne(bind(q, numbers, identifier)))
	return t.identifiers(
		`SELECT DISTINCT person_uuid FROM queue_calls WHERE `+strings.Join(q.conds, ` AND `),
		q.args...)
}

func (r *reader) BlockedSince(numbers []apitype.UUID, scope service.Scope) (*apitype.Time, error) {
	q := &listQuery{}
	q.conds = append(q.conds, `digest`+isOne(bind(q, numbers, identifier)))
	if places, some := q.organizations(scope); some {
		q.conds = append(q.conds, `organization`+isOne(places))
	}
	var at *apitype.Time
	err := r.row(`SELECT MIN(blocked_at) FROM do_not_call WHERE `+strings.Join(q.conds, ` AND `), q.args...).
		scan(nullTimeDest{&at})
	return at, err
}
