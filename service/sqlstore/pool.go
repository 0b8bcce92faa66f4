package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/service"
)

var errClosed = errors.New("the database is closed")

// pool hands out connections, each to one goroutine at a time, and keeps them with
// their statements. It opens no more than are used at once.
type pool struct {
	turns   *service.Turns // One for each connection that may be in use.
	idle    chan *conn
	connect func() (*conn, error)
	full    func(error) bool // Reports whether the server has too many connections. Nil if it cannot.
	stop    chan struct{}
	// patience limits the time of a request in the database, including all waits and statements. Zero sets no limit.
	patience time.Duration

	// The error of a connection that could not be made, for a request that waits.
	refused                   chan error
	alive, dialling, awaiting atomic.Int64 // Open connections, connections being opened, and waiting requests.
	spare                     atomic.Int64 // The fewest that were idle since trim looked.
	mu                        sync.Mutex   // Guards closed, and the connections that become idle at the same time.
	closed                    bool

	open                                    atomic.Int64 // Connections with a commit that no request waits for.
	opened, lost, waited, timedOut, retried atomic.Int64
}

// PoolStats counts the connections of a store since it was opened.
type PoolStats struct {
	InUse, Most int
	Opened      int64
	Lost        int64 // Closed because the database failed on them.
	Waited      int64 // Times that all were in use.
	TimedOut    int64 // The part of Waited that got none.
	Retried     int64 // Transactions and statements that ran again.
}

func (p *pool) stats() PoolStats {
	return PoolStats{
		p.turns.Held(),
		p.turns.Size(),
		p.opened.Load(),
		p.lost.Load(),
		p.waited.Load(),
		p.timedOut.Load(),
		p.retried.Load(),
	}
}

func (s PoolStats) plus(o PoolStats) PoolStats {
	return PoolStats{
		s.InUse + o.InUse,
		s.Most + o.Most,
		s.Opened + o.Opened,
		s.Lost + o.Lost,
		s.Waited + o.Waited,
		s.TimedOut + o.TimedOut,
		s.Retried + o.Retried,
	}
}

func newPool(size int, connect func() (*conn, error)) *pool {
	return &pool{
		turns:   service.NewTurns(size),
		idle:    make(chan *conn, size),
		connect: connect,
		stop:    make(chan struct{}),
		refused: make(chan error),
	}
}

// until returns the deadline of a request, less the time that it has used already, and a function that adds the time
// that it uses from now on. Zero means no deadline.
func (p *pool) until(ctx context.Context) (time.Time, func()) {
	if p.patience == 0 {
		return time.Time{}, func() {}
	}
	begun, before := time.Now(), service.RequestOf(ctx).Spent
	if before == nil {
		return begun.Add(p.patience), func() {}
	}
	return begun.Add(p.patience - time.Duration(before.Load())), func() { before.Add(int64(time.Since(begun))) }
}

// with runs a function on a connection. One on which the database failed is not used
// again.
func (p *pool) with(ctx context.Context, run func(*conn) error) error {
	select {
	case <-p.stop:
		return errClosed
	default:
	}
	until, spent := p.until(ctx)
	defer spent()
	if err := p.permit(ctx, p.turns, until); err != nil {
		return err
	}
	// Deferred, so that a panic of a rule does not lose the connection.
	defer p.turns.End(ctx)
	c, err := p.connection(ctx, until)
	if err != nil {
		return err
	}
	c.until = until
	defer func() {
		switch {
		case c.open != nil:
			p.leave(c)
		case c.broken:
			p.lost.Add(1)
			p.alive.Add(-1)
			_ = c.close() // Its error was already reported.
		default:
			p.idle <- c
		}
	}()
	return run(c)
}

// errConnect is a connection that could not be made: whatever the reason is, an operator's hand
// was in it, and the same request may work later.
type errConnect struct{ error }

func (e errConnect) Unwrap() error { return e.error }

// connectAgain is the pause before a waiting request tries another connection.
const connectAgain = 50 * time.Millisecond

// connection returns an idle connection or a new one, whichever comes first. If the server refuses a new one while
// others are alive, it waits for one of these.
func (p *pool) connection(ctx context.Context, until time.Time) (*conn, error) {
	select {
	case c := <-p.idle:
		p.taken()
		return c, nil
	default:
	}
	p.awaiting.Add(1)
	defer p.awaiting.Add(-1)
	waiting, enough := ctx, context.CancelFunc(func() {})
	if !until.IsZero() {
		waiting, enough = context.WithDeadline(ctx, until)
	}
	defer enough()
	again := time.NewTicker(connectAgain)
	defer again.Stop()
	var refusal error
	for {
		p.dial()
		select {
		case c := <-p.idle:
			p.taken()
			return c, nil
		case err := <-p.refused:
			isFull := p.full != nil && p.full(err)
			if p.full == nil || !isFull && p.alive.Load() == 0 {
				return nil, errConnect{err}
			}
			if refusal == nil && isFull {
				p.waited.Add(1)
			}
			refusal = err
			<-again.C
		case <-again.C:
		case <-waiting.Done():
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			p.timedOut.Add(1)
			return nil, errConnect{cmp.Or[error](refusal, service.ErrBusy)}
		}
	}
}

// dial opens a connection in the background, unless there are enough. So a connection that hangs, as in a pooler, does
// not delay a request that gets another connection.
func (p *pool) dial() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.dialling.Load() >= p.awaiting.Load() || p.alive.Load()+p.dialling.Load() >= int64(p.turns.Size()) {
		return
	}
	p.dialling.Add(1)
	go func() {
		// Count down after the error is delivered: a new attempt would leave the next request an old error.
		defer p.dialling.Add(-1)
		c, err := p.connect()
		if err == nil {
			p.opened.Add(1)
			err = p.join(c)
		}
		if err == nil {
			return
		}
		select {
		case p.refused <- err:
		case <-p.stop:
		case <-time.After(connectAgain): // No request waits.
		}
	}()
}

// join lets a new connection be idle.
func (p *pool) join(c *conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errors.Join(errClosed, c.close())
	}
	p.alive.Add(1)
	p.idle <- c
	return nil
}

// taken notes how few connections are idle.
func (p *pool) taken() {
	if n := int64(len(p.idle)); n < p.spare.Load() {
		p.spare.Store(n)
	}
}

// trimEvery is the interval after which idle connections are closed.
const trimEvery = 2 * time.Second

// trim gives connections back that were idle for a while, all but one, so that other processes
// find room at the server or in a pooler. It ends with the pool.
func (p *pool) trim() {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
		spare := min(p.spare.Load(), p.alive.Load()-1)
		for ; spare > 0; spare-- {
			select {
			case c := <-p.idle:
				p.alive.Add(-1)
				_ = c.close() // Nothing was under way on it.
			default:
			}
		}
		p.spare.Store(int64(len(p.idle)))
	}
}

// leave keeps a connection until its commit has ended, without counting it as in use: reads need that room.
func (p *pool) leave(c *conn) {
	p.alive.Add(-1)
	p.open.Add(1)
	go func() {
		defer p.open.Add(-1)
		if err := <-c.open; err != nil { // No request waits for it any more.
			c.broken = true
		}
		_ = c.close() // The caller got the answer that the outcome is open.
	}()
}

// manyOpen reports whether too many commits without a waiting request are under way for one more.
func (p *pool) manyOpen() bool { return p.open.Load() >= int64(2*p.turns.Size()) }

// permit waits for one of some turns.
func (p *pool) permit(ctx context.Context, turns *service.Turns, until time.Time) error {
	if turns.TryTake(ctx) { // No timer for the ordinary case.
		return nil
	}
	p.waited.Add(1)
	waiting := ctx
	if !until.IsZero() {
		var enough context.CancelFunc
		waiting, enough = context.WithDeadline(ctx, until)
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
func (p *pool) close() error {
	close(p.stop)
	for range p.turns.Size() {
		_ = p.turns.Take(context.Background()) // Never given back: no request gets one any more.
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	var err error
	for {
		select {
		case c := <-p.idle:
			err = errors.Join(err, c.close())
		default:
			return err
		}
	}
}

// conn is one connection with its prepared statements. It is used by one goroutine at
// a time, for one transaction, and only as long as that lasts.
type conn struct {
	ctx        context.Context // Of the transaction, never cancelled in the middle of a statement.
	raw        *sql.Conn
	engine     engine
	statements map[string]*sql.Stmt
	parsed     map[accountLists]service.Account
	lines      []service.AuditLine // Of changes that are not committed yet. The commit saves them.
	broken     bool                // A statement was refused by the database, not by a rule.
	ahead      time.Duration       // How far the store's clock was ahead of the system's when the change began.
	given      int64               // The last time that the commit gave to a change. Zero if it gave none.
	open       <-chan error        // The outcome of a commit that is still under way; nil when none is.
	until      time.Time           // The deadline of its request. Zero means none.
}

// maxStatements bounds the prepared statements of a connection: lists make texts by
// their filters.
const maxStatements = 200

// prepare returns a prepared statement, and reuses an earlier one.
func (c *conn) prepare(text string) (*sql.Stmt, error) {
	if s, ok := c.statements[text]; ok {
		return s, nil
	}
	if len(c.statements) >= maxStatements {
		if err := c.forget(); err != nil {
			return nil, c.fail(err)
		}
	}
	s, err := c.raw.PrepareContext(c.ctx, c.engine.spelled(text))
	if err != nil {
		return nil, c.fail(err)
	}
	c.statements[text] = s
	return s, nil
}

func (c *conn) forget() error {
	var err error
	for text, s := range c.statements {
		err = errors.Join(err, s.Close())
		delete(c.statements, text)
	}
	return err
}

// close ends the connection. An open statement would keep the file and its log open.
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
	s, err := r.conn.prepare(r.text) //nolint:sqlclosecheck // The same.
	if err != nil {
		return err
	}
	err = s.QueryRowContext(r.conn.ctx, r.args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return service.ErrNoRow
	}
	return r.conn.fail(err)
}

func (c *conn) each(text string, args []any, read func(*sql.Rows) error) (err error) {
	s, err := c.prepare(text) //nolint:sqlclosecheck // The same.
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

func textDest(text *string) []any { return []any{text} }

// all reads all rows of a query, each into the values of dest.
func all[T any](c *conn, text string, args []any, dest func(*T) []any) ([]T, error) {
	var rows []T
	err := c.each(text, args, func(result *sql.Rows) error {
		var row T
		err := result.Scan(dest(&row)...)
		rows = append(rows, row)
		return err
	})
	return rows, err
}
