package outbox

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// A process that goes on does not wait for the rest of the time in which it was to be stopped.
func TestResumeEndsQuiesce(t *testing.T) {
	t.Parallel()
	box := open(t, t.TempDir(), "http://127.0.0.1:1")
	box.Resume() // Of nothing.
	for range 2 {
		box.Quiesce(time.Hour)
		box.Resume()
		box.Resume()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		add(t, box, attempt(t, apitype.NewUUID()))
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("got no entry in, want the outbox open after Resume")
	}
}

// A process that rests holds no lock that others wait for, and goes on afterwards.
func TestQuiesceLeavesTheFolderToOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asleep, resting, other := open(t, dir, "http://127.0.0.1:1"), open(t, dir, "http://127.0.0.1:1"), open(t, dir, "http://127.0.0.1:1")
	asleep.Quiesce(time.Hour)
	change, added := attempt(t, apitype.NewUUID()), make(chan error, 1)
	go func() {
		_, err := other.Add(change)
		added <- err
	}()
	select {
	case err := <-added:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("another process: got no entry in, want it while the first one rests")
	}

	const most = 50 * time.Millisecond
	began := time.Now()
	resting.Quiesce(most)
	add(t, resting, attempt(t, apitype.NewUUID()))
	if waited := time.Since(began); waited < most {
		t.Errorf("the resting process: wrote after %s, want nothing before %s", waited, most)
	}
	if got := len(list(t, other)); got != 2 {
		t.Errorf("entries: got %d, want 2", got)
	}
}
