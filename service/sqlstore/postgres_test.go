package sqlstore_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// onPostgres returns a new database for a test of PostgreSQL alone.
func onPostgres(t *testing.T) string {
	t.Helper()
	t.Parallel()
	servicetest.NeedPostgres(t)
	return servicetest.EmptyDatabase(t)
}

// execute runs a statement outside the store.
func execute(t *testing.T, database, text string) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), database)
	servicetest.Check(t, err)
	_, err = connection.Exec(t.Context(), text)
	servicetest.Check(t, errors.Join(err, connection.Close(t.Context())))
}

// TestReadOnlyServer opens a read-only database, such as a standby or one that is being moved away from. Reads work,
// and writes are asked to come back.
func TestReadOnlyServer(t *testing.T) {
	database := onPostgres(t)
	primary := reopen(t, database)
	seed, err := primary.SigningSeed(t.Context())
	servicetest.Check(t, err)
	rules, err := service.New(t.Context(), service.Options{Store: primary})
	servicetest.Check(t, err)
	token, err := rules.OwnToken(t.Context(), "a", time.Hour)
	servicetest.Check(t, err)
	store := reopen(t, database+"&default_transaction_read_only=on")
	if same, err := store.SigningSeed(t.Context()); string(same) != string(seed) || err != nil {
		t.Errorf("got another key, or %v", err)
	}
	if found, err := store.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("got %v, %v", found, err)
	}
	err = try(t, store, func(tx service.Tx) error { return tx.SetSetting("a", "b") })
	if service.KindOf(err) != service.Unavailable {
		t.Errorf("got %v for a change, want that the database is away", err)
	}
	if err := store.Ping(t.Context()); err != nil {
		t.Errorf("got %v, want it ready for reads", err)
	}
	if err := store.PingChanges(t.Context()); service.KindOf(err) != service.Unavailable {
		t.Errorf("got %v, want it not ready for changes", err)
	}
	reads, err := service.New(t.Context(), service.Options{Store: store})
	servicetest.Check(t, err)
	if _, err := reads.Authenticate(t.Context(), token); err != nil {
		t.Errorf("got %v for a token, want it accepted", err)
	}
}

// TestRoleWithoutTables opens a database as a role that may not make tables.
func TestRoleWithoutTables(t *testing.T) {
	database := onPostgres(t)
	if _, err := reopen(t, database).SigningSeed(t.Context()); err != nil {
		t.Fatal(err)
	}
	role := "role_" + strings.ReplaceAll(apitype.NewUUID().String(), "-", "")
	execute(t, database,
		`CREATE ROLE `+role+` LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO `+role)
	defer execute(t, database, `DROP OWNED BY `+role+`; DROP ROLE `+role)
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{
		Database:  strings.Replace(database, "user=fundesk", "user="+role, 1),
		Postgres:  pgdriver.Driver{},
		NoMigrate: true,
	})
	servicetest.Check(t, err)
	err = try(t, store, func(tx service.Tx) error { return tx.SetSetting("a", "b") })
	servicetest.Report(t, errors.Join(err, store.Close()))
}

// TestFailuresToConnect ends the connections of a store and refuses others, as operators do. Callers are asked to come
// back, for every reason of the server, and are served afterwards. They wait if there are only too many connections.
// Promise S41: what keeps a connection from being made is 503.
func TestFailuresToConnect(t *testing.T) {
	database, server := onPostgres(t), servicetest.PostgresServer(t)
	if err := reopen(t, database).Close(); err != nil { // It made the tables.
		t.Fatal(err)
	}
	role := "role_" + strings.ReplaceAll(apitype.NewUUID().String(), "-", "")
	address, err := url.Parse(database)
	servicetest.Check(t, err)
	name := strings.TrimPrefix(address.Path, "/")
	execute(
		t,
		server,
		`CREATE ROLE `+role+` LOGIN; REVOKE CONNECT ON DATABASE `+name+` FROM PUBLIC; GRANT CONNECT ON DATABASE `+name+
			` TO `+role,
	)
	execute(t, database, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO `+role)
	defer execute(t, server, `DROP ROLE `+role)
	defer execute(t, database, `DROP OWNED BY `+role)
	own := strings.Replace(database, "user=fundesk", "user="+role, 1)
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{
		Database:      own,
		Postgres:      pgdriver.Driver{},
		NoMigrate:     true,
		AnswerTimeout: time.Minute,
	})
	servicetest.Check(t, err)
	defer func() {
		servicetest.Report(t, store.Close())
	}()
	ask := func() error {
		return store.Read(t.Context(), service.ReadRecord, func(r service.Reader) error {
			_, err := r.Accounts()
			return err
		})
	}
	end := `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '` + role + `'`
	for _, refusal := range []struct{ name, refuse, allow string }{
		{"no login", `ALTER ROLE ` + role + ` NOLOGIN`, `ALTER ROLE ` + role + ` LOGIN`},
		{
			name:   "no right to connect",
			refuse: `REVOKE CONNECT ON DATABASE ` + name + ` FROM ` + role,
			allow:  `GRANT CONNECT ON DATABASE ` + name + ` TO ` + role,
		},
		{
			name:   "no connections to the database",
			refuse: `ALTER DATABASE ` + name + ` ALLOW_CONNECTIONS false`,
			allow:  `ALTER DATABASE ` + name + ` ALLOW_CONNECTIONS true`,
		},
	} {
		execute(t, server, refusal.refuse)
		execute(t, server, end)
		for range 2 { // The first one may be asked of a connection that has ended.
			if err := ask(); service.KindOf(err) != service.Unavailable {
				t.Errorf("%s: got %v, want that the database is away", refusal.name, err)
			}
		}
		execute(t, server, refusal.allow)
		if err := ask(); err != nil {
			t.Errorf("%s, afterwards: got %v", refusal.name, err)
		}
	}
	execute(t, server, end)
	execute(t, server, `ALTER ROLE `+role+` CONNECTION LIMIT 1`)
	other, err := pgx.Connect(t.Context(), own)
	servicetest.Check(t, err)
	asked := make(chan error, 1)
	go func() { asked <- ask() }()
	err = other.Close(t.Context())
	if err := errors.Join(err, <-asked); err != nil {
		t.Errorf("too many connections: got %v, want to wait for one", err)
	}
}

// TestServerTimeouts shows that what the server ends for taking long may work later.
func TestServerTimeouts(t *testing.T) {
	database := onPostgres(t)
	other := reopen(t, database)
	set := func(store *sqlstore.Store, during func() error) error {
		return try(t, store, func(tx service.Tx) error {
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
	servicetest.Report(t, err)
}

// TestTimeoutOfRole shows that what may take any time does, whatever is set for the role or the
// database, as a load must.
func TestTimeoutOfRole(t *testing.T) {
	database := onPostgres(t)
	address, err := url.Parse(database)
	servicetest.Check(t, err)
	execute(t, database, `ALTER DATABASE `+strings.TrimPrefix(address.Path, "/")+` SET statement_timeout = '1s'`)
	db, err := pgdriver.Driver{}.Open(database, 0, 0)
	servicetest.Check(t, err)
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), `SELECT pg_sleep(1.2)`); err != nil {
		t.Error(err)
	}
}

// TestEncodings shows that names are kept as they are, whatever the role has set, and that a
// database which cannot hold them is refused.
// Promise S22: text goes to PostgreSQL in UTF8, whatever a role has set.
func TestEncodings(t *testing.T) {
	servicetest.Slow(t)
	database := onPostgres(t)
	const name = "Łódź"
	update(t, reopen(t, database+"&client_encoding=LATIN1"), func(tx service.Tx) error {
		return tx.SetSetting("a", name)
	})
	err := reopen(t, database).Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
		got, err := r.Setting("a")
		if got != name {
			t.Errorf("got %q, want %q", got, name)
		}
		return err
	})
	servicetest.Report(t, err)
	before, after, _ := strings.Cut(database, "?")
	at := strings.LastIndex(before, "/")
	latin := before[at+1:] + "_latin"
	execute(t, database, `CREATE DATABASE `+latin+` TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`)
	defer execute(t, database, `DROP DATABASE `+latin+` WITH (FORCE)`)
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{
		Database: before[:at+1] + latin + "?" + after,
		Postgres: pgdriver.Driver{},
	})
	if err == nil || !strings.Contains(err.Error(), "its encoding is LATIN1") {
		t.Errorf("got %v, %v, want a refusal of its encoding", store, err)
	}
}

// TestPooler goes through PgBouncer as it is installed. If it keeps sessions, everything is served. If not, the
// database is refused with a hint.
// Promise S42: a pooler that keeps no sessions is refused.
func TestPooler(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	cluster := servicetest.NewServer(t)
	session := servicetest.NewPooler(t, cluster, "session", 0)
	store, err := sqlstore.Open(t.Context(), sqlstore.Options{
		Database:      session,
		Postgres:      pgdriver.Driver{},
		AnswerTimeout: time.Minute,
	})
	servicetest.Check(t, err)
	update(t, store, func(tx service.Tx) error { return tx.SetSetting("a", "b") })
	servicetest.Report(t, errors.Join(store.Ping(t.Context()), store.Close()))
	for _, test := range []struct {
		mode        string
		connections int
	}{{"transaction", 0}, {"transaction", 0}, {"transaction", 0}, {"transaction", 1}, {"statement", 0}} {
		pooler := servicetest.NewPooler(t, cluster, test.mode, 0)
		store, err = sqlstore.Open(t.Context(), sqlstore.Options{
			Database:    pooler,
			Postgres:    pgdriver.Driver{},
			Connections: test.connections,
		})
		if err == nil || !strings.Contains(err.Error(), "pool_mode = session") {
			t.Errorf("pool_mode = %s, %d connections: got %v, %v, want a refusal with the way out",
				test.mode, test.connections, store, err)
		}
	}
}

// TestTrace looks how the server names what a request does: by the program, and the trace that the
// request is a part of.
func TestTrace(t *testing.T) {
	store := reopen(t, onPostgres(t))
	const trace = "0af7651916cd43dd8448eb211c80319c"
	for of, want := range map[string]string{
		trace:                     "fundeskd " + trace,
		"'; DROP TABLE calls; --": "fundeskd",
		"":                        "fundeskd",
	} {
		ctx := service.WithRequest(t.Context(), service.Request{Trace: of})
		name := func(kind string, transaction func(read func(service.Reader) error) error) {
			err := transaction(func(r service.Reader) error {
				got, err := sqlstore.ApplicationName(r)
				if got != want {
					t.Errorf("%s of the trace %q: got %q, want %q", kind, of, got, want)
				}
				return err
			})
			servicetest.Report(t, err)
		}
		name("a change", func(read func(service.Reader) error) error {
			return store.Write(ctx, service.WriteIsolated, func(tx service.Tx) error { return read(tx) })
		})
		name("a view", func(read func(service.Reader) error) error {
			return store.Read(ctx, service.ReadSnapshot, read)
		})
	}
}

// TestProcessesBehindAPooler lets two programs ask more than an installed PgBouncer has sessions for, and one with a
// PgBouncer of four. Every question is answered in its time.
func TestProcessesBehindAPooler(t *testing.T) {
	servicetest.SlowUnlessRaced(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	cluster := servicetest.NewServer(t)
	const timeout = 10 * time.Second
	for sessions, processes := range map[int]int{0: 2, 4: 1} {
		pooler := servicetest.NewPooler(t, cluster, "session", sessions)
		answers := make(chan error)
		for process := range processes {
			store, err := sqlstore.Open(t.Context(), sqlstore.Options{
				Database:      pooler,
				Postgres:      pgdriver.Driver{},
				AnswerTimeout: timeout,
			})
			servicetest.Check(t, err)
			defer func() {
				servicetest.Report(t, store.Close())
			}()
			for client := range 32 {
				go func() {
					for range 20 {
						begun, name := time.Now(), fmt.Sprintf("%d-%d", process, client)
						err := try(t, store, func(tx service.Tx) error { return tx.SetSetting(name, "v") })
						if err == nil && time.Since(begun) > timeout {
							err = fmt.Errorf("it took %v", time.Since(begun))
						}
						answers <- err
					}
				}()
			}
		}
		for range processes * 32 * 20 {
			if err := <-answers; err != nil {
				t.Errorf("%d sessions: %v", sessions, err)
			}
		}
	}
}
