package sqlstore

import (
	"slices"

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

func (r *reader) QueueRules() (string, error) {
	var rules string
	err := r.row(`SELECT ` + allRules).scan(&rules)
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

// markAllLapsed marks calls by the rules that were read for a take. It returns these rules, or newer ones. While it
// marks calls, their rules stay: a change of them looks at all marked calls again. It leaves rules that are being
// changed to the next take.
func (t *tx) markAllLapsed(
	query service.QueueQuery,
	rules *service.FloorRules,
	parse service.ParseRules,
) (*service.FloorRules, error) {
	var owners []apitype.UUID
	for _, lapsed := range rules.Lapsed(query.Scope, query.Now) {
		q, found := lapsedCalls(lapsed)
		var hasSome bool
		err := t.row(`SELECT (`+found+` LIMIT 1) IS NOT NULL`, q.args...).scan(&hasSome)
		if err != nil {
			return nil, err
		}
		if hasSome {
			owners = append(owners, lapsed.Owners...)
		}
	}
	if len(owners) == 0 {
		return rules, nil
	}
	cond, arg := t.engine.among("organization", owners)
	kept, err := t.identifiers(
		`SELECT organization FROM queue_rules WHERE `+cond+t.engine.locking(`SHARE SKIP LOCKED`),
		arg,
	)
	if err != nil || len(kept) < len(owners) {
		return rules, err
	}
	text, err := t.QueueRules()
	if err != nil {
		return nil, err
	}
	rules, err = parse(text)
	if err != nil {
		return nil, err
	}
	for _, lapsed := range rules.Lapsed(query.Scope, query.Now) {
		lapsed.Owners = slices.DeleteFunc(
			slices.Clone(lapsed.Owners),
			func(id apitype.UUID) bool { return !slices.Contains(kept, id) },
		)
		if len(lapsed.Owners) == 0 {
			continue
		}
		if err := t.markLapsed(lapsed); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// lapsedCalls is the query of calls that are ready although the last pledge ended too long ago.
func lapsedCalls(lapsed service.Lapsed) (*listQuery, string) {
	q := &listQuery{}
	owners := `owner` + isOne(bind(q, lapsed.Owners, identifier))
	before := q.arg(lapsed.Before.UnixMilli())
	return q, `SELECT call_number FROM queue_calls WHERE ` + owners + ` AND ready = 1 AND ended_at < ` + before
}

func (t *tx) markLapsed(lapsed service.Lapsed) error {
	q, found := lapsedCalls(lapsed)
	found += ` LIMIT ` + q.arg(mostLapsed) + t.engine.locking(`UPDATE SKIP LOCKED`)
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

func (r *reader) ChangedBesideLoad(since apitype.Time, after apitype.UUID, limit int) ([]apitype.UUID, error) {
	if !r.engine.sharesQueue() {
		return nil, nil
	}
	const waits = `EXISTS (SELECT 1 FROM calls k JOIN queue_calls q ON q.call_number = k.number
		WHERE k.person_number = p.number)`
	return r.identifiers(`SELECT uuid FROM (
			SELECT p.uuid FROM persons p WHERE p.erased_at IS NULL AND p.updated_at > $1 AND `+waits+`
			UNION
			SELECT p.uuid FROM pledges l JOIN persons p ON p.number = l.person_number
			WHERE l.updated_at > $1 AND `+waits+`
			UNION
			SELECT q.person_uuid FROM queue_calls q WHERE q.blocked_by IS NOT NULL AND NOT EXISTS (
				SELECT 1 FROM do_not_call d WHERE d.organization = q.owner AND d.digest = q.blocked_by)
			UNION
			SELECT q.person_uuid FROM queue_calls q JOIN organizations o ON o.uuid = q.owner
			WHERE q.ready = 0 AND q.eligible_at IS NULL AND q.opted_out = 0 AND q.blocked_by IS NULL AND q.external = 0
				AND q.attempts < $4 AND (o.max_call_attempts IS NULL OR q.attempts < o.max_call_attempts)
		) AS changed WHERE uuid > $2 ORDER BY uuid LIMIT $3`, since.UnixMilli(), identifier(after), limit,
		apitype.MaxCallAttempts)
}
