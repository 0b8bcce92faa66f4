package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// The columns of leases, in the order of [leaseDest]: for reading, for a new claim, for an ended lease, and for a
// donor's row.
const (
	leaseFields = `person_uuid, lease_uuid, ordinal, call_uuid, owner, type, user_uuid, ` +
		`due_at, taken_at, expires_at, ` +
		`shown_at, pending, account_uuid, request_uuid`
	claimFields = leaseFields + `, language, kept_for, due_reason`
	endedFields = leaseFields + `, ended_at, ended_by`
	donorFields = claimFields + `, contacted_at, contacted_before, rested_at, rested_until`
)

// columnsOf returns the names in a list of columns.
func columnsOf(fields string) []string { return strings.Split(fields, `, `) }

func leaseDest(l *service.LeaseRow) []any {
	return []any{
		uuidDest{&l.Person},
		uuidDest{&l.LeaseUUID},
		&l.Ordinal,
		uuidDest{&l.CallUUID},
		uuidDest{&l.Owner},
		&l.Type,
		uuidDest{&l.UserUUID},
		nullTimeDest{&l.DueAt},
		timeDest{&l.TakenAt},
		timeDest{&l.ExpiresAt},
		nullTimeDest{&l.ShownAt},
		bitDest{&l.Pending},
		uuidDest{&l.Account},
		uuidDest{&l.Request},
	}
}

func endedDest(l *service.LeaseRow) []any {
	return append(leaseDest(l), nullTimeDest{&l.EndedAt}, &l.EndedBy)
}

func leaseValues(l service.LeaseRow) []any { return claimDest(&l) }

func claimDest(l *service.LeaseRow) []any {
	return append(leaseDest(l), &l.Language, nullUUIDDest{&l.KeptFor}, &l.Reason)
}

// ineligibleUntil makes all calls of a person ineligible until a time, and uses the deferral of one of them
// up if it is due. A lease is one more bound below the others.
const ineligibleUntil = `UPDATE queue_calls AS c SET
		due_at = CASE WHEN c.call_uuid = %[1]s AND due_at <= %[3]s THEN NULL ELSE due_at END,
		kept_for = CASE WHEN c.call_uuid = %[1]s AND due_at <= %[3]s THEN NULL ELSE kept_for END,
		due_reason = CASE WHEN c.call_uuid = %[1]s AND due_at <= %[3]s THEN NULL ELSE due_reason END,
		eligible_at = CASE WHEN eligible_at < %[2]s THEN %[2]s ELSE eligible_at END,
		ready = 0`

// isClaimed is the condition that the row of a donor has a claim, which may have expired. hasExpired adds that it has,
// by a time.
const (
	isClaimed  = `lease_uuid IS NOT NULL`
	hasExpired = isClaimed + ` AND expires_at <= `
)

// claimDonor ends the statement that inserts a claim. It replaces an expired claim, and no other.
var claimDonor = sync.OnceValue(func() string {
	var sets []string
	for _, column := range columnsOf(claimFields)[1:] {
		sets = append(sets, column+` = excluded.`+column)
	}
	return ` ON CONFLICT (person_uuid) DO UPDATE SET ` + strings.Join(sets, `, `) +
		` WHERE donors.lease_uuid IS NULL OR donors.expires_at <= excluded.taken_at`
})

// logDonors logs the claims of donors as ended. The time of their end and the condition follow.
const logDonors = `INSERT INTO ended_leases (` + endedFields + `) SELECT ` + leaseFields + `, `

var (
	claimOne = sync.OnceValue(func() string {
		return insertRows("donors", columnsOf(claimFields), 1, false) + claimDonor()
	})
	ineligibleAtOnce = sync.OnceValue(func() string {
		return fmt.Sprintf(ineligibleUntil, `$2`, `$3`, `$4`) + ` WHERE c.` + ofPerson
	})
	// claimMany does all of it in one statement. Rows that others hold are left to them. It claims nothing and returns
	// a NULL if the request was given a later lease meanwhile, which may have ended. It does the same if the user would
	// hold too many: other claims of the user may have come while this one waited for them.
	claimMany = sync.OnceValue(func() string {
		const fields, takenAt = claimFields, `($9::bigint[])[1]`
		const later = ` account_uuid = ($13::uuid[])[1] AND request_uuid = ($14::uuid[])[1] AND ordinal >= first`
		return `WITH wanted (` + fields + `) AS (
			SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::uuid[], $6::text[],
				$7::uuid[], $8::bigint[],
				$9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::uuid[], $14::uuid[], $15::text[],
				$16::uuid[], $17::text[])
		), repeated AS (
			SELECT 1 FROM (SELECT MIN(ordinal) AS first FROM wanted) AS w
			WHERE EXISTS (SELECT 1 FROM donors WHERE ` + isClaimed + ` AND` + later + `)
				OR EXISTS (SELECT 1 FROM ended_leases WHERE` + later + `)
				OR ($12::bigint[])[1] = 0 AND cardinality($1::uuid[])
					+ ` + heldLeases(`($7::uuid[])[1]`, takenAt) + ` > ` + strconv.Itoa(apitype.MaxLeases) + `
		), logged AS (
			` + logDonors + `expires_at, '` + string(service.EndedByTime) + `' FROM donors
			WHERE person_uuid = ANY($1) AND ` + hasExpired + takenAt + `
			ON CONFLICT DO NOTHING RETURNING 1
		), saved AS (
			INSERT INTO donors (` + fields + `) SELECT ` + fields + ` FROM wanted
			WHERE NOT EXISTS (SELECT 1 FROM repeated)` + claimDonor() + `
			RETURNING lease_uuid, person_uuid, call_uuid, expires_at
		), theirs AS (
			SELECT q.call_number, saved.call_uuid AS leased, saved.expires_at
			FROM saved JOIN persons p ON p.uuid = saved.person_uuid JOIN calls k ON k.person_number = p.number
			JOIN queue_calls q ON q.call_number = k.number FOR UPDATE OF q SKIP LOCKED
		), ineligible AS (` + fmt.Sprintf(ineligibleUntil, `theirs.leased`, `theirs.expires_at`, takenAt) + `
			FROM theirs WHERE c.call_number = theirs.call_number
		) SELECT lease_uuid, (SELECT COUNT(*) FROM logged) FROM saved UNION ALL SELECT NULL, 0 FROM repeated`
	})
)

func (t *tx) Claim(leases []service.LeaseRow) (saved []apitype.UUID, expired int, err error) {
	if t.engine.sharesQueue() {
		return t.claimMany(leases)
	}
	for _, l := range leases {
		if l.IsReplacing {
			text := logDonors + `expires_at, '` + string(service.EndedByTime) + `' FROM donors
				WHERE person_uuid = $1 AND ` + hasExpired + `$2 ON CONFLICT DO NOTHING`
			n, err := t.exec(text, identifier(l.Person), l.TakenAt.UnixMilli())
			if err != nil {
				return nil, 0, err
			}
			expired += int(n)
		}
		n, err := t.exec(claimOne(), leaseValues(l)...)
		if err != nil {
			return nil, 0, err
		}
		if n == 0 {
			continue
		}
		saved = append(saved, l.LeaseUUID)
		_, err = t.exec(
			ineligibleAtOnce(),
			identifier(l.Person),
			identifier(l.CallUUID),
			l.ExpiresAt.UnixMilli(),
			l.TakenAt.UnixMilli(),
		)
		if err != nil {
			return nil, 0, err
		}
	}
	return saved, expired, nil
}

// claimMany claims in the order of the persons: of two transactions that come to the same persons, the later one waits
// for the other one at the first, and never each for the other. If the same request came twice at one time, the later
// one runs again and finds the leases of the other one.
func (t *tx) claimMany(leases []service.LeaseRow) (saved []apitype.UUID, expired int, err error) {
	if len(leases) == 0 {
		return nil, 0, nil
	}
	leases = slices.SortedFunc(
		slices.Values(leases),
		func(a, b service.LeaseRow) int { return a.Person.Compare(b.Person) },
	)
	columns := make([]any, len(columnsOf(claimFields)))
	for i := range columns {
		values := make([]any, len(leases))
		for row, l := range leases {
			values[row] = leaseValues(l)[i]
		}
		columns[i] = values
	}
	isRepeated := false
	err = t.each(claimMany(), columns, func(rows *sql.Rows) error {
		var id *apitype.UUID
		err := rows.Scan(nullUUIDDest{&id}, &expired)
		isRepeated = id == nil
		if !isRepeated {
			saved = append(saved, *id)
		}
		return err
	})
	if t.engine.isTaken(err) || err == nil && isRepeated {
		return nil, 0, service.ErrAgain
	}
	return saved, expired, err
}

// leaseNote reads the note of the call of a claim.
const leaseNote = `(SELECT q.note FROM queue_calls q WHERE q.call_number = (SELECT k.number FROM calls k
	WHERE k.uuid = donors.call_uuid))`

// leaseUser reads the user of a lease, or NULL for one that the service does not know.
const leaseUser = `(SELECT u.doc FROM users u WHERE u.uuid = user_uuid)`

// selectClaim reads the claims of donors with the notes of their calls, and selectEnded the leases that have ended.
// Both read along who the user is.
const (
	selectClaim = `SELECT ` + leaseFields + `, NULL, '', ` + leaseNote + `, kept_for, due_reason, ` + leaseUser + `
		FROM donors WHERE ` + isClaimed + ` AND `
	selectEnded = `SELECT ` + endedFields + `, NULL, NULL, NULL, ` + leaseUser + ` FROM ended_leases WHERE `
)

func leaseNotedDest(l *service.LeaseRow) []any {
	return append(endedDest(l), &l.Note, nullUUIDDest{&l.KeptFor}, &l.Reason, userNameDest{&l.Name})
}

// userNameDest reads the name in the document of a user. NULL sets nil.
type userNameDest struct{ name **string }

func (d userNameDest) Scan(value any) error {
	var user struct { // Nothing else is decoded.
		Name *string `json:"name"`
	}
	err := jsonDest{&user}.Scan(value)
	*d.name = user.Name
	return err
}

// mostPause limits the length of a pause, in milliseconds.
var mostPause = strconv.FormatInt(apitype.MaxPause.Milliseconds(), 10)

// heldLeases counts the leases of a user at a time that are no pending ones.
func heldLeases(user, now string) string {
	return `(SELECT COUNT(*) FROM donors
		WHERE user_uuid = ` + user + ` AND ` + isClaimed + ` AND expires_at > ` + now + ` AND pending = 0)`
}

// QueueRequest returns the leases that a request was given, and what there is to look at for another one. Each
// is looked for in the order of an index: for one at all, PostgreSQL reads a table that was small
// when it made its plan.
func (t *tx) QueueRequest(account, request apitype.UUID, query service.QueueQuery) (service.QueueRequest, error) {
	p := &queueParts{query: query}
	now, user := p.arg(query.Now.UnixMilli()), p.arg(identifier(*query.User))
	later := append(p.narrowed(), `due_at > `+now, `(kept_for IS NULL OR kept_for = `+user+`)`)
	returned, by, requested := p.arg(query.Returned.UnixMilli()), p.arg(identifier(account)), p.arg(identifier(request))
	ofRequest := `account_uuid = ` + by + ` AND request_uuid = ` + requested + ` ORDER BY ordinal LIMIT 1`
	isRepeated := false
	var q service.QueueRequest
	err := t.row(`SELECT
			(SELECT 1 FROM queue_calls WHERE ready = 0 AND eligible_at <= `+now+` ORDER BY eligible_at
				LIMIT 1) IS NOT NULL,
			(SELECT 1 FROM queue_calls WHERE due_at <= `+now+` AND eligible_at <= `+now+`
				ORDER BY due_at, call_uuid LIMIT 1) IS NOT NULL,
			(SELECT due_at FROM queue_calls WHERE `+strings.Join(later, ` AND `)+` ORDER BY due_at, call_uuid LIMIT 1),
			(SELECT 1 FROM ended_leases WHERE user_uuid = `+user+` AND ended_at > `+returned+`
				AND ended_by = 'returned' ORDER BY user_uuid, ended_at LIMIT 1) IS NOT NULL,
			(SELECT 1 FROM donors WHERE `+isClaimed+` AND `+ofRequest+`) IS NOT NULL OR (SELECT 1
				FROM ended_leases WHERE `+ofRequest+`) IS NOT NULL,
			`+heldLeases(user, now)+`,
			COALESCE((SELECT value FROM settings WHERE name = '`+service.BlockKeySetting+`'), ''),
			(SELECT 1 FROM settings WHERE `+isErasing+` LIMIT 1) IS NOT NULL,
			(SELECT reason FROM user_states WHERE user_uuid = `+user+` AND state = 'paused'
				AND since > `+now+` - `+mostPause+`),
			(SELECT doc FROM users WHERE uuid = `+user+`),
			`+allRules+t.engine.oneAtATime(user), p.args...).
		scan(
			&q.HasNewlyEligible,
			&q.Due,
			nullTimeDest{&q.NextDueAt},
			&q.GaveBack,
			&isRepeated,
			&q.Held,
			&q.BlockKey,
			&q.HasErasures,
			&q.Pause,
			userNameDest{&q.Name},
			&q.Rules,
		)
	q.Rules = "[" + q.Rules + "]"
	if err != nil || !isRepeated {
		return q, err
	}
	const which = `request_uuid = $1 AND account_uuid = $2`
	q.Leases, err = all(t.conn, selectClaim+which+` UNION ALL `+selectEnded+which+` ORDER BY ordinal`,
		[]any{identifier(request), identifier(account)}, leaseNotedDest)
	return q, err
}

// OpenQueue returns the same as QueueRequest, with the rules, and marks calls.
func (t *tx) OpenQueue(
	account, request apitype.UUID,
	query service.QueueQuery,
	parse service.ParseRules,
) (q service.QueueRequest, rules *service.FloorRules, err error) {
	q, err = t.QueueRequest(account, request, query)
	if err != nil {
		return q, nil, err
	}
	rules, err = parse(q.Rules)
	if err != nil {
		return q, nil, err
	}
	rules, err = t.markAllLapsed(query, rules, parse)
	if err == nil && q.HasNewlyEligible {
		_, err = t.MarkEligible(query.Now, mostMarked)
	}
	return q, rules, err
}

func (r *reader) Lease(id apitype.UUID, scope service.Scope) (service.LeaseRow, error) {
	q := &listQuery{}
	q.where(`lease_uuid = %s`, identifier(id))
	q.amongOwners(scope)
	which := strings.Join(q.conds, ` AND `)
	var lease service.LeaseRow
	err := r.row(selectClaim+which+` UNION ALL `+selectEnded+which, q.args...).scan(leaseNotedDest(&lease)...)
	return lease, err
}

// amongOwners limits a query to the owning organizations of a scope.
func (q *listQuery) amongOwners(scope service.Scope) {
	if places, some := q.organizations(scope); some {
		q.conds = append(q.conds, `owner`+isOne(places))
	}
}

func (r *reader) LeaseOfPerson(person apitype.UUID) (service.LeaseRow, error) {
	var lease service.LeaseRow
	err := r.row(selectClaim+`person_uuid = $1`, identifier(person)).scan(leaseNotedDest(&lease)...)
	return lease, err
}

func (r *reader) Leases(query service.LeaseQuery) ([]service.LeaseRow, error) {
	q := &listQuery{conds: []string{isClaimed}}
	q.where(`expires_at > %s`, query.Now.UnixMilli())
	var either []string
	if query.User != nil {
		either = append(either, `user_uuid = `+q.arg(identifier(*query.User)))
	}
	if query.Person != nil {
		either = append(either, `person_uuid = `+q.arg(identifier(*query.Person)))
	}
	if len(either) > 0 {
		q.conds = append(q.conds, `(`+strings.Join(either, ` OR `)+`)`)
	}
	q.amongOwners(query.Scope)
	return all(
		r.conn,
		`SELECT `+claimFields+`, `+leaseUser+` FROM donors
			WHERE `+strings.Join(q.conds, ` AND `)+` ORDER BY taken_at, lease_uuid`,
		q.args,
		func(l *service.LeaseRow) []any { return append(claimDest(l), userNameDest{&l.Name}) },
	)
}

// The end of a lease logs the claim, and then clears it. PostgreSQL does both in one statement. If two changes end one
// lease at one time, the key of the log makes the later one run again.
const (
	liveClaim = ` FROM donors WHERE person_uuid = $1 AND call_uuid = $2 AND expires_at > $3
		AND lease_uuid = COALESCE($5, lease_uuid)`
	clearClaim = `UPDATE donors SET lease_uuid = NULL, due_reason = NULL WHERE `
)

const returningEnded = ` ON CONFLICT DO NOTHING RETURNING ` + endedFields

var logLive = sync.OnceValue(func() string {
	return logDonors + `$3, $4` + liveClaim + returningEnded
})

var endLive = sync.OnceValue(func() string {
	return `WITH ended AS (` + logDonors + `$3::bigint, $4` + liveClaim + returningEnded + `),
		cleared AS (` + clearClaim + `lease_uuid = (SELECT lease_uuid FROM ended))
		SELECT * FROM ended`
})

func (t *tx) EndLease(
	person, call apitype.UUID,
	lease *apitype.UUID,
	now apitype.Time,
	by service.LeaseEnd,
) (*service.LeaseRow, error) {
	text := logLive()
	if t.engine.sharesQueue() {
		text = endLive()
	}
	ended := &service.LeaseRow{}
	err := t.row(text, identifier(person), identifier(call), now.UnixMilli(), string(by), nullUUID(lease)).
		scan(endedDest(ended)...)
	if errors.Is(err, service.ErrNoRow) {
		return nil, nil //nolint:nilnil // There is no lease.
	}
	if err != nil || t.engine.sharesQueue() {
		return ended, err
	}
	_, err = t.exec(clearClaim+`person_uuid = $1`, identifier(person))
	return ended, err
}

func (t *tx) ForgetTakes(leases []apitype.UUID) error {
	cond, arg := t.engine.among("lease_uuid", leases)
	_, err := t.exec(
		`UPDATE ended_leases SET request_uuid = lease_uuid
			WHERE ended_by NOT IN ('attempt', 'complete', 'cancel', 'expire') AND `+cond,
		arg,
	)
	return err
}

func (t *tx) ExtendLease(l service.LeaseRow, now apitype.Time) error {
	return t.change(
		`UPDATE donors SET expires_at = $3, shown_at = $4, pending = $5
		WHERE person_uuid = $1 AND lease_uuid = $2 AND expires_at > $6`,
		identifier(l.Person),
		identifier(l.LeaseUUID),
		l.ExpiresAt.UnixMilli(),
		nullTime(l.ShownAt),
		bit(l.Pending),
		now.UnixMilli(),
	)
}

func (r *reader) HasPeriodicWork(now apitype.Time) (bool, error) {
	var is bool
	err := r.row(`SELECT
			(SELECT 1 FROM queue_calls WHERE ready = 0 AND eligible_at <= $1 ORDER BY eligible_at LIMIT 1) IS NOT NULL
			OR (SELECT 1 FROM donors WHERE `+hasExpired+`$1 ORDER BY expires_at LIMIT 1) IS NOT NULL`,
		now.UnixMilli()).scan(&is)
	return is, err
}

func (t *tx) LeadQueue(now apitype.Time, pause time.Duration) (last apitype.Time, isLeader bool, err error) {
	at, isLeader, err := t.engine.lead(t.conn, now.UnixMilli(), pause)
	return apitype.TimeFromMilli(at), isLeader, err
}

func (t *tx) LogExpired(now apitype.Time, limit int) (int, error) {
	ids, err := t.identifiers(`SELECT person_uuid FROM donors WHERE `+hasExpired+`$1 ORDER BY expires_at LIMIT $2`+
		t.engine.locking(`UPDATE SKIP LOCKED`), now.UnixMilli(), limit)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	cond, arg := t.engine.among("person_uuid", ids)
	_, err = t.exec(
		logDonors+`expires_at, '`+string(service.EndedByTime)+`' FROM donors WHERE `+cond+` ON CONFLICT DO NOTHING`,
		arg,
	)
	if err != nil {
		return 0, err
	}
	_, err = t.exec(clearClaim+cond, arg)
	return len(ids), err
}

// ForgetQueue deletes old rows, up to a number of each kind. It returns the highest number of rows that it deleted
// from one table.
func (t *tx) ForgetQueue(before service.QueueForgets, limit int) (int, error) {
	locked := t.engine.locking(`UPDATE SKIP LOCKED`)
	var most int
	for _, part := range []struct {
		text   string
		before apitype.Time
	}{
		{
			`DELETE FROM queue_numbers WHERE digest IN (
				SELECT digest FROM queue_numbers WHERE contacted_at < $1 ORDER BY contacted_at LIMIT $2` + locked + `)`,
			before.Numbers,
		},
		{
			`DELETE FROM ended_leases WHERE lease_uuid IN (
				SELECT lease_uuid FROM ended_leases WHERE ended_at < $1 ORDER BY ended_at LIMIT $2` + locked + `)`,
			before.Leases,
		},
		{
			`DELETE FROM queue_hours WHERE hour IN (SELECT hour FROM queue_hours WHERE hour < $1 ORDER BY hour
				LIMIT $2)`,
			before.Hours,
		},
	} {
		n, err := t.exec(part.text, part.before.UnixMilli(), limit)
		if err != nil {
			return most, err
		}
		most = max(most, int(n))
	}
	return most, nil
}

// deferralFields are the columns of a callback, in the order of deferralDest.
const deferralFields = `call_uuid, person_uuid, type, due_at, kept_for, due_reason`

func deferralDest(d *service.DeferralRow) []any {
	return []any{
		uuidDest{&d.CallUUID},
		uuidDest{&d.PersonUUID},
		&d.Type,
		timeDest{&d.NotBefore},
		nullUUIDDest{&d.UserUUID},
		&d.Reason,
	}
}

func (r *reader) Deferrals(query service.DeferralQuery) ([]service.DeferralRow, error) {
	q := &listQuery{conds: []string{`due_at IS NOT NULL`}}
	q.amongOwners(query.Scope)
	if query.User != nil {
		q.where(`kept_for = %s`, identifier(*query.User))
	}
	if after := query.After; after != nil {
		q.conds = append(
			q.conds,
			`(due_at, call_uuid) > (`+q.arg(after.At.UnixMilli())+`, `+q.arg(identifier(after.UUID))+`)`,
		)
	}
	text := `SELECT ` + deferralFields + `, (SELECT p.doc FROM persons p WHERE p.uuid = queue_calls.person_uuid)
		FROM queue_calls WHERE ` + strings.Join(q.conds, ` AND `) + `
		ORDER BY due_at, call_uuid LIMIT ` + q.arg(query.Limit)
	return all(
		r.conn,
		text,
		q.args,
		func(d *service.DeferralRow) []any { return append(deferralDest(d), docDest{&d.PersonDoc}) },
	)
}

func (r *reader) DeferralCounts(scope service.Scope, user *apitype.UUID) (map[apitype.UUID]int, error) {
	q, counts := &listQuery{conds: []string{`due_at IS NOT NULL`, `kept_for IS NOT NULL`}}, map[apitype.UUID]int{}
	q.amongOwners(scope)
	if user != nil {
		q.where(`kept_for = %s`, identifier(*user))
	}
	err := r.each(
		`SELECT kept_for, COUNT(*) FROM queue_calls WHERE `+strings.Join(q.conds, ` AND `)+` GROUP BY kept_for`,
		q.args,
		func(rows *sql.Rows) error {
			var user apitype.UUID
			var n int
			err := rows.Scan(uuidDest{&user}, &n)
			counts[user] = n
			return err
		},
	)
	return counts, err
}

func (t *tx) ShareDeferrals(user apitype.UUID, scope service.Scope) ([]service.DeferralRow, error) {
	q := &listQuery{}
	q.where(`due_at IS NOT NULL AND kept_for = %s`, identifier(user))
	q.amongOwners(scope)
	return all(
		t.conn,
		`UPDATE queue_calls SET kept_for = NULL WHERE `+strings.Join(q.conds, ` AND `)+` RETURNING `+deferralFields,
		q.args,
		deferralDest,
	)
}

func (r *reader) UserNames(ids []apitype.UUID) (map[apitype.UUID]*string, error) {
	return byIdentifier(
		r.conn,
		`SELECT uuid, doc FROM users WHERE `,
		`uuid`,
		ids,
		func(name **string) []any { return []any{userNameDest{name}} },
	)
}
