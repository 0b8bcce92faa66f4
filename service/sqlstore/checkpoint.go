package sqlstore

import (
	"sync/atomic"
	"time"
)

// The writer's log is folded into the file by a connection of its own, so that nobody
// who waits for a commit waits for that: after so many changes, or so long after the
// last fold.
const (
	foldChanges = 500
	foldPause   = time.Second
	foldNow     = `PRAGMA wal_checkpoint(PASSIVE)`
)

// folder folds the log while the writer goes on.
type folder struct {
	changes atomic.Int64  // Since the last fold.
	wake    chan struct{} // There are changes; holds one.
	enough  chan struct{} // There are many; holds one.
	rest    atomic.Bool   // All but the last changes are folded.
}

func newFolder() *folder {
	return &folder{wake: make(chan struct{}, 1), enough: make(chan struct{}, 1)}
}

// committed tells of changes that are durable.
func (f *folder) committed(changes int) {
	if f.changes.Add(int64(changes)) >= foldChanges {
		select {
		case f.enough <- struct{}{}:
		default:
		}
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// fold folds the log until the engine is closed. A fold that fails loses nothing: the
// log holds what it held.
func (e *sqliteEngine) fold() {
	var c *conn
	defer func() {
		if c != nil {
			_ = c.close()
		}
	}()
	timer := time.NewTimer(foldPause)
	defer timer.Stop()
	for {
		select {
		case <-e.folder.wake:
		case <-e.stop:
			return
		}
		timer.Reset(foldPause)
		select {
		case <-e.folder.enough:
		case <-timer.C:
		case <-e.stop:
			return
		}
		e.folder.changes.Store(0)
		if c == nil {
			c, _ = e.connect() // Without one, the next change tries again.
		}
		if c != nil && c.checkpoint() == nil {
			e.folder.rest.Store(true)
		}
	}
}

// foldRest folds what came while the log was folded: little. It is done by the writer,
// so that nothing comes meanwhile and the log can begin anew; otherwise it would grow as
// long as anybody writes.
func (e *sqliteEngine) foldRest(c *conn) {
	if e.folder.rest.CompareAndSwap(true, false) {
		_ = c.checkpoint()
	}
}

// checkpoint folds what of the log nobody reads any more.
func (c *conn) checkpoint() error {
	var busy, log, folded int
	return c.raw.QueryRowContext(c.ctx, foldNow).Scan(&busy, &log, &folded)
}
