package sqlstore_test

import (
	"errors"
	"testing"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestCommandsOnFullServer lets the disk of a PostgreSQL server be full from a statement of a command on,
// or fail: the command ends with what is wrong, and run again when the disk is in order it ends as
// [TestCutCommands] wants it to.
func TestCommandsOnFullServer(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	small := servicetest.NewSmallServer(t, "160m", "autovacuum=off", "shared_buffers=1MB", "max_wal_size=32MB")
	heal := small.FailDisk(t, "pread64") // Whether this may be done here at all.
	heal()
	again := func() { // A server ends itself when its log has no space, or fails, and a little later than it looks.
		small.Stop()
		small.Start(t)
	}
	at := servicetest.Clusters("", small)
	full := trouble{server: at, begins: func(*cutter) { small.FillDisk(t) }, ends: func() {
		small.FreeDisk(t)
		again()
	}}
	fails := trouble{server: at, begins: func(*cutter) { heal = small.FailDisk(t, "pread64,pwrite64") }, ends: func() {
		heal()
		again()
	}}
	for _, command := range cutCommands(t) { //nolint:paralleltest // They share a disk.
		t.Run(command.name, func(t *testing.T) {
			what := []trouble{full, fails}
			if !*allCuts {
				command.at = command.at[:1]
				what = what[:1]
				if command.little {
					what[0] = fails
				}
			}
			for _, trouble := range what {
				refused := false
				for _, failure := range command.meets(t, trouble) {
					refusal, is := errors.AsType[*service.Error](failure)
					refused = refused || is
					if failure != nil && (!is || refusal.Kind != service.Unavailable) {
						t.Errorf("got %v, want what is wrong with the database", failure)
					}
				}
				if !refused && !command.little {
					t.Error("the command did not fail")
				}
			}
		})
	}
}
