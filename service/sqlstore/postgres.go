package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/service"
)

// postgresConnections is the default number of connections of one process.
const postgresConnections = 16

// PostgresDriver is the client library of PostgreSQL. A program that serves PostgreSQL
// brings one (package pgdriver); the others need not link it.
type PostgresDriver interface {
	// Open returns a pool of connections. The host may take connectTimeout to answer. Zero means the time in the name,
	// or 3 s. A server that is silent for answerTimeout during a request is lost. Zero sets no limit. Its error does
	// not contain the name.
	Open(database string, connectTimeout, answerTimeout time.Duration) (*sql.DB, error)
	// BeginAt runs the text that begins a transaction over a connection as sql.Conn.Raw passes it, and returns the
	// server's time of the start.
	BeginAt(ctx context.Context, connection any, text string) (time.Time, error)
	// Until sets the time after which a connection, as sql.Conn.Raw passes it, waits for no answer except a commit's.
	// Zero sets none.
	Until(connection any, at time.Time) error
	// Rewrite rewrites a table over a connection as sql.Conn.Raw hands it out. It returns how many dead rows the server
	// kept because another transaction could still see them.
	Rewrite(ctx context.Context, connection any, table string) (dead int64, err error)
	// Code returns the SQLSTATE of the server's refusal, or an empty text for any other error.
	Code(err error) string
	// Disconnected reports whether the server was not reached.
	Disconnected(err error) bool
	// Commit ends a transaction over a connection as sql.Conn.Raw hands it out. It takes any
	// time, and nothing cancels it. An error that is not a refusal of the server leaves open
	// whether the transaction is kept. Before, in the same round trip, a statement is run once with
	// each of some rows as its arguments.
	Commit(connection any, text string, rows [][]any) error
}

// postgresEngine is a PostgreSQL database that any number of processes share. Nothing
// of it is kept in memory.
type postgresEngine struct {
	driver  PostgresDriver
	now     func() time.Time
	name    string // Of the database; it may hold a password.
	named   string // The identity of the database.
	db      *sql.DB
	pool    *pool
	takers  *service.Turns // One for each change that is at the queue.
	clock   sharedClock
	marks   settledMarks
	once    sync.Once
	damaged atomic.Bool // A damaged page was read, and no change was saved since.
	failed  atomic.Bool // The server's disk failed, and no change that shows the contrary was tried since.
	probe   probe
	refused atomic.Bool  // The server refused access to a table, and no record was changed since.
	waits   atomic.Bool  // A commit was not confirmed in time, and no other one was since.
	tried   atomic.Int64 // The last check of a confirmed commit, in nanoseconds since 1970. Zero means check.
}

func openPostgres(ctx context.Context, o Options) (*postgresEngine, error) {
	if o.Postgres == nil {
		return nil, errors.New("this program serves SQLite only; fundeskd serves PostgreSQL")
	}
	o.NoMigrate = o.NoMigrate || o.Inspect
	if err := migratePostgres(ctx, o); err != nil {
		away, ok := errors.AsType[*service.Error](err)
		if ok && away.Cause != nil && strings.Contains(away.Cause.Error(), statementPooling) {
			err = errNoSessions
		}
		return nil, err
	}
	db, err := o.Postgres.Open(o.Database, o.ConnectTimeout, o.AnswerTimeout)
	if err != nil {
		return nil, err
	}
	size := cmp.Or(max(o.Connections, 0), postgresConnections)
	e := &postgresEngine{
		driver: o.Postgres,
		now:    o.Now,
		name:   o.Database,
		db:     db,
		takers: service.NewTurns(maxTakers),
	}
	if e.now == nil {
		e.now = time.Now
	}
	e.db.SetMaxIdleConns(-1) // The pool keeps the used ones.
	e.pool = newPool(size, e.connect)
	e.pool.patience = o.AnswerTimeout
	err = e.keepsSessions(ctx, size)
	if err == nil && o.Inspect {
		err = keyThere(ctx, e)
	}
	if err == nil {
		err = e.readIdentity(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	e.pool.full = e.full
	go e.pool.trim()
	return e, nil
}

// statementPooling is a part of PgBouncer's refusal of a transaction. Its code is also the code of a server that is
// away, which is waited for.
const statementPooling = "statement pooling mode"

var errNoSessions = errors.New(
	"the pooler in front of it does not keep sessions, which prepared statements and locks need; " +
		"set pool_mode = session in PgBouncer, or name the server itself",
)

// keepsSessions refuses a pooler that gives a session of the server to the next client: two
// connections of ours then reach the same one, or find there what the other one prepared.
func (e *postgresEngine) keepsSessions(ctx context.Context, connections int) error {
	p := e.pool
	if connections < 2 {
		p = newPool(2, e.connect)
		defer func() { _ = p.close() }() // Whatever was asked of it is answered.
	}
	session := func(next func(id int) error) error {
		return p.with(ctx, func(c *conn) error {
			var id int
			if err := c.row(`SELECT pg_backend_pid()`).scan(&id); err != nil {
				return err
			}
			return next(id)
		})
	}
	err := session(func(first int) error {
		return session(func(second int) error {
			if first == second {
				return errNoSessions
			}
			return nil
		})
	})
	code := e.driver.Code(err)
	if code == "42P05" || code == "26000" { // A statement of that name exists already, or does not exist.
		return errNoSessions
	}
	if e.full(err) {
		return nil // There is room for one connection only.
	}
	return e.refusal(err)
}

// migratePostgres migrates the schema over its own connection, without a deadline. Other processes may migrate at the
// same time.
func migratePostgres(ctx context.Context, o Options) error {
	db, err := o.Postgres.Open(o.Database, o.ConnectTimeout, 0)
	if err != nil {
		return err
	}
	e := &postgresEngine{driver: o.Postgres, now: time.Now, db: db}
	e.pool = newPool(1, e.connect)
	return errors.Join(e.migrate(ctx, o), e.Close())
}

func (e *postgresEngine) connect() (*conn, error) {
	raw, err := e.db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	return &conn{
		ctx:        context.Background(),
		raw:        raw,
		engine:     e,
		statements: map[string]*sql.Stmt{},
	}, nil
}

// full reports whether the server refused a connection because it has too many.
func (e *postgresEngine) full(err error) bool { return e.driver.Code(err) == "53300" }

// minTries is the number of times that a transaction is tried, even without a deadline.
const minTries = 20

// planOnce lets the server keep the plans of a transaction's statements. It would plan those of the queue anew each
// time, which takes up to 17 ms, longer than to run them. A list of records needs a plan for its values.
const planOnce = `; SET LOCAL plan_cache_mode = force_generic_plan`

// readOnly begins what sees one state of the data.
const readOnly = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`

// read reads one state of the data in a transaction, or runs single statements. Reads may run again on another
// connection if one is lost.
func (e *postgresEngine) read(ctx context.Context, mode service.ReadMode, read func(*conn) error) error {
	switch mode {
	case service.ReadSnapshot:
		return e.transact(ctx, readOnly, read)
	case service.ReadPlanned:
		return e.transact(ctx, readOnly+planOnce, read)
	default:
	}
	return e.again(ctx, func(c *conn) error {
		err := read(c)
		if c.broken &&
			(e.disconnected(err) || strings.HasPrefix(e.driver.Code(err), "57P")) { // 57P: an operator ended it.
			err = errBegin{err}
		}
		return err
	})
}

// write changes the data. If two isolated transactions change the same row, the database refuses the later one, and it
// runs again on the result of the first. A shared transaction would have to restart at each row that another one took,
// so it runs in READ COMMITTED, a few at a time.
func (e *postgresEngine) write(ctx context.Context, mode service.WriteMode, change func(*conn) error) error {
	if e.pool.manyOpen() {
		return errUnconfirmed
	}
	begin := `BEGIN ISOLATION LEVEL REPEATABLE READ`
	if mode == service.WriteShared {
		begin = `BEGIN ISOLATION LEVEL READ COMMITTED` + planOnce
		until, spent := e.pool.until(ctx)
		err := e.pool.permit(ctx, e.takers, until)
		if spent(); err != nil {
			return err
		}
		defer e.takers.End(ctx)
	}
	return e.transact(ctx, begin, func(c *conn) error {
		return guarded(func() error { return change(c) })
	})
}

// PingChanges checks that the server accepts changes: a standby only reads, and so does a primary during a switchover.
// After an error of the disk or an unconfirmed commit, it also makes a change durable.
func (e *postgresEngine) PingChanges(ctx context.Context) error {
	if e.pool.manyOpen() {
		return errUnconfirmed
	}
	var only bool
	err := e.read(ctx, service.ReadRecord, func(c *conn) error {
		return c.row(`SELECT current_setting('transaction_read_only') = 'on'`).scan(&only)
	})
	if err == nil && only {
		err = &service.Error{Kind: service.Unavailable, Detail: "the database takes no changes now"}
	}
	if err == nil && e.damaged.Load() {
		err = errDamaged
	}
	if err == nil && e.refused.Load() { // A small write to another table proves nothing.
		err = errRefused
	}
	if err == nil && e.failed.Load() {
		err = e.probe.ask(e.failed.Load, func() error {
			return e.write(ctx, service.WriteIsolated, func(c *conn) error { return takeRoom(c, writableRoom/2) })
		})
		if err == nil {
			e.failed.Store(false)
		}
	}
	if err == nil && e.waits.Load() {
		err = e.pingCommit(ctx)
	}
	return err
}

// pingPause is the least time between two checks that commits are confirmed. An unconfirmed one stays open and
// reports its own end, unless its server was replaced.
const pingPause = time.Minute

// pingCommit looks whether a commit is confirmed again.
func (e *postgresEngine) pingCommit(ctx context.Context) error {
	last, now := e.tried.Load(), time.Now()
	if now.Sub(time.Unix(0, last)) < pingPause || !e.tried.CompareAndSwap(last, now.UnixNano()) {
		return errUnconfirmed
	}
	err := e.write(ctx, service.WriteIsolated, func(c *conn) error { return takeRoom(c, 0) })
	if !errors.Is(err, errUnconfirmed) {
		e.tried.Store(0)
	}
	if err != nil {
		return err
	}
	e.waits.Store(false)
	return nil
}

// takeRoom writes so much, which is more than a change needs, and takes it back. Processes do not
// wait for each other.
func takeRoom(c *conn, size int) error {
	random := make([]byte, 16+size) // So that it is not made smaller.
	_, _ = rand.Read(random)        // It never fails.
	name := writableSetting + " " + hex.EncodeToString(random[:16])
	const insert = `INSERT INTO settings (name, value) VALUES ($1, $2)`
	if _, err := c.exec(insert, name, hex.EncodeToString(random)); err != nil {
		return err
	}
	_, err := c.exec(`DELETE FROM settings WHERE name = $1`, name)
	return err
}

// application returns the name of the program in the server's list of sessions and log, with the trace of the request
// if it has one.
const application = "fundeskd"

var isTrace = pattern(`^[0-9a-f]{32}$`)

// transact runs a function in a transaction, again when that is safe.
func (e *postgresEngine) transact(ctx context.Context, begin string, run func(*conn) error) error {
	if trace := service.RequestOf(ctx).Trace; isTrace().MatchString(trace) { // In the same round trip.
		begin += `; SET LOCAL application_name = '` + application + ` ` + trace + `'`
	}
	return e.again(ctx, func(c *conn) error { return e.transactOnce(c, begin, run) })
}

// again runs a function on a connection, again when that is safe. What lost against another transaction
// may lose as often as others want the same row: it ends with the time of its request.
func (e *postgresEngine) again(ctx context.Context, run func(*conn) error) error {
	until, _ := e.pool.until(ctx)
	for try := 1; ; try++ {
		err := e.pool.with(ctx, func(c *conn) error {
			if err := c.raw.Raw(func(connection any) error { return e.driver.Until(connection, c.until) }); err != nil {
				return errBegin{c.fail(err)}
			}
			return run(c)
		})
		lost := errors.Is(err, service.ErrAgain) || strings.HasPrefix(e.driver.Code(err), "40")
		hasTries := try < minTries || lost && time.Now().Before(until)
		if !hasTries || !e.mayRepeat(err) {
			return e.refusal(err)
		}
		e.pool.retried.Add(1)
		_, spent := e.pool.until(ctx)
		// Transactions that conflicted must not meet again.
		longest := int64(min(try, minTries)) * int64(5*time.Millisecond)
		err = service.Pause(ctx, time.Duration(mathrand.Int64N(longest)))
		if spent(); err != nil {
			return err
		}
	}
}

// errBegin is a connection that was lost before anything was asked of it.
type errBegin struct{ error }

func (e errBegin) Unwrap() error { return e.error }

// begin begins a transaction. For a change it notes the time of the server.
func (e *postgresEngine) begin(c *conn, text string) error {
	if strings.HasPrefix(text, readOnly) {
		_, err := c.raw.ExecContext(c.ctx, text)
		return err
	}
	return c.raw.Raw(func(connection any) error {
		asked := e.now()
		began, err := e.driver.BeginAt(c.ctx, connection, text)
		c.ahead = aheadBy(began, asked, e.now())
		return err
	})
}

func (e *postgresEngine) transactOnce(c *conn, begin string, run func(*conn) error) (err error) {
	if err := e.begin(c, begin); err != nil {
		return errBegin{c.fail(err)}
	}
	c.lines, c.given = nil, 0
	ended := false
	defer func() {
		// The server rolls back a connection that is closed. A rollback would wait once more for a broken one.
		if !ended && (!c.broken || e.mayRepeat(err)) {
			_, end := c.raw.ExecContext(c.ctx, `ROLLBACK`)
			c.broken = end != nil
		}
	}()
	if err := run(c); err != nil {
		return err
	}
	ended = true
	return e.commit(c)
}

// errUnconfirmed means that the server got a change and has not confirmed it. It may confirm it later. The change is
// never cancelled, because it would then be kept only on a server that a failover may lose.
var errUnconfirmed = &service.Error{
	Kind:   service.Unavailable,
	Detail: "the database has not confirmed changes in time; this one may be kept later",
}

// commit ends a transaction. If it takes longer than the caller waits, it continues with its connection in the
// background. Spec gap: S31.
func (e *postgresEngine) commit(c *conn) error {
	lines := auditValues(c.lines)
	isChange := len(lines) > 0 || c.given > 0 // Of a record.
	var late atomic.Bool
	end := func() error {
		err := c.fail(
			c.raw.Raw(func(connection any) error { return e.driver.Commit(connection, insertAuditLine(), lines) }),
		)
		if err == nil && (isChange || late.Load()) { // What changes nothing does not wait.
			e.waits.Store(false)
			e.damaged.CompareAndSwap(true, !isChange)
			e.refused.CompareAndSwap(true, !isChange)
		} else if err != nil && e.driver.Code(err) == "" {
			e.tried.Store(0) // The connection was lost: another server may have taken over, and confirm.
			return &service.Error{Kind: service.Unavailable, Detail: errUnconfirmed.Detail, Cause: err}
		}
		return err
	}
	if e.pool.patience == 0 {
		return end()
	}
	outcome := make(chan error, 1)
	go func() { outcome <- end() }()
	// What is left of the time of its request, and a moment at least.
	enough := time.NewTimer(max(time.Until(c.until), e.pool.patience/10))
	defer enough.Stop()
	select {
	case err := <-outcome:
		return err
	case <-enough.C:
		e.waits.Store(true)
		late.Store(true)
		c.open = outcome
		return errUnconfirmed
	}
}

// Analyze makes new statistics: until then plans would be for an empty database.
func (e *postgresEngine) Analyze(ctx context.Context) error {
	names := []string{"search_persons", "search_terms"} // A load fills them from the persons.
	for _, table := range copyTables() {
		names = append(names, table.name)
	}
	_, err := e.db.ExecContext(ctx, `ANALYZE `+strings.Join(names, `, `))
	return e.refusal(err)
}

func (e *postgresEngine) Backup(context.Context, string) (string, error) {
	return "", errors.New("a PostgreSQL database is backed up with pg_dump")
}

// The engine's own tools check the integrity.
func (e *postgresEngine) integrity(context.Context) ([]string, error) { return nil, nil }

func (e *postgresEngine) Pool() PoolStats { return e.pool.stats() }

func (e *postgresEngine) Close() error {
	var err error
	e.once.Do(func() {
		_ = e.pool.close() // The server may be away.
		err = e.db.Close()
	})
	return err
}
