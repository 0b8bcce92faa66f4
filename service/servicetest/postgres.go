package servicetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
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
	initdb, postgres := Program("initdb"), Program("postgres")
	if initdb == "" || postgres == "" {
		return "", nil, ErrNoPostgres
	}
	folder, err := os.MkdirTemp("", "fundesk-postgres-")
	if err != nil {
		return "", nil, err
	}
	attributes, err := Unprivileged(folder)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(folder))
	}
	data := filepath.Join(folder, "data")
	create := exec.CommandContext(ctx, initdb, "-D", data, "-U", "fundesk", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8")
	create.Dir, create.SysProcAttr = folder, attributes
	if text, err := create.CombinedOutput(); err != nil {
		return "", nil, errors.Join(fmt.Errorf("initdb: %w: %s", err, text), os.RemoveAll(folder))
	}
	var log bytes.Buffer
	run := exec.CommandContext(context.WithoutCancel(ctx), postgres, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=400")
	run.Dir, run.SysProcAttr, run.Stdout, run.Stderr = folder, attributes, &log, &log
	if err := run.Start(); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(folder))
	}
	stop = func() error {
		_ = run.Process.Signal(syscall.SIGQUIT) // At once: the data is thrown away.
		_ = run.Wait()                          // Ended by a signal, as it was told.
		return os.RemoveAll(folder)
	}
	server = "postgres:///postgres?user=fundesk&host=" + url.QueryEscape(folder)
	if err := answers(ctx, server); err != nil {
		return "", nil, errors.Join(fmt.Errorf("start: %w: %s", err, log.String()), stop())
	}
	return server, stop, nil
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
	name := "test_" + strings.ReplaceAll(newName(), "-", "")
	execute := func(ctx context.Context, text string) error {
		connection, err := pgx.Connect(ctx, server)
		if err != nil {
			return err
		}
		_, err = connection.Exec(ctx, text)
		return errors.Join(err, connection.Close(ctx))
	}
	address, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	if err := execute(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	address.Path = "/" + name
	ctx = context.WithoutCancel(ctx)
	return address.String(), func() error { return execute(ctx, "DROP DATABASE "+name+" WITH (FORCE)") }, nil
}
