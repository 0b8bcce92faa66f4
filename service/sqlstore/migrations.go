package sqlstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"time"

	"fundesk/service"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationTexts are the migrations in order; the first brings version 0 to 1.
func migrationTexts() ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(names))
	for i, name := range names {
		data, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts[i] = string(data)
	}
	return texts, nil
}

// stored is a value out of a stored document in a migration: json(column, member); and
// identifierText the text of an identifier: text(column).
var (
	stored         = pattern(`json\(([\w.]+), (\w+)\)`)
	identifierText = pattern(`text\(([\w.]+)\)`)
)

// pattern is compiled when it is first used: fundesk is linked with this package, and seldom needs it.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// sqliteText is a migration for SQLite, which reads text, and not bytes, as JSON.
func sqliteText(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "--sqlite ", ""), concurrently, "")
	text = stored().ReplaceAllString(text, `json_extract(CAST($1 AS TEXT), '$$.$2')`)
	return sqliteWords.Replace(identifierText().ReplaceAllString(text, `lower(hex($1))`))
}

// postgresText is a migration for PostgreSQL, in a transaction. A line that begins with --postgres
// is for it alone.
func postgresText(text string) string {
	return strings.ReplaceAll(postgresStatements(text), concurrently, "")
}

func postgresStatements(text string) string {
	text = strings.ReplaceAll(text, "--postgres ", "")
	text = stored().ReplaceAllString(postgresWords.Replace(text), `(convert_from($1, 'UTF8')::json ->> '$2')`)
	return identifierText().ReplaceAllString(text, `replace(CAST($1 AS VARCHAR), '-', '')`)
}

// sqliteWords are SQLite's for those that stand for them in migrations. A number is that of
// the row, by which rows are found without an index.
var sqliteWords = strings.NewReplacer(
	" UUID", " TEXT", " IDENTIFIER", " BLOB", " BYTES", " BLOB", " NUMBER", " INTEGER",
	"{", "unhex(", "}", ", '-')",
)

// migrate brings the schema up to date. Processes that race do it once: the version is
// read again under the write lock.
func (e *sqliteEngine) migrate(ctx context.Context, refuse bool) (err error) {
	texts, err := migrationTexts()
	if err != nil {
		return err
	}
	c, err := e.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	found, err := c.schema()
	if err != nil {
		return err
	}
	if pending, err := found.pending(refuse); err != nil || !pending {
		return err
	}
	for {
		// Another process may fill the new database meanwhile.
		_, err := c.raw.ExecContext(ctx, `BEGIN IMMEDIATE`)
		if err == nil {
			break
		}
		if !errors.Is(sqliteError(err), service.ErrBusy) || ctx.Err() != nil {
			return err
		}
	}
	defer func() {
		if err != nil {
			_, _ = c.raw.ExecContext(ctx, `ROLLBACK`) // The first error is the one to tell.
		}
	}()
	if found, err = c.schema(); err != nil {
		return err
	}
	if pending, err := found.pending(refuse); err != nil || !pending {
		_, end := c.raw.ExecContext(ctx, `ROLLBACK`) // Nothing was to be done.
		return errors.Join(err, end)
	}
	version := found.version
	if version == 0 {
		if err := c.empty(ctx); err != nil {
			return err
		}
	}
	for ; version < len(texts); version++ {
		if _, err := c.raw.ExecContext(ctx, sqliteText(texts[version])); err != nil {
			return fmt.Errorf("migrate to version %d: %w", version+1, err)
		}
	}
	if _, err := c.raw.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, version)); err != nil {
		return err
	}
	if err := c.setServedBy(); err != nil {
		return err
	}
	_, err = c.raw.ExecContext(ctx, `COMMIT`)
	return err
}

var errAnotherProgram = errors.New("it is a database of another program")

// empty refuses a file that another program keeps its data in.
func (c *conn) empty(ctx context.Context) error {
	var tables int
	err := c.raw.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_schema`).Scan(&tables)
	if err == nil && tables > 0 {
		err = errAnotherProgram
	}
	return err
}

// Version is that of the schema.
func (e *sqliteEngine) Version(ctx context.Context) (version int, err error) {
	err = e.view(ctx, func(c *conn) error {
		version, err = c.version()
		return err
	})
	return version, err
}

// schema is what a file says of its tables.
func (c *conn) schema() (s schema, err error) {
	if s.version, err = c.version(); err == nil && s.version > known() {
		s.servedBy, _ = c.servedBy() // Another program's file may say nothing.
	}
	return s, err
}

// version is that of the schema, 0 for a new file.
func (c *conn) version() (version int, err error) {
	err = c.raw.QueryRowContext(c.ctx, `PRAGMA user_version`).Scan(&version)
	return version, err
}

// postgresWords are PostgreSQL's for those that stand for them in migrations.
var postgresWords = strings.NewReplacer(
	" IDENTIFIER", " UUID", " BYTES", " BYTEA", " NUMBER", " BIGINT GENERATED BY DEFAULT AS IDENTITY",
	" TEXT", ` TEXT COLLATE "C"`, "{", "", "}", "",
)

// migrate brings the schema up to date, once however many processes start. One that is up
// to date is only looked at: a server may only read, and a role may have no right to make
// tables.
func (e *postgresEngine) migrate(ctx context.Context, refuse bool) error {
	texts, err := migrationTexts()
	if err != nil {
		return err
	}
	found, err := e.found(ctx)
	if err != nil {
		return err
	}
	if pending, err := found.pending(refuse); err != nil || !pending {
		return err
	}
	first := len(texts)       // That was run beside others.
	for past := 0; ; past++ { // The version up to which it was migrated beside others.
		if past, err = e.migrateTo(ctx, texts, past, refuse); err != nil {
			return err
		}
		if past == len(texts) {
			break
		}
		first = min(first, past)
		if err := e.migrateConcurrently(ctx, postgresStatements(texts[past]), past+1); err != nil {
			return fmt.Errorf("migrate to version %d: %w", past+1, err)
		}
	}
	// An index that this program made may be one that another one, which was faster, had dropped
	// by a later migration.
	for _, text := range texts[first:] {
		if err := e.dropAgain(ctx, postgresStatements(text)); err != nil {
			return err
		}
	}
	return nil
}

// migrateTo migrates in a transaction, up to a migration that is run outside of one, and is the
// version after it. Those up to version past were run there.
func (e *postgresEngine) migrateTo(ctx context.Context, texts []string, past int, refuse bool) (version int, err error) {
	for begun := time.Now(); ; {
		err := e.transact(ctx, `BEGIN`, func(c *conn) (err error) {
			version, err = c.migrate(ctx, texts, past, refuse)
			return err
		})
		if e.driver.Code(err) != lockNotAvailable {
			return version, err
		}
		if time.Since(begun) > lockPatience {
			return version, fmt.Errorf("another session holds a lock on its tables; nothing was changed, run it again: %w", err)
		}
		// Who waited behind it goes first.
		if err := service.Pause(ctx, lockPause); err != nil {
			return version, err
		}
	}
}

// A migration that waits for a lock holds up every request behind it: it gives way, and comes
// again.
const (
	lockNotAvailable = "55P03"
	lockTimeout      = `SET LOCAL lock_timeout = '2s'`
	lockPause        = time.Second
	lockPatience     = 5 * time.Minute
)

// migrate runs the migrations that another program has not run meanwhile, and is the version then.
func (c *conn) migrate(ctx context.Context, texts []string, past int, refuse bool) (version int, err error) {
	// Creating it at the same time twice is an error in PostgreSQL; the lock, which any time is
	// waited for, is not.
	for _, text := range []string{
		`SELECT pg_advisory_xact_lock(7305804402566)`,
		lockTimeout,
		`CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)`,
	} {
		if _, err := c.raw.ExecContext(ctx, text); err != nil {
			return version, c.fail(err)
		}
	}
	var found int
	if err := c.raw.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM schema_version`).Scan(&found); err != nil {
		return version, c.fail(err)
	}
	if pending, err := (schema{version: found}).pending(refuse); err != nil || !pending {
		return len(texts), err
	}
	filled := found > 0
	for version = found; version < len(texts); version++ {
		if filled && strings.Contains(texts[version], concurrently) {
			if version >= past {
				break
			}
			continue
		}
		if _, err := c.raw.ExecContext(ctx, postgresText(texts[version])); err != nil {
			return version, c.fail(fmt.Errorf("migrate to version %d: %w", version+1, err))
		}
	}
	if version == found {
		return version, nil
	}
	if filled && version == len(texts) { // All tables are there; those that were written anew have no statistics.
		if _, err := c.raw.ExecContext(ctx, analyzeOurs()); err != nil {
			return version, c.fail(err)
		}
	}
	if err := c.setServedBy(); err != nil {
		return version, err
	}
	_, err = c.raw.ExecContext(ctx, `INSERT INTO schema_version (version) VALUES ($1)`, version)
	return version, c.fail(err)
}

// found is what the database says of its tables.
func (e *postgresEngine) found(ctx context.Context) (s schema, err error) {
	var encoding string
	var there bool
	err = e.ask(ctx, func(c *conn) error {
		return c.row(`SELECT current_setting('server_encoding'), to_regclass('schema_version') IS NOT NULL`).scan(&encoding, &there)
	})
	switch {
	case err != nil:
		return s, err
	case encoding != "UTF8" && encoding != "SQL_ASCII":
		return s, fmt.Errorf("its encoding is %s, which cannot hold every name; make one with ENCODING 'UTF8'", encoding)
	case !there:
		return s, nil
	}
	if s.version, err = e.Version(ctx); err != nil || s.version <= known() {
		return s, err
	}
	err = e.ask(ctx, func(c *conn) error {
		s.servedBy, err = c.servedBy()
		return err
	})
	return s, err
}

// Version is that of the schema.
func (e *postgresEngine) Version(ctx context.Context) (version int, err error) {
	err = e.view(ctx, func(c *conn) error {
		return c.row(`SELECT COALESCE(MAX(version), 0) FROM schema_version`).scan(&version)
	})
	return version, err
}

// analyzeOurs looks at our tables only: the others take longer, and are not ours to look at.
func analyzeOurs() string {
	names := make([]string, len(copyTables()))
	for i, table := range copyTables() {
		names[i] = table.name
	}
	return `ANALYZE ` + strings.Join(names, `, `)
}
