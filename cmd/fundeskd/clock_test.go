package main

import (
	"testing"
)

// TestClockResetAsks changes nothing without an answer, and reports what it did.
func TestClockResetAsks(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	e.done("migrate")
	e.try("clock reset").Ends(exitUsage, "--yes does it")
	e.try("clock reset --yes").Ends(exitDone).PrintsOnly("0 records set to the present time\n")
}

// TestClockResetBesideAService is refused while a service uses the database.
func TestClockResetBesideAService(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e environment) {
		s := e.child()
		e.try("clock reset --yes").Ends(exitFailure, "stop what serves it first").PrintsOnly("")
		s.end(t)
	})
}
