package sqlstore

import (
	"database/sql"
	"fmt"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// leaseColumns are the columns of a lease, in the order of leaseValues.
var leaseColumns = []string{
	"lease_uuid", "account_uuid", "request_uuid", "ordinal", "call_uuid", "person_uuid", "owner", "type", "language", "user_uuid",
	"due_at", "taken_at", "expires_at", "seen_at", "ended_at", "ended_by",
}

var insertLease = insertAsRead("queue_leases", leaseColumns) + ` ON CONFLICT DO NOTHING`

// sleepUntil lets all calls of a person sleep until a time, and uses the deferral of one of them
// up. A lease is one more bound below the others.
const sleepUntil = `UPDATE queue_calls SET
		due_at = CASE WHEN call_uuid = %[2]s THEN NULL ELSE due_at END,
		kept_for = CASE WHEN call_uuid = %[2]s THEN NULL ELSE kept_for END,
		eligible_at = CASE WHEN eligible_at < %[3]s THEN %[3]s ELSE eligible_at END,
		ready = 0
	WHERE call_uuid IN (SELECT call_uuid FROM queue_calls WHERE person_uuid = %[1]s%[4]s)`

// insertAndSleep is both at once, for a store that is asked over a line: how many leases were
// saved.
var insertAndSleep = `WITH saved AS (` + insertLease + ` RETURNING 1), sleeping AS (` +
	fmt.Sprintf(sleepUntil, `$6`, `$5`, `$13`, ` AND EXISTS (SELECT 1 FROM saved) FOR UPDATE OF queue_calls SKIP LOCKED`) + `)
	SELECT COUNT(*) FROM saved`

// InsertLease saves a new lease, unless the person is in one or the request has one, and lets the
// calls of the person sleep until it ends.
func (t *tx) InsertLease(l service.LeaseRow) error {
	values := []any{
		identifier(l.LeaseUUID),
		identifier(l.Account),
		identifier(l.Request),
		int64(l.Ordinal),
		identifier(l.CallUUID),
		identifier(l.Person),
		identifier(l.Owner),
		string(l.Type),
		l.Language,
		identifier(l.UserUUID),
		nullTime(l.DueAt),
		l.TakenAt.UnixMilli(),
		l.ExpiresAt.UnixMilli(),
		l.TakenAt.UnixMilli(),
		nil,
		nil,
	}
	var saved int64
	var err error
	if t.shared {
		err = t.row(insertAndSleep, values...).scan(&saved)
	} else {
		saved, err = t.exec(insertLease, values...)
	}
	if err == nil && saved == 0 {
		err = service.ErrExists
	}
	if err == nil && !t.shared {
		_, err = t.exec(sleepAtOnce, identifier(l.Person), identifier(l.CallUUID), l.ExpiresAt.UnixMilli())
	}
	return err
}

var sleepAtOnce = fmt.Sprintf(sleepUntil, `$1`, `$2`, `$3`, ``)

const leaseFields = `
	lease_uuid,
	ordinal,
	call_uuid,
	person_uuid,
	owner,
	type,
	user_uuid,
	due_at,
	taken_at,
	expires_at,
	seen_at,
	ended_at,
	ended_by`

// scanLease reads the fields of a lease.
func scanLease(scan func(...any) error) (l service.LeaseRow, seen apitype.Time, by service.LeaseEnd, err error) {
	var ended sql.NullString
	err = scan(
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
		timeDest{&seen},
		nullTimeDest{&l.EndedAt},
		&ended,
	)
	return l, seen, service.LeaseEnd(ended.String), err
}

// QueueRequest is the leases that a request was given, and what there is to look at for another
// one. Each is looked for in the order of an index: for one at all, PostgreSQL reads a table that
// was small when it made its plan.
func (t *tx) QueueRequest(account, request apitype.UUID, query service.QueueQuery) (q service.QueueRequest, err error) {
	p, before := &queueParts{query: query}, false
	now, user := p.arg(query.Now.UnixMilli()), p.arg(nullUUID(query.User))
	later := append(p.narrowed(), `due_at > `+now, `(kept_for IS NULL OR kept_for = `+user+`)`)
	err = t.row(`SELECT
			(SELECT 1 FROM queue_calls WHERE ready = 0 AND eligible_at <= `+now+` ORDER BY eligible_at LIMIT 1) IS NOT NULL,
			(SELECT 1 FROM queue_calls WHERE due_at <= `+now+` ORDER BY due_at, call_uuid LIMIT 1) IS NOT NULL,
			(SELECT MIN(due_at) FROM queue_calls WHERE `+strings.Join(later, ` AND `)+`),
			(SELECT 1 FROM queue_leases WHERE user_uuid = `+user+` AND ended_at > `+p.arg(query.Returned.UnixMilli())+` AND ended_by = 'returned' ORDER BY user_uuid, ended_at LIMIT 1) IS NOT NULL,
			(SELECT 1 FROM queue_leases WHERE account_uuid = `+p.arg(identifier(account))+` AND request_uuid = `+p.arg(identifier(request))+` ORDER BY ordinal LIMIT 1) IS NOT NULL`,
		p.args...).scan(&q.Asleep, &q.Due, nullTimeDest{&q.NextDueAt}, &q.GaveBack, &before)
	if err != nil || !before {
		return q, err
	}
	err = t.each(`SELECT `+leaseFields+` FROM queue_leases WHERE account_uuid = $1 AND request_uuid = $2 ORDER BY ordinal`,
		[]any{identifier(account), identifier(request)}, func(rows *sql.Rows) error {
			lease, _, _, err := scanLease(rows.Scan)
			q.Leases = append(q.Leases, lease)
			return err
		})
	return q, err
}

// Lease is one lease.
func (r *reader) Lease(id apitype.UUID, scope service.Scope) (service.LeaseRow, error) {
	q := &listQuery{}
	q.where(`lease_uuid = %s`, identifier(id))
	q.amongOwners(scope)
	lease, _, _, err := scanLease(r.row(`SELECT `+leaseFields+` FROM queue_leases WHERE `+strings.Join(q.conds, ` AND `), q.args...).scan)
	return lease, err
}

// amongOwners limits a query to the owning organizations of a scope.
func (q *listQuery) amongOwners(scope service.Scope) {
	if places, some := q.organizations(scope); some {
		q.conds = append(q.conds, `owner IN (`+strings.Join(places, `, `)+`)`)
	}
}

// LeaseOfPerson is the lease of a person that was not seen to end.
func (r *reader) LeaseOfPerson(person apitype.UUID) (service.LeaseRow, error) {
	lease, _, _, err := scanLease(r.row(`SELECT `+leaseFields+` FROM queue_leases WHERE person_uuid = $1 AND ended_at IS NULL`, identifier(person)).scan)
	return lease, err
}

// Leases are those that hold, the oldest first.
func (r *reader) Leases(scope service.Scope, now apitype.Time) (leases []service.LeaseRow, err error) {
	q := &listQuery{}
	q.where(`ended_at IS NULL AND expires_at > %s`, now.UnixMilli())
	q.amongOwners(scope)
	err = r.each(`SELECT `+leaseFields+` FROM queue_leases WHERE `+strings.Join(q.conds, ` AND `)+` ORDER BY taken_at, lease_uuid`, q.args, func(rows *sql.Rows) error {
		lease, _, _, err := scanLease(rows.Scan)
		leases = append(leases, lease)
		return err
	})
	return leases, err
}

// LeasesSeen are those of which something was seen since a time, or that hold.
func (r *reader) LeasesSeen(scope service.Scope, since, now apitype.Time, each func(l service.LeaseRow, seen apitype.Time, by service.LeaseEnd)) error {
	q := &listQuery{}
	since_, now_ := q.arg(since.UnixMilli()), q.arg(now.UnixMilli())
	q.conds = append(q.conds, `(seen_at >= `+since_+` OR (ended_at IS NULL AND expires_at > `+now_+`))`)
	q.amongOwners(scope)
	return r.each(`SELECT `+leaseFields+` FROM queue_leases WHERE `+strings.Join(q.conds, ` AND `), q.args, func(rows *sql.Rows) error {
		lease, seen, by, err := scanLease(rows.Scan)
		each(lease, seen, by)
		return err
	})
}

// WorkDone is what was done since a time.
func (r *reader) WorkDone(scope service.Scope, since apitype.Time, each func(service.Work)) error {
	q := &listQuery{}
	q.where(`done_at >= %s`, since.UnixMilli())
	q.amongOwners(scope)
	return r.each(`SELECT done_at, user_uuid, work, code FROM queue_work WHERE `+strings.Join(q.conds, ` AND `), q.args, func(rows *sql.Rows) error {
		var w service.Work
		err := rows.Scan(timeDest{&w.At}, uuidDest{&w.User}, &w.Work, &w.Code)
		each(w)
		return err
	})
}

// Work saves what was done.
func (t *tx) Work(w service.Work) error {
	_, err := t.exec(`INSERT INTO queue_work (done_at, work_uuid, user_uuid, owner, work, code) VALUES ($1, $2, $3, $4, $5, $6)`,
		w.At.UnixMilli(), identifier(apitype.NewUUID()), identifier(w.User), identifier(w.Owner), w.Work, w.Code)
	return err
}

// EndLeaseOfCall ends the lease of a call that holds, and reports whether there was one.
func (t *tx) EndLeaseOfCall(person, call apitype.UUID, now apitype.Time, by service.LeaseEnd) (ended bool, err error) {
	n, err := t.exec(`UPDATE queue_leases SET ended_at = $3, seen_at = $3, ended_by = $4
		WHERE person_uuid = $1 AND call_uuid = $2 AND ended_at IS NULL AND expires_at > $3`,
		identifier(person), identifier(call), now.UnixMilli(), string(by))
	return n > 0, err
}

// EndLeasesByTime notes of the leases that have ended by themselves that they have.
func (t *tx) EndLeasesByTime(now apitype.Time) (int, error) {
	n, err := t.exec(`UPDATE queue_leases SET ended_at = expires_at, ended_by = 'time' WHERE ended_at IS NULL AND expires_at <= $1`, now.UnixMilli())
	return int(n), err
}

// ExtendLease saves when a lease ends.
func (t *tx) ExtendLease(id apitype.UUID, until, now apitype.Time) error {
	return t.change(`UPDATE queue_leases SET expires_at = $2, seen_at = $3 WHERE lease_uuid = $1 AND ended_at IS NULL`,
		identifier(id), until.UnixMilli(), now.UnixMilli())
}

// ForgetQueue deletes leases and work of which nothing was seen since a time, so many of each at
// most, and is how many of them there were of the one of which there were more.
func (t *tx) ForgetQueue(before apitype.Time, limit int) (most int, err error) {
	for _, text := range []string{
		`DELETE FROM queue_leases WHERE lease_uuid IN (SELECT lease_uuid FROM queue_leases WHERE seen_at < $1 ORDER BY seen_at LIMIT $2` + t.engine.locking(`UPDATE SKIP LOCKED`) + `)`,
		`DELETE FROM queue_work WHERE work_uuid IN (SELECT work_uuid FROM queue_work WHERE done_at < $1 ORDER BY done_at LIMIT $2` + t.engine.locking(`UPDATE SKIP LOCKED`) + `)`,
	} {
		n, err := t.exec(text, before.UnixMilli(), limit)
		if err != nil {
			return most, err
		}
		most = max(most, int(n))
	}
	return most, nil
}
