package main

import (
	"net/http"
	"testing"

	"fundesk/service/servicetest"
)

// TestFullServer fills the disk of a PostgreSQL server, lets reads and writes fail, and lets the server end for lack of
// space. Changes are 503 and the process is not ready. No acknowledged change is lost, and everything resumes when the
// disk is in order.
// Promise S14: a full PostgreSQL server is 503 and tells why.
// Promise S40: a full PostgreSQL server is not ready.
func TestFullServer(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	server := servicetest.NewSmallServer(t, "80m", "fsync=on", "shared_buffers=256kB", "autovacuum=off")
	e := newFileEnvironment(t)
	e.database = servicetest.Clusters("", server)
	w := newWriting(e)
	w.url = e.serve("--database-connections", "4").url
	ready := func(state string, want int) {
		t.Helper()
		replies(t, w.url+"/readyz", "", want)
	}
	fails := func(state, want string, before func()) {
		t.Helper()
		status, answer := http.StatusCreated, ""
		for status == http.StatusCreated && len(w.acknowledged) < 20_000 {
			before()
			status, answer = w.create()
		}
		w.refusal(status, answer, want)
		ready(state, http.StatusServiceUnavailable)
	}
	works := func(state string) {
		t.Helper()
		ready(state, http.StatusOK)
		if status, answer := w.create(); status != http.StatusCreated {
			t.Errorf("%s: got %d %s, want 201", state, status, answer)
		}
		w.verify()
	}
	for range 2 {
		server.FillDisk(t)
		fails("full disk", "the database has no space left", func() {})
		w.verify() // It can be read.
		server.FreeDisk(t)
		works("space again")
	}
	heal := server.FailDisk(t, "pread64")
	fails("failing reads", "the database cannot be read or written", func() {})
	heal()
	works("reads again")

	heal = server.FailDisk(t, "pwrite64,fdatasync,fsync")
	fails("failing writes", "", func() {})
	heal()
	w.refused = nil // The server has ended itself: it was open whether the last change is kept.
	server.Stop()
	server.Start(t)
	works("writes again")

	server.FillDisk(t)
	fails("full log", "", func() {
		_ = server.Try(t.Context(), `SELECT pg_logical_emit_message(false, '', repeat('x', 1000000))`)
	})
	w.refused = nil
	server.Stop()
	server.FreeDisk(t)
	server.Start(t)
	works("space for the log again")
	e.try("check").Ends(exitDone)
}
