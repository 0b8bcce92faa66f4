package servicetest

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fundesk/apiclient/apitype"
)

// PostgresVariable names a PostgreSQL server for tests, as postgres://…. Each test makes
// a database of its own there. Without it, SQLite is tested alone, or a server is
// started by [StartPostgres].
const PostgresVariable = "FUNDESK_TEST_POSTGRES"

// ErrNoPostgres is what StartPostgres says where PostgreSQL is not installed.
var ErrNoPostgres = errors.New("postgreSQL is not installed")

// StartPostgres starts a throw-away server from the installed programs. stop ends it
// and erases its data.
func StartPostgres(ctx context.Context) (server string, stop func() error, err error) {
	if Program("initdb") == "" || Program("postgres") == "" {
		return "", nil, ErrNoPostgres
	}
	folder, err := os.MkdirTemp("", "fundesk-postgres-")
	if err != nil {
		return "", nil, err
	}
	c := &Cluster{folder: folder}
	stop = func() error {
		c.end(syscall.SIGQUIT) // At once: the data is thrown away.
		return os.RemoveAll(folder)
	}
	if err := c.make(ctx, initdb, "max_connections=400"); err != nil {
		return "", nil, errors.Join(err, stop())
	}
	return Clusters("", c), stop, nil
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

// PostgresDatabase is a new database at a server, dropped after the test.
func PostgresDatabase(t testing.TB, server string) string {
	t.Helper()
	database, drop, err := NewPostgresDatabase(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return database
}

// NewPostgresDatabase is a new database at a server, until it is dropped.
func NewPostgresDatabase(ctx context.Context, server string) (database string, drop func() error, err error) {
	name := "test_" + strings.ReplaceAll(apitype.NewUUID().String(), "-", "")
	address, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	if err := execute(ctx, server, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	address.Path = "/" + name
	ctx = context.WithoutCancel(ctx)
	return address.String(), func() error { return execute(ctx, server, "DROP DATABASE "+name+" WITH (FORCE)") }, nil
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
