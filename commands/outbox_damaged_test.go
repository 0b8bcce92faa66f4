package commands

import (
	"os"
	"path/filepath"
	"testing"

	"fundesk/service/servicetest"
)

// A change whose file is damaged is not sent. send says so, and doctor ends with it.
func TestDamagedFilesAreNamed(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	queued := filepath.Join(state, "outbox", "queued")
	servicetest.Check(t, os.MkdirAll(queued, 0o700))
	writeFile(t, filepath.Join(queued, "1-deadbeef.json"), "cut")
	l := lineAt(t, "http://127.0.0.1:1", "t", "FUNDESK_STATE_DIR", state)
	for range 2 { // It stays where it was set aside.
		doctor := l.try(t, "doctor").Ends(1, "doctor: 0 waiting, 0 refused, 1 file damaged: ", "1-deadbeef.json",
			"make the change again, then remove the file")
		doctor.Prints("0 waiting, 0 refused, 1 file damaged: ")
		l.try(t, "outbox send").Ends(9, "1-deadbeef.json", "1 change not read and not sent")
	}
}
