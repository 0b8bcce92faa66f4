package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// A change whose file is damaged is not sent, and send says so.
func TestSendNamesDamagedFiles(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	queued := filepath.Join(state, "outbox", "queued")
	servicetest.Check(t, os.MkdirAll(queued, 0o700))
	servicetest.Check(t, os.WriteFile(filepath.Join(queued, "1-deadbeef.json"), []byte("cut"), 0o600))
	l := line{environment: map[string]string{
		"HOME": t.TempDir(), "FUNDESK_STATE_DIR": state, "FUNDESK_BASE_URL": "http://127.0.0.1:1", "FUNDESK_TOKEN": "t",
	}}
	for range 2 { // It stays where it was set aside.
		_, errs, code := l.run(t, "outbox", "send")
		if code != 0 || !strings.Contains(errs, "1-deadbeef.json") {
			t.Errorf("got %d %q, want the file named", code, errs)
		}
	}
}
