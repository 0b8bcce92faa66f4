//go:build unix

package sqlstore_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"fundesk/service/servicetest"
	"fundesk/service/sqlstore"
)

// TestFileThatOthersMayRead opens a database that others may read or write: it is refused with the command that closes
// it, to serve it and to look at it. The service's own group may. The log of a file is closed as the file is.
func TestFileThatOthersMayRead(t *testing.T) {
	t.Parallel()
	for mode, isClosed := range map[fs.FileMode]bool{
		0o600: true,
		0o640: true,
		0o660: true,
		0o644: false,
		0o604: false,
		0o602: false,
		0o666: false,
	} {
		path := made(t)
		servicetest.Check(t, os.Chmod(path, mode))
		for _, inspect := range []bool{false, true} {
			store, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: "sqlite:" + path, Inspect: inspect})
			if (err == nil) != isClosed || err != nil && !strings.Contains(err.Error(), "chmod 600 "+path) {
				t.Errorf("%o: got %v", mode, err)
			}
			if err != nil {
				continue
			}
			if !inspect {
				log, err := os.Stat(path + "-wal")
				if err != nil || log.Mode().Perm() != mode {
					t.Errorf("%o: got the log %v, %v", mode, log, err)
				}
			}
			servicetest.Check(t, store.Close())
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	path := made(t)
	servicetest.Check(t, os.Chmod(path, 0o640))
	servicetest.Check(t, os.Chown(path, 0, 54321))
	_, err := sqlstore.Open(t.Context(), sqlstore.Options{Database: "sqlite:" + path})
	if err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
		t.Errorf("another group's: got %v", err)
	}
}
