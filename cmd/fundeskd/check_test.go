package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckOfDamage shows that a file which cannot be read as a database is told of like
// any other damage, for programs too.
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
			e.must(&counts, "", "sample", "--persons", "200")
			file, err := os.OpenFile(filepath.Join(e.folder, "fundeskd.db"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteAt([]byte(strings.Repeat("\xff\x13", 2000)), test.at); err != nil {
				t.Fatal(err)
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			code, out, errs := e.run("", "check", "-o", "json")
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
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE cookies (name TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, file, want string
		args             []string
	}{
		{"check of an empty file", empty, "the file is empty", []string{"check"}},
		{"backup of an empty file", empty, "the file is empty", []string{"backup", filepath.Join(e.folder, "copy.db")}},
		{"copy of an empty file", empty, "the file is empty", []string{"copy", "--from", "sqlite:" + empty, "--to", "sqlite:" + filepath.Join(e.folder, "to.db")}},
		{"check of another program's", foreign, "another program", []string{"check"}},
		{"account in another program's", foreign, "another program", []string{"account", "list"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			before, err := os.ReadFile(test.file)
			if err != nil {
				t.Fatal(err)
			}
			code, out, errs := e.run("", append(test.args, "--database", "sqlite:"+test.file)...)
			if code != exitFailure || out != "" || !strings.Contains(errs, test.want) || !strings.Contains(errs, test.file) {
				t.Errorf("got code %d, %s%s, want %q of %s", code, out, errs, test.want, test.file)
			}
			after, err := os.ReadFile(test.file)
			if err != nil || test.file == empty && len(after) > len(before) {
				t.Errorf("got %d bytes and %v afterwards, want %d", len(after), err, len(before))
			}
		})
	}
}
