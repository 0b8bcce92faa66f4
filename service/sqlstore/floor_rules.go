package sqlstore

import (
	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// saveRules stores the rules of an organization's settings in a column of their own: settings are long, and each take
// reads the rules. Nil settings stay as they are.
func (t *tx) saveRules(o service.Organization) error {
	if o.Settings == nil {
		return nil
	}
	rules, err := service.RulesText(o.UUID, *o.Settings)
	if err != nil {
		return err
	}
	if rules == "" {
		_, err = t.exec(`DELETE FROM queue_rules WHERE organization = $1`, identifier(o.UUID))
		return err
	}
	_, err = t.exec(`INSERT INTO queue_rules (organization, rules) VALUES ($1, $2)
		ON CONFLICT (organization) DO UPDATE SET rules = excluded.rules`, identifier(o.UUID), rules)
	return err
}

// allRules is a JSON array of the rules of all organizations.
const allRules = `(SELECT COALESCE(string_agg(rules, ',' ORDER BY organization), '') FROM queue_rules)`

func (r *reader) QueueRules() (rules string, err error) {
	err = r.row(`SELECT ` + allRules).scan(&rules)
	return "[" + rules + "]", err
}

func (r *reader) PledgesEnded(person, owner apitype.UUID) (at *apitype.Time, isKept bool, err error) {
	text := `SELECT ended.at, NOT EXISTS (
			SELECT 1 FROM queue_calls WHERE ` + ofPerson + ` AND owner = $2 AND ended_at IS DISTINCT FROM ended.at
		) FROM (SELECT ` + pledgesEnded + ` AS at) AS ended`
	err = r.row(text, identifier(person), identifier(owner)).scan(nullTimeDest{&at}, &isKept)
	return at, isKept, err
}

// mostLapsed is the number of calls that are marked at one time. It is small, so that no take waits long.
const mostLapsed = 5000

func (t *tx) markLapsed(lapsed service.Lapsed) error {
	q := &listQuery{}
	before := q.arg(lapsed.Before.UnixMilli())
	owners := `owner` + isOne(bind(q, lapsed.Owners, identifier))
	found := `SELECT call_number FROM queue_calls WHERE ` + owners + ` AND ready = 1 AND ended_at < ` + before +
		` LIMIT ` + q.arg(mostLapsed) + t.engine.locking(`UPDATE SKIP LOCKED`)
	_, err := t.exec(`UPDATE queue_calls SET ready = 2 WHERE call_number IN (`+found+`)`, q.args...)
	return err
}

func (t *tx) ResetLapsed(organization apitype.UUID) error {
	_, err := t.exec(`UPDATE queue_calls SET ready = 0 WHERE owner = $1 AND ready = 2 AND ended_at IS NOT NULL`,
		identifier(organization))
	return err
}

func (t *tx) LapsedPersons(ids []apitype.UUID) ([]apitype.UUID, error) {
	cond, arg := t.engine.among("p.uuid", ids)
	const hasEnded = `SELECT 1 FROM pledges l
		WHERE l.person_number = p.number AND l.owner = q.owner AND l.status NOT IN ('lead', 'active')`
	return t.identifiers(`SELECT p.uuid FROM persons p WHERE `+cond+` AND EXISTS (
			SELECT 1 FROM calls k JOIN queue_calls q ON q.call_number = k.number
			WHERE k.person_number = p.number AND (q.ended_at IS NOT NULL OR EXISTS (`+hasEnded+`)))`, arg)
}
