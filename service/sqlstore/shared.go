package sqlstore

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"fundesk/apiclient/apitype"
)

// What engines do about many who take from the queue. SQLite has one writer: nobody else is
// at it.

func (e *sqliteEngine) updateShared(ctx context.Context, change func(*conn) error) error {
	return e.update(ctx, change)
}

func (e *sqliteEngine) clockAhead(context.Context) (time.Duration, error) { return 0, nil }

func (e *sqliteEngine) sharesQueue() bool { return false }

func (e *sqliteEngine) lockQueue(facts string, ids []apitype.UUID, n int) (text string, args []any) {
	cond, arg := e.among("c.call_uuid", ids[:min(n, len(ids))])
	return facts + ` WHERE c.ready = 1 AND ` + cond, []any{arg}
}

func (e *sqliteEngine) skipLocked() string { return `` }

func (e *sqliteEngine) forUpdate(string) string { return `` }

// updateShared runs in READ COMMITTED: in a stricter state of the data, whoever finds a row
// that another one took meanwhile has to begin anew.
func (e *postgresEngine) updateShared(ctx context.Context, change func(*conn) error) error {
	if e.pool.manyOpen() {
		return errUnconfirmed
	}
	return e.transact(ctx, `BEGIN ISOLATION LEVEL READ COMMITTED`, func(c *conn) error {
		return guarded(func() error { return change(c) })
	})
}

func (e *postgresEngine) sharesQueue() bool { return true }

// lockQueue looks for facts about the calls only that it got: many of the first are others'.
func (e *postgresEngine) lockQueue(facts string, ids []apitype.UUID, n int) (text string, args []any) {
	return `WITH locked AS MATERIALIZED (
			SELECT c.* FROM queue_calls c JOIN unnest($1::uuid[]) WITH ORDINALITY AS places (call_uuid, place) ON places.call_uuid = c.call_uuid
			WHERE c.ready = 1 ORDER BY places.place LIMIT $2 FOR UPDATE OF c SKIP LOCKED
		) ` + strings.Replace(facts, `FROM queue_calls c`, `FROM locked c`, 1), []any{`{` + strings.Join(texts(ids), `,`) + `}`, n}
}

func (e *postgresEngine) skipLocked() string { return ` FOR UPDATE SKIP LOCKED` }

func (e *postgresEngine) forUpdate(of string) string { return ` FOR UPDATE OF ` + of }

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

// clockAhead is how far the server's clock is ahead of the system's.
func (e *postgresEngine) clockAhead(ctx context.Context) (time.Duration, error) {
	now := time.Now()
	if seen := e.clock.seen.Load(); seen > 0 && now.Sub(time.Unix(0, seen)) < clockLife {
		return time.Duration(e.clock.ahead.Load()), nil
	}
	var server int64
	err := e.ask(ctx, func(c *conn) error {
		return c.row(`SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`).scan(&server)
	})
	if err != nil {
		return 0, err
	}
	ahead := time.UnixMicro(server).Sub(now.Add(time.Since(now) / 2))
	if ahead.Abs() < clockSame {
		ahead = 0
	}
	e.clock.ahead.Store(int64(ahead))
	e.clock.seen.Store(now.UnixNano())
	return ahead, nil
}
