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

func (e *sqliteEngine) sharesQueue() bool { return false }

// isTaken returns false: one transaction writes at a time.
func (e *sqliteEngine) isTaken(error) bool { return false }

func (e *sqliteEngine) locking(string) string { return `` }

// spelled replaces $1, $2, … by ?, if they come in this order and once each. SQLite looks up the name of a parameter in
// a list whenever it is bound.
func (*sqliteEngine) spelled(text string) string {
	var b strings.Builder
	rest := text
	for n := 1; ; n++ {
		before, after, found := strings.Cut(rest, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		rest, found = strings.CutPrefix(after, strconv.Itoa(n))
		isLonger := rest != "" && '0' <= rest[0] && rest[0] <= '9'
		if !found || isLonger {
			return text
		}
		b.WriteByte('?')
	}
}

// lead needs no lock: one process serves a file, and its changes follow each other.
func (e *sqliteEngine) lead(_ *conn, now int64, pause time.Duration) (last int64, isLeader bool, err error) {
	last = e.tended
	isLeader = isDue(last, now, pause)
	if isLeader {
		e.tended = now
	}
	return last, isLeader, nil
}

// isDue reports whether a pause has passed since a time, which a clock that was moved back leaves ahead.
func isDue(last, now int64, pause time.Duration) bool {
	return now < last || now-last >= pause.Milliseconds()
}

func (e *sqliteEngine) oneAtATime(string) string { return `` }

func (e *sqliteEngine) excludeErasure(*conn, bool) error { return nil }

// maxTakers limits the changes of one process at the queue. Each further one skips the rows that the others hold, and
// waits for their pages.
const maxTakers = 4

func (e *postgresEngine) sharesQueue() bool { return true }

const uniqueViolation = "23505"

func (e *postgresEngine) isTaken(err error) bool { return e.driver.Code(err) == uniqueViolation }

// lead takes a lock that ends with the transaction: a process that was killed, or a session that a pooler keeps, does
// not hold it. The server ends the transaction of a process that is silent in it.
const (
	leadQueue = `SELECT
		pg_try_advisory_xact_lock(7305804402568),
		(SELECT last_value FROM tended_times),
		set_config('idle_in_transaction_session_timeout', '5s', true)`
	noteTended = `SELECT setval('tended_times', $1)`
)

func (e *postgresEngine) lead(c *conn, now int64, pause time.Duration) (last int64, isLeader bool, err error) {
	err = c.row(leadQueue).scan(&isLeader, &last, new(string))
	if err != nil || !isLeader || !isDue(last, now, pause) {
		return last, false, err
	}
	return last, true, c.row(noteTended, now).scan(new(int64))
}

// oneAtATime waits in the statement that is asked anyway. Its counts are then of the time before, so claimMany counts
// again.
func (e *postgresEngine) oneAtATime(user string) string {
	return ` FROM pg_advisory_xact_lock(730580440, hashtext(CAST(CAST(` + user + ` AS UUID) AS TEXT)))`
}

func (*postgresEngine) spelled(text string) string { return text }

func (e *postgresEngine) locking(strength string) string { return ` FOR ` + strength }

// excludeErasure also lets a load read by indexes alone. Without statistics of the rows that it has added, PostgreSQL
// would read whole tables for each donor.
func (e *postgresEngine) excludeErasure(c *conn, load bool) error {
	text := `SELECT pg_advisory_xact_lock(7305804402567)`
	if load {
		text = `SELECT pg_advisory_xact_lock_shared(7305804402567), set_config('enable_seqscan', 'off', true)`
	}
	_, err := c.exec(text)
	return err
}

// clockLife is the time for which a measured difference of two clocks is used. clockSame is the largest difference that
// is ignored.
const (
	clockLife = 10 * time.Second
	clockSame = 100 * time.Millisecond
)

// sharedClock is the server's clock as it was seen last.
type sharedClock struct {
	seen  atomic.Int64 // Nanoseconds since 1970. Zero means never.
	ahead atomic.Int64
}

func (e *postgresEngine) ClockAhead(ctx context.Context) (time.Duration, error) {
	now := e.now()
	if seen := e.clock.seen.Load(); seen > 0 && now.Sub(time.Unix(0, seen)) < clockLife {
		return time.Duration(e.clock.ahead.Load()), nil
	}
	var server int64
	err := e.read(ctx, service.ReadRecord, func(c *conn) error {
		return c.row(`SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`).scan(&server)
	})
	if err != nil {
		return 0, err
	}
	ahead := aheadBy(time.UnixMicro(server), now, e.now())
	e.clock.ahead.Store(int64(ahead))
	e.clock.seen.Store(now.UnixNano())
	return ahead, nil
}

// aheadBy returns how far a clock is ahead that was read at some moment between asking and the answer. It returns 0 if
// the clocks may agree.
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

func (e *sqliteEngine) among(column string, ids []apitype.UUID) (string, any) {
	return column + ` IN (SELECT unhex(value, '-') FROM json_each($1))`, `["` + strings.Join(texts(ids), `","`) + `"]`
}

func (e *sqliteEngine) amongNumbers(column string, numbers []int64) (string, any) {
	list := []byte{'['}
	for _, number := range numbers {
		list = append(strconv.AppendInt(list, number, 10), ',')
	}
	return column + ` IN (SELECT value FROM json_each($1))`, string(append(list[:max(len(list)-1, 1)], ']'))
}

func (e *sqliteEngine) amongTexts(column, place string, texts []string) (string, any) {
	return column + ` IN (SELECT value FROM json_each(` + place + `))`, quotedTexts(`[`, texts, `]`)
}

func (e *postgresEngine) amongTexts(column, place string, texts []string) (string, any) {
	return column + ` = ANY(` + place + `::text[])`, quotedTexts(`{`, texts, `}`)
}

func (*sqliteEngine) contains(column, place string) string {
	return `instr(` + column + `, ` + place + `) > 0`
}

func (*postgresEngine) contains(column, place string) string {
	return `position(` + place + `::bytea IN ` + column + `) > 0`
}

func (*sqliteEngine) json(column string) string { return `CAST(` + column + ` AS TEXT)` }
func (*postgresEngine) json(column string) string {
	return `convert_from(` + column + `, 'UTF8')::json`
}

// quotedTexts returns a list of texts that contain no quotes and backslashes.
func quotedTexts(begin string, texts []string, end string) string {
	if len(texts) == 0 {
		return begin + end
	}
	return begin + `"` + strings.Join(texts, `","`) + `"` + end
}

func (e *postgresEngine) among(column string, ids []apitype.UUID) (string, any) {
	return column + ` = ANY($1::uuid[])`, `{` + strings.Join(texts(ids), `,`) + `}`
}

func (e *postgresEngine) amongNumbers(column string, numbers []int64) (string, any) {
	return column + ` = ANY($1::bigint[])`, numbers
}

// insertPersonAudited adds a person, by what it is found, and the line about it by the number that the person got.
var insertPersonAudited = sync.OnceValue(func() string {
	terms := len(personColumns) + 1
	places := placesFrom(terms, 2)
	return `WITH person AS (` + insertPerson() + ` ON CONFLICT DO NOTHING RETURNING number, created_at, uuid, owner),
	searched AS (INSERT INTO search_persons (created_at, uuid, owner, number, terms, letters)
		SELECT created_at, uuid, owner, number, ` + strings.Join(places, `, `) + ` FROM person),
	found AS (INSERT INTO search_terms (term, created_at, uuid, owner, number, letters)
		SELECT x.value, created_at, uuid, owner, number, ` + places[1] + `
		FROM person, unnest(string_to_array(LTRIM(` + places[0] + `), ' ')) AS x (value))
	INSERT INTO audit (` + strings.Join(auditColumns, `, `) + `)
	SELECT ` + strings.Join(placesFrom(terms+2, auditArguments), `, `) + `, number FROM person`
})

// insertPerson uses one statement, because most of the cost of a second one is running it.
func (e *postgresEngine) insertPerson(c *conn, p service.PersonRow, line service.AuditLine) error {
	n, err := c.exec(
		insertPersonAudited(),
		slices.Concat(personDest(&p), []any{joinTerms(p.Terms), service.Letters(p.Terms...)}, auditDest(&line))...)
	if err != nil {
		return err
	}
	if n == 0 {
		return service.ErrExists
	}
	return nil
}

// advanceNumbers moves the sequence behind the numbers that rows were written with.
func (e *postgresEngine) advanceNumbers(c *conn, table string) error {
	_, err := c.exec(`SELECT setval('` + table + `_number_seq', (SELECT MAX(number) FROM ` + table + `))`)
	return err
}
