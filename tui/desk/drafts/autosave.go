// Package drafts saves what the agent types, soon after each pause.
package drafts

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/tui/desk/entry"
)

// How soon typed text is on disk: after a pause, and while typing goes on.
const (
	draftPause = 150 * time.Millisecond
	draftMost  = 1500 * time.Millisecond
)

// Autosave writes drafts to disk in the background. Put and FlushSoon are cheap, and other goroutines touch the disk.
// It is safe for concurrent use.
type Autosave struct {
	box *outbox.Outbox
	// OnSaved is called after drafts were written in the background, for Trouble. OnJoined is called when entries of
	// another terminal were merged, for Joined. Both are called without a lock, because they may be slow. They must be
	// set before Run.
	OnSaved  func()
	OnJoined func(call apitype.UUID)

	mu       sync.Mutex
	pending  map[apitype.UUID]pendingDraft
	underWay map[apitype.UUID]outbox.Draft // The drafts that are being written.
	base     map[apitype.UUID]outbox.Draft // The draft on disk from which the present entries come.
	joined   map[apitype.UUID]outbox.Draft // On disk, with entries of another terminal that the form does not show yet.
	trouble  error                         // Of the latest writing. Nil if it worked.
	wake     chan struct{}
	writing  sync.Mutex // Writes and erasures of drafts go one after the other.
}

type pendingDraft struct {
	draft       outbox.Draft
	first, last time.Time
}

// New makes what saves drafts to a spool.
func New(box *outbox.Outbox) *Autosave {
	return &Autosave{
		box:      box,
		OnSaved:  func() {},
		OnJoined: func(apitype.UUID) {},
		pending:  map[apitype.UUID]pendingDraft{},
		underWay: map[apitype.UUID]outbox.Draft{},
		base:     map[apitype.UUID]outbox.Draft{},
		joined:   map[apitype.UUID]outbox.Draft{},
		wake:     make(chan struct{}, 1),
	}
}

// Put notes the newest state of a draft.
func (a *Autosave) Put(d outbox.Draft) {
	now := time.Now()
	a.mu.Lock()
	p, found := a.pending[d.Call]
	if !found {
		p.first = now
	}
	p.draft, p.last = d, now
	a.pending[d.Call] = p
	a.mu.Unlock()
	a.notify()
}

// Unwritten returns the newest state of a call's draft if that is not on disk yet.
func (a *Autosave) Unwritten(call apitype.UUID) (outbox.Draft, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p, isPending := a.pending[call]; isPending {
		return p.draft, true
	}
	d, found := a.underWay[call]
	return d, found
}

// Trouble returns why the latest writing of drafts failed, as long as they are not on disk. Nil if it did not.
func (a *Autosave) Trouble() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.pending) == 0 && len(a.underWay) == 0 { // What could not be written was sent or dropped.
		a.trouble = nil
	}
	return a.trouble
}

// FlushSoon makes all drafts due at once: the focus moved.
func (a *Autosave) FlushSoon() {
	a.mu.Lock()
	for call, p := range a.pending {
		p.first, p.last = time.Time{}, time.Time{}
		a.pending[call] = p
	}
	a.mu.Unlock()
	a.notify()
}

func (a *Autosave) notify() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Run writes drafts as they become due until ctx ends.
func (a *Autosave) Run(ctx context.Context) {
	for {
		wait := a.untilDue()
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-a.wake:
			timer.Stop()
			if a.untilDue() > 0 {
				continue
			}
		case <-timer.C:
		}
		if written, _ := a.write(false); written > 0 {
			a.OnSaved()
		}
	}
}

// untilDue returns the time to the next write, or an hour without one.
func (a *Autosave) untilDue() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait := time.Hour
	for _, p := range a.pending {
		wait = min(wait, max(0, time.Until(p.due())))
	}
	return wait
}

func (p pendingDraft) due() time.Time {
	quiet, most := p.last.Add(draftPause), p.first.Add(draftMost)
	if most.Before(quiet) {
		return most
	}
	return quiet
}

// due removes and returns the drafts that are due, or all.
func (a *Autosave) due(all bool) []outbox.Draft {
	a.mu.Lock()
	defer a.mu.Unlock()
	var due []outbox.Draft
	for call, p := range a.pending {
		if all || !time.Now().Before(p.due()) {
			due = append(due, p.draft)
			delete(a.pending, call)
			a.underWay[call] = p.draft
		}
	}
	return due
}

// write saves the drafts that are due, or all. It retries a failed one next time, unless there is a newer one.
func (a *Autosave) write(all bool) (int, error) {
	joined, written, err := a.writeTaken(all)
	for _, call := range joined {
		a.OnJoined(call)
	}
	return written, err
}

// writeTaken takes and saves drafts. One taken later is saved later.
func (a *Autosave) writeTaken(all bool) (joined []apitype.UUID, written int, err error) {
	a.writing.Lock()
	defer a.writing.Unlock()
	taken := a.due(all)
	for _, d := range taken {
		isJoined, failure := a.writeOne(d)
		if failure != nil {
			err = errors.Join(err, failure)
			a.mu.Lock()
			if _, newer := a.pending[d.Call]; !newer {
				now := time.Now()
				a.pending[d.Call] = pendingDraft{draft: d, first: now, last: now}
			}
			a.mu.Unlock()
		} else if isJoined {
			joined = append(joined, d.Call)
		}
		a.mu.Lock()
		delete(a.underWay, d.Call)
		a.mu.Unlock()
	}
	if len(taken) > 0 {
		a.mu.Lock()
		a.trouble = err
		a.mu.Unlock()
	}
	return joined, len(taken), err
}

// writeOne saves a draft, merged with the draft of another terminal for the call. It reports whether the form lacks
// entries of that one. The form never gets a result or a rating that was not chosen there: only the disk keeps them.
func (a *Autosave) writeOne(d outbox.Draft) (bool, error) {
	unlock, err := a.box.LockDrafts()
	if err != nil {
		return false, err
	}
	defer unlock()
	there, _, err := a.box.Draft(d.Call)
	if err != nil {
		there = outbox.Draft{} // An unreadable draft is overwritten.
	}
	base := a.From(d.Call)
	saved := entry.Join(base, d, there)
	if err := a.box.SaveDraft(d.Call, entry.KeepResult(base, saved, there)); err != nil {
		return false, err
	}
	a.Loaded(d)
	if isSame(saved, d) {
		return false, nil
	}
	a.mu.Lock()
	a.joined[d.Call] = saved
	a.mu.Unlock()
	return true, nil
}

// Joined returns the draft on disk with entries of another terminal, and the one of this terminal in it, for a
// three-way merge with the form. From now on they count as shown. found is false if the form lacks none.
func (a *Autosave) Joined(call apitype.UUID) (base, saved outbox.Draft, found bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	base = a.base[call]
	saved, found = a.joined[call]
	if found {
		a.base[call] = saved
		delete(a.joined, call)
	}
	return base, saved, found
}

// Loaded records what the form now shows of the draft on disk. With an empty one, a draft found later is merged.
func (a *Autosave) Loaded(d outbox.Draft) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.base[d.Call] = d
	delete(a.joined, d.Call)
}

// From returns the draft on disk from which the draft of a call comes.
func (a *Autosave) From(call apitype.UUID) outbox.Draft {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.base[call]
}

// Flush writes all drafts now.
func (a *Autosave) Flush() error {
	_, err := a.write(true)
	return err
}

// Save writes a draft now, and what else there is.
func (a *Autosave) Save(d outbox.Draft) error {
	a.Put(d)
	return a.Flush()
}

// Restore writes a draft whose change is not sent after all, merged with newer entries for its call.
func (a *Autosave) Restore(d outbox.Draft) error {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.Loaded(outbox.Draft{Call: d.Call})
	_, err := a.writeOne(d)
	a.Loaded(outbox.Draft{Call: d.Call}) // The present entries do not come from it.
	return err
}

// Delete erases a draft that is now in the outbox or was dropped, and the one on disk that it came from. Newer entries
// for its call stay, and those of another terminal.
func (a *Autosave) Delete(d, from outbox.Draft) error {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.mu.Lock()
	if isSame(a.pending[d.Call].draft, d) {
		delete(a.pending, d.Call)
	}
	a.mu.Unlock()
	unlock, err := a.box.LockDrafts()
	if err != nil {
		return err
	}
	defer unlock()
	there, _, err := a.box.Draft(d.Call)
	if err == nil && !isSame(there, d) {
		rest := entry.Join(from, outbox.Draft{}, there)
		there.Notes, there.Corrections, there.Checked = rest.Notes, rest.Corrections, rest.Checked
		there.Unfinished = rest.Unfinished
		if !isSame(there, outbox.Draft{}) { // Written since then or at another terminal, and not sent.
			return a.box.SaveDraft(d.Call, there)
		}
	}
	a.mu.Lock()
	delete(a.base, d.Call)
	delete(a.joined, d.Call)
	a.mu.Unlock()
	return a.box.DeleteDraft(d.Call)
}

// isSame reports whether two drafts hold the same text.
func isSame(a, b outbox.Draft) bool {
	return a.Notes == b.Notes && maps.Equal(a.Corrections, b.Corrections) && maps.Equal(a.Unfinished, b.Unfinished)
}
