package outbox

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// A process that rests holds no lock that others wait for, and goes on afterwards.
func TestStillLeavesTheFolderToOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	resting, other := open(t, dir, "http://127.0.0.1:1"), open(t, dir, "http://127.0.0.1:1")
	const most = 2 * time.Second
	began := time.Now()
	resting.Still(most)
	add(t, other, attempt(t, apitype.NewUUID()))
	if waited := time.Since(began); waited >= most {
		t.Errorf("another process: got its entry in after %s, want while the first one rests", waited)
	}
	add(t, resting, attempt(t, apitype.NewUUID()))
	if waited := time.Since(began); waited < most {
		t.Errorf("the resting process: wrote after %s, want nothing before %s", waited, most)
	}
	if got := len(list(t, other)); got != 2 {
		t.Errorf("entries: got %d, want 2", got)
	}
}
