package pgdriver

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"sync/atomic"
	"time"
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
	patient atomic.Bool // It may be silent for any time: a commit is under way.
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
	return time.Now().Add(c.wait)
}

// patience lets a connection wait any time until it is ended.
func patience(c net.Conn) (end func()) {
	if encrypted, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = encrypted.NetConn()
	}
	if i, ok := c.(*impatient); ok {
		i.patient.Store(true)
		return func() { i.patient.Store(false) }
	}
	return func() {}
}
