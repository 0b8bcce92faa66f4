package sqlstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// What engines do about many takes at a time. SQLite has one writer: takes follow each other.

func (e *sqliteEngine) ClockAhead(context.Context) (time.Duration, error) { return 0, nil }

// settledLife is how long it holds what was found of changes that are not visible yet.
const settledLife = time.Second

// settledMark is a moment before which nothing was begun that is not visible now.
type settledMark struct {
	seen    atomic.Pointer[settledAt]
	looking atomic.Bool
}

// settledAt is such a moment, and when it was looked for.
type settledAt struct{ at, looked time.Time }

// age returns how long ago the moment was, and whether it was looked for lately.
func (m *settledMark) age() (age time.Duration, isNew, ok bool) {
	seen := m.seen.Load()
	if seen == nil {
		return 0, false, false
	}
	return time.Since(seen.at), time.Since(seen.looked) < settledLife, true
}

// settledPatience is how long a list waits for the writer to look.
const settledPatience = 50 * time.Millisecond

// Settled asks the writer when it did not begin lately: the one with the turn to write sees everything
// that was begun before. One that waits for another process, or writes much, is not waited for.
func (e *sqliteEngine) Settled(ctx context.Context) (time.Duration, bool) {
	if age, isNew, ok := e.settled.age(); isNew || !e.settled.looking.CompareAndSwap(false, true) {
		return age, ok
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer e.settled.looking.Store(false)
		_ = e.write(context.WithoutCancel(ctx), service.WriteIsolated, func(*conn) error { return nil }) // Its beginning sets the mark.
	}()
	enough := time.NewTimer(settledPatience)
	defer enough.Stop()
	select {
	case <-done:
	case <-enough.C:
	}
	age, _, ok := e.settled.age()
	return age, ok
}

// settledMargin covers what the clocks of two machines may differ by unnoticed, and the moment between
// the begin of a transaction and the server's list of it.
const settledMargin = time.Second

// openChanges is the age of the oldest transaction of our processes, in microseconds; null where a
// session of another role does not show its own.
const openChanges = `SELECT CASE WHEN COUNT(*) FILTER (WHERE state IS NULL OR state = 'disabled') = 0
		THEN CAST(EXTRACT(EPOCH FROM clock_timestamp() - COALESCE(LEAST(MIN(xact_start), clock_timestamp()), clock_timestamp())) * 1000000 AS BIGINT) END
	FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '` + application + `%' AND pid <> pg_backend_pid()`

// Settled asks the server for the oldest transaction of any process of the service. A commit that waits
// for a standby is one.
func (e *postgresEngine) Settled(ctx context.Context) (time.Duration, bool) {
	if age, isNew, ok := e.open.age(); isNew {
		return age, ok
	}
	asked := time.Now()
	var micros *int64
	err := e.again(ctx, func(c *conn) error { return c.row(openChanges).scan(&micros) })
	if err != nil || micros == nil {
		return 0, false
	}
	age := time.Duration(*micros)*time.Microsecond + settledMargin
	e.open.seen.Store(&settledAt{asked.Add(-age), asked})
	return time.Since(asked) + age, true
}

func (e *sqliteEngine) sharesQueue() bool { return false }

func (e *sqliteEngine) locking(string) string { return `` }

// spelled has ? for $1, $2 and so on where they stand in this order, each once: SQLite looks up
// the name of a parameter in a list whenever it is bound.
func (*sqliteEngine) spelled(text string) string {
	var b strings.Builder
	rest := text
	for n := 1; ; n++ {
		before, after, found := strings.Cut(rest, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if rest, found = strings.CutPrefix(after, strconv.Itoa(n)); !found || rest != "" && '0' <= rest[0] && rest[0] <= '9' {
			return text
		}
		b.WriteByte('?')
	}
}

func (e *sqliteEngine) excludeErasure(*conn, bool) error { return nil }

// maxTakers is how many changes of one process are at the queue at one time: each more passes
// over what the others hold, and waits for the pages on which they work.
const maxTakers = 4

func (e *postgresEngine) sharesQueue() bool { return true }

func (*postgresEngine) spelled(text string) string { return text }

func (e *postgresEngine) locking(strength string) string { return ` FOR ` + strength }

func (e *postgresEngine) excludeErasure(c *conn, load bool) error {
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

func (e *postgresEngine) ClockAhead(ctx context.Context) (ahead time.Duration, err error) {
	now := e.now()
	if seen := e.clock.seen.Load(); seen > 0 && now.Sub(time.Unix(0, seen)) < clockLife {
		return time.Duration(e.clock.ahead.Load()), nil
	}
	var server int64
	err = e.read(ctx, service.ReadRecord, func(c *conn) error {
		return c.row(`SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`).scan(&server)
	})
	if err == nil {
		ahead = aheadBy(time.UnixMicro(server), now, e.now())
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

// Lists of identifiers and numbers as one argument, as each engine reads them: a statement is the same
// for any number of them.

func (e *sqliteEngine) among(column string, ids []apitype.UUID) (cond string, arg any) {
	return column + ` IN (SELECT unhex(value, '-') FROM json_each($1))`, `["` + strings.Join(texts(ids), `","`) + `"]`
}

func (e *sqliteEngine) amongNumbers(column string, numbers []int64) (cond string, arg any) {
	list := []byte{'['}
	for _, number := range numbers {
		list = append(strconv.AppendInt(list, number, 10), ',')
	}
	return column + ` IN (SELECT value FROM json_each($1))`, string(append(list[:max(len(list)-1, 1)], ']'))
}

func (e *postgresEngine) among(column string, ids []apitype.UUID) (cond string, arg any) {
	return column + ` = ANY($1::uuid[])`, `{` + strings.Join(texts(ids), `,`) + `}`
}

func (e *postgresEngine) amongNumbers(column string, numbers []int64) (cond string, arg any) {
	return column + ` = ANY($1::bigint[])`, numbers
}

// insertPersonAudited adds a person, and the line about it by the number that the person got.
var insertPersonAudited = sync.OnceValue(func() string {
	return `WITH person AS (` + insertPerson() + ` ON CONFLICT DO NOTHING RETURNING number)
	INSERT INTO audit (` + strings.Join(auditColumns, `, `) + `)
	SELECT ` + strings.Join(placesFrom(len(personColumns)+1, auditArguments), `, `) + `, number FROM person`
})

// insertPerson is one statement: being run at all is most of what a second one costs.
func (e *postgresEngine) insertPerson(c *conn, person, line []any) error {
	n, err := c.exec(insertPersonAudited(), slices.Concat(person, line)...)
	if err == nil && n == 0 {
		return service.ErrExists
	}
	return err
}

// advanceNumbers moves the sequence behind the numbers that rows were written with.
func (e *postgresEngine) advanceNumbers(c *conn, table string) error {
	_, err := c.exec(`SELECT setval('` + table + `_number_seq', (SELECT MAX(number) FROM ` + table + `))`)
	return err
}
