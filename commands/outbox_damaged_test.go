package commands

import (
	"os"
	"path/filepath"
	"testing"

	"fundesk/service/servicetest"
)

// A change whose file is damaged is not sent, and send says so.
func TestSendNamesDamagedFiles(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	queued := filepath.Join(state, "outbox", "queued")
	servicetest.Check(t, os.MkdirAll(queued, 0o700))
	writeFile(t, filepath.Join(queued, "1-deadbeef.json"), "cut")
	l := lineAt(t, "http://127.0.0.1:1", "t", "FUNDESK_STATE_DIR", state)
	for range 2 { // It stays where it was set aside.
		l.try(t, "outbox send").Ends(0, "1-deadbeef.json")
	}
}
