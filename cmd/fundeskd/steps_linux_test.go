package main

import (
	"bytes"
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

// interruption is a fault for a command, at the n-th of some system calls of each of its threads. The first to get
// there has it.
type interruption struct {
	fault, calls string
	step         int
}

// interruptions returns the faults for a command. A command that only reads is interrupted while it reads.
func interruptions(reads bool) []interruption {
	const flushes, writes, names, opens, looks = "fsync,fdatasync", "pwrite64,write,ftruncate",
		"renameat,rename,linkat,unlinkat,unlink", "open,openat", "pread64"
	if !*allSteps {
		if reads {
			return []interruption{{"signal=KILL", looks, 1}, {"error=EIO", looks, 1}}
		}
		return []interruption{{"signal=KILL", flushes, 1}, {"error=ENOSPC", writes, 2}}
	}
	var all []interruption
	for _, fault := range []string{"signal=KILL", "error=ENOSPC", "error=EIO", "error=EROFS"} {
		for _, calls := range []string{flushes, writes, names, opens, looks} {
			for _, step := range []int{1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144} {
				all = append(all, interruption{fault, calls, step})
			}
		}
	}
	return all
}

// TestInterruptedCommands kills an operator's command, or makes the disk full, faulty or read-only, at its n-th flush,
// write, renaming, opening or reading. If check passes afterwards, the database is served whole and takes a change, and
// the command can be run again or explains why not.
func TestInterruptedCommands(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("strace is not installed")
	}
	if err := exec.CommandContext(t.Context(), strace, "-qq", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skip("strace may not look at programs here:", err)
	}
	base := newFileEnvironment(t)
	base.must(&struct{}{}, "account add a --all-organizations")
	backup := filepath.Join(t.TempDir(), "backup.db")
	base.done("backup", backup)
	for command, args := range map[string]func(e environment, made string) []string{
		"backup":  func(_ environment, made string) []string { return []string{"backup", made} },
		"restore": func(environment, string) []string { return []string{"restore", backup} },
		"load": func(e environment, _ string) []string {
			return []string{"load", filepath.Join(e.folder, "lines")}
		},
		"key rotate": func(environment, string) []string { return []string{"key", "rotate", "--yes"} },
		"dump":       func(_ environment, made string) []string { return []string{"dump", made} },
		"migrate":    func(environment, string) []string { return []string{"migrate"} },
		"check":      func(environment, string) []string { return []string{"check"} },
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			from := base
			if command == "migrate" {
				from = newFileEnvironment(t)
			}
			interrupted := 0
			for _, i := range interruptions(command == "check") {
				name := fmt.Sprintf("%s, %s at %s %d", command, i.fault, i.calls, i.step)
				e := from.clone(t)
				made := filepath.Join(e.folder, "made.db")
				write(
					t,
					filepath.Join(e.folder, "lines"),
					[]byte(`{"kind":"user","data":{"uuid":"3f2a5b1c-0d4e-4f6a-8b7c-9d0e1f2a3b4c","identifier":"x","name":"X"}}`),
				)
				if e.interrupted(strace, i, args(e, made)) {
					interrupted++
				}
				if command == "check" &&
					!bytes.Equal(readFile(t, filepath.Join(e.folder, "fundeskd.db")), readFile(t, filepath.Join(from.folder, "fundeskd.db"))) {
					t.Errorf("%s: check has changed the file", name)
				}
				whole := e.passedIsWhole(name)
				if !whole && i.fault == "signal=KILL" && command != "restore" && command != "migrate" {
					t.Errorf("%s: check does not pass", name)
				}
				second := e
				second.database = "sqlite:" + made
				switch _, err := os.Stat(made); {
				case errors.Is(err, fs.ErrNotExist):
				case command == "dump":
					second.database = "sqlite:" + made + ".loaded"
					second.try("load", made).Ends(exitDone)
				default:
					second.passedIsWhole(name)
				}
				code, _, errs := e.run("", args(e, made)...)
				if code != exitDone &&
					!strings.Contains(errs, "already exists") &&
					!strings.Contains(errs, "is there already") {
					t.Errorf("%s: again: got code %d, %s", name, code, errs)
				}
				e.try("check").Ends(exitDone)
			}
			if interrupted == 0 {
				t.Error("the command was never interrupted")
			}
		})
	}
}

// interrupted runs a command that is interrupted, and reports whether it did not end well.
func (e environment) interrupted(strace string, i interruption, args []string) bool {
	traced := exec.CommandContext(e.t.Context(), strace, slices.Concat([]string{
		"-f", "-qq", "--seccomp-bpf", "-o", os.DevNull, "-e", "trace=" + i.calls, "-e",
		fmt.Sprintf("inject=%s:%s:when=%d", i.calls, i.fault, i.step), os.Args[0],
	}, args)...)
	traced.Env = append(os.Environ(), beFundeskd+"=1", "FUNDESK_DATA_DIR="+e.folder, "FUNDESKD_DATABASE="+e.database)
	return traced.Run() != nil
}

// clone returns an environment with the same database, or with none.
func (e environment) clone(t *testing.T) environment {
	t.Helper()
	c := newFileEnvironment(t)
	c.database = "sqlite:" + filepath.Join(c.folder, "fundeskd.db")
	if content, err := os.ReadFile(filepath.Join(e.folder, "fundeskd.db")); err == nil {
		write(t, filepath.Join(c.folder, "fundeskd.db"), content)
	}
	return c
}

// passedIsWhole looks whether a database that check passes can be read and changed, and reports
// whether it does.
func (e environment) passedIsWhole(name string) bool {
	e.t.Helper()
	if code, _, _ := e.run("check"); code != exitDone {
		return false
	}
	for _, args := range []string{"account list", "organization add --name Z --abbreviation Z", "check"} {
		e.try(args).Ends(exitDone)
	}
	return true
}
