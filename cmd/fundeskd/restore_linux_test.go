package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// TestRestore puts a backup back. An open database is not touched. Afterwards the old state and its tokens are back,
// and the replaced files are kept.
// Promise S51: a file that another process serves is not replaced.
func TestRestore(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	w := newWriting(e)
	file, backup := filepath.Join(e.folder, "fundeskd.db"), filepath.Join(t.TempDir(), "backup.db")
	served := e.child()
	w.url = served.url
	create := func() string {
		t.Helper()
		if status, answer := w.create(); status != http.StatusCreated {
			t.Fatalf("got %d %s", status, answer)
		}
		return w.acknowledged[len(w.acknowledged)-1]
	}
	before := create()
	e.done("backup", backup)
	after := create()
	lost := w.rename(before, "Lost", "*")

	refused := func(what string, args ...string) {
		t.Helper()
		was := readFile(t, file)
		e.try("restore", args...).Ends(exitFailure, what).PrintsOnly("")
		if left := others(t, e.folder); len(left) > 0 || !bytes.Equal(was, readFile(t, file)) {
			t.Errorf("%v: the database was changed, or %v left beside it", args, left)
		}
	}
	inUse := file + ": another program has it open; stop what serves it first"
	refused(inUse, backup)
	served.end(t)
	idle := e.child() // Nothing was asked of it yet.
	refused(inUse, backup)
	idle.end(t)

	damaged, foreign := filepath.Join(t.TempDir(), "d.db"), filepath.Join(t.TempDir(), "f.db")
	whole := readFile(t, backup)
	for path, data := range map[string][]byte{
		damaged: slices.Concat(whole[:len(whole)/2], bytes.Repeat([]byte{7}, len(whole)-len(whole)/2)),
		foreign: []byte("notes of somebody"),
	} {
		servicetest.Check(t, os.WriteFile(path, data, 0o600))
	}
	refused("no such file", filepath.Join(e.folder, "nothing.db"))
	refused("is the database itself", file)
	refused("", damaged)
	refused("not a database", foreign)

	var done struct {
		Database string
		Kept     []string
	}
	e.must(&done, "restore", backup, "--keep-tokens")
	if len(done.Kept) < 1 || !slices.Equal(readFile(t, backup), whole) {
		t.Errorf("got %+v, want the files that were there, and the backup as it was", done)
	}
	s := e.serve()
	w.url = s.url
	w.rename(before, "Kept", "*")
	if tag := w.rename(before, "Late", lost); tag != "" {
		t.Errorf("a change for the revision %s, which the restore has undone, was made", lost)
	}
	for id, want := range map[string]int{before: http.StatusOK, after: http.StatusNotFound} {
		s.replies(t, "/api/v1/persons/"+id, w.token, want)
	}
	s.stop()
	kept := e
	kept.database = "sqlite:" + done.Kept[0]
	s = kept.serve()
	for _, id := range []string{before, after} {
		s.replies(t, "/api/v1/persons/"+id, w.token, http.StatusOK)
	}
	s.stop()
}

// rename changes the name of a person with a revision. It returns the new one, or "" if the change is refused.
func (w *writing) rename(person, name, revision string) string {
	w.t.Helper()
	body := strings.NewReader(fmt.Sprintf(`{"name":{"lastName":%q}}`, name))
	request, err := http.NewRequestWithContext(
		w.t.Context(),
		http.MethodPut,
		w.url+"/api/v1/persons/"+person+"/actions/update",
		body,
	)
	servicetest.Check(w.t, err)
	request.Header.Set("Authorization", "Bearer "+w.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("If-Match", revision)
	response, err := http.DefaultClient.Do(request)
	servicetest.Check(w.t, err)
	servicetest.Check(w.t, response.Body.Close())
	switch response.StatusCode {
	case http.StatusOK:
		return response.Header.Get("Etag")
	case http.StatusPreconditionFailed:
		return ""
	}
	w.t.Fatalf("got %d", response.StatusCode)
	return ""
}

// TestInterruptedRestore finds a database in the middle of a restore. No program opens it until the restore is done.
func TestInterruptedRestore(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	account := e.account("a", "--all-organizations")
	file, backup := filepath.Join(e.folder, "fundeskd.db"), filepath.Join(t.TempDir(), "backup.db")
	e.done("backup", backup)
	steps := []struct {
		name string
		gone []string
	}{{"marked", nil}, {"old one moved", []string{file}}}
	for _, step := range steps {
		write(t, file+".restoring", "")
		for _, name := range step.gone {
			servicetest.Check(t, os.Remove(name))
		}
		for _, args := range []string{
			"serve --listen 127.0.0.1:0", "account list", "check", "migrate",
			"backup " + file + ".copy",
		} {
			if code, _, errs := e.run(
				args,
			); code != exitFailure || !strings.Contains(errs, "restore was not finished") && len(step.gone) == 0 {
				t.Errorf("%s: %v: got code %d, %s, want that a restore was not finished", step.name, args, code, errs)
			}
		}
		e.try("restore", backup, "--keep-tokens").MustEnd(exitDone)
		s := e.serve()
		s.replies(t, "/api/v1/persons", account.Token, http.StatusOK)
		s.stop()
	}
}

func TestRestoreOfPostgreSQL(t *testing.T) {
	t.Parallel()
	e := environment{t: t, folder: t.TempDir(), database: "postgres://localhost/fundesk"}
	e.try("restore x").Ends(exitFailure, "pg_restore")
}

// others returns the files of a folder that neither are the database nor its own.
func others(t *testing.T, folder string) []string {
	t.Helper()
	var names []string
	for _, file := range listing(folder) {
		if !slices.Contains([]string{"fundeskd.db", "fundeskd.db-wal", "fundeskd.db-shm", "fundeskd.db.erasures"}, file.Name()) {
			names = append(names, file.Name())
		}
	}
	return names
}
