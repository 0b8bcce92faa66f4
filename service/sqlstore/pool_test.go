package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fundesk/service"
)

// hangingPool has room for two connections, of which the server gives one; the other hangs, as in a
// pooler that has no session left.
func hangingPool(t *testing.T, patience time.Duration) *pool {
	made := 0
	p := newPool(2, func() (*conn, error) {
		if made++; made == 1 {
			return new(conn), nil
		}
		<-t.Context().Done()
		return nil, t.Context().Err()
	})
	p.patience = patience
	t.Cleanup(func() { close(p.stop) })
	return p
}

// A connection that is not made delays no caller while another one becomes free.
func TestAConnectionThatHangsHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := hangingPool(t, 10*time.Second)
		held, first := make(chan struct{}), make(chan error)
		go func() {
			first <- p.with(t.Context(), func(*conn) error {
				<-held
				return nil
			})
		}()
		synctest.Wait()
		second := make(chan error)
		go func() { second <- p.with(t.Context(), func(*conn) error { return nil }) }()
		time.Sleep(3 * time.Second) // Of the test's own clock.
		close(held)
		if err := errors.Join(<-first, <-second); err != nil {
			t.Errorf("got %v while a session is free", err)
		}
	})
}

// A refusal goes to the caller who waited for that connection, not to the next request, for which the server has room
// again.
func TestRefusalIsNotToldLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refusal := errors.New("no login")
		var answer error
		p := newPool(2, func() (*conn, error) {
			err := answer
			time.Sleep(2 * connectAgain) // When it is looked again.
			return new(conn), err
		})
		defer close(p.stop)
		ask := func() error {
			_, err := p.connection(t.Context(), time.Time{})
			return err
		}
		for range 5000 {
			answer = refusal
			if err := ask(); !errors.Is(err, refusal) {
				t.Errorf("got %v, want the refusal", err)
			}
			answer = nil
			if err := ask(); err != nil {
				t.Errorf("got %v from a server that refuses no more", err)
			}
			time.Sleep(time.Second) // Another one may be under way.
			for len(p.idle) > 0 {
				<-p.idle
			}
			p.alive.Store(0)
		}
	})
}

// One deadline covers all that a request waits for: the turn, the connection and each question.
func TestOneDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const patience = 10 * time.Second
		p := hangingPool(t, patience)
		spent := new(atomic.Int64)
		ctx := service.WithRequest(t.Context(), service.Request{Spent: spent})
		begun := time.Now()
		err := p.with(ctx, func(*conn) error { // An answer that takes long, and then a second question.
			time.Sleep(7 * time.Second)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		other := make(chan error)
		go func() {
			other <- p.with(t.Context(), func(*conn) error {
				time.Sleep(time.Minute)
				return nil
			})
		}()
		synctest.Wait()
		if err := p.with(ctx, func(*conn) error { return nil }); err == nil || time.Since(begun) != patience {
			t.Errorf("got %v after %v, want a refusal after %v", err, time.Since(begun), patience)
		}
		if err := <-other; err != nil {
			t.Error(err)
		}
	})
}

// Unused connections are given back, all but one. Used ones stay.
func TestIdleConnectionsGoBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := sql.OpenDB(new(refusingServer))
		p := newPool(8, func() (*conn, error) {
			raw, err := db.Conn(context.Background())
			return &conn{raw: raw}, err
		})
		go p.trim()
		defer func() {
			if err := errors.Join(p.close(), db.Close()); err != nil {
				t.Error(err)
			}
		}()
		together := func(n int) {
			t.Helper()
			ended := make(chan error)
			for range n {
				go func() {
					ended <- p.with(context.Background(), func(*conn) error {
						time.Sleep(time.Millisecond)
						return nil
					})
				}()
			}
			for range n {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		}
		together(8)
		for range 100 {
			together(3)
			time.Sleep(100 * time.Millisecond)
		}
		if got := p.alive.Load(); got != 3 {
			t.Errorf("got %d connections while three are used, want 3", got)
		}
		time.Sleep(3 * trimEvery)
		if got := p.alive.Load(); got != 1 {
			t.Errorf("got %d connections while none is used, want 1", got)
		}
	})
}

// A parameter without a name costs SQLite no search. A name stays if it chooses the argument.
func TestParametersLoseTheirNamesWhereTheOrderSaysTheSame(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "",
		"SELECT 1":                              "SELECT 1",
		"VALUES ($1, $2, $3)":                   "VALUES (?, ?, ?)",
		"UPDATE a SET b = $2 WHERE c = $1":      "UPDATE a SET b = $2 WHERE c = $1",
		"SET (a, b) = ($1, $2) WHERE a = $1":    "SET (a, b) = ($1, $2) WHERE a = $1",
		"VALUES ($1, $20)":                      "VALUES ($1, $20)",
		"SELECT doc ->> '$.email' WHERE a = $1": "SELECT doc ->> '$.email' WHERE a = $1",
	} {
		if got := (*sqliteEngine)(nil).spelled(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
