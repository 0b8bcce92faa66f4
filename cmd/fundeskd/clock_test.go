package main

import (
	"strings"
	"testing"
)

// TestClockResetAsks changes nothing without an answer, and reports what it did.
func TestClockResetAsks(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	e.done("", "migrate")
	if code, _, errs := e.run("", "clock", "reset"); code != exitUsage || !strings.Contains(errs, "--yes does it") {
		t.Errorf("got %d %q, want a question that names --yes", code, errs)
	}
	if code, out, errs := e.run("", "clock", "reset", "--yes"); code != exitDone || out != "0 records set to the present time\n" {
		t.Errorf("got %d %q %q", code, out, errs)
	}
}

// TestClockResetBesideAService is refused while a service uses the database.
func TestClockResetBesideAService(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e environment) {
		s := e.child()
		code, out, errs := e.run("", "clock", "reset", "--yes")
		if code != exitFailure || out != "" || !strings.Contains(errs, "stop what serves it first") {
			t.Errorf("got %d %q %q, want a refusal", code, out, errs)
		}
		s.end(t)
	})
}
