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

// TestLaterSchema opens and serves a database that a later program has brought up to date: as long
// as that says that this program may, it does, and from then on that it does not, nothing is
// answered.
// Promise S53: a later schema is served where it says so.
func TestLaterSchema(t *testing.T) { each(t, testLaterSchema) }

func testLaterSchema(t *testing.T, database string) {
	store := reopen(t, database)
	version, err := store.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.SigningSeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	account := service.Account{UUID: apitype.NewUUID(), Name: "a", Scope: service.Scope{All: true}, CreatedAt: now}
	update(t, store, func(tx service.Tx) error {
		return errors.Join(tx.InsertAccount(account), tx.InsertToken(service.IssuedToken{UUID: account.UUID, Account: account.UUID, IssuedAt: now}))
	})
	later := fmt.Sprintf(`PRAGMA user_version = %d`, version+1)
	if strings.HasPrefix(database, "postgres") {
		later = fmt.Sprintf(`INSERT INTO schema_version VALUES (%d)`, version+1)
	}
	if err := store.Execute(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	unavailable := func(err error) bool {
		refusal, ok := errors.AsType[*service.Error](err)
		return ok && refusal.Kind == service.Unavailable && strings.Contains(refusal.Detail, "later version")
	}
	for _, test := range []struct {
		servedBy int
		serves   bool
	}{{version, true}, {version + 1, false}, {version, true}} {
		update(t, store, func(tx service.Tx) error { return tx.SetSetting("schema-served-by", fmt.Sprint(test.servedBy)) })
		err := store.Ask(t.Context(), func(r service.Reader) error {
			_, _, err := r.AccountOfToken(account.UUID, account.UUID)
			return err
		})
		if ping := store.Ping(t.Context()); test.serves != (err == nil && ping == nil) || !test.serves && !(unavailable(err) && unavailable(ping)) {
			t.Errorf("served by programs of version %d: got %v, %v from one of version %d", test.servedBy, err, ping, version)
		}
		for _, inspect := range []bool{false, true} {
			again, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}, Inspect: inspect})
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

// TestMigrationGivesWay migrates while a session reads a table for long, as pg_dump does: requests
// are answered in between, and when it ends the migration is done.
func TestMigrationGivesWay(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	cluster := servicetest.NewServer(t)
	database := servicetest.Clusters("", cluster)
	if err := sqlstore.MakeVersion1(t.Context(), database, filled(t, 20)); err != nil {
		t.Fatal(err)
	}
	dump, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dump.Close(context.Background()) })
	if _, err := dump.Exec(t.Context(), `BEGIN; LOCK TABLE persons IN ACCESS SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	opened := make(chan *sqlstore.Store, 1)
	go func() {
		store, err := sqlstore.Open(context.WithoutCancel(t.Context()), sqlstore.Options{Database: database, Postgres: pgdriver.Driver{}})
		if err != nil {
			t.Error(err)
		}
		opened <- store
	}()
	const waits = `EXISTS (SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock')`
	cluster.Await(t, `SELECT `+waits)
	cluster.Execute(t, `SELECT COUNT(*) FROM persons`) // It is behind the migration, which gives way.
	cluster.Await(t, `SELECT NOT `+waits)
	if _, err := dump.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	store := <-opened
	if store == nil {
		return
	}
	if found, err := store.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("got %v, %v afterwards", found, err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// TestInterruptedIndexes migrates a database where a program was killed while it made indexes, and
// by several programs at once: none is left half made, and the lists have theirs.
func TestInterruptedIndexes(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	cluster := servicetest.NewServer(t)
	database := servicetest.Clusters("", cluster)
	if err := reopen(t, database).Close(); err != nil {
		t.Fatal(err)
	}
	const indexes = `(SELECT STRING_AGG(indexrelid::regclass::TEXT || ' ' || indisvalid, ', ' ORDER BY indexrelid::regclass::TEXT) FROM pg_index WHERE indrelid::regclass::TEXT IN ('calls', 'pledges', 'persons'))`
	for _, text := range []string{
		`CREATE TABLE before AS SELECT ` + indexes + ` AS indexes`,
		`UPDATE schema_version SET version = 7`,
		`DROP TABLE tokens`,
		`DROP TABLE queue_hours`,
		`DROP INDEX queue_leases_of_person`,
		`ALTER TABLE queue_leases DROP COLUMN shown_at`,
		`ALTER TABLE persons DROP COLUMN updated_at, DROP COLUMN erased_owner`,
		`ALTER TABLE queue_calls DROP COLUMN note`,
		`DROP TABLE queue_numbers`,
		`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'calls_by_code'::regclass`,
		`DROP INDEX pledges_owned`,
		`CREATE INDEX calls_by_time ON calls (requested_at, uuid)`,
	} {
		cluster.Execute(t, text)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() { reopen(t, database) })
	}
	group.Wait()
	cluster.Await(t, `SELECT indexes = `+indexes+` FROM before`)
}
