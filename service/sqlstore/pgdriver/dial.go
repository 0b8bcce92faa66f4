package pgdriver

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// connecting marks the context of a connection that is made for the pool.
type connecting struct{}

// connector makes the connections of the pool.
type connector struct {
	driver.Connector
}

// Connect makes one.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	return c.Connector.Connect(context.WithValue(ctx, connecting{}, true))
}

var errNoCancel = errors.New("nothing is cancelled at the server: it may be a commit")

// dialer reaches a server for the pool, and for nothing else: pgx asks the server over another
// connection to cancel what was under way on one that broke, whatever it was. What takes too
// long before its commit is ended by statement_timeout.
func dialer(answerTimeout time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	// A server that vanished without a word is noticed while an answer is waited for.
	d := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 2 * time.Second, Interval: 2 * time.Second, Count: 3},
		ControlContext:  limitUnacknowledged,
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if ctx.Value(connecting{}) == nil {
			return nil, errNoCancel
		}
		c, err := d.DialContext(ctx, network, address)
		if err != nil || answerTimeout <= 0 {
			return c, err
		}
		return &impatient{Conn: c, wait: answerTimeout}, nil
	}
}

// impatient is a connection whose peer may be silent for so long while it is read from: a
// server that hangs keeps its connections open, and nothing else would notice it.
type impatient struct {
	net.Conn
	wait    time.Duration
	until   atomic.Int64 // When its request is to be answered, in nanoseconds since 1970; 0: at any time.
	patient atomic.Bool  // It may be silent for any time: a commit is under way.
}

// Read waits for so long, unless an earlier deadline was set for the time of connecting.
func (c *impatient) Read(data []byte) (int, error) {
	if err := c.SetReadDeadline(c.deadline()); err != nil {
		return 0, err
	}
	return c.Conn.Read(data)
}

// Write likewise: the buffers of a server that hangs fill up.
func (c *impatient) Write(data []byte) (int, error) {
	if err := c.SetWriteDeadline(c.deadline()); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}

func (c *impatient) deadline() time.Time {
	if c.patient.Load() {
		return time.Time{}
	}
	silent := time.Now().Add(c.wait)
	if until := c.until.Load(); until != 0 && until < silent.UnixNano() {
		return time.Unix(0, until)
	}
	return silent
}

// impatience is the connection below a session's, or below its encryption; nil: it waits any time.
func impatience(c net.Conn) *impatient {
	if encrypted, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = encrypted.NetConn()
	}
	i, _ := c.(*impatient)
	return i
}

// patience lets a connection wait any time until it is ended.
func patience(c net.Conn) (end func()) {
	i := impatience(c)
	if i == nil {
		return func() {}
	}
	i.patient.Store(true)
	return func() { i.patient.Store(false) }
}

// Until lets a connection of the pool, as [sql.Conn.Raw] hands it out, wait for no answer after a
// time but for that to a commit; zero: at any time.
func (Driver) Until(connection any, at time.Time) error {
	if i := impatience(connection.(*stdlib.Conn).Conn().PgConn().Conn()); i != nil {
		var until int64
		if !at.IsZero() {
			until = at.UnixNano()
		}
		i.until.Store(until)
	}
	return nil
}
