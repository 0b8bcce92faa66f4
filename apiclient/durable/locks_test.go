//go:build unix

package durable

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Locks are asked for as NFS gives them: an exclusive one on a file that is open for writing. What
// fails otherwise is not held by anybody. Every test of the outbox runs under this rule.
func TestLocksAsOverNFS(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if err := TryLock(read); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("got %v for a file that is open for reading only, want an error that is not %v", err, ErrHeld)
	}
	held, err := OpenLocked(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLocked(path); !errors.Is(err, ErrHeld) {
		t.Errorf("got %v for a file that is locked, want %v", err, ErrHeld)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := CheckLocks(filepath.Dir(path)); err != nil {
		t.Errorf("got %v, want locks to work", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("got %d files and %v, want nothing left behind", len(left), err)
	}
}
