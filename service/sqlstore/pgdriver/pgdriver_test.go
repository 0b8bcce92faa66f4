package pgdriver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A name with several hosts is refused, in each notation. Spec gap: S43.
// Promise S43: a name with several hosts is refused.
func TestSeveralHostsAreRefused(t *testing.T) {
	t.Parallel()
	for name, several := range map[string]bool{
		"postgres://a@db1,db2/a?sslmode=require":                             true,
		"postgres://a@db1:5432,db1:5433/a?sslmode=require":                   true,
		"postgres:///a?host=/run/one,/run/two":                               true,
		"postgres://a@db1/a?sslmode=require":                                 false,
		"postgres://a@db1/a?sslmode=prefer":                                  false,
		"postgres://a@db1/a?sslmode=require&target_session_attrs=read-write": false,
		"postgres:///a?host=/run/postgresql&sslmode=allow&user=a":            false,
	} {
		db, err := (Driver{}).Open(name, 0, 0)
		if errors.Is(err, errSeveralHosts) != several || !several && err != nil {
			t.Errorf("%s: got %v, want it refused for its hosts: %t", name, err, several)
		}
		if db != nil {
			_ = db.Close() // Nothing was connected.
		}
	}
}

// A server that is silent for the time that it may take is given up. Spec gap: S26.
// Promise S26: a server that is silent is given up.
func TestSilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	silent := make(chan net.Conn, 1)
	go func() {
		c, err := listener.Accept()
		if err == nil {
			silent <- c
		}
	}()
	c, err := dialer(20*time.Millisecond)(context.WithValue(t.Context(), connecting{}, true), "tcp",
		listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	peer := <-silent
	last := time.AfterFunc(10*time.Second, func() {
		_ = peer.Close()
	}) // So that the test ends even without a deadline.
	t.Cleanup(func() { last.Stop(); _ = peer.Close() })
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want that it took too long", err)
	}
	end := patience(c)
	if at := c.(*impatient).deadline(); !at.IsZero() {
		t.Errorf("while a commit is under way: got an end at %v, want none", at)
	}
	end()
	if _, err := dialer(time.Second)(t.Context(), "tcp", listener.Addr().String()); err == nil ||
		!strings.Contains(err.Error(), "nothing is cancelled") {
		t.Errorf("got %v for a connection that cancels, want none", err)
	}
}

// safe is an error after which nothing was sent.
type safe struct{ error }

func (safe) SafeToRetry() bool { return true }

// A server was not reached if no connection was made, or nothing was sent on it. A refusal came from it.
func TestWhenAServerWasNotReached(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"no connection": {fmt.Errorf("open: %w", &pgconn.ConnectError{}), true},
		"nothing sent":  {safe{errors.New("closed")}, true},
		"a refusal":     {&pgconn.PgError{Code: "23505"}, false},
		"another one":   {errors.New("closed"), false},
	} {
		if got := (Driver{}).Disconnected(test.err); got != test.want {
			t.Errorf("%s: got it disconnected: %t, want %t", name, got, test.want)
		}
	}
}
