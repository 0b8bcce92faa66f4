package sqlstore

import (
	"fmt"
	"os"

	"fundesk/service"
)

// What is done when an operator moves, replaces or removes the file of an open database: the
// connections keep the file that they opened, and what is saved there is lost.

// unmoved refuses when the path names another file than the one that was opened, or none.
// Spec gap: S39.
func (e *sqliteEngine) unmoved() error {
	now, err := os.Stat(e.path)
	if err == nil && os.SameFile(e.file, now) {
		return nil
	}
	select {
	case e.moved <- struct{}{}:
	default:
	}
	if err == nil {
		err = fmt.Errorf("%s is another file than the one that was opened; put that one back, or start the program anew", e.path)
	}
	return &service.Error{Kind: service.Unavailable, Detail: "the file of the database was moved or replaced", Cause: err}
}

const checkpointTruncate = `PRAGMA wal_checkpoint(TRUNCATE)`

// checkpoint brings the log into the file; busy is 0 where no other connection prevented that.
func (c *conn) checkpoint(text string) (busy int, err error) {
	var log, moved int
	err = c.raw.QueryRowContext(c.ctx, text).Scan(&busy, &log, &moved)
	return busy, err
}

// leaveLog brings all of the log into the file that was opened, wherever that is now, and empties
// it: it has its name still, and a program that serves the new file would read it into
// that. It is done once: what is in the log later is not ours.
func (e *sqliteEngine) leaveLog(c *conn) {
	if c == nil || e.left {
		return
	}
	e.left = true
	_, _ = c.checkpoint(checkpointTruncate) // The request is refused anyway.
}
