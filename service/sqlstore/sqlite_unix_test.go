//go:build unix

package sqlstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"fundesk/service"
)

// TestFileGoneForAWhile removes the means to open connections, as too many open files do. Callers are asked to come
// back, and served when it is there again.
func TestFileGoneForAWhile(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	store := reopen(t, "sqlite:"+filepath.Join(folder, "a.db"))
	read := func() error {
		return store.Read(t.Context(), service.ReadSnapshot, func(r service.Reader) error {
			_, err := r.Accounts()
			return err
		})
	}
	write := func() error {
		return try(t, store, func(tx service.Tx) error { return tx.SetSetting("a", "b") })
	}
	view(t, store, func(service.Reader) error { // On the connection that is open already.
		if err := os.Rename(folder, folder+".away"); err != nil {
			return err
		}
		for name, ask := range map[string]func() error{"read": read, "write": write} {
			if err := ask(); service.KindOf(err) != service.Unavailable {
				t.Errorf("%s: got %v, want that the database is away", name, err)
			}
		}
		return os.Rename(folder+".away", folder)
	})

	for name, ask := range map[string]func() error{"read": read, "write": write} {
		if err := ask(); err != nil {
			t.Errorf("%s: got %v when it is there again", name, err)
		}
	}
}
