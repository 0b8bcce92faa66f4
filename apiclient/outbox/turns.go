package outbox

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// turns returns the entries that are due, in order per record. It uses up each reading of the spool before the next,
// so that sending n entries reads each of them a few times and not n times. An entry that waits, is in flight or is
// unsure delays later entries of its record.
type turns struct {
	box   *Outbox
	eager bool            // Waits after failures count as over for the entries not in done.
	done  map[string]bool // Nil returns every entry again when it is due.

	records map[string][]Entry // The remaining entries of each record, in order.
	ready   []Entry            // The first ones of the records that nothing holds back, in order.
	next    time.Time          // When the next entry becomes due; zero when none waits.
}

// take claims up to limit entries.
func (t *turns) take(limit int) ([]*claim, error) {
	if t.box.options.BaseURL == "" || t.box.options.Account == "" {
		return nil, ErrAccount
	}
	unlock, err := t.box.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	claims, err := t.takeReady(limit)
	if err != nil || len(claims) > 0 {
		return claims, err
	}
	if err := t.look(); err != nil {
		return nil, err
	}
	return t.takeReady(limit)
}

// look reads the spool again. It needs the folder lock, so that nothing moves.
func (t *turns) look() error {
	entries, damaged, err := t.box.list()
	if err != nil {
		return err
	}
	t.box.setAside(damaged)
	t.box.sweep()
	t.records, t.ready, t.next = map[string][]Entry{}, nil, time.Time{}
	for _, e := range entries {
		if e.State == StateRejected {
			continue
		}
		key := e.record()
		if _, known := t.records[key]; !known {
			t.ready = append(t.ready, e)
		}
		t.records[key] = append(t.records[key], e)
	}
	return nil
}

// Behind returns the entry that must finish before e. found is false if there is none. The entries are all entries of
// the outbox, in order.
func Behind(e Entry, entries []Entry) (first Entry, found bool) {
	for _, other := range entries {
		isOfRecord := other.record() == e.record() && other.Account == e.Account && other.BaseURL == e.BaseURL
		isBefore := other.State != StateRejected && other.Seq < e.Seq
		if other.ID == e.After || isOfRecord && isBefore {
			return other, true
		}
	}
	return Entry{}, false
}

// isStuck reports whether an entry waits for a refused one, directly or through others.
func isStuck(e Entry, entries []Entry) bool {
	for range entries {
		first, found := Behind(e, entries)
		if !found || first.State == StateRejected {
			return found
		}
		e = first
	}
	return false
}

// record returns the record that the entry changes. An entry without one is alone.
func (e Entry) record() string {
	if e.UUID.IsZero() {
		return e.ID
	}
	return e.UUID.String()
}

// takeReady claims the entries that the last look found ready, as they are now. It needs the folder lock.
func (t *turns) takeReady(limit int) ([]*claim, error) {
	var claims []*claim
	for len(t.ready) > 0 && len(claims) < limit {
		e := t.ready[0]
		t.ready = t.ready[1:]
		now, err := t.box.Show(e.ID)
		if errors.Is(err, ErrNotFound) || err == nil && now.State == StateRejected {
			t.end(e) // It was sent, undone or refused in between.
			continue
		}
		if err == nil {
			var c *claim
			c, err = t.claim(now)
			if c != nil {
				claims = append(claims, c)
			}
		}
		if err != nil {
			for _, c := range claims {
				c.release()
			}
			return nil, err
		}
	}
	return claims, nil
}

// claim takes an entry if it may be sent now.
func (t *turns) claim(e Entry) (*claim, error) {
	if e.After != "" {
		if _, err := t.box.Show(e.After); !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
	if e.State == StateSending {
		if t.box.inFlight(e) {
			return nil, nil
		}
		if !e.Looking { // Another process may have sent it again until now, whatever its file has.
			e.SentAt, e.Answered = t.box.options.Now().UTC(), false
		}
		e.State, e.LastError = StateUnsure, "the program that sent it ended before the answer came"
	}
	isDone := t.eager && t.done[e.ID]
	skipsWait := t.eager && e.State != StateHeld
	if isDone || e.waits(t.box.options.Now()) && !skipsWait {
		if t.next.IsZero() || e.NotBefore.Before(t.next) {
			t.next = e.NotBefore
		}
		return nil, nil
	}
	return t.box.take(e)
}

// again lets an entry have another turn at once.
func (t *turns) again(e Entry) {
	delete(t.done, e.ID)
	t.ready = append([]Entry{e}, t.ready...)
}

// end lets the next change of an entry's record have its turn.
func (t *turns) end(e Entry) {
	key := e.record()
	queue := t.records[key]
	if len(queue) < 2 || queue[0].ID != e.ID {
		return
	}
	t.records[key] = queue[1:]
	at, _ := slices.BinarySearchFunc(t.ready, queue[1], func(a, b Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	t.ready = slices.Insert(t.ready, at, queue[1])
}
