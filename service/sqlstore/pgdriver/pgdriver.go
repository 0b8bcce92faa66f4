// Package pgdriver connects sqlstore with PostgreSQL through pgx. It is a package of its
// own so that only a program that serves PostgreSQL links pgx: the command line, which
// carries the service for its demo, would pay for it at every start.
//
// It must not know a table or a rule.
//
//	store, err := sqlstore.Open(ctx, sqlstore.Options{Database: "postgres://…", Postgres: pgdriver.Driver{}})
package pgdriver

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Driver is the [sqlstore.PostgresDriver] of pgx. The zero value is ready.
type Driver struct{}

// defaultConnectTimeout is how long each host may take when nothing else is said.
const defaultConnectTimeout = 3 * time.Second

// Open is a pool of connections to a server, or to whichever of several hosts fits. Its
// error does not hold the name, which may hold a password.
func (Driver) Open(database string, connectTimeout time.Duration) (*sql.DB, error) {
	config, err := pgx.ParseConfig(database)
	if err != nil {
		return nil, errors.New("its name is not well formed")
	}
	if connectTimeout > 0 {
		config.ConnectTimeout = connectTimeout
	} else if config.ConnectTimeout == 0 {
		config.ConnectTimeout = defaultConnectTimeout
	}
	// A server that vanished without a word is noticed while an answer is waited for.
	config.DialFunc = (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 2 * time.Second, Interval: 2 * time.Second, Count: 3,
	}}).DialContext
	return stdlib.OpenDB(*config), nil
}

// Code is the SQLSTATE that the server refused with, "" when err is no refusal of it.
func (Driver) Code(err error) string {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refused.Code
	}
	return ""
}

// Lost reports whether err says that the server was not reached.
func (Driver) Lost(err error) bool {
	_, connect := errors.AsType[*pgconn.ConnectError](err)
	return connect || pgconn.SafeToRetry(err) || pgconn.Timeout(err)
}

// Copy writes n rows by COPY over one connection of the pool, as [sql.Conn.Raw] hands it
// out.
func (Driver) Copy(ctx context.Context, connection any, table string, columns []string, n int, row func(int) ([]any, error)) error {
	_, err := connection.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromSlice(n, row))
	return err
}
