package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
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
	lines      []any         // Of the audit, of changes that are not committed yet: arguments of insertAuditLine.
	broken     bool          // A statement was refused by the database, not by a rule.
	ahead      time.Duration // How far the store's clock was ahead of the system's when the change began.
	open       <-chan error  // The outcome of a commit that is still under way; nil when none is.
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

var errClosed = errors.New("the database is closed")

// pool hands out connections, each to one goroutine at a time, and keeps them with
// their statements. It opens no more than are used at once.
type pool struct {
	turns   *service.Turns // One for each connection that may be in use.
	idle    chan *conn
	connect func() (*conn, error)
	full    func(error) bool // Whether a refused connection was one too many; nil: none is.
	stop    chan struct{}
	// patience is how long a free connection is waited for, and a commit; 0: as long as the
	// caller does.
	patience                                time.Duration
	open                                    atomic.Int64 // Connections that wait for a commit which nobody waits for any more.
	opened, lost, waited, timedOut, retried atomic.Int64
}

// PoolStats is what became of the connections of a store since it was opened.
type PoolStats struct {
	InUse, Most int
	Opened      int64
	Lost        int64 // Given up as the database failed on them.
	Waited      int64 // Times that all were in use.
	TimedOut    int64 // Of those, in vain.
	Retried     int64 // Transactions and questions that were run again.
}

func (p *pool) stats() PoolStats {
	return PoolStats{
		p.turns.Held(), p.turns.Size(), p.opened.Load(), p.lost.Load(), p.waited.Load(), p.timedOut.Load(), p.retried.Load(),
	}
}

// plus is both together.
func (s PoolStats) plus(o PoolStats) PoolStats {
	return PoolStats{
		s.InUse + o.InUse, s.Most + o.Most, s.Opened + o.Opened, s.Lost + o.Lost, s.Waited + o.Waited, s.TimedOut + o.TimedOut, s.Retried + o.Retried,
	}
}

func newPool(size int, connect func() (*conn, error)) *pool {
	return &pool{
		turns:   service.NewTurns(size),
		idle:    make(chan *conn, size),
		connect: connect,
		stop:    make(chan struct{}),
	}
}

// with runs a function on a connection. One on which the database failed is not used
// again.
func (p *pool) with(ctx context.Context, run func(*conn) error) error {
	select {
	case <-p.stop:
		return errClosed
	default:
	}
	if err := p.permit(ctx, p.turns); err != nil {
		return err
	}
	// Deferred, so that a panic of a rule does not lose the connection.
	defer p.turns.End(ctx)
	c, err := p.connection(ctx)
	if err != nil {
		return err
	}
	defer func() {
		switch {
		case c.open != nil:
			p.leave(c)
		case c.broken:
			p.lost.Add(1)
			_ = c.close() // What it failed at is told already.
		default:
			p.idle <- c
		}
	}()
	return run(c)
}

// errConnect is a connection that could not be made: whatever the reason is, an operator's hand
// was in it, and the same request may work later.
type errConnect struct{ error }

// Unwrap is why.
func (e errConnect) Unwrap() error { return e.error }

// connectAgain is how soon it is looked again where a server has no room for a connection.
const connectAgain = 50 * time.Millisecond

// connection is one that is idle, or a new one. Where the server has no room for more, one of
// ours that becomes idle is waited for, or room.
func (p *pool) connection(ctx context.Context) (*conn, error) {
	begun := time.Now()
	for tries := 0; ; tries++ {
		select {
		case c := <-p.idle:
			return c, nil
		default:
		}
		c, err := p.connect()
		if err == nil {
			p.opened.Add(1)
			return c, nil
		}
		if p.full == nil || !p.full(err) {
			return nil, errConnect{err}
		}
		if tries == 0 {
			p.waited.Add(1)
		}
		if p.patience > 0 && time.Since(begun) >= p.patience {
			p.timedOut.Add(1)
			return nil, errConnect{err}
		}
		if err := service.Pause(ctx, connectAgain); err != nil {
			return nil, err
		}
	}
}

// leave keeps a connection until its commit has ended, beside those that are in use: what
// reads needs those.
func (p *pool) leave(c *conn) {
	p.open.Add(1)
	go func() {
		defer p.open.Add(-1)
		if err := <-c.open; err != nil { // Nobody waits for it any more: it is told to nobody.
			c.broken = true
		}
		_ = c.close() // Whoever asked was told that the outcome is open.
	}()
}

// manyOpen reports whether so many commits are under way that nobody waits for, that another
// one would only be one more.
func (p *pool) manyOpen() bool { return p.open.Load() >= int64(2*p.turns.Size()) }

// permit waits for one of some turns.
func (p *pool) permit(ctx context.Context, turns *service.Turns) error {
	if turns.TryTake(ctx) { // No timer for the ordinary case.
		return nil
	}
	p.waited.Add(1)
	waiting := ctx
	if p.patience > 0 {
		var enough context.CancelFunc
		waiting, enough = context.WithTimeout(ctx, p.patience)
		defer enough()
	}
	if turns.Take(waiting) != nil {
		if ctx.Err() == nil {
			p.timedOut.Add(1)
			return service.ErrBusy
		}
		return ctx.Err()
	}
	select {
	case <-p.stop:
		turns.End(ctx)
		return errClosed
	default:
		return nil
	}
}

// close ends all connections when they are back.
func (p *pool) close() (err error) {
	close(p.stop)
	for range p.turns.Size() {
		_ = p.turns.Take(context.Background()) // Never given back: nobody gets one any more.
	}
	close(p.idle)
	for c := range p.idle {
		err = errors.Join(err, c.close())
	}
	return err
}
