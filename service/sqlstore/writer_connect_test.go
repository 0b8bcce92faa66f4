package sqlstore

import (
	"database/sql"
	"errors"
	"os"
	"testing"
	"testing/synctest"

	"fundesk/service"
)

// TestWriterCannotConnect lets several changes wait while no file can be opened. Each is refused for that reason, as a
// 503, like a change that waits alone.
func TestWriterCannotConnect(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/a.db"
	missing := os.WriteFile(path, nil, 0o600)
	about, err := os.Stat(path)
	if err := errors.Join(missing, err); err != nil {
		t.Fatal(err)
	}
	none := t.TempDir() + "/none/a.db"
	synctest.Test(t, func(t *testing.T) {
		db, err := sql.Open("sqlite", sqliteName(none, "mode=ro"))
		if err != nil {
			t.Fatal(err)
		}
		e := &sqliteEngine{
			path:   path,
			file:   about,
			moved:  make(chan struct{}, 1),
			db:     db,
			writes: make(chan *write),
			stop:   make(chan struct{}),
		}
		const changes = 3
		answers := make(chan error, changes)
		for range changes {
			go func() {
				answers <- e.write(t.Context(), service.WriteIsolated, func(*conn) error { return nil })
			}()
		}
		synctest.Wait() // All of them wait.
		e.done.Go(e.writer)
		for range changes {
			if err := <-answers; service.KindOf(err) != service.Unavailable {
				t.Errorf("got %v, want that the database is unavailable", err)
			}
		}
		close(e.stop)
		e.done.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}
