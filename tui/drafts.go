package tui

import (
	"context"
	"errors"
	"sync"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
)

// How soon what is typed is on disk: after a pause, and while typing goes on.
const (
	draftPause = 150 * time.Millisecond
	draftMost  = 1500 * time.Millisecond
)

// draftsKept tells that drafts were written, or why not.
type draftsKept struct{ err error }

// draftJoined tells that another terminal has saved notes for the same call, and that
// they were saved together with what was written here.
type draftJoined struct {
	call           apitype.UUID
	written, notes string
}

// keeper writes drafts to disk beside the interface. put is cheap and safe in Update;
// everything that touches the disk runs elsewhere.
type keeper struct {
	box    *outbox.Outbox
	notify func(error)
	joined func(draftJoined)

	mu      sync.Mutex
	pending map[apitype.UUID]pendingDraft
	known   map[apitype.UUID]string // The notes of a draft as this program last saw them on disk.
	kick    chan struct{}
	writing sync.Mutex // Writes and erasures of drafts go one after the other.
}

type pendingDraft struct {
	draft       outbox.Draft
	first, last time.Time
}

func newKeeper(box *outbox.Outbox) *keeper {
	return &keeper{
		box: box, notify: func(error) {}, joined: func(draftJoined) {},
		pending: map[apitype.UUID]pendingDraft{}, known: map[apitype.UUID]string{}, kick: make(chan struct{}, 1),
	}
}

// put notes the newest state of a draft.
func (k *keeper) put(d outbox.Draft) {
	now := time.Now()
	k.mu.Lock()
	p, found := k.pending[d.Call]
	if !found {
		p.first = now
	}
	p.draft, p.last = d, now
	k.pending[d.Call] = p
	k.mu.Unlock()
	k.wake()
}

// hurry makes all drafts due at once: the focus moved.
func (k *keeper) hurry() {
	k.mu.Lock()
	for call, p := range k.pending {
		p.first, p.last = time.Time{}, time.Time{}
		k.pending[call] = p
	}
	k.mu.Unlock()
	k.wake()
}

func (k *keeper) wake() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

// run writes drafts as they become due until ctx ends.
func (k *keeper) run(ctx context.Context) {
	for {
		wait := k.untilDue()
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-k.kick:
			timer.Stop()
			if k.untilDue() > 0 {
				continue
			}
		case <-timer.C:
		}
		if written, err := k.write(false); written > 0 {
			k.notify(err)
		}
	}
}

// untilDue is the time to the next write, an hour when there is none.
func (k *keeper) untilDue() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	wait := time.Hour
	for _, p := range k.pending {
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

// take removes and returns the drafts that are due, or all.
func (k *keeper) take(all bool) []outbox.Draft {
	k.mu.Lock()
	defer k.mu.Unlock()
	var due []outbox.Draft
	for call, p := range k.pending {
		if all || !time.Now().Before(p.due()) {
			due = append(due, p.draft)
			delete(k.pending, call)
		}
	}
	return due
}

// write saves the drafts that are due, or all; one that could not be saved is kept for
// the next time, unless a newer one has come.
func (k *keeper) write(all bool) (written int, err error) {
	joined, written, err := k.writeTaken(all)
	for _, j := range joined { // Told without a lock: who hears of it may be in an editor for an hour.
		k.joined(j)
	}
	return written, err
}

// writeTaken takes and saves drafts. One taken later is saved later.
func (k *keeper) writeTaken(all bool) (joined []draftJoined, written int, err error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	taken := k.take(all)
	for _, d := range taken {
		notes, failure := k.writeOne(d)
		switch {
		case failure != nil:
			err = errors.Join(err, failure)
			k.keepForLater(d)
		case notes != d.Notes:
			joined = append(joined, draftJoined{call: d.Call, written: d.Notes, notes: notes})
		}
	}
	return joined, len(taken), err
}

func (k *keeper) keepForLater(d outbox.Draft) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, newer := k.pending[d.Call]; !newer {
		now := time.Now()
		k.pending[d.Call] = pendingDraft{draft: d, first: now, last: now}
	}
}

// writeOne saves a draft, together with what another terminal has saved for the call. It
// returns the notes that are on disk now.
func (k *keeper) writeOne(d outbox.Draft) (notes string, err error) {
	unlock, err := k.box.LockDrafts()
	if err != nil {
		return "", err
	}
	defer unlock()
	there, _, err := k.box.Draft(d.Call)
	if err != nil {
		there = outbox.Draft{} // What cannot be read is written over.
	}
	d.Notes = outbox.JoinNotes(k.knownOf(d.Call), d.Notes, there.Notes)
	if err := k.box.SaveDraft(d.Call, d); err != nil {
		return "", err
	}
	k.knows(d.Call, d.Notes)
	return d.Notes, nil
}

// knows notes what the notes of a draft on disk are.
func (k *keeper) knows(call apitype.UUID, notes string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[call] = notes
}

func (k *keeper) knownOf(call apitype.UUID) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[call]
}

// flush writes all drafts now. It may be called from any goroutine but Update's.
func (k *keeper) flush() error {
	_, err := k.write(true)
	return err
}

// save writes a draft now, and what else there is.
func (k *keeper) save(d outbox.Draft) error {
	k.put(d)
	return k.flush()
}

// forget erases the draft of a call: what it held is in the outbox.
func (k *keeper) forget(call apitype.UUID) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	delete(k.pending, call)
	k.mu.Unlock()
	unlock, err := k.box.LockDrafts()
	if err != nil {
		return err
	}
	defer unlock()
	there, _, err := k.box.Draft(call)
	if err == nil && there.Notes != "" && there.Notes != k.knownOf(call) {
		return nil // Another terminal wrote it, and nobody has sent it.
	}
	k.mu.Lock()
	delete(k.known, call)
	k.mu.Unlock()
	return k.box.DeleteDraft(call)
}
