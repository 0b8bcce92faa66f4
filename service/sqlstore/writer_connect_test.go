package sqlstore

import (
	"database/sql"
	"errors"
	"os"
	"testing"
	"time"

	"fundesk/service"
)

// TestWriterCannotConnect lets several changes wait while no file can be opened: each is refused for that reason,
// which a caller is told as 503, like a change that waits alone.
func TestWriterCannotConnect(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/a.db"
	missing := os.WriteFile(path, nil, 0o600)
	about, err := os.Stat(path)
	db, unopened := sql.Open("sqlite", sqliteName(t.TempDir()+"/none/a.db", "mode=ro"))
	if err := errors.Join(missing, err, unopened); err != nil {
		t.Fatal(err)
	}
	e := &sqliteEngine{path: path, file: about, moved: make(chan struct{}, 1), db: db, writes: make(chan *write), stop: make(chan struct{})}
	const changes = 3
	answers := make(chan error, changes)
	for range changes {
		go func() {
			answers <- e.write(t.Context(), service.WriteIsolated, func(*conn) error { return nil })
		}()
	}
	time.Sleep(50 * time.Millisecond) // All of them wait.
	e.done.Go(e.writer)
	for range changes {
		err := <-answers
		if refusal, ok := errors.AsType[*service.Error](err); !ok || refusal.Kind != service.Unavailable {
			t.Errorf("got %v, want that the database is unavailable", err)
		}
	}
	close(e.stop)
	e.done.Wait()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
