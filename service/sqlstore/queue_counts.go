package sqlstore

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// queueCounts collects the counts of the calls of a query, by kind.
type queueCounts struct {
	*queueParts
	kinds map[string]*service.QueueCount
}

// readKinds runs a query and adds the rows of the kinds that pass the filters. A row begins with its kind.
func (r *reader) readKinds(
	counts *queueCounts,
	text string,
	dest []any,
	add func(*service.QueueCount),
) error {
	var kind string
	dest = append([]any{&kind}, dest...)
	err := r.each(text, counts.args, func(rows *sql.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		parsed := service.ParseQueueKind(kind)
		if !counts.isOfQuery(parsed) {
			return nil
		}
		c, ok := counts.kinds[kind]
		if !ok {
			c = &service.QueueCount{Kind: parsed}
			counts.kinds[kind] = c
		}
		add(c)
		return nil
	})
	counts.args = nil
	return err
}

// QueueCounts adds up what is counted already. It looks only at calls whose time has come since a take marked calls, or
// comes within an hour: its cost does not grow with the queue.
func (r *reader) QueueCounts(query service.QueueQuery) (counts []service.QueueCount, leased int, err error) {
	lapsed := query.Rules.Lapsed(query.Scope, query.Now)
	all := &queueCounts{
		queueParts: &queueParts{engine: r.engine, query: query, lapsed: lapsed},
		kinds:      map[string]*service.QueueCount{},
	}
	parts := []func(*queueCounts) error{r.addCounted, r.addEarly, r.addLapsed, r.addWaking, r.addCallbacks}
	for _, part := range parts {
		if err := part(all); err != nil {
			return nil, 0, err
		}
	}
	for _, c := range all.kinds {
		counts = append(counts, *c)
	}
	slices.SortFunc(counts, func(a, b service.QueueCount) int { return cmp.Compare(a.Kind.String(), b.Kind.String()) })
	l := &queueParts{query: query}
	live := append(l.narrowed(), isClaimed, `expires_at > `+l.arg(query.Now.UnixMilli()))
	err = r.row(`SELECT COUNT(*) FROM donors WHERE `+strings.Join(live, ` AND `), l.args...).scan(&leased)
	return counts, leased, err
}

// addCounted adds the counters, with the oldest call of each kind.
func (r *reader) addCounted(counts *queueCounts) error {
	first := append(
		[]string{`kind = counted.kind`, isReady, `due_at IS NULL`, counts.eligible()},
		counts.notLapsed()...)
	text := `SELECT kind, ready, deferred, (
			SELECT requested_at FROM queue_calls WHERE ` + strings.Join(first, ` AND `) + `
			ORDER BY requested_at, call_uuid LIMIT 1
		) FROM (
			SELECT kind, CAST(SUM(ready) AS BIGINT) AS ready, CAST(SUM(deferred) AS BIGINT) AS deferred
			FROM queue_counts GROUP BY kind
		) AS counted WHERE ready <> 0 OR deferred <> 0`
	var ready, deferred int
	var oldest *apitype.Time
	return r.readKinds(counts, text, []any{&ready, &deferred, nullTimeDest{&oldest}}, func(c *service.QueueCount) {
		c.Waiting, c.Deferred, c.OldestWaiting = ready, deferred, oldest
	})
}

// addEarly takes away calls that are marked as ready before their time, which no take gives. A take marked them before
// the clock went back, or a claim on PostgreSQL passed over a row that another transaction held.
func (r *reader) addEarly(counts *queueCounts) error {
	var highest sql.NullInt64
	if err := r.row(r.engine.highestTime()).scan(&highest); err != nil {
		return err
	}
	isClockBehind := highest.Int64 > counts.query.Now.Add(settledMargin).UnixMilli()
	if !isClockBehind && !r.engine.sharesQueue() {
		return nil
	}
	now := counts.arg(counts.query.Now.UnixMilli())
	conds := append(counts.notLapsed(), isReady, `due_at IS NULL`, `eligible_at > `+now)
	early := `SELECT kind FROM queue_calls WHERE ` + strings.Join(conds, ` AND `)
	if !isClockBehind { // Claims are few. OFFSET keeps PostgreSQL from joining them with whole tables.
		early = `SELECT (` + early + ` AND call_number = k.number) AS kind FROM donors d
				CROSS JOIN LATERAL (SELECT number FROM persons WHERE uuid = d.person_uuid OFFSET 0) AS p
				CROSS JOIN LATERAL (SELECT number FROM calls WHERE person_number = p.number OFFSET 0) AS k
			WHERE d.lease_uuid IS NOT NULL AND d.expires_at > ` + now
	}
	text := `SELECT kind, COUNT(*) FROM (` + early + `) AS early WHERE kind IS NOT NULL GROUP BY kind`
	var n int
	return r.readKinds(counts, text, []any{&n}, func(c *service.QueueCount) { c.Waiting -= n })
}

// addLapsed takes away calls that are ready although the last pledge ended too long ago. A take marks them.
func (r *reader) addLapsed(counts *queueCounts) error {
	for _, lapsed := range counts.lapsed {
		owners := `owner` + isOne(bind(&counts.listQuery, lapsed.Owners, identifier))
		text := `SELECT kind, COUNT(*) FROM queue_calls
			WHERE ` + owners + ` AND ` + isReady + ` AND due_at IS NULL
				AND ended_at < ` + counts.arg(lapsed.Before.UnixMilli()) + ` GROUP BY kind`
		var n int
		err := r.readKinds(counts, text, []any{&n}, func(c *service.QueueCount) { c.Waiting -= n })
		if err != nil {
			return err
		}
	}
	return nil
}

// addWaking adds the calls that have become eligible since a take marked some.
func (r *reader) addWaking(counts *queueCounts) error {
	conds := append(counts.notLapsed(), notReady, `due_at IS NULL`, counts.eligible())
	text := `SELECT kind, COUNT(*), MIN(requested_at) FROM queue_calls
		WHERE ` + strings.Join(conds, ` AND `) + ` GROUP BY kind`
	var n int
	var oldest *apitype.Time
	return r.readKinds(counts, text, []any{&n, nullTimeDest{&oldest}}, func(c *service.QueueCount) {
		c.Waiting += n
		if c.OldestWaiting == nil || oldest.Before(c.OldestWaiting.Time) {
			c.OldestWaiting = oldest
		}
	})
}

// addCallbacks counts the deferred calls: due now, due within an hour, and later.
func (r *reader) addCallbacks(counts *queueCounts) error {
	now := counts.arg(counts.query.Now.UnixMilli())
	soon := counts.arg(counts.query.Now.Add(time.Hour).UnixMilli())
	given := append(counts.notLapsed(), `due_at <= `+now, `eligible_at <= `+now, counts.forUser(false))
	text := `SELECT kind, SUM(came), SUM(given), MIN(CASE WHEN given = 1 THEN requested_at END), COUNT(*) - SUM(came)
		FROM (
			SELECT kind, requested_at,
				CASE WHEN due_at <= ` + now + ` THEN 1 ELSE 0 END AS came,
				CASE WHEN ` + strings.Join(given, ` AND `) + ` THEN 1 ELSE 0 END AS given
			FROM queue_calls WHERE due_at <= ` + soon + `
		) AS callbacks GROUP BY kind`
	var came, due, next int
	var oldest *apitype.Time
	return r.readKinds(counts, text, []any{&came, &due, nullTimeDest{&oldest}, &next}, func(c *service.QueueCount) {
		c.Deferred -= came
		c.Due, c.OldestDue, c.Soon = due, oldest, next
	})
}

func (r *reader) QueueReserved(query service.QueueQuery) ([]service.QueueCount, error) {
	p := &queueParts{engine: r.engine, query: query, lapsed: query.Rules.Lapsed(query.Scope, query.Now)}
	conds := append(p.narrowed(), p.notLapsed()...)
	conds = append(conds, p.eligible(), p.forUser(true),
		`due_at <= `+p.arg(query.Now.UnixMilli()), `due_at > `+p.arg(query.KeptUntil.UnixMilli()))
	text := `SELECT kind, COUNT(*), MIN(requested_at) FROM queue_calls WHERE ` + strings.Join(conds, ` AND `) +
		` GROUP BY kind`
	var counts []service.QueueCount
	err := r.each(text, p.args, func(rows *sql.Rows) error {
		var kind string
		var c service.QueueCount
		err := rows.Scan(&kind, &c.Due, nullTimeDest{&c.OldestDue})
		c.Kind = service.ParseQueueKind(kind)
		counts = append(counts, c)
		return err
	})
	return counts, err
}

// sumQueueCounts sums up the rows that changes added to the counters of the queue.
const sumQueueCounts = `WITH summed AS (
		SELECT ctid FROM queue_counts LIMIT $1 FOR UPDATE SKIP LOCKED
	), gone AS (
		DELETE FROM queue_counts WHERE ctid IN (SELECT ctid FROM summed) RETURNING kind, ready, deferred
	), sums AS (
		INSERT INTO queue_counts (kind, ready, deferred)
		SELECT kind, SUM(ready), SUM(deferred) FROM gone
		GROUP BY kind HAVING SUM(ready) <> 0 OR SUM(deferred) <> 0
		RETURNING kind
	) SELECT (SELECT COUNT(*) FROM gone), (SELECT COUNT(*) FROM sums)`

// mostSummed bounds the rows that are summed up at one time, so that no request waits long for it.
const mostSummed = 20_000

func (t *tx) SumQueueCounts() (bool, error) {
	if !t.engine.sharesQueue() { // Its triggers keep one row of each kind.
		return false, nil
	}
	var summed, sums int
	err := t.row(sumQueueCounts, mostSummed).scan(&summed, &sums)
	return summed == mostSummed && sums < summed/2, err // Of very many kinds, the sums are as many.
}
