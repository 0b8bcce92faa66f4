package localcopy

import (
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// A page that cannot be stored leaves nothing of itself and nothing of the pages after it, and the sync ends.
func TestPageThatCannotBeStored(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "copy.db")
	c, err := Open(t.Context(), path)
	servicetest.Check(t, err)
	w, err := newWriter(path)
	servicetest.Check(t, err)
	const insert = "INSERT INTO _synced VALUES (?)"
	w.do(insert, "first")
	servicetest.Check(t, w.flush(t.Context()))
	w.do(insert, "second")
	w.do("INSERT INTO no_table VALUES (?)", "a")
	_ = w.commit(t.Context())
	w.do(insert, "third")
	_ = w.commit(t.Context())
	if err := w.flush(t.Context()); err == nil || !strings.Contains(err.Error(), "no such table") {
		t.Errorf("got %v, want the table that is missing", err)
	}
	if err := w.Close(); err == nil {
		t.Error("got no error at the end")
	}
	if got := linesOf(t, c, "SELECT at FROM _synced"); len(got) != 1 || got[0] != "first" {
		t.Errorf("got %q, want the first page alone", got)
	}
	servicetest.Check(t, c.Close())
}

// A full disk is told as that, and leaves the pages before it.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "copy.db")
	c, err := Open(t.Context(), path)
	servicetest.Check(t, err)
	w, err := newWriter(path)
	servicetest.Check(t, err)
	servicetest.Check(t, w.run("PRAGMA max_page_count = 64"))
	const insert = "INSERT INTO _synced VALUES (?)"
	w.do(insert, "first")
	servicetest.Check(t, w.flush(t.Context()))
	w.do(insert, strings.Repeat("much", 1<<20))
	if err := w.flush(t.Context()); !IsFull(err) || strings.Contains(err.Error(), "rollback") {
		t.Errorf("got %v, want that the disk is full", err)
	}
	if err := w.Close(); !IsFull(err) {
		t.Errorf("got %v at the end, want that the disk is full", err)
	}
	if got := linesOf(t, c, "SELECT at FROM _synced"); len(got) != 1 || got[0] != "first" {
		t.Errorf("got %q, want the first page alone", got)
	}
	servicetest.Check(t, c.Close())
}
