package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// TableRows are all rows of a table, with the statement that inserts one.
type TableRows struct {
	Table   string
	Columns []string
	Insert  string
	Rows    [][]any
}

// Rows are all rows of a database, for the floors of benchmarks.
func (s *Store) Rows(ctx context.Context) (all []TableRows, err error) {
	err = s.engine.view(ctx, func(c *conn) error {
		for _, t := range copyTables() {
			rows, err := t.read(c, nil, nil, 0)
			if err != nil {
				return err
			}
			all = append(all, TableRows{t.name, t.columns, insertAsRead(t.name, t.columns), rows})
		}
		return nil
	})
	return all, err
}

// Tables are the names of all tables.
func Tables() (names []string) {
	for _, t := range copyTables() {
		names = append(names, t.name)
	}
	return names
}

// SetSeed gives a database the key of another one.
func (s *Store) SetSeed(ctx context.Context, seed []byte) error {
	return s.Update(ctx, func(t service.Tx) error {
		return t.ChangeSigningSeed(func([]byte) ([]byte, error) { return seed, nil })
	})
}

// MakeVersion1 makes a database as the first migration left it, with the rows of another one
// in no order, as any service may have written them.
func MakeVersion1(ctx context.Context, database string, from *Store) (err error) {
	tables, err := from.Rows(ctx)
	if err != nil {
		return err
	}
	texts, err := migrationTexts()
	if err != nil {
		return err
	}
	driver, source, dialect, version := "pgx", database, postgresText, `CREATE TABLE schema_version (version BIGINT NOT NULL); INSERT INTO schema_version VALUES (1)`
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		driver, source, dialect, version = "sqlite", "file:"+(&url.URL{Path: path}).EscapedPath(), sqliteText, `PRAGMA user_version = 1`
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, text := range []string{dialect(texts[0]), version} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	identifiers := map[string]map[any]any{}
	random := rand.New(rand.NewPCG(1, 3))
	for _, t := range tables {
		kept, there := version1Columns[t.Table]
		if !there {
			continue
		}
		random.Shuffle(len(t.Rows), func(i, k int) { t.Rows[i], t.Rows[k] = t.Rows[k], t.Rows[i] })
		for _, row := range t.Rows {
			columns, values := t.version1(row, kept, identifiers)
			text := insertAsRead(t.Table, columns)
			if _, err := db.ExecContext(ctx, text, values...); err != nil {
				return fmt.Errorf("%s: %w", t.Table, err)
			}
		}
	}
	return nil
}

// version1Columns are the columns of the first migration. They are written down here, so that
// a later one breaks no test.
var version1Columns = map[string][]string{
	"settings":      {"name", "value"},
	"accounts":      {"uuid", "name", "permissions", "all_organizations", "organizations", "external_sources", "created_at", "revoked_at"},
	"organizations": {"uuid", "name", "abbreviation", "max_call_attempts", "cooling_off"},
	"users":         {"uuid", "doc"},
	"focus_areas":   {"uuid", "organization", "doc"},
	"persons":       {"uuid", "owner", "recruiting", "created_at", "iban", "mandate_id", "quality", "rev", "doc"},
	"pledges": {
		"uuid", "owner", "recruiting", "person", "recruiter", "status", "created_at", "updated_at", "released_at", "external", "payment_qr",
		"has_signature", "private", "rev", "doc",
	},
	"signatures": {"pledge", "content"},
	"calls": {
		"uuid", "owner", "person", "pledge", "requested_at", "updated_at", "external", "external_application", "external_reference",
		"external_status", "private", "rev", "doc",
	},
	"transactions": {"uuid", "pledge", "created_at", "method", "doc"},
	"processed":    {"account", "source", "entity_name", "entity", "processed_at", "consumer"},
}

// version1 is a row as it was: by identifiers, which were text. Those of numbers are kept by
// table.
func (t TableRows) version1(row []any, kept []string, identifiers map[string]map[any]any) (columns []string, values []any) {
	var number any
	for i, column := range t.Columns {
		value := row[i]
		if data, ok := value.([]byte); ok && len(data) == len(apitype.UUID{}) {
			value = apitype.UUID(data).String()
		}
		if table := references[column]; table != "" {
			column, value = strings.TrimSuffix(column, "_number"), identifiers[table][value]
		}
		if column == "number" {
			number = value
		}
		if !slices.Contains(kept, column) {
			continue
		}
		if column == "uuid" {
			if identifiers[t.Table] == nil {
				identifiers[t.Table] = map[any]any{}
			}
			identifiers[t.Table][number] = value
		}
		columns, values = append(columns, column), append(values, value)
	}
	return columns, values
}

// WriteKey makes the key of an SQLite file.
func WriteKey(database string, seed []byte) error { return writeKey(keyPath(database), seed) }

// Execute runs a statement in a transaction of its own.
func (s *Store) Execute(ctx context.Context, text string) error {
	return s.engine.update(ctx, func(c *conn) error {
		_, err := c.exec(text)
		return err
	})
}

// SetListBounds lets lists go every way with few rows.
func SetListBounds(mostSorted, mostWalked int) (undo func()) {
	f, w := few, walked
	few, walked = mostSorted, mostWalked
	return func() { few, walked = f, w }
}

// Blocks is how many blocks of records and their indexes a connection of a transaction has read.
func Blocks(r service.Reader) (n int64, err error) {
	c := r.(*reader).conn
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

// pagesRead is how many pages a connection of SQLite has looked at, in its cache or not.
func pagesRead(db uintptr) (n int64) {
	tls := libc.NewTLS()
	defer tls.Close()
	numbers := tls.Alloc(8)
	defer tls.Free(8)
	for _, which := range []int32{sqlite3.SQLITE_DBSTATUS_CACHE_HIT, sqlite3.SQLITE_DBSTATUS_CACHE_MISS} {
		sqlite3.Xsqlite3_db_status(tls, db, which, numbers, numbers+4, 0)
		n += int64(libc.AtomicLoadNInt32(numbers, 0))
	}
	return n
}

// ApplicationName is how PostgreSQL names the session of a transaction.
func ApplicationName(r service.Reader) (name string, err error) {
	if t, ok := r.(*tx); ok {
		r = &t.reader
	}
	err = r.(*reader).row(`SELECT current_setting('application_name')`).scan(&name)
	return name, err
}
