package sqlstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// onPostgres is a new database for a test of PostgreSQL alone.
func onPostgres(t *testing.T) string {
	t.Helper()
	t.Parallel()
	if server == "" {
		t.Skip("no PostgreSQL")
	}
	return servicetest.PostgresDatabase(t, server)
}

// execute runs a statement beside the store.
func execute(t *testing.T, database, text string) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	_, err = connection.Exec(t.Context(), text)
	if err := errors.Join(err, connection.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// TestReadOnlyServer opens a database that can only be read, as a standby or one that is
// being moved away from: what reads works, and what writes is told to come back.
func TestReadOnlyServer(t *testing.T) {
	database := onPostgres(t)
	seed, err := reopen(t, database).SigningSeed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store := reopen(t, database+"&default_transaction_read_only=on")
	if same, err := store.SigningSeed(t.Context()); string(same) != string(seed) || err != nil {
		t.Errorf("got another key, or %v", err)
	}
	if found, err := store.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("got %v, %v", found, err)
	}
	err = store.Update(t.Context(), func(tx service.Tx) error { return tx.SetSetting("a", "b") })
	if service.KindOf(err) != service.Unavailable {
		t.Errorf("got %v for a change, want that the database is away", err)
	}
}

// TestRoleWithoutTables opens a database as a role that may not make tables.
func TestRoleWithoutTables(t *testing.T) {
	database := onPostgres(t)
	if _, err := reopen(t, database).SigningSeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	role := "role_" + strings.ReplaceAll(apitype.NewUUID().String(), "-", "")
	execute(t, database, `CREATE ROLE `+role+` LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO `+role)
	defer execute(t, database, `DROP OWNED BY `+role+`; DROP ROLE `+role)
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{
		Database: strings.Replace(database, "user=fundesk", "user="+role, 1), Postgres: pgdriver.Driver{}, NoMigrate: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Update(t.Context(), func(tx service.Tx) error { return tx.SetSetting("a", "b") })
	if err := errors.Join(err, store.Close()); err != nil {
		t.Error(err)
	}
}

// TestServerTimeouts shows that what the server ends for taking long may work later.
func TestServerTimeouts(t *testing.T) {
	database := onPostgres(t)
	other := reopen(t, database)
	set := func(store *sqlstore.Store, during func() error) error {
		return store.Update(t.Context(), func(tx service.Tx) error {
			return errors.Join(tx.SetSetting("a", "b"), during())
		})
	}
	waiting := reopen(t, database+"&lock_timeout=1ms")
	err := set(other, func() error {
		if err := set(waiting, func() error { return nil }); service.KindOf(err) != service.Unavailable {
			t.Errorf("got %v for a row that is locked, want that the database is away", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestEncodings shows that names are kept as they are, whatever the role has set, and that a
// database which cannot hold them is refused.
func TestEncodings(t *testing.T) {
	database := onPostgres(t)
	const name = "Łódź"
	update(t, reopen(t, database+"&client_encoding=LATIN1"), func(tx service.Tx) error { return tx.SetSetting("a", name) })
	err := reopen(t, database).View(t.Context(), func(r service.Reader) error {
		got, err := r.Setting("a")
		if got != name {
			t.Errorf("got %q, want %q", got, name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	before, after, _ := strings.Cut(database, "?")
	at := strings.LastIndex(before, "/")
	latin := before[at+1:] + "_latin"
	execute(t, database, `CREATE DATABASE `+latin+` TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`)
	defer execute(t, database, `DROP DATABASE `+latin+` WITH (FORCE)`)
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: before[:at+1] + latin + "?" + after, Postgres: pgdriver.Driver{}})
	if err == nil || !strings.Contains(err.Error(), "its encoding is LATIN1") {
		t.Errorf("got %v, %v, want a refusal of its encoding", store, err)
	}
}
