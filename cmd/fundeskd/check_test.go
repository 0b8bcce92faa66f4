package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// execute runs a statement on an SQLite file while the program runs.
func execute(t *testing.T, file, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	servicetest.Check(t, err)
	_, err = db.ExecContext(t.Context(), text)
	servicetest.Check(t, errors.Join(err, db.Close()))
}

// fileBytes holds the digests of a database's file and of its companions. A missing file has none.
func fileBytes(t *testing.T, file string) map[string]string {
	t.Helper()
	digests := map[string]string{}
	if about, err := os.Stat(file); err == nil && about.IsDir() {
		return digests
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		data, err := os.ReadFile(file + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		servicetest.Check(t, err)
		sum := sha256.Sum256(data)
		digests[suffix] = hex.EncodeToString(sum[:])
	}
	return digests
}

// TestCheckOnlyReads shows that a check changes no byte of a database or of its log, whether it was closed, killed, is
// served, or is a backup.
func TestCheckOnlyReads(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	var counts map[string]int
	e.must(&counts, "sample --persons 50")
	file := filepath.Join(e.folder, "fundeskd.db")
	check := func(state, file string, want ...string) {
		t.Helper()
		before := fileBytes(t, file)
		for _, suffix := range want {
			if before[suffix] == "" {
				t.Fatalf("%s: there is no %s", state, suffix)
			}
		}
		e.try("check --database", "sqlite:"+file).Ends(exitDone)
		after := fileBytes(t, file)
		if state == "served" { // The service notes there what its own readers see.
			delete(before, "-shm")
			delete(after, "-shm")
		}
		servicetest.Same(t, state+": bytes", before, after)
	}
	check("closed", file)
	copied := filepath.Join(e.folder, "copy.db")
	e.done("backup", copied)
	check("backup", copied)

	running := e.child()
	e.organization("A")
	check("served", file, "-wal", "-shm")
	_ = running.command.Process.Kill()
	_ = running.command.Wait()
	check("killed", file, "-wal", "-shm")
	var organizations []any
	if e.must(&organizations, "organization list"); len(organizations) != 3 {
		t.Errorf("got %d organizations, want what the log held", len(organizations))
	}
}

// TestCheckOfDamage shows that an unreadable database file is reported like any other damage, for programs too.
func TestCheckOfDamage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		at   int64 // Where bytes are overwritten.
		want string
	}{
		{"no header", 0, "not a database"},
		{"schema", 100, "malformed"},
		{"a table", 40_000, "malformed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newFileEnvironment(t)
			var counts map[string]int
			e.must(&counts, "sample --persons 200")
			file, err := os.OpenFile(filepath.Join(e.folder, "fundeskd.db"), os.O_RDWR, 0)
			servicetest.Check(t, err)
			if _, err := file.WriteAt([]byte(strings.Repeat("\xff\x13", 2000)), test.at); err != nil {
				t.Fatal(err)
			}
			servicetest.Check(t, file.Close())
			code, out, errs := e.run("check -o json")
			var found struct {
				OK       bool
				Problems []string
			}
			if err := json.Unmarshal([]byte(out), &found); err != nil {
				t.Fatalf("got %v in %q, %s", err, out, errs)
			}
			if code != exitFailure || found.OK || !strings.Contains(strings.Join(found.Problems, "\n"), test.want) {
				t.Errorf("got code %d, %s, want a problem that says %q", code, out, test.want)
			}
		})
	}
}

// TestNotOurDatabase shows that a file without a database of ours is neither found to be well
// nor made into one.
func TestNotOurDatabase(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	empty, foreign := filepath.Join(e.folder, "empty.db"), filepath.Join(e.folder, "foreign.db")
	write(t, empty, "")
	execute(t, foreign, `CREATE TABLE cookies (name TEXT)`)
	blank := filepath.Join(e.folder, "blank.db")
	versioned := filepath.Join(e.folder, "versioned.db")
	keyless := filepath.Join(e.folder, "keyless.db")
	execute(t, blank, `PRAGMA user_version = 0; VACUUM`)
	execute(t, versioned, `CREATE TABLE settings (name TEXT); PRAGMA user_version = 2`)
	for _, file := range []string{keyless} {
		e.done("migrate --database", "sqlite:"+file)
	}
	execute(t, keyless, `DELETE FROM settings WHERE name = 'signing-key'`)
	tests := []struct {
		name, file, want string
		args             []string
	}{
		{"check of a file without tables", blank, "no tables", []string{"check"}},
		{"check of another program's of our version", versioned, "another program", []string{"check"}},
		{"check without the key", keyless, "its signing key is missing", []string{"check"}},
		{"check of a folder", e.folder, "is a directory", []string{"check"}},
		{"check of an empty file", empty, "the file is empty", []string{"check"}},
		{"backup of an empty file", empty, "the file is empty", []string{"backup", filepath.Join(e.folder, "copy.db")}},
		{
			name: "dump of an empty file",
			file: empty,
			want: "the file is empty",
			args: []string{"dump", filepath.Join(e.folder, "to.ndjson"), "--database", "sqlite:" + empty},
		},
		{"check of another program's", foreign, "another program", []string{"check"}},
		{"account in another program's", foreign, "another program", []string{"account", "list"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before := fileBytes(t, test.file)
			code, out, errs := e.run("", append(test.args, "--database", "sqlite:"+test.file)...)
			if code != exitFailure ||
				out != "" ||
				!strings.Contains(errs, test.want) ||
				!strings.Contains(errs, test.file) {
				t.Errorf("got code %d, %s%s, want %q of %s", code, out, errs, test.want, test.file)
			}
			if strings.Contains(errs, "signing key is missing") && test.file != keyless {
				t.Errorf("got %s, want only what is to be done first", errs)
			}
			servicetest.Same(t, "the file or what lies beside it changed", before, fileBytes(t, test.file))
		})
	}
}

func write[T string | []byte](t testing.TB, path string, content T) {
	t.Helper()
	servicetest.Check(t, os.WriteFile(path, []byte(content), 0o600))
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	servicetest.Check(t, err)
	return data
}
