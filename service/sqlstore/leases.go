package sqlstore

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// leaseColumns are the columns of a lease, in the order of leaseDest, and newLeaseColumns those of a new one, in
// the order of leaseValues.
var (
	leaseColumns = []string{
		"lease_uuid", "ordinal", "call_uuid", "person_uuid", "owner", "type", "user_uuid", "due_at", "taken_at", "expires_at", "seen_at",
		"shown_at", "pending", "ended_at", "ended_by",
	}
	newLeaseColumns = append(slices.Clip(leaseColumns[:13]), "account_uuid", "request_uuid", "language")
	allLeaseColumns = append(slices.Clip(newLeaseColumns), leaseColumns[13:]...)
)

func leaseDest(l *service.LeaseRow) []any {
	return []any{
		uuidDest{&l.LeaseUUID},
		&l.Ordinal,
		uuidDest{&l.CallUUID},
		uuidDest{&l.Person},
		uuidDest{&l.Owner},
		&l.Type,
		uuidDest{&l.UserUUID},
		nullTimeDest{&l.DueAt},
		timeDest{&l.TakenAt},
		timeDest{&l.ExpiresAt},
		timeDest{&l.SeenAt},
		nullTimeDest{&l.ShownAt},
		bitDest{&l.Pending},
		nullTimeDest{&l.EndedAt},
		&l.EndedBy,
	}
}

func leaseValues(l service.LeaseRow) []any {
	l.SeenAt = l.TakenAt
	return append(leaseDest(&l)[:13], identifier(l.Account), identifier(l.Request), l.Language)
}

// ineligibleUntil makes all calls of a person ineligible until a time, and uses the deferral of one of them
// up. A lease is one more bound below the others.
const ineligibleUntil = `UPDATE queue_calls AS c SET
		due_at = CASE WHEN c.call_uuid = %[1]s THEN NULL ELSE due_at END,
		kept_for = CASE WHEN c.call_uuid = %[1]s THEN NULL ELSE kept_for END,
		eligible_at = CASE WHEN eligible_at < %[2]s THEN %[2]s ELSE eligible_at END,
		ready = 0`

var (
	insertLease = sync.OnceValue(func() string {
		return insertRows("queue_leases", newLeaseColumns, 1, false) + ` ON CONFLICT DO NOTHING`
	})
	ineligibleAtOnce = sync.OnceValue(func() string {
		return fmt.Sprintf(ineligibleUntil, `$2`, `$3`) + ` WHERE c.` + ofPerson
	})
	// insertLeases is both for many leases, for a store that is asked over a line. Rows that others
	// hold are left to them.
	insertLeases = sync.OnceValue(func() string {
		return `WITH saved AS (
			INSERT INTO queue_leases (` + strings.Join(newLeaseColumns, `, `) + `)
			SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::uuid[],
				$8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::uuid[], $15::uuid[], $16::text[])
			ON CONFLICT DO NOTHING RETURNING lease_uuid, person_uuid, call_uuid, expires_at
		), theirs AS (
			SELECT q.call_number, saved.call_uuid AS leased, saved.expires_at
			FROM saved JOIN persons p ON p.uuid = saved.person_uuid JOIN calls k ON k.person_number = p.number
			JOIN queue_calls q ON q.call_number = k.number FOR UPDATE OF q SKIP LOCKED
		), ineligible AS (` +
			fmt.Sprintf(ineligibleUntil, `theirs.leased`, `theirs.expires_at`) + ` FROM theirs WHERE c.call_number = theirs.call_number
		) SELECT lease_uuid FROM saved`
	})
)

func (t *tx) InsertLeases(leases []service.LeaseRow) (saved []apitype.UUID, err error) {
	if t.shared {
		return t.insertLeases(leases)
	}
	for _, l := range leases {
		n, err := t.exec(insertLease(), leaseValues(l)...)
		if err == nil && n > 0 {
			saved = append(saved, l.LeaseUUID)
			_, err = t.exec(ineligibleAtOnce(), identifier(l.Person), identifier(l.CallUUID), l.ExpiresAt.UnixMilli())
		}
		if err != nil {
			return nil, err
		}
	}
	return saved, nil
}

// insertLeases saves them in the order of their persons: of two transactions that come to the same
// persons, the later one then waits for the other one at the first, and never each for the other. Of a
// person's calls the first one stays the first.
func (t *tx) insertLeases(leases []service.LeaseRow) ([]apitype.UUID, error) {
	if len(leases) == 0 {
		return nil, nil
	}
	leases = slices.SortedStableFunc(slices.Values(leases), func(a, b service.LeaseRow) int { return a.Person.Compare(b.Person) })
	columns := make([]any, len(newLeaseColumns))
	for i := range columns {
		values := make([]any, len(leases))
		for row, l := range leases {
			values[row] = leaseValues(l)[i]
		}
		columns[i] = values
	}
	return t.identifiers(insertLeases(), columns...)
}

var selectLease = `SELECT ` + leaseFields + ` FROM queue_leases WHERE `

var leaseFields = strings.Join(leaseColumns[:14], `, `) + `, COALESCE(ended_by, '')`

// selectLeaseNoted reads the notes of the call, too: for leaseNotedDest.
var selectLeaseNoted = `SELECT ` + leaseFields + `, (SELECT q.note FROM queue_calls q WHERE q.call_number = (SELECT k.number FROM calls k WHERE k.uuid = queue_leases.call_uuid)) FROM queue_leases WHERE `

func leaseNotedDest(l *service.LeaseRow) []any { return append(leaseDest(l), &l.Note) }

// QueueRequest is the leases that a request was given, and what there is to look at for another one. Each
// is looked for in the order of an index: for one at all, PostgreSQL reads a table that was small
// when it made its plan.
func (t *tx) QueueRequest(account, request apitype.UUID, query service.QueueQuery) (q service.QueueRequest, err error) {
	p := &queueParts{query: query}
	now, user := p.arg(query.Now.UnixMilli()), p.arg(identifier(*query.User))
	later := append(p.narrowed(), `due_at > `+now, `(kept_for IS NULL OR kept_for = `+user+`)`)
	returned, by, requested := p.arg(query.Returned.UnixMilli()), p.arg(identifier(account)), p.arg(identifier(request))
	again := false
	err = t.row(`SELECT
			(SELECT 1 FROM queue_calls WHERE ready = 0 AND eligible_at <= `+now+` ORDER BY eligible_at LIMIT 1) IS NOT NULL,
			(SELECT 1 FROM queue_calls WHERE due_at <= `+now+` AND eligible_at <= `+now+` ORDER BY due_at, call_uuid LIMIT 1) IS NOT NULL,
			(SELECT due_at FROM queue_calls WHERE `+strings.Join(later, ` AND `)+` ORDER BY due_at, call_uuid LIMIT 1),
			(SELECT 1 FROM queue_leases WHERE user_uuid = `+user+` AND ended_at > `+returned+` AND ended_by = 'returned' ORDER BY user_uuid, ended_at LIMIT 1) IS NOT NULL,
			(SELECT 1 FROM queue_leases WHERE account_uuid = `+by+` AND request_uuid = `+requested+` ORDER BY ordinal LIMIT 1) IS NOT NULL,
			(SELECT COUNT(*) FROM queue_leases
				WHERE user_uuid = `+user+` AND ended_at IS NULL AND expires_at > `+now+` AND pending = 0),
			`+allRules, p.args...).
		scan(&q.HasNewlyEligible, &q.Due, nullTimeDest{&q.NextDueAt}, &q.GaveBack, &again, &q.Held, &q.Rules)
	q.Rules = "[" + q.Rules + "]"
	if err != nil || !again {
		return q, err
	}
	q.Leases, err = all(t.conn, selectLeaseNoted+`request_uuid = $1 AND account_uuid = $2 ORDER BY ordinal`, []any{identifier(request), identifier(account)}, leaseNotedDest)
	return q, err
}

func (r *reader) Lease(id apitype.UUID, scope service.Scope) (lease service.LeaseRow, err error) {
	q := &listQuery{}
	q.where(`lease_uuid = %s`, identifier(id))
	q.amongOwners(scope)
	err = r.row(selectLeaseNoted+strings.Join(q.conds, ` AND `), q.args...).scan(leaseNotedDest(&lease)...)
	return lease, err
}

// amongOwners limits a query to the owning organizations of a scope.
func (q *listQuery) amongOwners(scope service.Scope) {
	if places, some := q.organizations(scope); some {
		q.conds = append(q.conds, `owner`+isOne(places))
	}
}

func (r *reader) LeaseOfPerson(person apitype.UUID) (lease service.LeaseRow, err error) {
	err = r.row(selectLeaseNoted+`person_uuid = $1 AND ended_at IS NULL`, identifier(person)).scan(leaseNotedDest(&lease)...)
	return lease, err
}

func (r *reader) Leases(query service.LeaseQuery) ([]service.LeaseRow, error) {
	q := &listQuery{}
	q.where(`ended_at IS NULL AND expires_at > %s`, query.Now.UnixMilli())
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
	return all(r.conn, selectLease+strings.Join(q.conds, ` AND `)+` ORDER BY taken_at, lease_uuid`, q.args, leaseDest)
}

func (r *reader) LeasesSeen(scope service.Scope, since, now apitype.Time) ([]service.LeaseRow, error) {
	q := &listQuery{}
	since_, now_ := q.arg(since.UnixMilli()), q.arg(now.UnixMilli())
	q.conds = append(q.conds, `(seen_at >= `+since_+` OR (ended_at IS NULL AND expires_at > `+now_+`))`)
	q.amongOwners(scope)
	return all(r.conn, selectLease+strings.Join(q.conds, ` AND `), q.args, leaseDest)
}

func (r *reader) WorkDone(scope service.Scope, since apitype.Time) ([]service.Work, error) {
	q := &listQuery{}
	q.where(`done_at >= %s`, since.UnixMilli())
	q.amongOwners(scope)
	return all(r.conn, `SELECT done_at, user_uuid, work, code FROM queue_work WHERE `+strings.Join(q.conds, ` AND `), q.args, func(w *service.Work) []any {
		return []any{timeDest{&w.At}, uuidDest{&w.User}, &w.Work, &w.Code}
	})
}

func (t *tx) Work(w service.Work) error {
	_, err := t.exec(`INSERT INTO queue_work (done_at, work_uuid, user_uuid, owner, work, code) VALUES ($1, $2, $3, $4, $5, $6)`,
		w.At.UnixMilli(), identifier(apitype.NewUUID()), identifier(w.User), identifier(w.Owner), w.Work, w.Code)
	return err
}

func (t *tx) EndLeaseOfCall(person, call apitype.UUID, now apitype.Time, by service.LeaseEnd) (taken *apitype.Time, err error) {
	err = t.row(`UPDATE queue_leases SET ended_at = $3, seen_at = $3, ended_by = $4
		WHERE person_uuid = $1 AND call_uuid = $2 AND ended_at IS NULL AND expires_at > $3 RETURNING taken_at`,
		identifier(person), identifier(call), now.UnixMilli(), string(by)).scan(nullTimeDest{&taken})
	if errors.Is(err, service.ErrNoRow) {
		err = nil
	}
	return taken, err
}

func (t *tx) EndLeasesByTime(now apitype.Time) (int, error) {
	n, err := t.exec(`UPDATE queue_leases SET ended_at = expires_at, ended_by = 'time' WHERE ended_at IS NULL AND expires_at <= $1`, now.UnixMilli())
	return int(n), err
}

func (t *tx) ExtendLease(l service.LeaseRow, now apitype.Time) error {
	return t.change(`UPDATE queue_leases SET expires_at = $2, seen_at = $3, shown_at = $4, pending = $5 WHERE lease_uuid = $1 AND ended_at IS NULL`,
		identifier(l.LeaseUUID), l.ExpiresAt.UnixMilli(), now.UnixMilli(), nullTime(l.ShownAt), bit(l.Pending))
}

// ForgetQueue deletes what was last seen before some times, so many of each at most, and returns how many
// there were of the one of which there were more.
func (t *tx) ForgetQueue(before service.QueueForgets, limit int) (most int, err error) {
	locked := t.engine.locking(`UPDATE SKIP LOCKED`)
	for _, part := range []struct {
		text   string
		before apitype.Time
	}{
		{`DELETE FROM queue_numbers WHERE digest IN (SELECT digest FROM queue_numbers WHERE rung_at < $1 ORDER BY rung_at LIMIT $2` + locked + `)`, before.Numbers},
		{`DELETE FROM queue_leases WHERE lease_uuid IN (SELECT lease_uuid FROM queue_leases WHERE seen_at < $1 ORDER BY seen_at LIMIT $2` + locked + `)`, before.Leases},
		{`DELETE FROM queue_work WHERE work_uuid IN (SELECT work_uuid FROM queue_work WHERE done_at < $1 ORDER BY done_at LIMIT $2` + locked + `)`, before.Work},
		{`DELETE FROM queue_hours WHERE hour IN (SELECT hour FROM queue_hours WHERE hour < $1 ORDER BY hour LIMIT $2)`, before.Hours},
	} {
		n, err := t.exec(part.text, part.before.UnixMilli(), limit)
		if err != nil {
			return most, err
		}
		most = max(most, int(n))
	}
	return most, nil
}

var hourColumns = []string{"hour", "user_uuid", "owner", "what", "code", "records", "seen_at"}

// countHours counts what was seen and done from $1 on until before $2, by the hour. That a user was seen
// is a row of its own.
var countHours = sync.OnceValue(func() string {
	within := func(column string) string { return column + ` >= $1 AND ` + column + ` < $2` }
	of := func(what, code, at, from, cond string) string {
		return `SELECT user_uuid, owner, ` + what + ` AS what, ` + code + ` AS code, ` + at + ` AS at FROM ` + from + ` WHERE ` + within(at) + cond
	}
	const leases = `queue_leases`
	return `INSERT INTO queue_hours (` + strings.Join(hourColumns, `, `) + `)
		SELECT at / 3600000 * 3600000, user_uuid, owner, what, code, COUNT(*), MAX(at) FROM (` + strings.Join([]string{
		of(`'seen'`, `''`, `seen_at`, leases, ``),
		of(`'taken'`, `''`, `shown_at`, leases, ` AND seen_at >= $1`),
		of(`ended_by`, `''`, `ended_at`, leases, ` AND seen_at >= $1 AND (ended_by IN ('cancel', 'expire') OR ended_by IN ('returned', 'deferred') AND shown_at IS NOT NULL)`),
		of(`work`, `''`, `done_at`, `queue_work`, ``),
		of(`'result'`, `code`, `done_at`, `queue_work`, ` AND work = 'complete' AND code IS NOT NULL`),
	}, ` UNION ALL `) + `) AS done GROUP BY 1, 2, 3, 4, 5`
})

// countedSetting is until when what users did is counted by the hour.
const countedSetting = "queue-counted"

func (r *reader) QueueCounted() (until apitype.Time, err error) {
	text, err := r.Setting(countedSetting)
	if err != nil || text == "" {
		return until, err
	}
	milli, err := strconv.ParseInt(text, 10, 64)
	return apitype.TimeFromMilli(milli), err
}

func (t *tx) CountQueue(from, until apitype.Time) error {
	was, now := strconv.FormatInt(from.UnixMilli(), 10), strconv.FormatInt(until.UnixMilli(), 10)
	n, err := t.exec(`INSERT INTO settings (name, value) VALUES ('`+countedSetting+`', $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE settings.value = $1`, was, now)
	if err == nil && n > 0 {
		_, err = t.exec(countHours(), from.UnixMilli(), until.UnixMilli())
	}
	return err
}

func (r *reader) HoursDone(scope service.Scope, from, until apitype.Time) ([]service.HourDone, error) {
	q := &listQuery{}
	q.where(`hour >= %s`, from.UnixMilli())
	q.where(`hour < %s`, until.UnixMilli())
	q.amongOwners(scope)
	text := `SELECT user_uuid, what, code, SUM(records), MAX(seen_at) FROM queue_hours WHERE ` + strings.Join(q.conds, ` AND `) + ` GROUP BY user_uuid, what, code`
	return all(r.conn, text, q.args, func(h *service.HourDone) []any {
		return []any{uuidDest{&h.User}, &h.What, &h.Code, &h.Records, timeDest{&h.SeenAt}}
	})
}

// deferralFields is what is read of a callback, in the order of deferralDest.
const deferralFields = `call_uuid, person_uuid, type, due_at, kept_for`

func deferralDest(d *service.DeferralRow) []any {
	return []any{
		uuidDest{&d.CallUUID},
		uuidDest{&d.PersonUUID},
		&d.Type,
		timeDest{&d.NotBefore},
		nullUUIDDest{&d.UserUUID},
	}
}

func (r *reader) Deferrals(query service.DeferralQuery) ([]service.DeferralRow, error) {
	q := &listQuery{conds: []string{`due_at IS NOT NULL`}}
	q.amongOwners(query.Scope)
	if query.User != nil {
		q.where(`kept_for = %s`, identifier(*query.User))
	}
	if after := query.After; after != nil {
		q.conds = append(q.conds, `(due_at, call_uuid) > (`+q.arg(after.At.UnixMilli())+`, `+q.arg(identifier(after.UUID))+`)`)
	}
	text := `SELECT ` + deferralFields + `, (SELECT p.doc FROM persons p WHERE p.uuid = queue_calls.person_uuid) FROM queue_calls WHERE ` +
		strings.Join(q.conds, ` AND `) + ` ORDER BY due_at, call_uuid LIMIT ` + q.arg(query.Limit)
	return all(r.conn, text, q.args, func(d *service.DeferralRow) []any { return append(deferralDest(d), docDest{&d.PersonDoc}) })
}

func (r *reader) DeferralCounts(scope service.Scope) (map[apitype.UUID]int, error) {
	q, counts := &listQuery{conds: []string{`due_at IS NOT NULL`, `kept_for IS NOT NULL`}}, map[apitype.UUID]int{}
	q.amongOwners(scope)
	err := r.each(`SELECT kept_for, COUNT(*) FROM queue_calls WHERE `+strings.Join(q.conds, ` AND `)+` GROUP BY kept_for`, q.args, func(rows *sql.Rows) error {
		var user apitype.UUID
		var n int
		err := rows.Scan(uuidDest{&user}, &n)
		counts[user] = n
		return err
	})
	return counts, err
}

func (t *tx) ShareDeferrals(user apitype.UUID, scope service.Scope) ([]service.DeferralRow, error) {
	q := &listQuery{}
	q.where(`due_at IS NOT NULL AND kept_for = %s`, identifier(user))
	q.amongOwners(scope)
	return all(t.conn, `UPDATE queue_calls SET kept_for = NULL WHERE `+strings.Join(q.conds, ` AND `)+` RETURNING `+deferralFields, q.args, deferralDest)
}

func (r *reader) UserNames(ids []apitype.UUID) (map[apitype.UUID]*string, error) {
	users, err := byIdentifier(r.conn, `SELECT uuid, doc FROM users WHERE `, `uuid`, ids, func(u *apitype.RecruiterUser) []any { return []any{jsonDest{u}} })
	names := make(map[apitype.UUID]*string, len(users))
	for id, user := range users {
		names[id] = &user.Name
	}
	return names, err
}
