package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// TestKilledBackup kills backups at each of their steps: what has the name of the backup is
// whole, with its key, and whatever is left does not keep the next one from its name.
func TestKilledBackup(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	var counts map[string]int
	e.must(&counts, "", "sample", "--persons", "3000")
	database, err := os.Stat(filepath.Join(e.folder, "fundeskd.db"))
	servicetest.Check(t, err)
	begun := func(size int64) func(folder string) bool {
		return func(folder string) bool {
			return slices.ContainsFunc(listing(folder), func(file os.FileInfo) bool { return file.Size() >= size && !strings.HasSuffix(file.Name(), ".key") })
		}
	}
	named := func(suffix string) func(string) bool {
		return func(folder string) bool {
			return slices.ContainsFunc(listing(folder), func(file os.FileInfo) bool { return strings.HasSuffix(file.Name(), suffix) })
		}
	}
	steps := []struct {
		name string
		when func(folder string) bool
	}{
		{"begun", begun(0)},
		{"a page", begun(1)},
		{"half", begun(database.Size() / 2)},
		{"most", begun(database.Size() * 9 / 10)},
		{"key", named(".key")},
		{"named", named("backup.db")},
	}
	killed := 0
	for _, step := range steps {
		folder := t.TempDir()
		file := filepath.Join(folder, "backup.db")
		command := exec.CommandContext(t.Context(), os.Args[0], "backup", file)
		command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder, "FUNDESKD_DATABASE="+e.database)
		servicetest.Check(t, command.Start())
		ended := make(chan error, 1)
		go func() { ended <- command.Wait() }()
		for !step.when(folder) && len(ended) == 0 { // It may pass the step unseen, and end.
			runtime.Gosched()
		}
		_ = command.Process.Kill()
		if <-ended != nil {
			killed++
		}
		if _, err := os.Stat(file); err == nil {
			wantWhole(t, e, step.name, file, counts)
		}
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if code, _, errs := e.run("", "backup", file); code != exitDone {
			t.Errorf("%s: the next backup: got code %d, %s", step.name, code, errs)
		}
		if code, out, errs := e.run("", "check", "--database", "sqlite:"+file); code != exitDone {
			t.Errorf("%s, again: check: got code %d, %s%s", step.name, code, out, errs)
		}
	}
	if killed == 0 { // How many depends on the machine.
		t.Error("no backup was killed in time")
	}
}

func listing(folder string) (files []os.FileInfo) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if file, err := entry.Info(); err == nil { // One that is gone is not there.
			files = append(files, file)
		}
	}
	return files
}

// wantWhole wants a database to be sound and to hold all that was loaded.
func wantWhole(t *testing.T, e environment, step, file string, counts map[string]int) {
	t.Helper()
	if code, out, errs := e.run("", "check", "--database", "sqlite:"+file); code != exitDone {
		t.Errorf("%s: check: got code %d, %s%s", step, code, out, errs)
	}
	copied := file + ".dump"
	var result map[string]int
	e.must(&result, "", "dump", copied, "--database", "sqlite:"+file)
	for table, rows := range result {
		if want, ok := counts[strings.TrimSuffix(table, "s")]; ok && rows != want {
			t.Errorf("%s: got %d %s, want %d", step, rows, table, want)
		}
	}
	servicetest.Check(t, os.Remove(copied))
}
