package localcopy

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
var ErrNeverSynced = errors.New("the copy was never read to its end")

// Check refuses all but one SELECT, VALUES or WITH … SELECT, and wrong SQL. It needs no copy.
//
// Four things protect a copy, because the driver offers no authorizer. The text has one statement that begins with
// one of three words, so it is not a PRAGMA, ATTACH or VACUUM. The compiled program opens no table for writing. The
// connection may attach no file. And it is read-only twice: mode=ro for the file, and query_only.
func Check(ctx context.Context, query string) (err error) {
	if err := checkText(query); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, newFields().schema()); err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, "EXPLAIN "+query)
	_, isSQLite := errors.AsType[*sqlite.Error](err)
	hasParameter := err != nil && !isSQLite && ctx.Err() == nil // The driver has no value for it.
	if hasParameter {
		return &WrongSQLError{"the SQL has a parameter (?, $name, :name or @name); write the value instead"}
	}
	if err != nil {
		return wrong(err)
	}
	isWriting, err := opensForWriting(rows)
	if err != nil {
		return wrong(err)
	}
	if isWriting {
		return &WrongSQLError{"query only reads: it takes one SELECT, VALUES or WITH … SELECT"}
	}
	return nil
}

// opensForWriting reports whether a compiled program writes to a table. It reads the rows of EXPLAIN.
func opensForWriting(rows *sql.Rows) (isWriting bool, err error) {
	names, err := rows.Columns()
	if err != nil {
		return false, errors.Join(err, rows.Close())
	}
	cells := make([]any, len(names))
	for i := range cells {
		cells[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			return false, errors.Join(err, rows.Close())
		}
		opcode, second := fmt.Sprint(*cells[1].(*any)), fmt.Sprint(*cells[3].(*any))
		isWrite := opcode == "OpenWrite" || opcode == "Transaction" && second != "0"
		isWriting = isWriting || isWrite
	}
	return isWriting, errors.Join(rows.Err(), rows.Close())
}

// checkText refuses a text that is not one statement of the right kind.
func checkText(query string) error {
	if strings.ContainsRune(query, 0) {
		return &WrongSQLError{"the SQL has a NUL character"}
	}
	first, rest := firstStatement(query)
	if strings.TrimSpace(first) == "" {
		return &WrongSQLError{"there is no SQL; query takes one SELECT"}
	}
	word := strings.ToUpper(regexp.MustCompile(`^[A-Za-z]*`).FindString(strings.TrimLeft(first, " \t\r\n\f")))
	switch word {
	case "SELECT", "WITH", "VALUES":
	default:
		return &WrongSQLError{"query only reads: it takes one SELECT, VALUES or WITH … SELECT"}
	}
	if again, _ := firstStatement(rest); strings.TrimSpace(again) != "" {
		return &WrongSQLError{"query takes one statement; there is another one after the semicolon"}
	}
	return nil
}

// skipped matches the parts of SQL in which a semicolon is text: comments, texts and quoted names. A part without its
// end goes to the end of the SQL.
const skipped = `(?s)^(?:--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|` + "`(?:[^`]|``)*(?:`|$)" + `|\[[^\]]*(?:\]|$))`

// firstStatement returns the SQL before the first semicolon, without comments, and the SQL after it.
func firstStatement(query string) (first, rest string) {
	var b strings.Builder
	parts := regexp.MustCompile(skipped)
	for query != "" {
		if part := parts.FindString(query); part != "" {
			if strings.HasPrefix(part, "--") || strings.HasPrefix(part, "/*") {
				part, query = " ", query[len(part):]
				b.WriteString(part)
				continue
			}
			b.WriteString(part)
			query = query[len(part):]
			continue
		}
		if query[0] == ';' {
			return b.String(), query[1:]
		}
		b.WriteByte(query[0])
		query = query[1:]
	}
	return b.String(), ""
}

// DetailsIn returns the details that a question may read.
func DetailsIn(query string) (named []string) {
	for _, detail := range Details() {
		if strings.Contains(strings.ToLower(query), detail) {
			named = append(named, detail)
		}
	}
	return named
}

// Query answers a question that Check accepts. It hands over the names of the columns, and then each row.
func Query(ctx context.Context, path, query string, begin func(columns []string) error, row func([]any) error) (err error) {
	if err := ready(ctx, path); err != nil {
		return err
	}
	settings := "mode=ro&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=busy_timeout(10000)&_pragma=temp_store(2)"
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
	if _, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_ATTACHED, 0); err != nil {
		return err
	}
	rows, err := conn.QueryContext(ctx, query)
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
	var isSynced bool
	err = c.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM _synced)").Scan(&isSynced)
	if err == nil && !isSynced {
		err = ErrNeverSynced
	}
	return errors.Join(err, c.Close())
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
		message = regexp.MustCompile(` \(\d+\)$`).ReplaceAllString(message, "")
		return &WrongSQLError{"the SQL is wrong: " + message}
	default:
		return err
	}
}
