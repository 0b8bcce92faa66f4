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
	"github.com/jackc/pgx/v5/pgproto3"
)

// primary listens as a PostgreSQL server does that has a timeline, and answers nothing else.
func primary(t *testing.T, timeline int) (address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go answerTimeline(c, timeline)
		}
	}()
	return listener.Addr().String()
}

func answerTimeline(c net.Conn, timeline int) {
	defer func() { _ = c.Close() }()
	backend := pgproto3.NewBackend(c, c)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return
	}
	backend.Send(&pgproto3.AuthenticationOk{})
	for {
		backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		if backend.Flush() != nil {
			return
		}
		asked, err := backend.Receive()
		if query, ok := asked.(*pgproto3.Query); err != nil || !ok || query.String != askTimeline {
			return
		}
		backend.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("case"), DataTypeOID: 23, DataTypeSize: 4}}})
		backend.Send(&pgproto3.DataRow{Values: [][]byte{fmt.Append(nil, timeline)}})
		backend.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
	}
}

// A primary that comes back after another one took over is not connected to. Spec gap: S43.
func TestReplacedPrimaryIsRefused(t *testing.T) {
	t.Parallel()
	before, after := primary(t, 1), primary(t, 2)
	config, err := pgconn.ParseConfig("postgres://a@" + before + "," + after + "/a?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	watched := watchTimelines(config)
	t.Cleanup(watched.stop)
	connect := func(host string) error {
		t.Helper()
		one := config.Copy()
		for _, of := range hostsOf(config) {
			if fmt.Sprintf("%s:%d", of.Host, of.Port) == host {
				one.Host, one.Port, one.Fallbacks = of.Host, of.Port, nil
			}
		}
		c, err := pgconn.ConnectConfig(t.Context(), one)
		if err == nil {
			err = c.Close(context.Background())
		}
		return err
	}
	if err := connect(after); err != nil {
		t.Fatalf("the primary that took over: got %v", err)
	}
	if err := connect(before); !errors.Is(err, errReplaced) {
		t.Errorf("the primary before: got %v, want that another server has taken over", err)
	}
	if err := connect(after); err != nil {
		t.Errorf("the primary that took over, again: got %v", err)
	}
}

// A server that is silent for the time that it may take is given up. Spec gap: S26.
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
	c, err := dialer(20*time.Millisecond)(context.WithValue(t.Context(), connecting{}, true), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	peer := <-silent
	last := time.AfterFunc(10*time.Second, func() { _ = peer.Close() }) // So that the test ends where nothing gives it up.
	t.Cleanup(func() { last.Stop(); _ = peer.Close() })
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want that it took too long", err)
	}
	end := patience(c)
	if at := c.(*impatient).deadline(); !at.IsZero() {
		t.Errorf("while a commit is under way: got an end at %v, want none", at)
	}
	end()
	if _, err := dialer(time.Second)(t.Context(), "tcp", listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "nothing is cancelled") {
		t.Errorf("got %v for a connection that cancels, want none", err)
	}
}

// safe is an error after which nothing was sent.
type safe struct{ error }

func (safe) SafeToRetry() bool { return true }

// A server was not reached where no connection could be made, or nothing was sent on one; a refusal came from it.
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
