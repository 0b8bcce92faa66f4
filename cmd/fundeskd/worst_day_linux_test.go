package main

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// TestMissingKey removes the key of a database with accounts. No program makes another one, under which no token would
// work, and the error explains how to go on.
func TestMissingKey(t *testing.T) {
	t.Parallel()
	refuses := func(t *testing.T, e environment, want string) {
		t.Helper()
		for _, args := range []string{
			"serve --listen 127.0.0.1:0", "migrate", "check", "account list", "account add b --all-organizations",
		} {
			e.try(args).Ends(exitFailure, "key", want).PrintsOnly("")
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		e := newFileEnvironment(t)
		e.t = t
		account := e.account("a --all-organizations")
		execute(t, filepath.Join(e.folder, "fundeskd.db"), `DELETE FROM settings WHERE name = 'signing-key'`)
		refuses(t, e, "missing from the table settings")
		e.try("backup", filepath.Join(e.folder, "copy.db")).Ends(exitFailure, "key rotate")
		e.done("key rotate --yes")
		s := e.serve()
		s.replies(t, "/api/v1/persons", account.Token, http.StatusUnauthorized)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		servicetest.NeedPostgres(t)
		e := environment{t: t, folder: t.TempDir(), database: servicetest.PostgresDatabase(t)}
		e.account("a --all-organizations")
		e.atServer(t, `DELETE FROM settings WHERE name = 'signing-key'`)
		refuses(t, e, "missing from the table settings")
	})
}

// TestFileReplaced moves a backup over a served file. No change is confirmed that would be lost, neither file is
// damaged, and the service resumes when its file is back.
// Promise S39: a file that was moved is noticed.
func TestFileReplaced(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	w := newWriting(e)
	file := filepath.Join(e.folder, "fundeskd.db")
	copied := filepath.Join(e.folder, "copy.db")
	away := filepath.Join(e.folder, "away.db")
	e.done("backup", copied)
	s := e.serve()
	w.url = s.url
	if status, answer := w.create(); status != http.StatusCreated {
		t.Fatal(status, answer)
	}
	move := func(from, to string) {
		t.Helper()
		servicetest.Check(t, os.Rename(from, to))
	}
	before, err := os.ReadFile(copied)
	servicetest.Check(t, err)
	refused := func(state string) {
		t.Helper()
		for range 20 {
			status, answer := w.create()
			if status != http.StatusServiceUnavailable || !strings.Contains(answer, "file") {
				t.Errorf("%s: a change got %d %s, want 503", state, status, answer)
			}
		}
		for _, path := range []string{"/api/v1/persons", "/readyz"} {
			s.replies(t, path, w.token, http.StatusServiceUnavailable)
		}
	}
	move(file, away)
	refused("removed")
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no new file", err)
	}
	move(copied, file)
	refused("replaced")
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file that was moved there changed, %v", err)
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "/readyz") && !strings.Contains(line, file) {
			t.Errorf("got %s in the log, want that it names %s", line, file)
		}
	}
	move(file, copied)
	move(away, file)
	if status, answer := w.create(); status != http.StatusCreated {
		t.Errorf("its file is back: got %d %s, want 201", status, answer)
	}
	s.replies(t, "/readyz", "", http.StatusOK)
	w.verify()
	e.try("check").Ends(exitDone)
}

// TestFileReplacedAndKilled moves a backup over a served file, kills the program and starts it again. The backup is
// served as it was, and the log of the other file is not read into it.
func TestFileReplacedAndKilled(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	w := newWriting(e)
	file, copied := filepath.Join(e.folder, "fundeskd.db"), filepath.Join(e.folder, "copy.db")
	running := e.child()
	w.url = running.url
	w.create()
	kept := w.acknowledged
	e.done("backup", copied)
	for range 30 {
		w.create()
	}
	if len(w.acknowledged) != 31 {
		t.Fatalf("got %d creations, want 31", len(w.acknowledged))
	}
	servicetest.Check(t, os.Rename(copied, file))
	for {
		log, err := os.Stat(file + "-wal")
		if errors.Is(err, fs.ErrNotExist) || err == nil && log.Size() == 0 {
			break // The program has seen it.
		}
		get(t, http.DefaultClient, running.url+"/readyz", "")
	}
	_ = running.command.Process.Kill()
	_ = running.command.Wait()
	again := e.child()
	w.url, w.refused, w.acknowledged = again.url, w.acknowledged[1:], kept
	w.verify()
	if status, answer := w.create(); status != http.StatusCreated {
		t.Errorf("got %d %s from the backup, want 201", status, answer)
	}
	e.try("check").Ends(exitDone)
	_ = again.command.Process.Kill()
	_ = again.command.Wait()
}

// TestDamagedAccounts damages the rows that every request reads. The service is not ready, and names the check.
// Promise S40: /readyz reads every account.
func TestDamagedAccounts(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	w := newWriting(e)
	path := filepath.Join(e.folder, "fundeskd.db")
	db, err := sql.Open("sqlite", path)
	servicetest.Check(t, err)
	var page, size int64
	err = db.QueryRowContext(t.Context(),
		`SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'accounts'`).Scan(&page, &size)
	servicetest.Check(t, errors.Join(err, db.Close()))
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	servicetest.Check(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte{0xff, 0x13}, int(size/2)), (page-1)*size)
	servicetest.Check(t, errors.Join(err, file.Close()))
	s := e.serve()
	w.url = s.url
	if status, answer := w.create(); status != http.StatusServiceUnavailable || !strings.Contains(answer, "damaged") {
		t.Errorf("got %d %s, want 503 that says that the database is damaged", status, answer)
	}
	s.replies(t, "/readyz", "", http.StatusServiceUnavailable)
}
