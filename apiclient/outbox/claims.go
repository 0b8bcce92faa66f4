package outbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// lock takes the folder lock, which orders all changes of folder over processes. It is
// held for local file work only, never over the network.
func (o *Outbox) lock() (unlock func(), err error) {
	o.mu.Lock()
	file, err := os.OpenFile(filepath.Join(o.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		o.mu.Unlock()
		return nil, fmt.Errorf("lock the outbox: %w", err)
	}
	if err := lockFile(file, true); err != nil {
		_ = file.Close()
		o.mu.Unlock()
		return nil, fmt.Errorf("lock the outbox: %w", err)
	}
	return func() {
		_ = file.Close() // Closing gives the lock back.
		o.mu.Unlock()
	}, nil
}

// Still waits until this process does nothing with the folder, and lets it begin nothing
// for a while. It is for a process that is stopped within that time: in the middle of
// something, it would keep the folder's lock from all others for as long as it rests.
func (o *Outbox) Still(most time.Duration) {
	o.mu.Lock()
	time.AfterFunc(most, o.mu.Unlock) // A stopped process has no timers, and goes on with them.
}

// claim is an entry that this process has taken to send. Its file in sending/ is
// locked until release.
type claim struct {
	Entry
	lock     *os.File
	repeated bool // It may have gone out before.
	looked   bool // It was looked up just now, and is not there.
}

func (c *claim) release() { _ = c.lock.Close() }

// take moves an entry to sending/ with the lock on it, before its first byte goes
// out. It needs the folder lock.
func (o *Outbox) take(e Entry) (*claim, error) {
	c := &claim{Entry: e, repeated: !e.SentAt.IsZero()}
	if e.State != StateUnsure {
		c.SentAt = o.options.Now().UTC()
		c.Tries++
	}
	if err := o.write(dirSending, c.Entry); err != nil {
		return nil, fmt.Errorf("claim %s: %w", e.ID, err)
	}
	// Nobody asks for the file's lock without the folder lock, so that it is on the file
	// before anybody can miss it.
	file, err := openNoFollow(o.path(dirSending, e.ID))
	if err != nil {
		return nil, fmt.Errorf("claim %s: %w", e.ID, err)
	}
	c.lock = file
	if err := lockFile(file, false); err != nil {
		c.release()
		return nil, fmt.Errorf("claim %s: %w", e.ID, err)
	}
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
	file, err := openNoFollow(o.path(dirSending, e.ID))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = file.Close() }()
	return lockFile(file, false) != nil
}

// settle ends a claim: the entry goes to folder, or is erased when folder is "".
func (o *Outbox) settle(c *claim, folder string) error {
	unlock, err := o.lock()
	// Without the lock the file stays in sending/ and is looked up later; with it nobody
	// looks, and a file that is not open can be erased everywhere.
	c.release()
	if err != nil {
		return err
	}
	defer unlock()
	if folder == "" {
		return o.erase(c.ID)
	}
	return o.move(folder, c.Entry)
}

// turns is what may be done now.
type turns struct {
	claims  []*claim
	next    time.Time // When the next entry becomes due; zero when none waits.
	pending int       // Entries that are not refused and not claimed here.
}

// choose takes up to limit entries whose turn it is. The changes of one record go in
// order: an entry that waits, is on its way or is unsure holds back the later ones. With
// eager, waits after failures count as over for the entries not in done.
func (o *Outbox) choose(limit int, eager bool, done map[string]bool) (turns, error) {
	if o.options.BaseURL == "" || o.options.Account == "" {
		return turns{}, ErrAccount
	}
	unlock, err := o.lock()
	if err != nil {
		return turns{}, err
	}
	defer unlock()
	entries, damaged, err := o.list() // With the lock nothing moves.
	if err != nil {
		return turns{}, err
	}
	o.setAside(damaged)
	o.sweep()
	c := chooser{box: o, limit: limit, eager: eager, done: done, blocked: map[string]bool{}}
	for _, e := range entries {
		if err := c.consider(e); err != nil {
			for _, claim := range c.claims {
				claim.release()
			}
			return turns{}, err
		}
	}
	return c.turns, nil
}

// chooser goes over the entries in their order and takes those whose turn it is.
type chooser struct {
	turns
	box     *Outbox
	limit   int
	eager   bool
	done    map[string]bool
	blocked map[string]bool // Records with an earlier change that is not done.
}

func (c *chooser) consider(e Entry) error {
	if e.State == StateRejected {
		return nil
	}
	c.pending++
	key := e.UUID.String()
	if e.UUID.IsZero() {
		key = e.ID
	}
	if c.blocked[key] {
		return nil
	}
	c.blocked[key] = true
	if e.State == StateSending {
		if c.box.inFlight(e) {
			return nil
		}
		e.State, e.LastError = StateUnsure, "the program that sent it ended before the answer came"
	}
	now := c.box.options.Now()
	skipWait := c.eager && e.State != StateHeld && !c.done[e.ID]
	if (e.waits(now) && !skipWait) || (c.eager && c.done[e.ID]) {
		if c.next.IsZero() || e.NotBefore.Before(c.next) {
			c.next = e.NotBefore
		}
		return nil
	}
	if len(c.claims) == c.limit {
		c.next = now
		return nil
	}
	claim, err := c.box.take(e)
	if err != nil {
		return err
	}
	c.pending--
	c.claims = append(c.claims, claim)
	return nil
}
