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

// TestDumpCommand moves a database from SQLite to PostgreSQL: tokens, records and
// cursors hold there.
func TestDumpCommand(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	server := servicetest.EmptyDatabase(t)
	e := newFileEnvironment(t)
	var counts map[string]int64

	e.must(&counts, "sample --persons 50 --seed 5")
	account := e.account("a --all-organizations")
	const sea, anneke = "33333333-3333-4333-8333-333333333333", "11111111-1111-4111-8111-111111111111"
	e.done("organization add --name Sea --abbreviation S --uuid", sea)
	e.reading("[calling_hours.NL]\nweekday = \"-\"\n").done("organization set", sea, "--settings", "-")
	e.done("user add Anneke --uuid", anneke, "--organization", sea)
	before := e.serve()
	_, settings := get(t, http.DefaultClient, before.url+"/fundesk/v1/settings", account.Token)
	path := "/api/v1/calls?first=20&include=personQualityResult,pledge,transactions"
	status, want := get(t, http.DefaultClient, before.url+path, account.Token)
	if status != http.StatusOK {
		t.Fatalf("got %d", status)
	}
	before.stop()
	file := filepath.Join(e.folder, "all.ndjson")
	var rows map[string]int64
	e.must(&rows, "dump", file)
	if rows["calls"] != counts["call"] || rows["persons"] != 50 || rows["accounts"] != 1 {
		t.Errorf("got %v, want %v", rows, counts)
	}
	e.try("dump", file).Ends(exitFailure, "already exists")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a file that is closed to others", info.Mode(), err)
	}
	var loaded, again map[string]int64
	e.must(&loaded, "load", file, "--database", server)
	e.must(&again, "load", file, "--skip-existing", "--database", server)
	if loaded["row"] < counts["call"] || loaded["account"] != 1 || len(again) > 0 {
		t.Errorf("got %v saved, then %v, want all of %v, then nothing", loaded, again, rows)
	}
	after := e.serve("--database", server)
	_, got := get(t, http.DefaultClient, after.url+path, account.Token)
	if plain(got, after.url) != plain(want, before.url) {
		t.Errorf("got another page after the move")
	}
	_, moved := get(t, http.DefaultClient, after.url+"/fundesk/v1/settings", account.Token)
	if moved != settings || !strings.Contains(moved, `"weekday":"-"`) || !strings.Contains(moved, anneke) {
		t.Errorf("got the settings %s after the move, want %s", moved, settings)
	}
	e.try("load", file, "--database", server).Ends(exitFailure, "into an empty database")
}

// A mistyped source is refused: an empty database in its place would be dumped well.
func TestDumpOfNothing(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	missing := e.folder + "/typo/a.db"
	e.try("dump - --database", "sqlite:"+missing).Ends(exitFailure, missing)
	if _, err := os.Stat(filepath.Dir(missing)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no folder that was made for it", err)
	}
}

// plain returns an answer without the links that differ by server and moment.
func plain(answer, url string) string {
	parts := strings.Split(answer, url+"/signatures/")
	for i := 1; i < len(parts); i++ {
		_, parts[i], _ = strings.Cut(parts[i], `"`)
	}
	return strings.Join(parts, "")
}
