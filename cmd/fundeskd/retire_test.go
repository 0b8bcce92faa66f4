package main

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestDumpRetires moves a database away. The old one is neither served nor changed from then on, but read, dumped
// again, and replaced by a restore. Nothing is retired while a service uses it, or if the dump fails.
func TestDumpRetires(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e environment) {
		e.t = t
		isFile := e.database == ""
		account := e.account("a", "--all-organizations")
		folder := t.TempDir()
		backup, file := filepath.Join(folder, "backup.db"), filepath.Join(folder, "all.ndjson")
		if isFile {
			e.done("backup", backup)
		}
		s := e.child()
		code, _, errs := e.run("dump", file, "--retire")
		if code != exitFailure || !strings.Contains(errs, "stop what serves it first") || len(listing(folder)) > 1 {
			t.Errorf("while it is served: got code %d, %s and %v", code, errs, listing(folder))
		}
		s.end(t)
		e.try("dump", filepath.Join(folder, "nowhere", "x"), "--retire").Ends(exitFailure)
		e.account("b", "--all-organizations") // It was not retired.

		code, out, errs := e.run("dump", file, "--retire")
		// A server ends sessions a moment later.
		for begun := time.Now(); strings.Contains(errs, "stop what serves it first") && time.Since(begun) < *takeover; {
			code, out, errs = e.run("dump", file, "--retire")
		}
		if code != exitDone || !strings.Contains(out, "FUNDESKD_DATABASE") {
			t.Fatalf("got code %d, %s%s, want what is to be done next", code, out, errs)
		}
		for _, args := range []string{
			"serve --listen 127.0.0.1:0",
			"account add c --all-organizations",
			"key rotate --yes",
			"sample",
			"account revoke " + account.UUID,
			"migrate",
			"clean",
			"retention run",
			"clock reset --yes",
			"erasures replay --none-expected",
		} {
			e.try(args).Ends(exitFailure, "retired", "--database").PrintsOnly("")
		}
		e.done("account list")
		e.done("check")
		e.done("dump", file+"2", "--retire")
		moved := newFileEnvironment(t)
		moved.done("load", file)
		moved.accepts(account.Token, true)
		if !isFile {
			return
		}
		e.done("restore", backup, "--keep-tokens")
		running := e.serve()
		replies(t, running.url+"/api/v1/persons", account.Token, http.StatusOK)
	})
}

// TestFailedDumpOfARetiredDatabase dumps a database again that was moved away before, into a file that exists. The dump
// is refused, and the database stays retired: a service there would take changes that the new one never gets.
func TestFailedDumpOfARetiredDatabase(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e environment) {
		e.t = t
		e.account("a", "--all-organizations")
		file := filepath.Join(t.TempDir(), "all.ndjson")
		e.done("dump", file, "--retire")

		code, _, errs := e.run("dump", file, "--retire")

		if code != exitFailure || !strings.Contains(errs, "already exists") {
			t.Errorf("got code %d, %s, want that the file exists", code, errs)
		}
		code, _, errs = e.run("account add b --all-organizations")
		if code != exitFailure || !strings.Contains(errs, "retired") {
			t.Errorf("got code %d, %s, want that the database is retired", code, errs)
		}
	})
}

// TestDumpBesideAStartRetiresNothing starts a service after a dump has looked for one, and before it marks the
// database. The dump is refused: the service would take changes that the dump lacks.
func TestDumpBesideAStartRetiresNothing(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	account := e.account("a", "--all-organizations")
	file := filepath.Join(t.TempDir(), "all.ndjson")
	var errs bytes.Buffer
	p := e.program("", io.Discard, &errs)
	var started child
	start := sync.OnceFunc(func() { started = e.child() })
	p.Now = func() time.Time {
		start()
		return time.Now()
	}

	code := run(t.Context(), []string{"dump", file, "--retire"}, p)

	if code != exitFailure || !strings.Contains(errs.String(), "stop what serves it first") {
		t.Errorf("got code %d, %s, want that a service uses the database", code, &errs)
	}
	replies(t, started.url+"/api/v1/persons", account.Token, http.StatusOK)
	started.end(t)
	e.account("b", "--all-organizations") // It was not retired.
}
