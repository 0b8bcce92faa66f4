//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"fundesk/service/servicetest"
)

// before is a program that may serve the schema of this one; .ci/build-earlier builds it.
var before = flag.String("before", "",
	"an earlier fundeskd for TestRollingUpdate; without one it is this one, and the schema one of later")

// laterSchema is a migration that the next release may contain.
const laterSchema = `ALTER TABLE calls ADD COLUMN later TEXT; ALTER TABLE settings ADD COLUMN later TEXT; CREATE INDEX calls_later ON calls (later); `

// TestRollingUpdate updates the schema while programs serve and write, and replaces one after the other by the later
// program and back. No request fails, and acknowledged changes are there, once, for the programs of both versions.
func TestRollingUpdate(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		e := newFileEnvironment(t)
		path := filepath.Join(e.folder, "fundeskd.db")
		e.database = "sqlite:" + path
		e.roll(1, func() {
			execute(t, "file:"+path+"?_pragma=busy_timeout(60000)",
				`BEGIN IMMEDIATE; `+laterSchema+`PRAGMA user_version = 1000; COMMIT`)
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		servicetest.NeedPostgres(t)
		e := newFileEnvironment(t)
		e.database = servicetest.EmptyDatabase(t)
		e.roll(2, func() { e.atServer(t, laterSchema+`INSERT INTO schema_version VALUES (1000)`) })
	})
}

// roll updates some programs under writers; later makes the schema one of a later release. Of an SQLite
// file one program at a time takes changes: two would wait for each other for as long as the system likes.
func (e environment) roll(processes int, later func()) {
	t := e.t
	t.Helper()
	earlier := cmp.Or(*before, os.Args[0])
	var organization, account struct{ UUID, Token string }
	e.by(earlier, &organization, "organization", "add", "--name", "A", "--abbreviation", "A")
	e.by(earlier, &account, "account", "add", "a", "--all-organizations")
	programs, urls := make([]child, processes), make([]string, processes)
	for i := range programs {
		programs[i] = e.childOf(earlier)
		urls[i] = programs[i].url
	}
	l := newLedger(t, organization.UUID, account.Token, urls...)
	l.unfailing = true
	end := l.write(2)
	defer end()
	l.more(10)
	if *before == "" {
		later()
	} else if code, _, errs := e.run("migrate"); code != exitDone {
		t.Fatal(errs)
	}
	l.more(10)
	e.by(earlier, &account, "account", "add", "b", "--all-organizations")
	paths := []string{os.Args[0]}
	if *before != "" {
		paths = append(paths, *before)
	}
	for _, path := range paths {
		for process, replaced := range programs {
			programs[process] = e.childOf(path)
			l.move(process, programs[process].url)
			if err := replaced.interrupt(); err != nil {
				t.Errorf("a program that was replaced: %v", err)
			}
			l.more(10)
			replies(t, programs[process].url+"/api/v1/calls?first=1", account.Token, http.StatusOK)
		}
	}
	end()
	for _, url := range []string{programs[0].url, e.serve().url} {
		l.verify(url)
	}
	for _, program := range programs {
		servicetest.Report(t, program.interrupt())
	}
}

// by runs a command of a program with -o json, and decodes what it prints.
func (e environment) by(path string, value any, args ...string) {
	e.t.Helper()
	command := exec.CommandContext(e.t.Context(), path, append(args, "-o", "json")...)
	command.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder, "FUNDESKD_DATABASE="+e.database)
	text, err := command.Output()
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err != nil {
		e.t.Fatalf("%v of the earlier program: %v", args, err)
	}
}

// interrupt ends a program as a signal does, and waits for its end.
func (c child) interrupt() error {
	return errors.Join(c.command.Process.Signal(os.Interrupt), c.command.Wait())
}
