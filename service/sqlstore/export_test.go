package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"fundesk/service"
)

// TableRows returns all rows of a table, with the statement that inserts one.
type TableRows struct {
	Table   string
	Columns []string
	Insert  string
	Rows    [][]any
}

// Rows returns all rows of a database, for the floors of benchmarks.
func (s *Store) Rows(ctx context.Context) ([]TableRows, error) {
	var all []TableRows
	err := s.engine.read(ctx, service.ReadSnapshot, func(c *conn) error {
		for _, t := range copyTables() {
			rows, err := t.read(c, nil, 0)
			if err != nil {
				return err
			}
			all = append(all, TableRows{t.name, t.columns, insertRows(t.name, t.columns, 1, false), rows})
		}
		return nil
	})
	return all, err
}

// Tables returns the names of all tables.
func Tables() []string {
	var names []string
	for _, t := range copyTables() {
		names = append(names, t.name)
	}
	return names
}

// OpenNext is [Open] by a program with more migrations.
func OpenNext(ctx context.Context, o Options, migrations ...string) (*Store, error) {
	o.next = migrations
	return Open(ctx, o)
}

// Execute runs a statement in a transaction of its own.
func (s *Store) Execute(ctx context.Context, text string) error {
	return s.engine.write(ctx, service.WriteIsolated, func(c *conn) error {
		_, err := c.exec(text)
		return err
	})
}

// SetListBounds lets lists go every way with few rows.
func SetListBounds(mostSorted, mostWalked int) func() {
	f, w := few, walked
	few, walked = mostSorted, mostWalked
	return func() { few, walked = f, w }
}

// Blocks returns how many blocks of records and their indexes a connection of a transaction has read.
func Blocks(r service.Reader) (int64, error) {
	c := r.(*reader).conn
	var n int64
	var err error
	if _, ok := c.engine.(*sqliteEngine); !ok {
		err = c.row(`SELECT SUM(pg_stat_get_xact_blocks_fetched(oid)) FROM pg_class WHERE relname LIKE 'calls%' OR relname LIKE 'pledges%'`).scan(&n)
		return n, err
	}
	if _, err := c.raw.ExecContext(c.ctx, `PRAGMA mmap_size = 0`); err != nil { // What is mapped is not counted.
		return 0, err
	}
	err = c.raw.Raw(func(driver any) error {
		n = pagesRead(uintptr(reflect.ValueOf(driver).Elem().FieldByName("db").Uint()))
		return nil
	})
	return n, err
}

// pagesRead returns how many pages a connection of SQLite has read, from its cache or not.
func pagesRead(db uintptr) int64 {
	tls := libc.NewTLS()
	defer tls.Close()
	numbers := tls.Alloc(8)
	defer tls.Free(8)
	var n int64
	for _, which := range []int32{sqlite3.SQLITE_DBSTATUS_CACHE_HIT, sqlite3.SQLITE_DBSTATUS_CACHE_MISS} {
		sqlite3.Xsqlite3_db_status(tls, db, which, numbers, numbers+4, 0)
		n += int64(libc.AtomicLoadNInt32(numbers, 0))
	}
	return n
}

// ApplicationName returns PostgreSQL's name for the session of a transaction.
func ApplicationName(r service.Reader) (string, error) {
	if t, ok := r.(*tx); ok {
		r = &t.reader
	}
	var name string
	err := r.(*reader).row(`SELECT current_setting('application_name')`).scan(&name)
	return name, err
}

// SearchRows returns by what persons are found, as lines.
func (s *Store) SearchRows(ctx context.Context) ([]string, error) {
	var lines []string
	err := s.engine.read(ctx, service.ReadSnapshot, func(c *conn) error {
		const terms = `SELECT t.term || ' ' || t.created_at || ' ' || p.number FROM search_terms t
			JOIN persons p ON p.number = t.number AND p.uuid = t.uuid AND p.owner = t.owner AND p.created_at = t.created_at
			JOIN search_persons s ON s.created_at = t.created_at AND s.uuid = t.uuid AND s.owner = t.owner AND s.number = t.number
				AND s.letters = t.letters
			ORDER BY t.term, t.created_at, t.uuid`
		found, err := all(c, terms, nil, textDest)
		lines = append(lines, found...)
		if err != nil {
			return err
		}
		var rows int
		if err := c.row(`SELECT COUNT(*) FROM search_terms`).scan(&rows); err != nil || rows != len(found) {
			return errors.Join(err, fmt.Errorf("%d terms, of which %d agree with their persons", rows, len(found)))
		}
		persons, err := all(c, `SELECT number || ' ' || letters || terms FROM search_persons ORDER BY number`, nil,
			textDest)
		lines = append(lines, persons...)
		return err
	})
	return lines, err
}
