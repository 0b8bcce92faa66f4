package sqlstore

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// workKey and workCounts are the columns of the work of users in an hour.
var (
	workKey     = []string{"user_uuid", "hour", "owner", "code"}
	workCounts  = []string{"taken", "attempts", "completed", "cancelled", "expired", "released"}
	workColumns = slices.Concat(workKey, workCounts, []string{"seen_at"})
)

// addWork adds to the work of an hour in one statement. A row is added to by the changes of one user only.
var addWork = sync.OnceValue(func() string {
	var sets []string
	for _, column := range workCounts {
		sets = append(sets, column+` = queue_hours.`+column+` + excluded.`+column)
	}
	sets = append(
		sets,
		`seen_at = CASE WHEN queue_hours.seen_at > excluded.seen_at THEN queue_hours.seen_at ELSE excluded.seen_at END`,
	)
	return insertRows("queue_hours", workColumns, 1, false) +
		` ON CONFLICT (` + strings.Join(workKey, `, `) + `) DO UPDATE SET ` + strings.Join(sets, `, `)
})

func workDest(w *service.Work) []any {
	return []any{&w.Taken, &w.Attempts, &w.Completed, &w.Cancelled, &w.Expired, &w.Released, timeDest{&w.SeenAt}}
}

// CountWork adds work to its hour, in the order of the rows: two changes never wait for each other.
func (t *tx) CountWork(work []service.Work) error {
	slices.SortFunc(work, func(a, b service.Work) int {
		return cmp.Or(a.User.Compare(b.User), a.Owner.Compare(b.Owner), cmp.Compare(a.Code, b.Code))
	})
	for _, w := range work {
		hour := w.SeenAt.Truncate(time.Hour).UnixMilli()
		args := append([]any{identifier(w.User), hour, identifier(w.Owner), w.Code}, workDest(&w)...)
		if _, err := t.exec(addWork(), args...); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) WorkDone(scope service.Scope, user *apitype.UUID, since apitype.Time) ([]service.Work, error) {
	q := &listQuery{}
	q.where(`hour >= %s`, since.Truncate(time.Hour).UnixMilli())
	if user != nil {
		q.where(`user_uuid = %s`, identifier(*user))
	}
	q.amongOwners(scope)
	text := `SELECT user_uuid, code, SUM(` + strings.Join(workCounts, `), SUM(`) + `), MAX(seen_at)
		FROM queue_hours WHERE ` + strings.Join(q.conds, ` AND `) + ` GROUP BY user_uuid, code`
	return all(r.conn, text, q.args, func(w *service.Work) []any {
		return append([]any{uuidDest{&w.User}, &w.Code}, workDest(w)...)
	})
}

// WorkOf reads a user's operations from the audit, and the ends of the user's leases from the leases.
func (r *reader) WorkOf(query service.WorkQuery) ([]service.WorkRow, error) {
	q := &listQuery{}
	user, since, limit := q.arg(identifier(query.User)), q.arg(query.Since.UnixMilli()), q.arg(query.Limit)
	seen := func(call string) string {
		return ` AND EXISTS (SELECT 1 FROM calls WHERE uuid = ` + call + q.visible(query.Scope, "owner") + `)`
	}
	newest := ` ORDER BY 1 DESC LIMIT ` + limit
	text := `SELECT * FROM (
			SELECT done_at, CASE operation
					WHEN 'call.add-attempt' THEN 'attempt'
					WHEN 'call.complete' THEN 'complete'
					ELSE 'later' END, record_uuid
			FROM audit
			WHERE done_at >= ` + since + ` AND user_uuid = ` + user + `
				AND operation IN ('call.add-attempt', 'call.complete', 'call.later')` + seen(`record_uuid`) + newest + `
		) AS audited UNION ALL SELECT * FROM (
			SELECT ended_at, CASE ended_by WHEN 'returned' THEN 'release' ELSE ended_by END, call_uuid
			FROM ended_leases
			WHERE user_uuid = ` + user + ` AND ended_at >= ` + since + `
				AND (ended_by IN ('cancel', 'expire') OR ended_by = 'returned' AND shown_at IS NOT NULL)
				` + seen(`call_uuid`) + newest + `
		) AS ended` + newest
	return all(r.conn, text, q.args, func(w *service.WorkRow) []any {
		return []any{timeDest{&w.At}, &w.Operation, uuidDest{&w.Call}}
	})
}
