package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"fundesk/service"
)

// The writer of an SQLite file. It commits waiting changes together.

// writerSettings are the settings of the writer's connection. It maps no memory: its mapping would grow to everything
// that it ever read. SQLite copies the log into the file at the commit that makes it longer than 16 MB. With 4 MB a
// creation takes a seventh more processor time, because checkpoints write the same index pages again. The cache, in
// KiB, is small, because a commit that splits an index page looks at all of it. With it, a load in one commit writes
// pages to the log repeatedly.
const (
	writerSettings = `PRAGMA mmap_size = 0; PRAGMA wal_autocheckpoint = 4000; ` +
		`PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -%d`
	writerCache = 4_000
	bulkCache   = 256_000
)

// maxBatch limits the changes that share one commit.
const maxBatch = 256

// write is one change that waits for the writer.
type write struct {
	ctx    context.Context
	change func(*conn) error
	result chan error
}

// write hands a change to the writer and waits until it is durable. Once the writer has it, write waits for the
// outcome, because the change may be on its way to the disk.
func (e *sqliteEngine) write(ctx context.Context, _ service.WriteMode, change func(*conn) error) error {
	w := &write{ctx: ctx, change: change, result: make(chan error, 1)}
	select {
	case e.writes <- w:
		return <-w.result
	case <-ctx.Done():
		return ctx.Err()
	case <-e.stop:
		return errClosed
	}
}

// movedPause is the interval at which an idle writer checks whether its file was moved.
const movedPause = time.Second

// writer commits changes until the engine is closed.
func (e *sqliteEngine) writer() {
	var c *conn
	look := time.NewTicker(movedPause)
	defer look.Stop()
	for {
		var batch []*write
		select {
		case first := <-e.writes:
			batch = e.waiting(first)
		case <-e.moved:
			e.leaveLog(c)
			continue
		case <-look.C:
			_ = e.unmoved() // It reports the error itself.
			continue
		case <-e.stop:
			if e.unmoved() != nil {
				e.leaveLog(c)
			}
			if c != nil {
				_ = c.close() // Closing the database reports what matters.
			}
			return
		}
		err := e.unmoved()
		if err != nil {
			for _, w := range batch {
				e.answer(w, err)
			}
			continue
		}
		if c == nil {
			c, err = e.connectWith(fmt.Sprintf(writerSettings, e.cache))
		}
		if err == nil {
			err = e.commit(c, batch)
			e.failed.CompareAndSwap(false, err != nil)
		}
		if err != nil && c != nil && len(batch) > 1 {
			// The database refused something: find out what, one by one.
			for _, w := range batch {
				e.answer(w, e.commit(c, []*write{w}))
			}
			continue
		}
		for _, w := range batch {
			e.answer(w, err)
		}
	}
}

// waiting returns the first change and the ones that wait behind it.
func (e *sqliteEngine) waiting(first *write) []*write {
	batch := []*write{first}
	for len(batch) < maxBatch {
		select {
		case next := <-e.writes:
			batch = append(batch, next)
		default:
			return batch
		}
	}
	return batch
}

// answer ends a change that has no outcome of its own yet.
func (e *sqliteEngine) answer(w *write, err error) {
	if isMissing(err) {
		e.refused.Store(true)
	}
	select {
	case w.result <- e.refusal(err):
	default: // Answered by commit.
	}
}

// commit runs changes in one transaction, each in its own savepoint, so that a refused change does not undo others. It
// answers all of them, refused ones too. An error comes from the database, and means that nothing was kept.
func (e *sqliteEngine) commit(c *conn, batch []*write) error {
	c.broken = false
	if _, err := c.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			_, _ = c.exec(`ROLLBACK`) // SQLite may have rolled back by itself already.
		}
	}()
	outcomes := make([]error, len(batch))
	c.lines, c.given = c.lines[:0], 0
	var err error
	for i, w := range batch {
		lines, given := len(c.lines), c.given
		outcomes[i], err = attempt(c, w, len(batch) == 1)
		if err != nil {
			return err
		}
		if outcomes[i] != nil {
			c.lines, c.given = c.lines[:lines], given
		}
	}
	if len(batch) == 1 && outcomes[0] != nil {
		batch[0].result <- outcomes[0] // All of it is taken back.
		return nil
	}
	e.left = false
	recorded := len(c.lines) > 0
	if err := c.addLines(); err != nil {
		return err
	}
	if _, err := c.exec(`COMMIT`); err != nil {
		return err
	}
	committed = true
	e.times.committed(c.given)
	e.failed.Store(false)
	if recorded { // A change of a record, which readiness does not make.
		e.damaged.Store(false)
		e.refused.Store(false)
	}
	moved := e.unmoved() // In between, a saved change may be lost.
	for i, w := range batch {
		w.result <- cmp.Or(outcomes[i], moved)
	}
	return nil
}

// attempt runs one change of a batch. A single change needs no savepoint. outcome is for the caller. err comes from
// the database and ends the batch.
func attempt(c *conn, w *write, alone bool) (outcome, err error) {
	if w.ctx.Err() != nil {
		return w.ctx.Err(), nil
	}
	if alone {
		outcome = guarded(func() error { return w.change(c) })
		if c.broken {
			return nil, outcome
		}
		return outcome, nil
	}
	if _, err := c.exec(`SAVEPOINT change`); err != nil {
		return nil, err
	}
	outcome = guarded(func() error { return w.change(c) })
	if c.broken {
		return nil, outcome
	}
	if outcome != nil {
		if _, err := c.exec(`ROLLBACK TO change`); err != nil {
			return nil, err
		}
	}
	_, err = c.exec(`RELEASE change`)
	return outcome, err
}

// guarded turns a panic into an error, because a panic must not end the writer of all requests.
func guarded(run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			stack := make([]byte, 8192)
			err = fmt.Errorf("panic in a change: %v\n%s", p, stack[:runtime.Stack(stack, false)])
		}
	}()
	return run()
}
