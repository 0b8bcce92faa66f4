package tui

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"fundesk/apiclient/outbox"
)

// What is typed is on disk soon after a pause, and no later than that while typing goes
// on.
func TestDraftsAreOnDiskInTime(t *testing.T) {
	t.Parallel()
	box, err := outbox.Open(t.TempDir(), outbox.Options{BaseURL: "https://a.example", Account: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	const key, pause, most = 100 * time.Millisecond, 200 * time.Millisecond, 1600 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		k := newKeeper(box)
		go k.run(t.Context())
		saved := func() int {
			synctest.Wait()
			draft, _, err := box.Draft(callID(1))
			if err != nil {
				t.Fatal(err)
			}
			n, _ := strconv.Atoi(draft.Notes)
			return n
		}
		const keys = 100
		for n := range keys {
			k.put(outbox.Draft{Call: callID(1), Notes: strconv.Itoa(n + 1)})
			time.Sleep(key) // Of the test's clock.
			if late := time.Duration(n+1-saved()) * key; late > most {
				t.Fatalf("key %d: got the draft of %s before, want of %s at most", n+1, late, most)
			}
		}
		time.Sleep(pause)
		if got := saved(); got != keys {
			t.Errorf("after a pause: got key %d, want the last, %d", got, keys)
		}
	})
}
