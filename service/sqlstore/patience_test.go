package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fundesk/service"
)

// refusingServer is a PostgreSQL server that refuses the statements that begin with a text.
type refusingServer struct {
	PostgresDriver
	statement string
	code      string
	asked     int
	confirms  chan error    // Commits wait for it.
	latency   time.Duration // Of the answer to a begin.
}

// refusedError is the words of that refusal.
type refusedError struct{ code string }

func (e refusedError) Error() string { return e.code }

func (*refusingServer) Code(err error) string {
	refused, _ := errors.AsType[refusedError](err)
	return refused.code
}

func (*refusingServer) Disconnected(error) bool { return false }

// Commit takes until it is confirmed.
func (s *refusingServer) Commit(any, string, [][]any) error { return <-s.confirms }

// Connect, Driver, Prepare, Begin and Close make it a connection of database/sql.
func (s *refusingServer) Connect(context.Context) (driver.Conn, error) { return s, nil }
func (s *refusingServer) Driver() driver.Driver                        { return nil }
func (s *refusingServer) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }

func (s *refusingServer) Begin() (driver.Tx, error) { return nil, errors.ErrUnsupported }
func (s *refusingServer) Close() error              { return nil }

// Until waits for nothing.
func (*refusingServer) Until(any, time.Time) error { return nil }

// BeginAt refuses to begin as ExecContext does.
func (s *refusingServer) BeginAt(ctx context.Context, _ any, text string) (time.Time, error) {
	_, err := s.ExecContext(ctx, text, nil)
	began := time.Now()
	time.Sleep(s.latency)
	return began, err
}

// ExecContext refuses what it is to refuse.
func (s *refusingServer) ExecContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Result, error) {
	if s.code != "" && strings.HasPrefix(text, s.statement) {
		s.asked++
		return nil, refusedError{s.code}
	}
	return driver.ResultNoRows, nil
}

// engineOf returns an engine that asks a server over one connection.
func engineOf(t *testing.T, s *refusingServer) *postgresEngine {
	t.Helper()
	e := &postgresEngine{driver: s, now: time.Now, db: sql.OpenDB(s)}
	e.pool = newPool(1, e.connect)
	t.Cleanup(func() {
		for len(e.pool.idle) > 0 {
			_ = (<-e.pool.idle).close()
		}
		if err := e.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// A migration that waits for a lock on its tables gives way and comes again, for 5 minutes. Then it fails, and has
// changed nothing.
func TestMigrationWaitsForLocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &refusingServer{statement: `CREATE TABLE`, code: lockNotAvailable}
		began := time.Now()
		err := engineOf(t, server).givingWay(t.Context(), func(c *conn) (bool, error) {
			_, err := c.raw.ExecContext(c.ctx, `CREATE TABLE a (b BIGINT)`)
			return true, err
		})
		if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("got %v, want that nothing was changed", err)
		}
		if waited := time.Since(began); waited < 5*time.Minute || waited > 5*time.Minute+2*time.Second {
			t.Errorf("got an end after %v, want one after 5 minutes", waited)
		}
		if server.asked < 250 {
			t.Errorf("got %d attempts, want one a second", server.asked)
		}
	})
}

// Callers that wait because the server has no room for a connection are counted, and so are those that wait in vain.
func TestWaitsForRoomAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const patience = 10 * time.Second
		room := time.Now().Add(patience / 2)
		p := newPool(2, func() (*conn, error) {
			if time.Now().Before(room) {
				return nil, refusedError{"53300"}
			}
			return new(conn), nil
		})
		p.patience, p.full = patience, func(err error) bool { return errors.Is(err, refusedError{"53300"}) }
		defer close(p.stop)
		ask := func() error {
			until, _ := p.until(t.Context())
			_, err := p.connection(t.Context(), until)
			return err
		}
		if err := ask(); err != nil {
			t.Errorf("with room after %v: got %v", patience/2, err)
		}
		room = time.Now().Add(time.Hour)
		if err := ask(); err == nil {
			t.Error("without room: got a connection")
		}
		if got := p.stats(); got.Waited != 2 || got.TimedOut != 1 {
			t.Errorf("got %d waits, %d in vain; want 2, 1", got.Waited, got.TimedOut)
		}
	})
}

// A transaction that loses against others runs again as long as its request has time, and 20 times without a time
// limit. Then it is 503. A transaction with connections that all break runs 20 times. Spec gap: S21.
func TestLosingTransactionRunsAgain(t *testing.T) {
	t.Parallel()
	lost := refusedError{"40001"}
	for _, test := range []struct {
		name     string
		patience time.Duration
		err      error
		wins     int // The run that is not refused. Zero if none is.
		min, max int // Runs.
	}{
		{"it wins late", 10 * time.Second, lost, 50, 50, 50},
		{"it never wins", 10 * time.Second, lost, 0, 100, 1000},
		{"its request has no time", time.Nanosecond, lost, 0, 20, 20},
		{"no time is set", 0, lost, 0, 20, 20},
		{"it is too slow for others, late", 10 * time.Second, service.ErrAgain, 50, 50, 50},
		{"it is too slow for others", 10 * time.Second, service.ErrAgain, 0, 100, 1000},
		{"connections break", 10 * time.Second, errBegin{refusedError{"08006"}}, 0, 20, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := engineOf(t, new(refusingServer))
				e.pool.patience = test.patience
				runs, began := 0, time.Now()
				err := e.again(t.Context(), func(*conn) error {
					if runs++; runs == test.wins {
						return nil
					}
					return test.err
				})
				kind := service.KindOf(err)
				if (kind == service.Unavailable) != (test.wins == 0) || runs < test.min || runs > test.max {
					t.Errorf("got %v after %d runs, want %d to %d", err, runs, test.min, test.max)
				}
				if took := time.Since(began); took > test.patience+2*time.Second {
					t.Errorf("got an end after %v", took)
				}
			})
		})
	}
}

// A server with a failing or full disk may also refuse a new connection. The refusal tells why, and readiness makes a
// change until one succeeds. Spec gap: S14.
func TestRefusedConnectionTellsWhy(t *testing.T) {
	t.Parallel()
	const silent = "the database does not answer now"
	for code, want := range map[string]string{
		"53100": "the database has no space left",
		"58030": "the database cannot be read or written",
		"XX001": "the database is damaged",
		"28P01": "the database refuses the login",
		"3D000": "the server has no such database",
		"42501": silent,
		"57P03": silent,
		"":      silent,
	} {
		e := &postgresEngine{driver: new(refusingServer)}
		refused, ok := errors.AsType[*service.Error](e.refusal(errConnect{refusedError{code}}))
		if !ok || refused.Kind != service.Unavailable || refused.Detail != want {
			t.Errorf("%s: got %v, want %q", code, refused, want)
		}
		if ofDisk := ofStorage(code) != "" && want != silent; e.failed.Load() != ofDisk {
			t.Errorf("%s: got a check by changes: %t, want %t", code, e.failed.Load(), ofDisk)
		}
	}
}

// A commit that takes too long is answered with 503 and goes on by itself; with twice as many of
// them as connections, changes are 503 at once. Spec gap: S31.
// Promise S31: a commit that takes too long is 503 and goes on by itself.
func TestCommitThatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &refusingServer{confirms: make(chan error)}
		e := engineOf(t, server)
		e.pool.patience = 10 * time.Second
		for n, want := range []time.Duration{10 * time.Second, 10 * time.Second, 0, 0} {
			began := time.Now()
			if err := e.write(t.Context(), service.WriteIsolated, func(*conn) error {
				return nil
			}); !errors.Is(err, errUnconfirmed) || time.Since(began) != want {
				t.Errorf("change %d: got %v after %v, want that it is not confirmed, after %v",
					n, err, time.Since(began), want)
			}
		}
		for range 2 {
			server.confirms <- nil
		}
		synctest.Wait()
		go func() { server.confirms <- nil }()
		if err := e.write(t.Context(), service.WriteIsolated, func(*conn) error { return nil }); err != nil {
			t.Errorf("got %v when commits are confirmed again", err)
		}
	})
}

// A change is dated by the present also if the answer to its begin is slow: else a change on a busy machine has an
// earlier time than its request.
func TestChangeAfterASlowBeginIsDatedNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := engineOf(t, &refusingServer{latency: 300 * time.Millisecond})
		err := e.pool.with(t.Context(), func(c *conn) error {
			if err := e.begin(c, `BEGIN`); err != nil {
				return err
			}
			if c.ahead != 0 {
				t.Errorf("got the server's clock %v ahead, want the same clock", c.ahead)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A server's clock that was read at any moment of a slow answer is the same one, unless it differs by
// more than that took. Spec gap: S35.
func TestClockOfASlowAnswer(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	for _, test := range []struct {
		name             string
		read, took, want time.Duration // From when it was asked.
	}{
		{"at once", 0, 0, 0},
		{"read at the beginning", 0, time.Second, 0},
		{"read at the end", time.Second, time.Second, 0},
		{"a little ahead", 90 * time.Millisecond, 0, 0},
		{"ahead", 100 * time.Millisecond, 0, 100 * time.Millisecond},
		{"behind", -3 * time.Second, time.Second, -3500 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := aheadBy(asked.Add(test.read), asked, asked.Add(test.took)); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
