package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"fundesk/service"
)

// What is done so that no byte of an erased value is left in the files of a database. SQLite
// overwrites what is deleted (secure_delete), but for copies that moved to another page when one
// was divided; PostgreSQL leaves it until the place is used again.

// secureDelete is the setting of a file in which everything that was ever deleted is overwritten.
const secureDelete = "secure-delete"

// Unclean names the erasures after which the files were not cleaned yet: a person's uuid, retention
// or replay.
func (s *Store) Unclean(ctx context.Context) (waiting []string, err error) {
	err = s.engine.view(ctx, func(c *conn) error {
		return c.each(`SELECT name FROM settings WHERE name LIKE '`+service.UncleanSetting+`%' ORDER BY name`, nil, func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			waiting = append(waiting, strings.TrimPrefix(name, service.UncleanSetting))
			return err
		})
	})
	return waiting, err
}

// Scrub blanks the unused parts of pages that hold traces, and empties the log. A file that was
// made when nothing was overwritten is written anew, once.
func (e *sqliteEngine) Scrub(ctx context.Context, traces [][]byte, _ bool) (done service.Scrubbed, err error) {
	done = service.Scrubbed{Rewritten: []string{}, Later: []string{}}
	secure := false
	err = e.ask(ctx, func(c *conn) error {
		_, err := (&reader{c}).Setting(secureDelete)
		secure = err == nil
		if errors.Is(err, service.ErrNoRow) {
			err = nil
		}
		return err
	})
	if err != nil {
		return done, err
	}
	if secure && traces != nil {
		err = e.blankTraces(ctx, newTraces(traces))
	} else {
		done.Rewritten = append(done.Rewritten, "the file")
		err = e.rewrite(ctx)
	}
	if err != nil {
		return done, err
	}
	return done, e.emptyLog(ctx)
}

// rewrite writes the whole file anew: nothing is in it then but what is kept.
func (e *sqliteEngine) rewrite(ctx context.Context) (err error) {
	c, err := e.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if _, err := c.raw.ExecContext(ctx, `VACUUM`); err != nil {
		return sqliteError(err)
	}
	return e.update(ctx, func(c *conn) error { return (&tx{reader: reader{c}}).SetSetting(secureDelete, "on") })
}

// How long the log is tried to be emptied: whoever reads an older state needs it. A try waits for
// those no longer than that: nobody writes meanwhile.
const (
	emptyTries    = 20
	emptyPause    = 500 * time.Millisecond
	emptyPatience = `PRAGMA busy_timeout = 20`
	usualPatience = `PRAGMA busy_timeout = 10000`
)

var errLogInUse = &service.Error{Kind: service.Unavailable, Detail: "the log of the database is in use by a program that reads, and could not be emptied"}

// emptyLog brings all of the log into the file, and cuts it to nothing.
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

// blankTraces looks for pages with traces while others write, and blanks them then.
func (e *sqliteEngine) blankTraces(ctx context.Context, t *traces) error {
	var pages []int64
	err := e.view(ctx, func(c *conn) error {
		pages = nil
		return c.each(`SELECT pgno, data FROM sqlite_dbpage`, nil, func(rows *sql.Rows) error {
			var number int64
			var page sql.RawBytes
			err := rows.Scan(&number, &page)
			if err == nil && t.left(number, page) {
				pages = append(pages, number)
			}
			return err
		})
	})
	if err != nil || len(pages) == 0 {
		return err
	}
	return e.update(ctx, func(c *conn) error {
		for _, number := range pages {
			var page []byte
			if err := c.row(`SELECT data FROM sqlite_dbpage WHERE pgno = $1`, number).scan(&page); err != nil {
				return err
			}
			if !t.left(number, page) {
				continue // It was used meanwhile.
			}
			for _, unused := range unusedParts(number, page) {
				clear(unused)
			}
			if _, err := c.exec(`UPDATE sqlite_dbpage SET data = $2 WHERE pgno = $1`, number, page); err != nil {
				return err
			}
		}
		return nil
	})
}

// traces are the pieces of erased values, as a set that may hold more than them: what is found by
// mistake is unused all the same.
type traces struct{ bits [1 << 17]uint64 }

// traceSize is how long the pieces are by which values are recognised.
const traceSize = 8

func newTraces(values [][]byte) *traces {
	t := &traces{}
	for _, value := range values {
		for i := range len(value) - traceSize + 1 {
			at := traceHash(value[i:])
			t.bits[at>>6] |= 1 << (at & 63)
		}
	}
	return t
}

// traceHash is where the set has the piece that begins here.
func traceHash(piece []byte) uint64 {
	return binary.LittleEndian.Uint64(piece) * 0x9E3779B97F4A7C15 >> (64 - 23)
}

// left reports whether a page has traces where it is unused.
func (t *traces) left(number int64, page []byte) bool {
	for _, unused := range unusedParts(number, page) {
		unused = bytes.TrimRight(bytes.TrimLeft(unused, "\x00"), "\x00")
		for i := range len(unused) - traceSize + 1 {
			if at := traceHash(unused[i:]); t.bits[at>>6]&(1<<(at&63)) != 0 {
				return true
			}
		}
		if n := len(unused); n > 0 && n < traceSize {
			return true // Too short to tell.
		}
	}
	return false
}

// unusedParts are the parts of a page of a table or of an index that hold nothing: what lies
// between the pointers and the cells, and the free blocks. Other pages have none (sqlite.org,
// Database File Format, 1.6).
func unusedParts(number int64, page []byte) (parts [][]byte) {
	header := 0
	if number == 1 {
		header = 100
	}
	if len(page) < 512 {
		return nil
	}
	size := map[byte]int{0x02: 12, 0x05: 12, 0x0a: 8, 0x0d: 8}[page[header]]
	if size == 0 {
		return nil
	}
	word := func(at int) int { return int(binary.BigEndian.Uint16(page[at:])) }
	pointers, cells := header+size+2*word(header+3), word(header+5)
	if cells == 0 {
		cells = 1 << 16
	}
	if pointers > cells || cells > len(page) {
		return nil
	}
	parts = append(parts, page[pointers:cells])
	for at := word(header + 1); at >= cells && at+4 <= len(page); {
		next, length := word(at), word(at+2)
		if length < 4 || at+length > len(page) || (next != 0 && next < at+length) {
			return nil
		}
		parts = append(parts, page[at+4:at+length])
		at = next
	}
	return parts
}

// maxRewritten is how large a table is, in bytes, that PostgreSQL writes anew: requests to it wait
// meanwhile.
const maxRewritten = 1 << 30

// scrubbed are the tables that may hold what is erased: ours, and then the server's statistics of
// them, which keep some of the values that are found in columns. Its owner alone may write it
// anew, and the owner of the database.
var scrubbed = []string{"persons", "pledges", "signatures", "calls", "transactions", "queue_calls", "queue_rings", "pg_statistic"}

// A table that is in use is asked for again after a pause: whoever waits behind the lock goes first.
const (
	cleanLock  = `SET lock_timeout = '1s'`
	cleanTries = 12
	cleanPause = 5 * time.Second
)

// Scrub writes the tables anew that held the values. It gives way: a table that is in use is asked for a
// second at a time, and is left to the next cleaning when it stays in use. A table that is too large is
// vacuumed, and the values lie in it until their place is used again. Beside others nothing is done.
func (e *postgresEngine) Scrub(ctx context.Context, _ [][]byte, beside bool) (done service.Scrubbed, err error) {
	done = service.Scrubbed{Rewritten: []string{}, Later: []string{}}
	if beside {
		done.Later, done.Busy = scrubbed, scrubbed
		return done, nil
	}
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
	for _, table := range scrubbed {
		rewritten, err := e.rewriteTable(ctx, raw, table)
		switch {
		case e.driver.Code(err) == lockNotAvailable:
			done.Later, done.Busy = append(done.Later, table), append(done.Busy, table)
		case err != nil:
			return done, err
		case rewritten:
			done.Rewritten = append(done.Rewritten, table)
		default: // Too large; or another role's, which is passed over with no more than a warning.
			done.Later = append(done.Later, table)
		}
	}
	return done, nil
}

// rewriteTable writes a table anew, unless it is too large, and reports whether it did.
func (e *postgresEngine) rewriteTable(ctx context.Context, raw *sql.Conn, table string) (rewritten bool, err error) {
	var size, file, now int64
	if err := raw.QueryRowContext(ctx, `SELECT pg_total_relation_size($1::regclass), pg_relation_filenode($1::regclass)`, table).Scan(&size, &file); err != nil {
		return false, err
	}
	text := `VACUUM (FULL, ANALYZE) ` + table
	if size > maxRewritten {
		text = `VACUUM (ANALYZE) ` + table
	}
	for try := 1; ; try++ {
		_, err = raw.ExecContext(ctx, text)
		if e.driver.Code(err) != lockNotAvailable || try == cleanTries {
			break
		}
		if service.Pause(ctx, cleanPause) != nil { // The caller has no more time for it.
			return false, err
		}
	}
	if err == nil {
		err = raw.QueryRowContext(ctx, `SELECT pg_relation_filenode($1::regclass)`, table).Scan(&now)
	}
	return now != file, err
}
