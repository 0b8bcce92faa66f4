package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allSteps interrupts every command at many of its steps, in each way; a run in CI does at a few.
var allSteps = flag.Bool("steps", false, "interrupt the operator's commands at many steps, in each way")

// TestInterruptedCommands kills an operator's command, or lets the disk be full, fail or be
// read-only, at its n-th flush, write, renaming or opening: what check passes afterwards is served
// whole and takes a change, and the command can be run again or says why not.
func TestInterruptedCommands(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	if err := exec.CommandContext(t.Context(), strace, "-qq", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skip("strace may not look at programs here:", err)
	}
	faults, steps := []string{"signal=KILL", "error=ENOSPC"}, []int{2}
	calls := []string{"fsync,fdatasync", "renameat,rename,linkat,unlinkat,unlink"}
	if *allSteps {
		faults, steps = append(faults, "error=EIO", "error=EROFS"), []int{1, 2, 3, 5, 8, 13, 21, 34}
		calls = append(calls, "pwrite64,write,ftruncate", "openat")
	}
	base := newFileEnvironment(t)
	base.must(&struct{}{}, "", "account", "add", "a", "--all-organizations")
	backup := filepath.Join(t.TempDir(), "backup.db")
	if code, _, errs := base.run("", "backup", backup); code != exitDone {
		t.Fatal(errs)
	}
	for _, command := range []string{"backup", "restore", "load", "key rotate", "copy"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			interrupted := 0
			for _, fault := range faults {
				for _, call := range calls {
					for _, step := range steps {
						name := fmt.Sprintf("%s, %s at %s %d", command, fault, call, step)
						e := newFileEnvironment(t)
						made := filepath.Join(e.folder, "made.db")
						e.database = "sqlite:" + filepath.Join(e.folder, "fundeskd.db")
						for _, suffix := range []string{"", ".key"} {
							write(t, filepath.Join(e.folder, "fundeskd.db"+suffix), readFile(t, filepath.Join(base.folder, "fundeskd.db"+suffix)))
						}
						lines := filepath.Join(e.folder, "lines")
						write(t, lines, []byte(`{"kind":"user","data":{"uuid":"3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c","identifier":"x","name":"X"}}`))
						args := map[string][]string{
							"backup": {"backup", made}, "restore": {"restore", backup}, "load": {"load", lines},
							"key rotate": {"key", "rotate"}, "copy": {"copy", "--from", e.database, "--to", "sqlite:" + made},
						}[command]
						traced := exec.CommandContext(t.Context(), strace, slices.Concat([]string{
							"-f", "-qq", "-o", os.DevNull, "-e", "trace=" + call, "-e", fmt.Sprintf("inject=%s:%s:when=%d", call, fault, step), os.Args[0],
						}, args)...)
						traced.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder, "FUNDESKD_DATABASE="+e.database)
						if traced.Run() != nil {
							interrupted++
						}
						e.passedIsWhole(name)
						e.database = "sqlite:" + made
						if _, err := os.Stat(made); !errors.Is(err, fs.ErrNotExist) {
							e.passedIsWhole(name)
						}
						e.database = "sqlite:" + filepath.Join(e.folder, "fundeskd.db")
						if code, _, errs := e.run("", args...); code != exitDone && !strings.Contains(errs, "already exists") && !strings.Contains(errs, "is not empty") {
							t.Errorf("%s: again: got code %d, %s", name, code, errs)
						}
						if code, out, errs := e.run("", "check"); code != exitDone {
							t.Errorf("%s: again: check: %s%s", name, out, errs)
						}
					}
				}
			}
			if interrupted == 0 {
				t.Error("the command was never interrupted")
			}
		})
	}
}

// passedIsWhole looks whether a database that check passes can be read and changed.
func (e environment) passedIsWhole(name string) {
	e.t.Helper()
	if code, _, _ := e.run("", "check"); code != exitDone {
		return
	}
	for _, args := range [][]string{{"account", "list"}, {"organization", "add", "--name", "Z", "--abbreviation", "Z"}, {"check"}} {
		if code, out, errs := e.run("", args...); code != exitDone {
			e.t.Errorf("%s: check passed %s, and then %v: got code %d, %s%s", name, e.database, args, code, out, errs)
		}
	}
}
