package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"fundesk/service"
)

// conn is one connection with its prepared statements. It is used by one goroutine at
// a time, for one transaction, and only as long as that lasts.
type conn struct {
	ctx        context.Context // Of the transaction, never cancelled in the middle of a statement.
	raw        *sql.Conn
	engine     engine
	statements map[string]*sql.Stmt
	parsed     map[accountLists]service.Account
	lines      [][]any       // Of the audit, of changes that are not committed yet: arguments of insertAuditLine.
	broken     bool          // A statement was refused by the database, not by a rule.
	ahead      time.Duration // How far the store's clock was ahead of the system's when the change began.
	open       <-chan error  // The outcome of a commit that is still under way; nil when none is.
	until      time.Time     // When its request is to be answered; zero: at any time.
}

// maxStatements bounds the prepared statements of a connection: lists make texts by
// their filters.
const maxStatements = 200

// prepare is a prepared statement, from an earlier use where there was one.
func (c *conn) prepare(text string) (*sql.Stmt, error) {
	if s, ok := c.statements[text]; ok {
		return s, nil
	}
	if len(c.statements) >= maxStatements {
		if err := c.forget(); err != nil {
			return nil, c.fail(err)
		}
	}
	s, err := c.raw.PrepareContext(c.ctx, text)
	if err != nil {
		return nil, c.fail(err)
	}
	c.statements[text] = s
	return s, nil
}

// forget closes the prepared statements.
func (c *conn) forget() (err error) {
	for text, s := range c.statements {
		err = errors.Join(err, s.Close())
		delete(c.statements, text)
	}
	return err
}

// close ends the connection. An open statement would keep the file open, and its log
// beside it.
func (c *conn) close() error { return errors.Join(c.forget(), c.raw.Close()) }

// fail notes that the database itself refused something.
func (c *conn) fail(err error) error {
	if err != nil {
		c.broken = true
	}
	return err
}

// exec runs a statement and is the number of rows that it changed.
func (c *conn) exec(text string, args ...any) (int64, error) {
	s, err := c.prepare(text) //nolint:sqlclosecheck // Kept by the connection for the next use.
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(c.ctx, args...)
	if err != nil {
		return 0, c.fail(err)
	}
	n, err := result.RowsAffected()
	return n, c.fail(err)
}

// row is a query for one row at most.
func (c *conn) row(text string, args ...any) oneRow {
	return oneRow{conn: c, text: text, args: args}
}

type oneRow struct {
	conn *conn
	text string
	args []any
}

// scan reads the row; none is ErrNoRow.
func (r oneRow) scan(dest ...any) error {
	s, err := r.conn.prepare(r.text) //nolint:sqlclosecheck // Likewise.
	if err != nil {
		return err
	}
	err = s.QueryRowContext(r.conn.ctx, r.args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return service.ErrNoRow
	}
	return r.conn.fail(err)
}

// each reads all rows of a query.
func (c *conn) each(text string, args []any, read func(*sql.Rows) error) (err error) {
	s, err := c.prepare(text) //nolint:sqlclosecheck // Likewise.
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(c.ctx, args...)
	if err != nil {
		return c.fail(err)
	}
	defer func() { err = errors.Join(err, c.fail(rows.Close())) }()
	for rows.Next() {
		if err := read(rows); errors.Is(err, errFull) {
			return nil
		} else if err != nil {
			return c.fail(err)
		}
	}
	return c.fail(rows.Err())
}

// textDest is what a row of one text is read into.
func textDest(text *string) []any { return []any{text} }

// all reads all rows of a query, each into what dest says of it.
func all[T any](c *conn, text string, args []any, dest func(*T) []any) (rows []T, err error) {
	err = c.each(text, args, func(result *sql.Rows) error {
		var row T
		err := result.Scan(dest(&row)...)
		rows = append(rows, row)
		return err
	})
	return rows, err
}
