package sqlstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// The times that the database gives to changes never go back, whatever the clocks of machines do.

// settledLife is the time for which a process reuses its last settled time.
const settledLife = time.Second

// settledPatience limits how long a list waits for the writer of an SQLite file.
const settledPatience = 50 * time.Millisecond

// GiveTime returns and saves the later of now and the highest time that the database has given.
func (t *tx) GiveTime(now apitype.Time) (apitype.Time, error) {
	given, err := t.engine.giveTime(t.conn, now.UnixMilli())
	return apitype.TimeFromMilli(given), err
}

// HighestTime returns the highest time that the database has given.
func (r *reader) HighestTime() (apitype.Time, error) {
	var at int64
	err := r.row(r.engine.highestTime()).scan(&at)
	return apitype.TimeFromMilli(at), err
}

// writerTimes are the times that the writer of an SQLite file gave. Its commits are in order.
type writerTimes struct {
	settled atomic.Int64 // Every change up to this time is visible. Zero if unknown.
	look    lookedAt
	looking atomic.Bool
}

// lookedAt is the time of a process's last check. It checks again after a second, and after its clock was moved.
type lookedAt struct{ real, clock atomic.Int64 } // Nanoseconds and milliseconds since 1970.

func (l *lookedAt) note(now apitype.Time) {
	l.real.Store(time.Now().UnixNano())
	l.clock.Store(now.UnixMilli())
}

func (l *lookedAt) isFresh(now apitype.Time) bool {
	passed, moved := time.Since(time.Unix(0, l.real.Load())), now.Sub(time.UnixMilli(l.clock.Load()))
	return passed.Abs() < settledLife && moved.Abs() < settledLife
}

// committed stores the last time of a commit. Later commits have no lower time.
func (w *writerTimes) committed(given int64) {
	if given > 0 {
		w.settled.Store(given - 1)
	}
}

func (e *sqliteEngine) giveTime(c *conn, now int64) (int64, error) {
	if now <= c.given { // By an earlier change of this transaction.
		return c.given, nil
	}
	var given int64
	err := c.row(`UPDATE given_times SET at = MAX(at, $1) RETURNING at`, now).scan(&given)
	if err != nil {
		return given, err
	}
	c.given = given
	return given, nil
}

func (*sqliteEngine) highestTime() string { return `SELECT at FROM given_times` }

// Settled commits an empty change if the writer gave no time lately: all earlier changes are visible then. It does not
// wait long for a busy writer.
func (e *sqliteEngine) Settled(ctx context.Context, now apitype.Time) (apitype.Time, bool) {
	if e.times.look.isFresh(now) || !e.times.looking.CompareAndSwap(false, true) {
		return e.settledTime()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer e.times.looking.Store(false)
		// The commit stores the time. If the disk is full, the last time stays.
		err := e.write(context.WithoutCancel(ctx), service.WriteIsolated, func(c *conn) error {
			_, err := e.giveTime(c, now.UnixMilli())
			return err
		})
		if err == nil {
			e.times.look.note(now)
		}
	}()
	enough := time.NewTimer(settledPatience)
	defer enough.Stop()
	select {
	case <-done:
	case <-enough.C:
	}
	return e.settledTime()
}

func (e *sqliteEngine) settledTime() (apitype.Time, bool) {
	at := e.times.settled.Load()
	return apitype.TimeFromMilli(at), at > 0
}

// settledMargin covers the moment between the time of a change and the transaction's number, which the server
// gives right after, and the moment until another session sees it.
const settledMargin = time.Second

// settledMark is a moment of a process. Transactions that get their number later have this time or a later one.
type settledMark struct {
	at     int64 // Milliseconds since 1970.
	number int64 // Of a transaction of that moment.
	clock  int64 // The server's, in microseconds.
}

// settledMarks are the moments before which a transaction may still be open, the oldest first.
type settledMarks struct {
	mu     sync.Mutex
	marks  []settledMark
	looked lookedAt
	at     int64 // The last result. Zero if unknown.
}

// maxMarks bounds the marks that are kept while one transaction stays open.
const maxMarks = 4000

// pass drops the settled marks, and returns the time of the last one, or zero if none is settled.
func (m *settledMarks) pass(oldest openTransactions) int64 {
	var at int64
	for len(m.marks) > 0 {
		first := m.marks[0]
		isOpen := oldest.number != nil && *oldest.number < first.number ||
			oldest.begun != nil && *oldest.begun < first.clock
		if isOpen {
			break
		}
		at = first.at
		m.marks = m.marks[1:]
	}
	if len(m.marks) > maxMarks {
		m.marks = m.marks[:maxMarks]
	}
	return at
}

func (e *postgresEngine) giveTime(c *conn, now int64) (int64, error) {
	var given int64
	err := c.row(giveTime, now).scan(&given)
	c.given = given
	return given, err
}

const giveTime = `SELECT setval('given_times', GREATEST($1, (SELECT last_value FROM given_times)))`

func (*postgresEngine) highestTime() string { return `SELECT last_value FROM given_times` }

// openTransactions are the oldest open transactions: of this database by number, and of our programs by their start.
type openTransactions struct {
	number, begun *int64
	own           int // Sessions of this process that the server's list shows.
}

// A change has its transaction number before its time. Changes in other databases of the server do not matter. The
// list of sessions hides sessions of other roles, and may have another name for this program. If the process does not
// find its own session, the result is unknown.
const (
	markTime = `SELECT setval('given_times', GREATEST($1, (SELECT last_value FROM given_times))),
		CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT), CAST(EXTRACT(EPOCH
		FROM clock_timestamp()) * 1000000 AS BIGINT)`
	selectOpen = `WITH open AS (SELECT CAST(CAST(pg_snapshot_xip(pg_current_snapshot()) AS TEXT) AS BIGINT) AS number)
		SELECT
			(SELECT MIN(number) FROM open WHERE NOT EXISTS (
				SELECT 1 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
				WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND a.datname <> current_database()
					AND l.transactionid = CAST(CAST(open.number % 4294967296 AS TEXT) AS XID))),
			(SELECT CAST(EXTRACT(EPOCH FROM MIN(xact_start)) * 1000000 AS BIGINT) FROM pg_stat_activity
				WHERE datname = current_database()
				AND application_name LIKE '` + application + `%' AND pid <> pg_backend_pid()),
			(SELECT COUNT(*) FROM pg_stat_activity WHERE pid = pg_backend_pid()
			AND application_name LIKE '` + application + `%')`
	settleTime = `SELECT setval('settled_times', GREATEST($1, (SELECT last_value FROM settled_times)))`
)

// Settled marks the moment, and finds the earlier marks that no open transaction precedes. The result of any process
// stays true: later results are never earlier.
func (e *postgresEngine) Settled(ctx context.Context, now apitype.Time) (apitype.Time, bool) {
	m := &e.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looked.isFresh(now) {
		return apitype.TimeFromMilli(m.at), m.at > 0
	}
	var mark settledMark
	var open openTransactions
	err := e.again(ctx, func(c *conn) error {
		if err := c.row(markTime, now.UnixMilli()).scan(&mark.at, &mark.number, &mark.clock); err != nil {
			return err
		}
		if err := c.row(selectOpen).scan(&open.number, &open.begun, &open.own); err != nil {
			return err
		}
		m.marks = append(m.marks, mark)
		found := max(m.pass(open)-settledMargin.Milliseconds(), 1)
		if open.own == 0 {
			m.at = 0
			return nil
		}
		return c.row(settleTime, found).scan(&m.at)
	})
	if err != nil {
		return apitype.Time{}, false
	}
	m.looked.note(now)
	if m.at == 1 { // No process has found one yet.
		m.at = 0
	}
	return apitype.TimeFromMilli(m.at), m.at > 0
}
