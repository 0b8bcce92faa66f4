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

// An open file has lost its name when another process has removed or replaced it.
func TestIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	create := func() *os.File {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	file := create()
	if !IsNamed(file) {
		t.Error("got no name for a new file")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if IsNamed(file) {
		t.Error("got a name for a file that was removed")
	}
	create()
	if IsNamed(file) {
		t.Error("got a name for a file that was replaced")
	}
}
