package localcopy

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// WrongSQLError is a question that cannot be answered.
type WrongSQLError struct{ Message string }

// Error returns the message.
func (e *WrongSQLError) Error() string { return e.Message }

// ErrNeverSynced is a copy that no sync has brought to its end.
var ErrNeverSynced = errors.New("the copy was never read completely")

// DetailsIn returns the details that a question may read.
func DetailsIn(query string) []string {
	var named []string
	for _, detail := range Details() {
		if strings.Contains(strings.ToLower(query), detail) {
			named = append(named, detail)
		}
	}
	return named
}

// maxValue limits a text of an answer, in bytes, and with it the memory of a question.
const maxValue = 64 << 20

// Query answers a question that Check accepts. It hands over the names of the columns, and then each row.
func Query(
	ctx context.Context,
	path, query string,
	begin func(columns []string) error,
	row func([]any) error,
) error {
	if err := ready(ctx, path); err != nil {
		return err
	}
	return answer(ctx, path, query, begin, row)
}

// answer answers a question from one state of the copy. Another program may have emptied the copy since it was ready.
func answer(
	ctx context.Context,
	path, query string,
	begin func(columns []string) error,
	row func([]any) error,
) (err error) {
	settings := "mode=ro&_pragma=query_only(1)&_pragma=trusted_schema(0)" +
		"&_pragma=busy_timeout(10000)&_pragma=temp_store(2)"
	db, err := sql.Open("sqlite", name(path, settings))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for id, most := range map[int]int{sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_LENGTH: maxValue} {
		if _, err := sqlite.Limit(conn, id, most); err != nil {
			return err
		}
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // It only read.
	if err := requireSynced(ctx, tx); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return wrong(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return wrong(err)
	}
	if err := begin(names); err != nil {
		return err
	}
	for rows.Next() {
		cells, places := make([]any, len(names)), make([]any, len(names))
		for i := range cells {
			places[i] = &cells[i]
		}
		if err := rows.Scan(places...); err != nil {
			return wrong(err)
		}
		if err := row(cells); err != nil {
			return err
		}
	}
	return wrong(rows.Err())
}

// ready opens a copy for writing once, so that SQLite rolls back the transaction of a killed sync.
func ready(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ErrNeverSynced
	}
	c, err := Open(ctx, path)
	if err != nil {
		return err
	}
	return errors.Join(requireSynced(ctx, c.db), c.Close())
}

// requireSynced refuses a copy that no sync has brought to its end.
func requireSynced(ctx context.Context, from reader) error {
	var isSynced bool
	err := from.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM _synced)").Scan(&isSynced)
	if err == nil && !isSynced {
		err = ErrNeverSynced
	}
	return err
}

// wrong returns the error of a question. Only the state of the file is not the question's fault.
func wrong(err error) error {
	failed, isSQLite := errors.AsType[*sqlite.Error](err)
	if !isSQLite {
		return err
	}
	switch failed.Code() & 0xff {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_AUTH:
		message := strings.TrimPrefix(failed.Error(), "SQL logic error: ")
		return wrongSQL(regexp.MustCompile(` \(\d+\)$`).ReplaceAllString(message, ""))
	default:
		return err
	}
}
