package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// laboratory holds the programs of the tests, compiled with all edits in, and runs them with
// one switched on. The switch is a limit of the process that nothing uses, of POSIX message
// queues: whatever a test starts inherits it, with whatever environment, and several tests
// run at a time.
type laboratory struct {
	folder  string
	sources map[string]string // The edited files.
	origin  map[string]string // What they are called in the tree, by the name of the copy.
}

// switchSource is the package that the edited files ask.
//
//go:embed switch.go.txt
var switchSource string

// flagSource is the package that the command trees ask.
//
//go:embed ignore.go.txt
var flagSource string

func (l *laboratory) overlay() string { return filepath.Join(l.folder, "overlay.json") }
func (l *laboratory) program(pkg string) string {
	return filepath.Join(l.folder, "tests", filepath.Base(pkg)+".test")
}

var packageClause = regexp.MustCompile(`(?m)^package \w+`)

// writeOverlay puts the edited files, and the packages that they ask, in the place of the tree's.
func (l *laboratory) writeOverlay() error {
	replace := make(map[string]string)
	l.origin = make(map[string]string)
	put := func(file, text string) error {
		absolute, err := filepath.Abs(filepath.FromSlash(file))
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%d%s", len(replace), filepath.Ext(file))
		replace[absolute], l.origin[name] = filepath.Join(l.folder, name), file
		return os.WriteFile(replace[absolute], []byte(text), 0o600)
	}
	for file, text := range l.sources {
		for call, path := range map[string]string{"mutant.": "fundesk/mutant", "ignore.Flags(": "fundesk/mutant/ignore"} {
			if at := packageClause.FindStringIndex(text); strings.Contains(text, call) && !strings.Contains(text, path) {
				text = text[:at[1]] + "; import \"" + path + "\"" + text[at[1]:] // Lines keep their numbers.
			}
		}
		if err := put(file, text); err != nil {
			return err
		}
	}
	if err := put("mutant/mutant.go", fmt.Sprintf(switchSource, l.folder)); err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(l.overlay(), data, 0o600)
}

// compile builds the tests of packages once.
func (l *laboratory) compile(packages []string) error {
	if err := l.writeOverlay(); err != nil {
		return err
	}
	for _, folder := range []string{"tests", "bin", "built"} {
		if err := os.MkdirAll(filepath.Join(l.folder, folder), 0o700); err != nil {
			return err
		}
	}
	build := exec.Command("go", append([]string{"test", "-c", "-vet=off", "-overlay", l.overlay(), "-o", filepath.Join(l.folder, "tests") + "/"}, packages...)...)
	if out, err := build.CombinedOutput(); err != nil {
		return &buildError{string(out), err}
	}
	return l.writeGo()
}

// buildError is that the edited sources do not compile.
type buildError struct {
	out string
	err error
}

func (e *buildError) Error() string { return "build the tests: " + e.err.Error() + "\n" + e.out }

// writeGo puts a go before the real one that links once what each run of a test has built.
func (l *laboratory) writeGo() error {
	real, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(l.folder, "bin", "go"), []byte(fmt.Sprintf(`#!/bin/sh
if [ "$1 $2" = "build -o" ]; then
  case "$3" in */) folder=/ ;; *) folder="" ;; esac
  to=$3
  shift 3
  built=%s/built/$(echo "$PWD $folder $*" | cksum | tr -d ' ')
  [ -e "$built" ] || { %[2]s build -o "$built.$$$folder" "$@" && mv -T "$built.$$" "$built" 2>/dev/null; } || [ -e "$built" ] || exit 1
  exec cp -r "$built${folder:+/.}" "$to"
fi
exec %[2]s "$@"
`, l.folder, real)), 0o700)
}

// outcome is how a run of tests ended.
type outcome struct {
	out    string
	failed string // The first test that failed, "" when none did.
	took   time.Duration
}

// How tests end that do not say which of them failed.
const (
	didNotEnd    = "a test did not end"
	programEnded = "the program of the tests"
)

var failedTest = regexp.MustCompile(`--- FAIL: (\S+)`)

// run starts the tests of a package in its folder, as go test does, with an edit switched on.
// An error is that of the programs: a failing test is none.
func (l *laboratory) run(pkg string, number int, timeout time.Duration, args ...string) (outcome, error) {
	started := time.Now()
	command := exec.Command("prlimit", append([]string{"--msgqueue=" + strconv.Itoa(number) + ":", l.program(pkg), "-test.timeout", timeout.String()}, args...)...)
	command.Dir = filepath.FromSlash(pkg)
	command.WaitDelay = 10 * time.Second // For what a test has left behind.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+l.overlay()),
		"PATH="+filepath.Join(l.folder, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	data, err := command.CombinedOutput()
	if command.Process != nil { // What a test that did not end has started goes on otherwise.
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
	}
	o := outcome{out: string(data), took: time.Since(started)}
	var ended *exec.ExitError
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return o, nil
	case !errors.As(err, &ended):
		return o, err
	}
	o.failed = programEnded
	if strings.Contains(o.out, "panic: test timed out") {
		o.failed = didNotEnd
	} else if failed := failedTest.FindStringSubmatch(o.out); failed != nil {
		o.failed = failed[1]
	}
	return o, nil
}

// exactly is the -run of some tests without their subtests.
func exactly(tests []string) string {
	var names []string
	for _, test := range tests {
		name, _, _ := strings.Cut(test, "/")
		names = append(names, "^"+strings.Trim(name, "^$")+"$")
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), "|")
}

// abreast does each of n things, as many at a time as there are processors; the first error ends it.
func abreast(n int, do func(i int) error) error {
	var mutex sync.Mutex
	var running sync.WaitGroup
	next := 0
	var failed error
	for range min(n, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			for {
				mutex.Lock()
				i := next
				next++
				ended := i >= n || failed != nil
				mutex.Unlock()
				if ended {
					return
				}
				if err := do(i); err != nil {
					mutex.Lock()
					failed = errors.Join(failed, err)
					mutex.Unlock()
				}
			}
		})
	}
	running.Wait()
	return failed
}
