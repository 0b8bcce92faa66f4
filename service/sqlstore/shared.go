package sqlstore

import (
	"context"
	"sync/atomic"
	"time"
)

// What engines do about many who take from the queue. SQLite has one writer: nobody else is
// at it.

func (e *sqliteEngine) updateShared(ctx context.Context, change func(*conn) error) error {
	return e.update(ctx, change)
}

func (e *sqliteEngine) ClockAhead(context.Context) (time.Duration, error) { return 0, nil }

func (e *sqliteEngine) sharesQueue() bool { return false }

func (e *sqliteEngine) locking(string) string { return `` }

func (e *sqliteEngine) loadsAlone(*conn, bool) error { return nil }

// maxTakers is how many changes of one process are at the queue at one time: each more passes
// over what the others hold, and waits for the pages on which they work.
const maxTakers = 4

// updateShared runs in READ COMMITTED: in a stricter state of the data, whoever finds a row
// that another one took meanwhile has to begin anew.
func (e *postgresEngine) updateShared(ctx context.Context, change func(*conn) error) error {
	if e.pool.manyOpen() {
		return errUnconfirmed
	}
	if err := e.pool.permit(ctx, e.takers); err != nil {
		return err
	}
	defer e.takers.End(ctx)
	return e.transact(ctx, `BEGIN ISOLATION LEVEL READ COMMITTED`, func(c *conn) error {
		return guarded(func() error { return change(c) })
	})
}

func (e *postgresEngine) sharesQueue() bool { return true }

func (e *postgresEngine) locking(strength string) string { return ` FOR ` + strength }

func (e *postgresEngine) loadsAlone(c *conn, load bool) error {
	text := `SELECT pg_advisory_xact_lock(7305804402567)`
	if load {
		text = `SELECT pg_advisory_xact_lock_shared(7305804402567)`
	}
	_, err := c.exec(text)
	return err
}

// clockLife is how long the difference of two clocks is taken to stay the same, and clockSame
// what is no difference.
const (
	clockLife = 10 * time.Second
	clockSame = 100 * time.Millisecond
)

// sharedClock is the server's clock as it was seen last.
type sharedClock struct {
	seen  atomic.Int64 // Nanoseconds since 1970; 0: never.
	ahead atomic.Int64
}

// ClockAhead is how far the server's clock is ahead of the system's.
func (e *postgresEngine) ClockAhead(ctx context.Context) (ahead time.Duration, err error) {
	now := time.Now()
	if seen := e.clock.seen.Load(); seen > 0 && now.Sub(time.Unix(0, seen)) < clockLife {
		return time.Duration(e.clock.ahead.Load()), nil
	}
	var server int64
	err = e.ask(ctx, func(c *conn) error {
		return c.row(`SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`).scan(&server)
	})
	if err == nil {
		ahead = aheadBy(time.UnixMicro(server), now, time.Now())
		e.clock.ahead.Store(int64(ahead))
		e.clock.seen.Store(now.UnixNano())
	}
	return ahead, err
}

// aheadBy is how far a clock is ahead that was read when it was asked, when it answered or at any moment
// between; 0 where it may be the same.
func aheadBy(read, asked, answered time.Time) time.Duration {
	half := answered.Sub(asked) / 2
	ahead := read.Sub(asked.Add(half))
	if ahead.Abs() < clockSame+half {
		return 0
	}
	return ahead
}
