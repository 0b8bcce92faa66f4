package outbox

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fundesk/apiclient/durable"
)

// lock takes the folder lock, which orders all changes of folder over processes. It is
// held for local file work only, never over the network.
func (o *Outbox) lock() (func(), error) {
	o.mu.Lock()
	release, err := durable.Lock(filepath.Join(o.dir, "lock"))
	if err != nil {
		o.mu.Unlock()
		return nil, fmt.Errorf("lock the outbox: %w", err)
	}
	return func() {
		release()
		o.mu.Unlock()
	}, nil
}

// Quiesce waits until this process has finished its work in the folder, and lets it begin no other until Resume, or
// for a while if Resume never comes. A process calls it before it is stopped within that time: otherwise it could keep
// the folder's lock from others for as long as it is stopped.
func (o *Outbox) Quiesce(most time.Duration) {
	o.mu.Lock()
	o.quiesced.Store(time.AfterFunc(most, o.mu.Unlock))
}

// Resume ends what Quiesce began, if it has not ended.
func (o *Outbox) Resume() {
	if end := o.quiesced.Swap(nil); end != nil && end.Stop() {
		o.mu.Unlock()
	}
}

// claim is an entry that this process has taken to send. Its file in sending/ is
// locked until release.
type claim struct {
	Entry
	lock     *os.File
	repeated bool // It may have gone out before.
}

func (c *claim) release() { _ = c.lock.Close() }

// take moves an entry to sending/ with the lock on it, before its first byte goes
// out. It needs the folder lock.
func (o *Outbox) take(e Entry) (*claim, error) {
	c := &claim{Entry: e, repeated: !e.SentAt.IsZero()}
	c.Looking = e.State == StateUnsure
	if !c.Looking {
		c.SentAt = o.options.Now().UTC()
		c.Tries++
	}
	if err := writeSealed(o.path(dirSending, c.Entry.ID), c.Entry); err != nil {
		return nil, fmt.Errorf("claim %s: %w", e.ID, err)
	}
	// The folder lock comes before the file's lock, so that no process sees the file without its lock.
	file, err := durable.OpenLocked(o.path(dirSending, e.ID))
	if err != nil {
		if e.State != StateUnsure { // It was not sent, so it stays.
			_ = o.unlink(dirSending, e.ID)
		}
		return nil, fmt.Errorf("claim %s: %w", e.ID, err)
	}
	c.lock = file
	for _, folder := range []string{dirQueued, dirUnsure} {
		if err := o.unlink(folder, e.ID); err != nil {
			c.release()
			return nil, err
		}
	}
	return c, nil
}

// inFlight reports whether a living sender holds the entry's file.
func (o *Outbox) inFlight(e Entry) bool {
	return durable.IsHeld(o.path(dirSending, e.ID))
}

// settle ends a claim: the entry goes to folder, or is erased when folder is "".
func (o *Outbox) settle(c *claim, folder string, event Event) error {
	unlock, err := o.lock()
	// Without the lock the file stays in sending/ and is looked up later. With the lock no process looks, and every
	// system can delete a file that is not open.
	c.release()
	if err != nil {
		return err
	}
	defer unlock()
	if event.Outcome == OutcomeAccepted || event.Outcome == OutcomeRejected {
		if err := o.note(c.Entry, event.Outcome, event.Err); err != nil {
			return err
		}
	}
	if folder == "" {
		return o.erase(c.ID)
	}
	return o.move(folder, c.Entry)
}
