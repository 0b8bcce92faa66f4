package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"fundesk/service"
)

// Cleaning removes each byte of an erased value from the files of a database. An erasure only changes rows: copies stay
// in the old place of a row until the file or the table is rewritten.

// Unclean returns the erasures whose bytes are still in the files, each with its cause: a person's uuid, retention or
// replay.
func (s *Store) Unclean(ctx context.Context) (map[string]string, error) {
	waiting := make(map[string]string)
	err := s.engine.read(ctx, service.ReadSnapshot, func(c *conn) error {
		return c.each(
			`SELECT name, value FROM settings WHERE name LIKE '`+service.UncleanSetting+`%'`,
			nil,
			func(rows *sql.Rows) error {
				var name, value string
				err := rows.Scan(&name, &value)
				waiting[strings.TrimPrefix(name, service.UncleanSetting)] = value
				return err
			},
		)
	})
	return waiting, err
}

func (e *sqliteEngine) Held() []string { return []string{"the file", "its log"} }

// Scrub rewrites the whole file and empties the log, so that they contain nothing but present rows.
func (e *sqliteEngine) Scrub(ctx context.Context) (service.Scrubbed, error) {
	done := service.Scrubbed{Rewritten: []string{}, Later: []string{}}
	c, err := e.connect()
	if err != nil {
		return done, err
	}
	_, err = c.raw.ExecContext(ctx, `VACUUM`)
	err = errors.Join(err, c.close())
	if err != nil {
		return done, sqliteError(err)
	}
	done.Rewritten = e.Held()
	return done, e.emptyLog(ctx)
}

// How long emptying the log is tried, because readers of an older state need it. Each try waits only briefly for these
// readers: writes wait for it.
const (
	emptyTries    = 20
	emptyPause    = 500 * time.Millisecond
	emptyPatience = `PRAGMA busy_timeout = 20`
	usualPatience = `PRAGMA busy_timeout = 10000`
)

var errLogInUse = &service.Error{
	Kind: service.Unavailable,
	Detail: "the log of the database is in use by a program that reads, and could not be emptied; run fundeskd " +
		"clean again when it has ended",
}

// emptyLog checkpoints the whole log into the file, and truncates it.
func (e *sqliteEngine) emptyLog(ctx context.Context) (err error) {
	c, err := e.connectWith(emptyPatience)
	if err != nil {
		return err
	}
	defer func() {
		_, usual := c.raw.ExecContext(c.ctx, usualPatience) // Others use the connection after this.
		err = errors.Join(err, usual, c.close())
	}()
	for range emptyTries {
		if busy, err := c.checkpoint(checkpointTruncate); err != nil && !errors.Is(sqliteError(err), service.ErrBusy) {
			return sqliteError(err)
		} else if err == nil && busy == 0 {
			return nil
		}
		if err := service.Pause(ctx, emptyPause); err != nil {
			return err
		}
	}
	return errLogInUse
}

// maxRewritten is the size, in bytes, up to which PostgreSQL rewrites a table. Requests to the table wait until then.
const maxRewritten = 1 << 30

// scrubbed are the tables that may contain erased values: ours, and the server's statistics about them, which keep some
// values of columns. Only the owner of the statistics, or of the database, may rewrite them.
var scrubbed = []string{
	"persons",
	"pledges",
	"signatures",
	"calls",
	"transactions",
	"queue_calls",
	"donors",
	"queue_numbers",
	"consents",
	"search_persons",
	"search_terms",
	statistics,
}

const statistics = "pg_statistic"

// A table that is in use is asked for again after a pause: requests behind the lock go first.
const (
	cleanLock  = `SET lock_timeout = '1s'`
	cleanTries = 12
	cleanPause = 5 * time.Second
	seenTries  = 2 // Each of these rewrites the table, and requests wait for that.
)

func (e *postgresEngine) Held() []string { return scrubbed }

// Scrub rewrites the tables that contained the values. It gives way: it tries a table in use for a second at a time,
// and leaves it to the next cleaning if it stays in use. A larger table is vacuumed, and keeps the values until their
// space is used again.
func (e *postgresEngine) Scrub(ctx context.Context) (done service.Scrubbed, err error) {
	done = service.Scrubbed{Rewritten: []string{}, Later: []string{}}
	db, err := e.driver.Open(e.name, 0, 0) // It takes as long as it takes.
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	raw, err := db.Conn(ctx)
	if err != nil {
		return done, e.refusal(errConnect{err})
	}
	defer func() { err = errors.Join(err, raw.Close()) }()
	if _, err := raw.ExecContext(ctx, cleanLock); err != nil {
		return done, err
	}
	done.Left = map[string]int64{}
	for _, table := range scrubbed {
		rewritten, file, err := e.rewriteTable(ctx, raw, table)
		switch {
		case errors.Is(err, errInUse):
			done.Later, done.Busy = append(done.Later, table), append(done.Busy, table)
		case err != nil:
			return done, err
		case rewritten:
			done.Rewritten = append(done.Rewritten, table)
		default: // Too large; or another role's, which is passed over with no more than a warning.
			done.Later = append(done.Later, table)
			if table != statistics { // The statistics belong to the server's own role.
				done.Left[table] = file
			}
		}
	}
	return done, nil
}

// rewriteTable rewrites a table, unless it is too large, and reports whether it did, and the number of its file. A
// table that stays in use, or whose dead rows another transaction can still see, is [errInUse].
func (e *postgresEngine) rewriteTable(
	ctx context.Context,
	raw *sql.Conn,
	table string,
) (rewritten bool, file int64, err error) {
	var size, before int64
	const sizeAndFile = `SELECT pg_total_relation_size($1::regclass), pg_relation_filenode($1::regclass)`
	err = raw.QueryRowContext(ctx, sizeAndFile, table).
		Scan(&size, &before)
	if err != nil {
		return false, 0, err
	}
	if size > maxRewritten {
		_, err = raw.ExecContext(ctx, `VACUUM (ANALYZE) `+table)
		return false, before, e.inUse(err)
	}
	seen := 0
	for try := 1; ; try++ {
		err = e.tryRewrite(ctx, raw, table)
		if errors.Is(err, errSeen) {
			seen++
		}
		if !errors.Is(err, errInUse) || try == cleanTries || seen == seenTries {
			break
		}
		if service.Pause(ctx, cleanPause) != nil { // The caller has no more time for it.
			return false, 0, err
		}
	}
	if err != nil {
		return false, 0, err
	}
	err = raw.QueryRowContext(ctx, `SELECT pg_relation_filenode($1::regclass)`, table).Scan(&file)
	return file != before, file, err
}

var (
	// errInUse is a table that could not be rewritten, or not without rows that were erased.
	errInUse = errors.New("the table is in use")
	// errSeen is a table that was rewritten with erased rows, because an open transaction can still see them.
	errSeen = fmt.Errorf("%w: an open transaction can see erased rows", errInUse)
)

// inUse returns errInUse for a lock that could not be had in time.
func (e *postgresEngine) inUse(err error) error {
	if e.driver.Code(err) == lockNotAvailable {
		return errInUse
	}
	return err
}

// tryRewrite rewrites a table once. The server keeps dead rows that an open transaction of the database can still see,
// even if it never reads this table.
func (e *postgresEngine) tryRewrite(ctx context.Context, raw *sql.Conn, table string) error {
	var dead int64
	err := raw.Raw(func(connection any) (err error) {
		dead, err = e.driver.Rewrite(ctx, connection, table)
		return err
	})
	if err == nil && dead > 0 {
		return errSeen
	}
	return e.inUse(err)
}
