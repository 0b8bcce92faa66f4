package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fundesk/service"
)

// Maintained has the results of a maintenance.
type Maintained struct {
	Rebuilt   []string `json:"rebuilt"`   // The tables whose indexes were rebuilt.
	Made      []string `json:"made"`      // The partitions of the audit that were made.
	Dropped   []string `json:"dropped"`   // The empty ones that were dropped.
	Analyzed  bool     `json:"analyzed"`  // The statistics of SQLite were updated.
	Elsewhere bool     `json:"elsewhere"` // Another program rebuilds the indexes now.
}

// maintain updates the statistics by which SQLite chooses its plans. Its indexes are rebuilt with the file.
func (e *sqliteEngine) maintain(ctx context.Context, _ time.Time) (Maintained, error) {
	done := Maintained{
		Rebuilt:  []string{},
		Made:     []string{},
		Dropped:  []string{},
		Analyzed: true,
	}
	c, err := e.connect()
	if err != nil {
		return done, err
	}
	_, err = c.raw.ExecContext(ctx, `PRAGMA optimize`)
	return done, sqliteError(errors.Join(err, c.close()))
}

// maintain makes the partitions of the audit for the months ahead, drops empty ones, and rebuilds each index beside
// its use.
func (e *postgresEngine) maintain(ctx context.Context, now time.Time) (Maintained, error) {
	done := Maintained{Rebuilt: []string{}, Made: []string{}, Dropped: []string{}}
	err := e.givingWay(ctx, func(c *conn) (isDone bool, err error) {
		if _, err := c.raw.ExecContext(ctx, lockTimeout); err != nil {
			return false, c.fail(err)
		}
		done.Made, err = makeMonths(ctx, c, now, monthsAhead)
		if err != nil {
			return false, err
		}
		done.Dropped, err = dropMonths(ctx, c, now)
		return err == nil, err
	})
	if err != nil {
		return done, fmt.Errorf("partition the audit: %w", err)
	}
	err = e.rebuildIndexes(ctx, &done)
	return done, err
}

// monthsAhead is for how many months after the present one there are partitions of the audit. A monthly timer that
// fails twice leaves the audit partitioned.
const monthsAhead = 3

// month is a partition of the audit: a calendar month in UTC.
type month struct{ begin time.Time }

func monthOf(t time.Time) month {
	t = t.UTC()
	return month{time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)}
}

func (m month) add(months int) month { return month{m.begin.AddDate(0, months, 0)} }

func (m month) table() string { return m.begin.Format("audit_2006_01") }

// Lines of months without a partition are in audit_other, so that no change fails if nothing maintains the database.
const monthsWithLines = `SELECT DISTINCT date_trunc('month', to_timestamp(done_at / 1000.0) AT TIME ZONE 'UTC')
	FROM audit_other WHERE done_at < $1 ORDER BY 1`

// makeMonths makes the partitions of the present month and of some after it, unless audit_other has lines of them. It
// moves the lines of months that have ended out of audit_other.
func makeMonths(ctx context.Context, c *conn, now time.Time, ahead int) ([]string, error) {
	made := []string{}
	present := monthOf(now)
	ended, err := readColumn[time.Time](ctx, c, monthsWithLines, present.begin.UnixMilli())
	if err != nil {
		return nil, err
	}
	for _, begin := range ended {
		made = append(made, monthOf(begin).table())
		if err := moveMonth(ctx, c, monthOf(begin)); err != nil {
			return nil, err
		}
	}
	for n := range ahead + 1 {
		m := present.add(n)
		var isThere, hasLines bool
		err := c.raw.QueryRowContext(
			ctx,
			`SELECT to_regclass($1) IS NOT NULL, EXISTS (SELECT 1 FROM audit_other WHERE done_at >= $2
				AND done_at < $3)`,
			m.table(),
			m.begin.UnixMilli(),
			m.add(1).begin.UnixMilli(),
		).Scan(&isThere, &hasLines)
		if err != nil {
			return nil, c.fail(err)
		}
		if isThere || hasLines {
			continue
		}
		text := fmt.Sprintf(`CREATE TABLE %s PARTITION OF audit FOR VALUES FROM (%d) TO (%d)`,
			m.table(), m.begin.UnixMilli(), m.add(1).begin.UnixMilli())
		if _, err := c.raw.ExecContext(ctx, text); err != nil {
			return nil, c.fail(err)
		}
		made = append(made, m.table())
	}
	return made, nil
}

// moveMonth moves the lines of a month from audit_other to its own partition.
func moveMonth(ctx context.Context, c *conn, m month) error {
	from, to := m.begin.UnixMilli(), m.add(1).begin.UnixMilli()
	for _, text := range []string{
		fmt.Sprintf(`CREATE TABLE %s (LIKE audit INCLUDING ALL)`, m.table()),
		fmt.Sprintf(`WITH moved AS (DELETE FROM audit_other WHERE done_at >= %d AND done_at < %d RETURNING *)
			INSERT INTO %s SELECT * FROM moved`, from, to, m.table()),
		fmt.Sprintf(`ALTER TABLE audit ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)`, m.table(), from, to),
	} {
		if _, err := c.raw.ExecContext(ctx, text); err != nil {
			return c.fail(err)
		}
	}
	return nil
}

// dropMonths drops the partitions of months that ended more than a month ago, if they are empty.
func dropMonths(ctx context.Context, c *conn, now time.Time) ([]string, error) {
	dropped := []string{}
	partitions, err := readColumn[string](
		ctx,
		c,
		`SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
		WHERE i.inhparent = 'audit'::regclass AND c.relname < $1 AND c.relname <> 'audit_other' ORDER BY 1`,
		monthOf(now).add(-1).table(),
	)
	if err != nil {
		return nil, err
	}
	for _, table := range partitions {
		var hasLines bool
		err := c.raw.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+table+`)`).Scan(&hasLines)
		if err != nil {
			return nil, c.fail(err)
		}
		if hasLines {
			continue
		}
		if _, err := c.raw.ExecContext(ctx, `DROP TABLE `+table); err != nil {
			return nil, c.fail(err)
		}
		dropped = append(dropped, table)
	}
	return dropped, nil
}

// rebuildLock is held by the session that rebuilds the indexes. It is only tried: a session that waits has a snapshot,
// and a rebuild waits until that is gone.
const rebuildLock = `SELECT pg_try_advisory_lock(7305804402569)`

// rebuildIndexes rebuilds the indexes of our tables one table at a time, unless another program does it now. Requests
// do not wait for it. What an interrupted rebuild left is dropped first.
func (e *postgresEngine) rebuildIndexes(ctx context.Context, done *Maintained) (err error) {
	db, err := e.driver.Open(e.name, 0, 0) // It takes as long as it takes.
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	session, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	var isOurs bool
	err = session.QueryRowContext(ctx, rebuildLock).Scan(&isOurs)
	if err != nil {
		return fmt.Errorf("rebuild the indexes: %w", err)
	}
	done.Elsewhere = !isOurs
	if done.Elsewhere {
		return nil
	}
	var tables, left []string
	err = e.read(ctx, service.ReadRecord, func(c *conn) (err error) {
		tables, err = readColumn[string](ctx, c, ourTables)
		if err != nil {
			return err
		}
		left, err = readColumn[string](ctx, c, leftIndexes)
		return err
	})
	if err != nil {
		return err
	}
	for _, index := range left {
		if _, err := session.ExecContext(ctx, `DROP INDEX CONCURRENTLY IF EXISTS `+index); err != nil {
			return fmt.Errorf("drop the index %s of an interrupted rebuild: %w", index, err)
		}
	}
	for _, table := range tables {
		if _, err := session.ExecContext(ctx, `REINDEX TABLE CONCURRENTLY `+table); err != nil {
			return fmt.Errorf("rebuild the indexes of %s: %w", table, err)
		}
		done.Rebuilt = append(done.Rebuilt, table)
	}
	return nil
}

const (
	ourTables = `SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relhasindex
		AND relnamespace = current_schema()::regnamespace AND pg_has_role(relowner, 'USAGE') ORDER BY 1`
	leftIndexes = `SELECT quote_ident(c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE NOT i.indisvalid AND c.relname ~ '_cc(new|old)[0-9]*$' AND c.relnamespace = current_schema()::regnamespace
		AND pg_has_role(c.relowner, 'USAGE') ORDER BY 1`
)

// readColumn reads the values of a query with one column.
func readColumn[T any](ctx context.Context, c *conn, query string, args ...any) (all []T, err error) {
	rows, err := c.raw.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, c.fail(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var value T
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, c.fail(rows.Err())
}
