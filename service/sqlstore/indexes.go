package sqlstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"fundesk/service"
)

// concurrently stands in a migration whose statements stop nobody: PostgreSQL runs them one by one
// and outside of a transaction, unless the tables are new. SQLite, whose file has one writer
// anyway, and new tables are migrated without it.
const concurrently = ` CONCURRENTLY`

// concurrentIndex is what such a statement does, and to which index.
var concurrentIndex = pattern(`^(CREATE|DROP) INDEX` + concurrently + ` (\w+)`)

// indexPause is how long it is left to another program, which makes an index already, or was in
// the way of a statement; that is tried again so often.
const (
	indexPause = time.Second / 4
	indexTries = 240
)

// migrateConcurrently runs the migration to a version beside whoever serves the database. It may be
// begun by several programs, and be interrupted anywhere: what is done is not done again.
func (e *postgresEngine) migrateConcurrently(ctx context.Context, text string, version int) error {
	for _, statement := range statementsOf(text) {
		found, err := e.Version(ctx)
		if err != nil || found >= version {
			return err // Another program has done it all.
		}
		if err := e.ask(ctx, func(c *conn) error { return e.changeIndex(ctx, c, statement) }); err != nil {
			return err
		}
	}
	return nil
}

// dropAgain runs the statements of a migration that drop indexes.
func (e *postgresEngine) dropAgain(ctx context.Context, text string) error {
	for _, statement := range statementsOf(text) {
		if found := concurrentIndex().FindStringSubmatch(statement); found == nil || found[1] != "DROP" {
			continue
		}
		if err := e.ask(ctx, func(c *conn) error { return e.changeIndex(ctx, c, statement) }); err != nil {
			return err
		}
	}
	return nil
}

// statementsOf are those of a migration, without the lines that explain it.
func statementsOf(text string) (statements []string) {
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(text)), func(line string) bool { return strings.HasPrefix(line, "--") })
	for statement := range strings.SplitSeq(strings.Join(lines, ""), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			statements = append(statements, statement)
		}
	}
	return statements
}

// changeIndex runs one statement until what it asks for is there. Whoever makes an index at the
// same time is waited for; one that was not made whole, as its program was killed, is made anew.
func (e *postgresEngine) changeIndex(ctx context.Context, c *conn, statement string) error {
	for tries := 1; ; {
		text, wait, err := c.indexStep(statement)
		if err != nil || text == "" && !wait {
			return err
		}
		if !wait {
			_, err = c.raw.ExecContext(ctx, text)
			if err == nil && text == statement {
				return nil
			}
			if err = c.fail(err); err != nil {
				if tries++; tries > indexTries || !slices.Contains(metAnother, e.driver.Code(err)) {
					return err
				}
				c.broken, wait = false, true
			}
		}
		if wait {
			if err := service.Pause(ctx, indexPause); err != nil {
				return err
			}
		}
	}
}

// indexStep is what is to be run for a statement now: itself, nothing as it is done, or what takes
// an index away that was not made whole; wait says that another program makes it.
func (c *conn) indexStep(statement string) (text string, wait bool, err error) {
	found := concurrentIndex().FindStringSubmatch(statement)
	if found == nil {
		return statement, false, nil
	}
	verb, index := found[1], found[2]
	var valid, made bool
	err = c.row(`SELECT i.indisvalid, EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid)
		FROM pg_index i WHERE i.indexrelid = to_regclass($1)`, index).scan(&valid, &made)
	there := err == nil
	switch {
	case err != nil && !errors.Is(err, service.ErrNoRow):
		return "", false, err
	case there == (verb == "CREATE") && (valid || !there):
		return "", false, nil
	case !there:
		return statement, false, nil
	case made:
		return "", true, nil
	default:
		return `DROP INDEX` + concurrently + ` IF EXISTS ` + index, false, nil
	}
}

// metAnother are the refusals of a program that does the same at the same time: the table or the
// name in the catalog is there already, is gone already, both waited for each other, or both
// changed one row of the catalog, which has no code of its own.
var metAnother = []string{"42P07", "23505", "42704", "40P01", "XX000"}
