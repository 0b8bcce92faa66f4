package main

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// TestCopyCommand moves a database from SQLite to PostgreSQL: tokens, records and
// cursors hold there.
func TestCopyCommand(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	server, stop, err := servicetest.StartPostgres(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	e := newFileEnvironment(t)
	var counts map[string]int64
	var account struct{ Token string }
	e.must(&counts, "", "sample", "--persons", "50", "--seed", "5")
	e.must(&account, "", "account", "add", "a", "--all-organizations")
	before := e.serve()
	path := "/api/v1/calls?first=20&include=personQualityResult,pledge,transactions"
	status, want := get(t, http.DefaultClient, before.url+path, account.Token)
	if status != http.StatusOK {
		t.Fatalf("got %d", status)
	}
	before.stop()
	var copied struct {
		Tables []struct {
			Table string
			Rows  int64
		}
	}
	from := "sqlite:" + e.folder + "/fundeskd.db"
	e.must(&copied, "", "copy", "--from", from, "--to", server)
	rows := map[string]int64{}
	for _, table := range copied.Tables {
		rows[table.Table] = table.Rows
	}
	if rows["calls"] != counts["call"] || rows["persons"] != 50 || rows["accounts"] != 1 {
		t.Errorf("got %v, want %v", rows, counts)
	}
	after := e.serve("--database", server)
	_, got := get(t, http.DefaultClient, after.url+path, account.Token)
	if plain(got, after.url) != plain(want, before.url) {
		t.Errorf("got another page after the move")
	}
	if code, _, errs := e.run("", "copy", "--from", from, "--to", server); code != exitFailure || !strings.Contains(errs, "not empty") {
		t.Errorf("again: got code %d, %s", code, errs)
	}
}

// A mistyped source is refused: an empty database in its place would be copied well.
func TestCopyFromNowhere(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	missing := e.folder + "/typo/a.db"
	code, _, errs := e.run("", "copy", "--from", "sqlite:"+missing, "--to", "sqlite:"+e.folder+"/b.db")
	if code != exitFailure || !strings.Contains(errs, missing) {
		t.Errorf("got code %d, %s", code, errs)
	}
	if _, err := os.Stat(filepath.Dir(missing)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no folder that was made for it", err)
	}
}

// plain is an answer without the links that differ by server and moment.
func plain(answer, url string) string {
	parts := strings.Split(answer, url+"/signatures/")
	for i := 1; i < len(parts); i++ {
		_, parts[i], _ = strings.Cut(parts[i], `"`)
	}
	return strings.Join(parts, "")
}
