package outbox

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

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
