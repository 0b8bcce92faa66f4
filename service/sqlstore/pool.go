package sqlstore

import (
	"cmp"
	"context"
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
	full    func(error) bool // Whether a refused connection was one too many; nil: none is.
	stop    chan struct{}
	// patience is how long a request may spend with the database: with all that it waits for, and
	// all that it asks; 0: as long as the caller waits.
	patience time.Duration

	refused                   chan error   // Why a connection could not be made, for one that waits.
	alive, dialling, awaiting atomic.Int64 // Connections in use or idle, those that are being made, and those that are waited for.
	spare                     atomic.Int64 // The fewest that were idle since trim looked.
	mu                        sync.Mutex   // Of closed, and of what becomes idle beside it.
	closed                    bool

	open                                    atomic.Int64 // Connections whose commit no request waits for any more.
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
		refused: make(chan error),
	}
}

// until returns when a request is to be answered, by what it has spent already, and a function
// that adds what it spends from now on. Zero: at any time.
func (p *pool) until(ctx context.Context) (until time.Time, spent func()) {
	if p.patience == 0 {
		return until, func() {}
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

func (e errConnect) Unwrap() error { return e.error }

// connectAgain is how soon another connection is tried while one is waited for.
const connectAgain = 50 * time.Millisecond

// connection returns one that is idle, or a new one: whichever is there first. While others are
// alive, a connection that a server does not make is not the end: those become idle.
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

// dial makes a connection in the background, unless enough are on their way or there: one that
// hangs, as in a pooler, holds up no request for which another one becomes free.
func (p *pool) dial() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.dialling.Load() >= p.awaiting.Load() || p.alive.Load()+p.dialling.Load() >= int64(p.turns.Size()) {
		return
	}
	p.dialling.Add(1)
	go func() {
		c, err := p.connect()
		if err == nil {
			p.opened.Add(1)
			err = p.join(c)
		}
		p.dialling.Add(-1)
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

// trimEvery is how often connections are given back that were idle all the time.
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

// leave keeps a connection until its commit has ended, beside those that are in use: what
// reads needs those.
func (p *pool) leave(c *conn) {
	p.alive.Add(-1)
	p.open.Add(1)
	go func() {
		defer p.open.Add(-1)
		if err := <-c.open; err != nil { // No request waits for it any more.
			c.broken = true
		}
		_ = c.close() // The caller was told that the outcome is open.
	}()
}

// manyOpen reports whether so many commits are under way that no request waits for, that another
// one would only be one more.
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
func (p *pool) close() (err error) {
	close(p.stop)
	for range p.turns.Size() {
		_ = p.turns.Take(context.Background()) // Never given back: no request gets one any more.
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for {
		select {
		case c := <-p.idle:
			err = errors.Join(err, c.close())
		default:
			return err
		}
	}
}
