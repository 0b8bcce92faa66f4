package servicetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
	"fundesk/service/sqlstore"
	"fundesk/service/sqlstore/pgdriver"
)

// PostgresVariable lets the services of tests be on PostgreSQL, if it is set, and not on SQLite. Tests
// that run on both engines without it are left out.
const PostgresVariable = "FUNDESK_TEST_POSTGRES"

// OnPostgres reports whether the services of tests are on PostgreSQL.
func OnPostgres() bool { return os.Getenv(PostgresVariable) != "" }

// ErrNoPostgres is returned if PostgreSQL is not installed.
var ErrNoPostgres = errors.New("postgreSQL is not installed")

// hasPostgres reports whether the programs are installed that [Cluster] runs.
func hasPostgres() bool { return Program("initdb") != "" && Program("pg_basebackup") != "" }

// NeedServer skips a test if PostgreSQL is not installed. In CI it fails the test.
func NeedServer(t testing.TB) {
	t.Helper()
	if hasPostgres() {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal(ErrNoPostgres)
	}
	t.Skip(ErrNoPostgres)
}

// NeedPostgres does the work of [NeedServer] for a test that always uses PostgreSQL: with PostgresVariable it
// would only do the same again, and is skipped.
func NeedPostgres(t testing.TB) {
	t.Helper()
	if OnPostgres() {
		t.Skip("it uses PostgreSQL also without ", PostgresVariable)
	}
	NeedServer(t)
}

// keep is a program that runs a server until the program that started it has ended, in whatever way, and
// then erases the server's folder.
const keep = `trap '' INT TERM HUP
folder=$1
shift
"$@" </dev/null &
read -r end
kill -QUIT $!
wait
rm -rf "$folder"`

// shared starts the server that all tests of a program share.
var shared = sync.OnceValues(func() (*Cluster, error) {
	if !hasPostgres() {
		return nil, ErrNoPostgres
	}
	folder, err := os.MkdirTemp("", "fundesk-postgres-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{folder: folder, isKept: true}
	c.attributes, err = Unprivileged(folder)
	if err != nil {
		return nil, err
	}
	unused := filepath.Join(folder, unusedData)
	err = c.run(context.Background(), initdb[0], append(initdb[1:], unused)...)
	if err != nil {
		return nil, err
	}
	err = c.make(
		context.Background(),
		copyOf(unused),
		"max_connections=400",
		"wal_level=minimal",
		"max_wal_senders=0",
		"full_page_writes=off",
	)
	return c, err
})

// PostgresServer returns the address of the server that all tests of a program share. A test that stops,
// fills or configures a server, or looks at all of its sessions, needs [NewServer].
func PostgresServer(t testing.TB) string {
	t.Helper()
	NeedServer(t)
	c, err := shared()
	Check(t, err)
	return patient(c)
}

// patient returns the address of a server at which connecting may take long. On a loaded machine it took over 3 s, the
// service's limit.
func patient(c *Cluster) string { return Clusters("", c) + "&connect_timeout=30" }

// PostgresDatabase returns a database at the shared server that has the tables and nothing in them.
// Another test gets it afterwards.
func PostgresDatabase(t testing.TB) string {
	t.Helper()
	NeedServer(t)
	database, giveBack, err := TakePostgres()
	Check(t, err)
	t.Cleanup(func() { Report(t, giveBack()) })
	return database
}

// TakePostgres does the work of [PostgresDatabase] outside of a test.
func TakePostgres() (database string, giveBack func() error, err error) {
	c, err := shared()
	if err != nil {
		return "", nil, err
	}
	server := patient(c)
	database, err = databases.take(server)
	return database, func() error { return databases.give(server, database) }, err
}

// EmptyDatabase returns a database of the test's own at the shared server, without tables.
func EmptyDatabase(t testing.TB) string {
	t.Helper()
	database, drop, err := NewPostgresDatabase(t.Context(), PostgresServer(t))
	Check(t, err)
	t.Cleanup(func() { Report(t, drop()) })
	return database
}

// NewPostgresDatabase makes a database at a server. drop deletes it.
func NewPostgresDatabase(ctx context.Context, server string) (database string, drop func() error, err error) {
	return createDatabase(ctx, server, "template1")
}

// createDatabase makes a database that has what another one has.
func createDatabase(ctx context.Context, server, template string) (database string, drop func() error, err error) {
	name := "test_" + strings.ReplaceAll(apitype.NewUUID().String(), "-", "")
	if err := execute(ctx, server, "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		return "", nil, err
	}
	address, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	address.Path = "/" + name
	ctx = context.WithoutCancel(ctx)
	return address.String(), func() error { return execute(ctx, server, "DROP DATABASE "+name+" WITH (FORCE)") }, nil
}

// databases are the shared server's databases that tests have given back.
var databases databasePool

// databasePool makes databases with tables, and empties returned ones. That takes a tenth of the time of making one.
type databasePool struct {
	mu    sync.Mutex
	free  []string
	empty databaseState
	reset string // The statements that make a database so.
}

// databaseState is compared to learn whether a database can be emptied.
type databaseState struct {
	Template string
	Schema   string
	Settings int  // Of the database.
	Analyzed bool // The server knows what was in its tables.
	IsLarge  bool // It is 16 MB larger than an empty one, about.
}

const postgresState = `SELECT current_database(),
	(SELECT md5(string_agg(
		concat_ws(' ', c.relname, c.relkind, c.relacl, a.attname, a.atttypid, a.attnotnull),
		',' ORDER BY c.relname, a.attnum))
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relnamespace = 'public'::regnamespace),
	(SELECT count(*) FROM pg_database d LEFT JOIN pg_db_role_setting ON setdatabase = d.oid
		WHERE datname = current_database() AND (datacl IS NOT NULL OR setdatabase IS NOT NULL)),
	EXISTS (SELECT 1 FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class
	WHERE relnamespace = 'public'::regnamespace)),
	pg_database_size(current_database()) > 24000000`

// take returns a database that is empty, but for its tables.
func (p *databasePool) take(server string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var database string
	if len(p.free) > 0 {
		database, p.free = p.free[0], p.free[1:]
		return database, nil
	}
	ctx := context.Background()
	if p.empty.Template == "" {
		if err := p.makeTemplate(ctx, server); err != nil {
			return "", err
		}
	}
	database, _, err := createDatabase(ctx, server, p.empty.Template)
	return database, err
}

// makeTemplate makes the database that others are copied from.
func (p *databasePool) makeTemplate(ctx context.Context, server string) error {
	template, _, err := NewPostgresDatabase(ctx, server)
	if err != nil {
		return err
	}
	store, err := sqlstore.Open(ctx, sqlstore.Options{Database: template, Postgres: pgdriver.Driver{}})
	if err != nil {
		return err
	}
	if err := store.Close(); err != nil {
		return err
	}
	connection, err := pgx.Connect(ctx, template)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close(ctx) }()
	p.reset, err = resetOf(ctx, connection)
	if err != nil {
		return err
	}
	p.empty, err = stateOf(ctx, connection)
	return err
}

// resetOf returns the statements that give the tables of a database the rows that they have now.
func resetOf(ctx context.Context, connection *pgx.Conn) (string, error) {
	rows, err := connection.Query(
		ctx,
		`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
	)
	if err != nil {
		return "", err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", err
	}
	// Without triggers: references are not looked at.
	reset := []string{`SET session_replication_role = replica`}
	for _, table := range tables {
		reset = append(reset, `DELETE FROM `+table)
		var content *json.RawMessage
		if err := connection.QueryRow(ctx, `SELECT json_agg(t) FROM `+table+` t`).Scan(&content); err != nil {
			return "", err
		}
		if content != nil {
			text := strings.ReplaceAll(string(*content), "'", "''")
			reset = append(
				reset,
				fmt.Sprintf(`INSERT INTO %s SELECT * FROM json_populate_recordset(NULL::%s, '%s')`, table, table, text),
			)
		}
	}
	reset = append(reset, `SELECT setval(seqrelid, seqstart, false) FROM pg_sequence`)
	return strings.Join(reset, "; "), nil
}

func stateOf(ctx context.Context, connection *pgx.Conn) (databaseState, error) {
	row := connection.QueryRow(ctx, postgresState)
	var state databaseState
	err := row.Scan(&state.Template, &state.Schema, &state.Settings, &state.Analyzed, &state.IsLarge)
	return state, err
}

// give empties a database for the next test, or drops it if a test has left more in it than rows.
func (p *databasePool) give(server, database string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	isEmpty, err := p.clear(ctx, database)
	if err == nil && isEmpty {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, database)
		return nil
	}
	// Whatever kept it from being emptied.
	address, err := url.Parse(database)
	if err != nil {
		return err
	}
	return execute(ctx, server, "DROP DATABASE "+strings.TrimPrefix(address.Path, "/")+" WITH (FORCE)")
}

// clear empties a database, and reports whether it is like a new one then.
func (p *databasePool) clear(ctx context.Context, database string) (isEmpty bool, err error) {
	connection, err := pgx.Connect(ctx, database)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, connection.Close(ctx)) }()
	const others = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database()
		AND pid <> pg_backend_pid()`
	if _, err := connection.Exec(ctx, others); err != nil {
		return false, err
	}
	state, err := stateOf(ctx, connection)
	if err != nil {
		return false, err
	}
	state.Template = p.empty.Template
	if state != p.empty {
		return false, nil
	}
	_, err = connection.Exec(ctx, p.reset)
	return err == nil, err
}

// Program finds one of PostgreSQL's programs, also where Debian hides them.
func Program(name string) string {
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	hidden, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(hidden) == 0 {
		return ""
	}
	return hidden[len(hidden)-1]
}

// answers waits until a server takes connections, half a minute at most.
func answers(ctx context.Context, server string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		connection, err := pgx.Connect(ctx, server)
		if err == nil {
			return connection.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

// execute runs a statement at a server.
func execute(ctx context.Context, server, text string) error {
	connection, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	_, err = connection.Exec(ctx, text)
	return errors.Join(err, connection.Close(ctx))
}
