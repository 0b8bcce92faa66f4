package sqlstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

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

// mayMigrate refuses a schema that this program does not know, and an older one when it
// must not be changed.
func mayMigrate(version, known int, refuse bool) error {
	switch {
	case version > known:
		return fmt.Errorf("its schema is of version %d, and this program knows %d; a later fundeskd made it, or another program", version, known)
	case version < known && refuse:
		return fmt.Errorf("its schema is of version %d, and this program needs %d; run fundeskd migrate", version, known)
	default:
		return nil
	}
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
	version, err := c.version()
	if err == nil {
		err = mayMigrate(version, len(texts), refuse)
	}
	if err != nil || version == len(texts) {
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
	if version, err = c.version(); err != nil {
		return err
	}
	if version == 0 {
		if err := c.empty(ctx); err != nil {
			return err
		}
	}
	for ; version < len(texts); version++ {
		if _, err := c.raw.ExecContext(ctx, sqliteWords.Replace(texts[version])); err != nil {
			return fmt.Errorf("migrate to version %d: %w", version+1, err)
		}
	}
	if _, err := c.raw.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, version)); err != nil {
		return err
	}
	_, err = c.raw.ExecContext(ctx, `COMMIT`)
	return err
}

// empty refuses a file that another program keeps its data in.
func (c *conn) empty(ctx context.Context) error {
	var tables int
	err := c.raw.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_schema`).Scan(&tables)
	if err == nil && tables > 0 {
		err = errors.New("it is a database of another program")
	}
	return err
}

// version is that of the schema.
func (e *sqliteEngine) version(ctx context.Context) (version int, err error) {
	err = e.view(ctx, func(c *conn) error {
		version, err = c.version()
		return err
	})
	return version, err
}

// version is that of the schema, 0 for a new file.
func (c *conn) version() (version int, err error) {
	err = c.raw.QueryRowContext(c.ctx, `PRAGMA user_version`).Scan(&version)
	return version, err
}
