package sqlstore

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"fundesk/service"
)

// What one process asks of the server when nothing is said.
const (
	postgresConnections    = 16
	postgresConnectTimeout = 3 * time.Second
)

// postgresEngine is a PostgreSQL database that any number of processes share. Nothing
// of it is kept in memory.
type postgresEngine struct {
	db   *sql.DB
	pool *pool
	once sync.Once
}

func openPostgres(ctx context.Context, o Options) (*postgresEngine, error) {
	config, err := pgx.ParseConfig(o.Database)
	if err != nil {
		return nil, errors.New("its name is not well formed") // The error holds the name, and that a password.
	}
	if o.ConnectTimeout > 0 {
		config.ConnectTimeout = o.ConnectTimeout
	} else if config.ConnectTimeout == 0 {
		config.ConnectTimeout = postgresConnectTimeout
	}
	// A server that vanished without a word is noticed while an answer is waited for.
	config.DialFunc = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 2 * time.Second, Interval: 2 * time.Second, Count: 3,
	}}).DialContext
	size := o.Connections
	if size <= 0 {
		size = postgresConnections
	}
	e := &postgresEngine{db: stdlib.OpenDB(*config)}
	e.db.SetMaxIdleConns(size)
	e.pool = newPool(size, e.connect)
	if err := e.migrate(ctx, o.NoMigrate); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *postgresEngine) connect() (*conn, error) {
	raw, err := e.db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	return &conn{ctx: context.Background(), raw: raw, statements: map[string]*sql.Stmt{}}, nil
}

// maxTries is how often a transaction is run that lost against another one.
const maxTries = 20

// view reads one state of the data.
func (e *postgresEngine) view(ctx context.Context, read func(*conn) error) error {
	return e.transact(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`, read)
}

// update changes the data. Of two transactions that change the same row, the later one
// is refused by the database and run again, on what the first one left.
func (e *postgresEngine) update(ctx context.Context, change func(*conn) error) error {
	return e.transact(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ`, func(c *conn) error {
		return guarded(func() error { return change(c) })
	})
}

// transact runs a function in a transaction, again when that is safe.
func (e *postgresEngine) transact(ctx context.Context, begin string, run func(*conn) error) (err error) {
	for try := range maxTries {
		err = e.pool.with(ctx, func(c *conn) error { return once(c, begin, run) })
		if !again(err) {
			break
		}
		// Those that lost together must not meet again.
		pause := time.NewTimer(time.Duration(mathrand.Int64N(int64(try+1) * int64(5*time.Millisecond))))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
	return postgresError(err)
}

// errBegin is a connection that was lost before anything was asked of it.
type errBegin struct{ error }

// Unwrap is what happened to the connection.
func (e errBegin) Unwrap() error { return e.error }

// once runs a transaction one time.
func once(c *conn, begin string, run func(*conn) error) (err error) {
	if _, err := c.raw.ExecContext(c.ctx, begin); err != nil {
		return errBegin{c.fail(err)}
	}
	committed := false
	defer func() {
		if !committed {
			if _, end := c.raw.ExecContext(c.ctx, `ROLLBACK`); end != nil {
				c.broken = true // The server rolls back what it no longer hears of.
			}
		}
	}()
	if err := run(c); err != nil {
		return err
	}
	if _, err := c.raw.ExecContext(c.ctx, `COMMIT`); err != nil {
		return c.fail(err)
	}
	committed = true
	return nil
}

// again reports whether a transaction certainly left nothing, and may do better.
func again(err error) bool {
	if _, ok := errors.AsType[errBegin](err); ok {
		return true
	}
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (refused.Code == "40001" || refused.Code == "40P01") // Serialization, deadlock.
}

// postgresError tells a caller to come back when the server is away, ends, has no room
// or only reads.
func postgresError(err error) error {
	if err == nil {
		return nil
	}
	away := &service.Error{Kind: service.Unavailable, Detail: "the database does not answer now"}
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		for _, class := range []string{"08", "57P", "53", "25006", "40"} {
			if strings.HasPrefix(refused.Code, class) {
				return away
			}
		}
		return err
	}
	_, begin := errors.AsType[errBegin](err)
	_, connect := errors.AsType[*pgconn.ConnectError](err)
	_, network := errors.AsType[net.Error](err)
	if begin || connect || network || pgconn.SafeToRetry(err) || pgconn.Timeout(err) {
		return away
	}
	for _, cut := range []error{io.EOF, io.ErrUnexpectedEOF, driver.ErrBadConn, sql.ErrConnDone} {
		if errors.Is(err, cut) {
			return away
		}
	}
	return err
}

// signingKey is the setting that holds the secret.
const signingKey = "signing-key"

// seed is the secret of this database. Processes that race for it get the same.
func (e *postgresEngine) seed(ctx context.Context) (seed []byte, err error) {
	err = e.update(ctx, func(c *conn) error {
		fresh := make([]byte, ed25519.SeedSize)
		if _, err := rand.Read(fresh); err != nil {
			return err
		}
		if _, err := c.exec(`INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
			signingKey, hex.EncodeToString(fresh)); err != nil {
			return err
		}
		var text string
		if err := c.row(`SELECT value FROM settings WHERE name = $1`, signingKey).scan(&text); err != nil {
			return err
		}
		seed, err = hex.DecodeString(text)
		return err
	})
	return seed, err
}

// setSeed keeps the signing key of a database that has none.
func (e *postgresEngine) setSeed(ctx context.Context, seed []byte) error {
	return e.update(ctx, func(c *conn) error {
		if _, err := c.exec(`INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
			signingKey, hex.EncodeToString(seed)); err != nil {
			return err
		}
		var text string
		if err := c.row(`SELECT value FROM settings WHERE name = $1`, signingKey).scan(&text); err != nil {
			return err
		}
		if text != hex.EncodeToString(seed) {
			return errOtherKey
		}
		return nil
	})
}

// insertAll writes many rows by COPY, the engine's way for many.
func (e *postgresEngine) insertAll(c *conn, table string, columns []string, rows [][]any) error {
	return c.fail(c.raw.Raw(func(driver any) error {
		_, err := driver.(*stdlib.Conn).Conn().CopyFrom(c.ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
		return err
	}))
}

// postgresTypes are the types that stand for UUID and BYTES.
var postgresTypes = strings.NewReplacer(" BYTES", " BYTEA", " TEXT", ` TEXT COLLATE "C"`)

// migrate brings the schema up to date, once however many processes start.
func (e *postgresEngine) migrate(ctx context.Context, refuse bool) error {
	texts, err := migrationTexts()
	if err != nil {
		return err
	}
	return e.transact(ctx, `BEGIN`, func(c *conn) error {
		// Creating it at the same time twice is an error in PostgreSQL; the lock is not.
		for _, text := range []string{
			`SELECT pg_advisory_xact_lock(7305804402566)`,
			`CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)`,
		} {
			if _, err := c.raw.ExecContext(ctx, text); err != nil {
				return c.fail(err)
			}
		}
		var version int
		if err := c.raw.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM schema_version`).Scan(&version); err != nil {
			return c.fail(err)
		}
		if err := mayMigrate(version, len(texts), refuse); err != nil || version == len(texts) {
			return err
		}
		for ; version < len(texts); version++ {
			if _, err := c.raw.ExecContext(ctx, postgresTypes.Replace(texts[version])); err != nil {
				return c.fail(fmt.Errorf("migrate to version %d: %w", version+1, err))
			}
		}
		_, err := c.raw.ExecContext(ctx, `INSERT INTO schema_version (version) VALUES ($1)`, version)
		return c.fail(err)
	})
}

// version is that of the schema.
func (e *postgresEngine) version(ctx context.Context) (version int, err error) {
	err = e.view(ctx, func(c *conn) error {
		return c.row(`SELECT COALESCE(MAX(version), 0) FROM schema_version`).scan(&version)
	})
	return version, err
}

func (e *postgresEngine) backup(context.Context, string) error {
	return errors.New("a PostgreSQL database is backed up with pg_dump")
}

// integrity is left to the engine's own tools.
func (e *postgresEngine) integrity(context.Context) ([]string, error) { return nil, nil }

func (e *postgresEngine) connections() (used, most int) { return e.pool.connections() }

func (e *postgresEngine) close() (err error) {
	e.once.Do(func() {
		_ = e.pool.close() // A server that is away cannot be told goodbye.
		err = e.db.Close()
	})
	return err
}
