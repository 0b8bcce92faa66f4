package localcopy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// A question that begins while another program empties the copy gets no short answer.
func TestQueryOfACopyThatIsEmptied(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "copy.db")
	c, err := Open(t.Context(), path)
	servicetest.Check(t, err)
	_, err = c.db.ExecContext(t.Context(), "INSERT INTO _synced VALUES ('2026-11-30T09:00:00.000Z')")
	servicetest.Check(t, err)
	servicetest.Check(t, c.Close())
	servicetest.Check(t, ready(t.Context(), path))

	other, err := Open(t.Context(), path)
	servicetest.Check(t, err)
	servicetest.Check(t, other.Reset(t.Context()))
	servicetest.Check(t, other.Close())

	begin := func([]string) error { return nil }
	row := func([]any) error { return nil }
	err = answer(t.Context(), path, "SELECT count(*) FROM persons", begin, row)
	if !errors.Is(err, ErrNeverSynced) {
		t.Errorf("got %v, want that the copy is not complete", err)
	}
}

// waiting is a context that calls waits each time that its owner begins to wait.
type waiting struct {
	context.Context
	waits func()
}

func (w waiting) Done() <-chan struct{} {
	w.waits()
	return w.Context.Done()
}

// A program that waits for a copy that another one removes does not share the next copy with a third one.
func TestLockOfARemovedCopy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "copy.db")
	unlock, err := lock(t.Context(), path)
	servicetest.Check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tries, third := 0, func() {}
	waits := func() {
		tries++
		if tries > 1 {
			cancel()
			return
		}
		servicetest.Check(t, os.Remove(path+".lock"))
		unlock()
		third, err = lock(t.Context(), path)
		servicetest.Check(t, err)
	}
	if _, err := lock(waiting{ctx, waits}, path); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the third program has the lock", err)
	}
	third()
}

// An erasure that was interrupted before the bytes were removed is continued by the next one.
func TestErasureThatWasInterrupted(t *testing.T) {
	t.Parallel()
	path, person := filepath.Join(t.TempDir(), "copy.db"), apitype.NewUUID()
	c, err := Open(t.Context(), path)
	servicetest.Check(t, err)
	servicetest.Check(t, c.eraseRows(t.Context(), person.String())) // As if the program was killed here.
	servicetest.Check(t, c.Close())
	for _, want := range []bool{true, false} {
		has, err := Holds(t.Context(), path, person)
		servicetest.Check(t, err)
		if has != want {
			t.Errorf("got that the copy holds the person: %t, want %t", has, want)
		}
		servicetest.Check(t, ErasePerson(t.Context(), path, person))
	}
}
