package sqlstore

import (
	"sync/atomic"
	"time"
)

// The writer's log is brought into the file by a connection of its own, the checkpointer, so
// that nobody who waits for a commit waits for that: after so many changes, or so long after
// the last checkpoint.
const (
	checkpointChanges  = 500
	checkpointPause    = time.Second
	checkpointPassive  = `PRAGMA wal_checkpoint(PASSIVE)`
	checkpointTruncate = `PRAGMA wal_checkpoint(TRUNCATE)`
)

// checkpointer is what the writer and the connection that makes checkpoints tell each other.
type checkpointer struct {
	changes atomic.Int64  // Since the last checkpoint.
	some    chan struct{} // There are changes; holds one.
	many    chan struct{} // There are many; holds one.
	made    atomic.Bool   // One was made; only what came meanwhile is left in the log.
}

func newCheckpointer() *checkpointer {
	return &checkpointer{some: make(chan struct{}, 1), many: make(chan struct{}, 1)}
}

// committed tells of changes that are durable.
func (p *checkpointer) committed(changes int) {
	if p.changes.Add(int64(changes)) >= checkpointChanges {
		select {
		case p.many <- struct{}{}:
		default:
		}
	}
	select {
	case p.some <- struct{}{}:
	default:
	}
}

// makeCheckpoints makes checkpoints until the engine is closed. One that fails loses nothing:
// the log holds what it held.
func (e *sqliteEngine) makeCheckpoints() {
	var c *conn
	defer func() {
		if c != nil {
			_ = c.close()
		}
	}()
	timer := time.NewTimer(checkpointPause)
	defer timer.Stop()
	for {
		select {
		case <-e.checkpointer.some:
		case <-e.stop:
			return
		}
		timer.Reset(checkpointPause)
		select {
		case <-e.checkpointer.many:
		case <-timer.C:
		case <-e.stop:
			return
		}
		e.checkpointer.changes.Store(0)
		if c == nil {
			c, _ = e.connect() // Without one, the next change tries again.
		}
		if c == nil {
			continue
		}
		if _, err := c.checkpoint(checkpointPassive); err == nil {
			e.checkpointer.made.Store(true)
		}
	}
}

// finishCheckpoint brings in what came while a checkpoint was made: little. It is done by the
// writer, so that nothing comes meanwhile and the log can begin anew; otherwise it would grow
// as long as anybody writes.
func (e *sqliteEngine) finishCheckpoint(c *conn) {
	if e.checkpointer.made.CompareAndSwap(true, false) {
		_, _ = c.checkpoint(checkpointPassive)
	}
}

// checkpoint brings in what of the log nobody reads any more; busy is 0 where nobody was in its way.
func (c *conn) checkpoint(text string) (busy int, err error) {
	var log, moved int
	err = c.raw.QueryRowContext(c.ctx, text).Scan(&busy, &log, &moved)
	return busy, err
}
