package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// What migrations of the next release may do.
const (
	nextColumn  = "ALTER TABLE persons ADD COLUMN later TEXT;\n--postgres COMMENT ON COLUMN persons.later IS 'later';\n"
	nextIndexes = "CREATE INDEX persons_later ON persons (later, number) WHERE later IS NOT NULL;\n" +
		"CREATE INDEX calls_later ON calls (requested_at, number);\n"
)

// next opens a database as a program of the next release.
func next(ctx context.Context, database string, noMigrate bool) (*sqlstore.Store, error) {
	o := sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}, NoMigrate: noMigrate}
	return sqlstore.OpenNext(ctx, o, nextColumn, nextIndexes)
}

// TestNextMigrations brings a database up to date by several programs of the next release at once: it holds
// what it held, with the new column and indexes, and the program of before goes on serving it.
func TestNextMigrations(t *testing.T) { eachEmpty(t, testNextMigrations) }

func testNextMigrations(t *testing.T, database string) {
	store := reopen(t, database)
	copied(t, filled(t, 40), store)
	before := dump(t, store)
	version, err := store.Version(t.Context())
	servicetest.Check(t, err)
	if store, err := next(t.Context(), database, true); err == nil ||
		!strings.Contains(err.Error(), "run fundeskd migrate") {
		t.Fatalf("not to be changed: got %v, %v", store, err)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			later, err := next(t.Context(), database, false)
			if err == nil {
				if got, versionErr := later.Version(t.Context()); got != version+2 {
					t.Errorf("got version %d, %v, want %d", got, versionErr, version+2)
				}
				err = later.Close()
			}
			servicetest.Report(t, err)
		})
	}
	group.Wait()
	for _, served := range []*sqlstore.Store{store, reopen(t, database)} {
		servicetest.Same(t, "got other rows", before, dump(t, served))
		if found, err := served.Check(t.Context()); len(found) > 0 || err != nil {
			t.Errorf("check: %v %v", found, err)
		}
	}
	for _, made := range []string{
		`UPDATE persons SET later = 'x'`,
		`DROP INDEX persons_later`,
		`DROP INDEX calls_later`,
	} {
		servicetest.Report(t, store.Execute(t.Context(), made))
	}
}

// TestMigrationGivesWay migrates while a session reads a table for long, as pg_dump does: requests
// are answered in between, and when it ends the migration is done.
func TestMigrationGivesWay(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	database := servicetest.EmptyDatabase(t)
	copied(t, filled(t, 20), reopen(t, database))
	reader, err := pgx.Connect(t.Context(), database)
	servicetest.Check(t, err)
	t.Cleanup(func() { _ = reader.Close(context.Background()) })
	if _, err := reader.Exec(t.Context(), `BEGIN; LOCK TABLE persons IN ACCESS SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	migrated := make(chan error, 1)
	go func() {
		store, err := next(context.WithoutCancel(t.Context()), database, false)
		if err == nil {
			err = store.Close()
		}
		migrated <- err
	}()
	const waits = `EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`
	await(t, database, `SELECT `+waits)
	execute(t, database, `SELECT COUNT(*) FROM persons`) // It is behind the migration, which gives way.
	await(t, database, `SELECT NOT `+waits)
	if _, err := reader.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	servicetest.Report(t, errors.Join(<-migrated, reopen(t, database).Ping(t.Context())))
}

// TestUnreleasedSchema opens databases of programs from before the first release, of lower and higher versions. Each is
// refused with its version and a hint, and stays unchanged.
func TestUnreleasedSchema(t *testing.T) { eachEmpty(t, testUnreleasedSchema) }

func testUnreleasedSchema(t *testing.T, database string) {
	store := reopen(t, database)
	setVersion := `PRAGMA user_version = %d`
	if strings.HasPrefix(database, "postgres") {
		setVersion = `UPDATE schema_version SET version = %d`
	}
	for _, first := range []string{
		`DELETE FROM settings WHERE name = 'schema-first'`,
		`INSERT INTO settings (name, value) VALUES ('schema-first', 'another')`,
	} {
		servicetest.Check(t, store.Execute(t.Context(), first))
		for _, version := range []int{1, 9} {
			servicetest.Check(t, store.Execute(t.Context(), fmt.Sprintf(setVersion, version)))
			before := dump(t, store)
			for _, o := range []sqlstore.Options{{}, {NoMigrate: true}, {Inspect: true}, {Existing: true}} {
				o.Database, o.Postgres = database, pgdriver.Driver{}
				opened, err := sqlstore.Open(t.Context(), o)
				if err == nil {
					servicetest.Check(t, opened.Close())
					t.Fatalf("version %d, %+v: it was opened", version, o)
				}
				for _, want := range []string{
					"open the database",
					fmt.Sprintf("version %d of an unreleased fundeskd", version),
					"fundeskd load",
				} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("version %d: got %v, want %q", version, err, want)
					}
				}
			}
			servicetest.Same(t, "after it was refused", before, dump(t, store))
		}
	}
}

// TestLaterSchema opens and serves a database that a later program has brought up to date, as long as the database
// allows this program. From then on nothing is answered.
// Promise S53: a later schema is served where it says so.
func TestLaterSchema(t *testing.T) { eachEmpty(t, testLaterSchema) }

func testLaterSchema(t *testing.T, database string) {
	store := reopen(t, database)
	version, err := store.Version(t.Context())
	servicetest.Check(t, err)
	if _, err := store.SigningSeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	account := service.Account{UUID: apitype.NewUUID(), Name: "a", Scope: service.Scope{All: true}, CreatedAt: now}
	update(t, store, func(tx service.Tx) error {
		return errors.Join(tx.InsertAccount(account), tx.InsertToken(service.IssuedToken{
			UUID:     account.UUID,
			Account:  account.UUID,
			IssuedAt: now,
		}))
	})
	later := fmt.Sprintf(`PRAGMA user_version = %d`, version+1)
	if strings.HasPrefix(database, "postgres") {
		later = fmt.Sprintf(`INSERT INTO schema_version VALUES (%d)`, version+1)
	}
	servicetest.Check(t, store.Execute(t.Context(), later))
	unavailable := func(err error) bool {
		refusal, ok := errors.AsType[*service.Error](err)
		return ok && refusal.Kind == service.Unavailable && strings.Contains(refusal.Detail, "later version")
	}
	for _, test := range []struct {
		servedBy int
		serves   bool
	}{{version, true}, {version + 1, false}, {version, true}} {
		update(t, store, func(tx service.Tx) error {
			return tx.SetSetting("schema-served-by", fmt.Sprint(test.servedBy))
		})
		err := store.Read(t.Context(), service.ReadRecord, func(r service.Reader) error {
			_, _, err := r.AccountOfToken(account.UUID, account.UUID)
			return err
		})
		ping := store.Ping(t.Context())
		if test.serves != (err == nil && ping == nil) || !test.serves && !(unavailable(err) && unavailable(ping)) {
			t.Errorf("served by programs of version %d: got %v, %v from one of version %d",
				test.servedBy, err, ping, version)
		}
		for _, inspect := range []bool{false, true} {
			again, err := sqlstore.Open(t.Context(), sqlstore.Options{
				Database: database,
				Postgres: pgdriver.Driver{},
				Inspect:  inspect,
			})
			if err == nil {
				err = again.Close()
			} else if !strings.Contains(err.Error(), "later fundeskd") {
				t.Errorf("got %v, want that a later program made it", err)
			}
			if test.serves != (err == nil) {
				t.Errorf("served by programs of version %d: opened with %v", test.servedBy, err)
			}
		}
	}
	if after, err := store.Version(t.Context()); after != version+1 || err != nil {
		t.Errorf("got version %d, %v, want that it stays %d", after, err, version+1)
	}
}
