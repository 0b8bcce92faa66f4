// Package sqlstore keeps the records of the service in an SQL database. It holds every
// query, and no rule: rules run in the functions that [Store.Read] and [Store.Write]
// are given, inside the transaction. It must not know HTTP.
//
// One query text serves every engine; what differs between them is behind the engine
// interface. The interfaces [service.Reader] and [service.Tx] describe the methods of a transaction.
//
//	store, err := sqlstore.Open(ctx, sqlstore.Options{Database: "sqlite:/var/lib/fundesk/fundeskd.db"})
//	s, err := service.New(ctx, service.Options{Store: store})
package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// Options choose the database and how it is opened.
type Options struct {
	Database  string         // sqlite:PATH or postgres://….
	Postgres  PostgresDriver // Needed for postgres://….
	NoMigrate bool           // Refuse an older schema instead of bringing it up to date.
	Inspect   bool           // Change nothing, and refuse what is not a whole database of this version, with its key.
	Retired   bool           // Accept a database that was retired, for what only reads.
	Existing  bool           // Refuse an SQLite file that is not there, or empty, instead of making it.
	Bulk      bool           // Much is written at once, by a program that may take memory for it.
	// Connections limits the connections in use at once. SQLite counts only reading ones. Zero means 16 with
	// PostgreSQL, and one for each processor with SQLite, at least 2.
	Connections int
	// ConnectTimeout limits how long a PostgreSQL server takes to accept a connection. Zero means connect_timeout of
	// Database, or 3 s.
	ConnectTimeout time.Duration
	// AnswerTimeout limits how long a PostgreSQL server may be silent during a request, and how long a request waits
	// for a free connection. Zero sets no limit.
	AnswerTimeout time.Duration
	// Now is the clock of this process, which is compared with a PostgreSQL server's. Nil means the system's.
	Now func() time.Time
	// Observe is called with the duration of each transaction, including its waits. It may be nil.
	Observe func(change bool, took time.Duration)

	next []string // More migrations, as later programs will have them: of tests.
}

// Store is an open database. It is safe for concurrent use, and several processes may
// have the same one open.
type Store struct {
	engine
	observe func(change bool, took time.Duration)
}

var _ service.Store = (*Store)(nil)

// engine has the differences between databases.
type engine interface {
	service.Database
	read(ctx context.Context, mode service.ReadMode, read func(*conn) error) error
	write(ctx context.Context, mode service.WriteMode, change func(*conn) error) error
	// sharesQueue reports whether several take from the queue at one time.
	sharesQueue() bool
	// isTaken reports whether another transaction has saved a row with the same key.
	isTaken(err error) bool
	// locking ends a query of rows that others must not change, or take, until the transaction ends.
	locking(strength string) string
	// spelled is a statement as the engine reads its parameters fastest.
	spelled(text string) string
	// excludeErasure waits until no erasure runs, of a load, and else until no load does.
	excludeErasure(c *conn, load bool) error
	// lead reports whether a transaction does the periodic work of the queue, and the time of the work before, in
	// milliseconds.
	lead(c *conn, now int64, pause time.Duration) (last int64, isLeader bool, err error)
	// advanceNumbers lets new rows of a table have numbers after all that are there.
	advanceNumbers(c *conn, table string) error
	// insertPerson adds a person, with the terms by which it is found, and the line of the audit about it.
	insertPerson(c *conn, p service.PersonRow, line service.AuditLine) error
	// eachTerm is a table x of the terms of a row s of search_persons.
	eachTerm() string
	// giveTime returns a time in milliseconds, or the highest that was given, and saves it.
	giveTime(c *conn, now int64) (int64, error)
	// highestTime is the query of the highest time that was given.
	highestTime() string
	// resetTimes lets the next change have a time in milliseconds, whatever was given before.
	resetTimes(c *conn, now int64) error
	// identity identifies the database together with its epoch. Empty if its file has nothing else.
	identity() string
	// Others counts our other programs that use the database, if its server can count them.
	Others(ctx context.Context) (int, error)
	// among is the condition that a column is one of some identifiers, by one argument
	// $1.
	among(column string, ids []apitype.UUID) (cond string, arg any)
	// amongNumbers does the same for numbers.
	amongNumbers(column string, numbers []int64) (cond string, arg any)
	// amongTexts does the same for texts without quotes and backslashes, for the argument at a place such as $3.
	amongTexts(column, place string, texts []string) (cond string, arg any)
	// contains returns the condition that a column contains the bytes of an argument.
	contains(column, place string) string
	// oneAtATime ends a list of columns. It lets one transaction at a time claim donors for a user, until it ends.
	oneAtATime(user string) string
	// json returns the document of a column for the operators -> and ->>.
	json(column string) string
	// Analyze lets the engine look at its data after much was written; without that it may choose slow
	// ways to it for a while.
	Analyze(ctx context.Context) error
	// Backup writes a whole copy of the database to a new file while it is used, and returns its SHA-256.
	Backup(ctx context.Context, file string) (sum string, err error)
	integrity(ctx context.Context) ([]string, error)
	// maintain is the work of each month: it rebuilds indexes and partitions the audit.
	maintain(ctx context.Context, now time.Time) (Maintained, error)
	// Version returns the version of the schema.
	Version(ctx context.Context) (int, error)
	// Pool returns the counts of the connections. SQLite counts only reading ones.
	Pool() PoolStats
	// Close ends every connection; changes under way are finished first.
	Close() error
}

// Open opens a database, makes it when it is not there, and brings its schema up to
// date.
func Open(ctx context.Context, o Options) (*Store, error) {
	if strings.HasPrefix(o.Database, "postgres://") || strings.HasPrefix(o.Database, "postgresql://") {
		e, err := openPostgres(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("open the database: %w", err) // The name may hold a password.
		}
		if err := refuseRetired(ctx, e, o); err != nil {
			return nil, fmt.Errorf("open the database: %w", errors.Join(err, e.Close()))
		}
		return &Store{engine: e, observe: o.Observe}, nil
	}
	path, ok := strings.CutPrefix(o.Database, "sqlite:")
	if !ok || path == "" {
		return nil, errors.New("name the database as sqlite:PATH or postgres://…")
	}
	open := openSQLite
	if o.Inspect {
		open = func(ctx context.Context, path string, _ Options) (*sqliteEngine, error) {
			return inspectSQLite(ctx, path, false)
		}
	}
	e, err := open(ctx, path, o)
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", path, wayOut(err))
	}
	if err := refuseRetired(ctx, e, o); err != nil {
		return nil, fmt.Errorf("open the database %s: %w", path, errors.Join(err, e.Close()))
	}
	return &Store{engine: e, observe: o.Observe}, nil
}

// retiredSetting holds when a database was retired.
const retiredSetting = "retired"

// refuseRetired refuses a database that was moved away, for everything that changes one.
func refuseRetired(ctx context.Context, e engine, o Options) error {
	if o.Retired || o.Inspect {
		return nil
	}
	return e.read(ctx, service.ReadRecord, func(c *conn) error {
		at, err := c.Setting(retiredSetting)
		if err != nil {
			return err
		}
		if at != "" {
			return fmt.Errorf(
				"it was retired at %s, when its records were moved to another database; name that one with "+
					"--database or FUNDESKD_DATABASE",
				at,
			)
		}
		return nil
	})
}

// Retire marks a database whose records move to another one. It then opens only for reading. isNew is false if the
// database was retired before.
func (s *Store) Retire(ctx context.Context, at apitype.Time) (isNew bool, err error) {
	err = s.engine.write(ctx, service.WriteIsolated, func(c *conn) error {
		before, err := c.Setting(retiredSetting)
		isNew = before == ""
		if err != nil || !isNew {
			return err
		}
		return c.SetSetting(retiredSetting, at.String())
	})
	return isNew, err
}

// Reinstate takes the mark away again.
func (s *Store) Reinstate(ctx context.Context) error {
	return s.engine.write(ctx, service.WriteIsolated, func(c *conn) error {
		_, err := c.exec(`DELETE FROM settings WHERE name = $1`, retiredSetting)
		return err
	})
}

// Read runs read, as described by [service.Store].
func (s *Store) Read(ctx context.Context, mode service.ReadMode, read func(service.Reader) error) error {
	defer s.timed(false, time.Now())
	return s.engine.read(ctx, mode, func(c *conn) error { return read(&reader{conn: c}) })
}

// Write runs change in one transaction, durable when it returns.
func (s *Store) Write(ctx context.Context, mode service.WriteMode, change func(service.Tx) error) error {
	defer s.timed(true, time.Now())
	shared := mode == service.WriteShared && s.engine.sharesQueue()
	return s.engine.write(ctx, mode, func(c *conn) error {
		return change(&tx{reader: reader{conn: c}, shared: shared})
	})
}

func (s *Store) timed(change bool, start time.Time) {
	if s.observe != nil {
		s.observe(change, time.Since(start))
	}
}

// Ping reports whether the database answers, and reads what every request needs: each account.
func (s *Store) Ping(ctx context.Context) error {
	return s.engine.read(ctx, service.ReadSnapshot, func(c *conn) error {
		var read int64
		var programs *string
		err := c.row(`SELECT COALESCE(SUM(LENGTH(permissions) + LENGTH(organizations)), 0), `+readServedBy+`
			FROM accounts`).
			scan(&read, &programs)
		return cmp.Or(err, checkServedBy(programs))
	})
}

// Maintain does the work of each month while the database is used.
func (s *Store) Maintain(ctx context.Context, now time.Time) (Maintained, error) {
	return s.engine.maintain(ctx, now)
}

// Check returns the problems of the database: of its files and of the references between its records. A sound database
// has none. Problems found before an error are returned with it.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	found, err := s.engine.integrity(ctx)
	if err != nil {
		return found, err
	}
	err = s.engine.read(ctx, service.ReadSnapshot, func(c *conn) error {
		for _, check := range referenceChecks {
			var n int
			if err := c.row(check.query).scan(&n); err != nil {
				return err
			}
			if n > 0 {
				found = append(found, fmt.Sprintf("%s: %d", check.what, n))
			}
		}
		return nil
	})
	return found, err
}

// referenceChecks count rows that name another that is not there.
var referenceChecks = []struct{ what, query string }{
	{
		"persons without their owning organization",
		`SELECT COUNT(*) FROM persons WHERE erased_at IS NULL AND owner NOT IN (SELECT uuid FROM organizations)`,
	},
	{
		"pledges without their person",
		`SELECT COUNT(*) FROM pledges WHERE NOT EXISTS (SELECT 1 FROM persons
			WHERE persons.number = pledges.person_number)`,
	},
	{
		"pledges without their owning organization",
		`SELECT COUNT(*) FROM pledges WHERE owner NOT IN (SELECT uuid FROM organizations)`,
	},
	{
		"pledges without their recruiting organization",
		`SELECT COUNT(*) FROM pledges WHERE recruiting NOT IN (SELECT uuid FROM organizations)`,
	},
	{
		"pledges without their signature file",
		`SELECT COUNT(*) FROM pledges WHERE has_signature = 1 AND NOT EXISTS (SELECT 1 FROM signatures
			WHERE signatures.pledge = pledges.uuid)`,
	},
	{
		"calls without their person",
		`SELECT COUNT(*) FROM calls WHERE NOT EXISTS (SELECT 1 FROM persons
			WHERE persons.number = calls.person_number AND (persons.owner = calls.owner
			OR persons.erased_at IS NOT NULL))`,
	},
	{
		"calls without their pledge",
		`SELECT COUNT(*) FROM calls WHERE pledge_number IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pledges
			WHERE pledges.number = calls.pledge_number AND pledges.person_number = calls.person_number)`,
	},
	{
		"transactions without their pledge",
		`SELECT COUNT(*) FROM transactions WHERE NOT EXISTS (SELECT 1 FROM pledges
			WHERE pledges.number = transactions.pledge_number)`,
	},
	{
		"kinds of calls that the queue counts otherwise",
		`SELECT COUNT(*) FROM (
			SELECT kind FROM (
				SELECT kind, ready, deferred FROM queue_counts
				UNION ALL SELECT kind, -1, 0 FROM queue_calls WHERE ready = 1 AND due_at IS NULL
				UNION ALL SELECT kind, 0, -1 FROM queue_calls WHERE due_at IS NOT NULL
			) AS counted GROUP BY kind HAVING SUM(ready) <> 0 OR SUM(deferred) <> 0
		) AS kinds`,
	},
	{
		"focus areas without their organization",
		`SELECT COUNT(*) FROM focus_areas WHERE organization NOT IN (SELECT uuid FROM organizations)`,
	},
}

type reader struct {
	*conn
}

// tx reads and writes in one transaction.
type tx struct {
	reader
	shared bool // It sees commits of others while it runs.
}

var (
	_ service.Reader = (*reader)(nil)
	_ service.Tx     = (*tx)(nil)
)

// insert runs an INSERT that does nothing when the row exists.
func (c *conn) insert(text string, args ...any) error {
	n, err := c.exec(text+` ON CONFLICT DO NOTHING`, args...)
	if err != nil {
		return err
	}
	if n == 0 {
		return service.ErrExists
	}
	return nil
}

// change runs an UPDATE of one row.
func (t *tx) change(text string, args ...any) error {
	n, err := t.exec(text, args...)
	if err != nil {
		return err
	}
	if n == 0 {
		return service.ErrNoRow
	}
	return nil
}
