package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// laboratory compiles the tests with all edits in, and runs them with one switched on. The
// switch is a file: tests clear the environment of the programs that they start.
type laboratory struct {
	folder string
	rows   []row
}

// switchSource is the package that the edited files ask.
const switchSource = `package mutant

import "os"

var on, _ = os.ReadFile(%q)

// On is whether the row is switched on.
func On(id string) bool { return string(on) == id }

// Or is a, and b when the row is switched on.
func Or[T any](id string, a, b T) T {
	if On(id) {
		return b
	}
	return a
}
`

func (l *laboratory) chosen() string  { return filepath.Join(l.folder, "chosen") }
func (l *laboratory) overlay() string { return filepath.Join(l.folder, "overlay.json") }
func (l *laboratory) program(pkg string) string {
	return filepath.Join(l.folder, strings.ReplaceAll(strings.TrimPrefix(pkg, "./"), "/", "_")+".test")
}

// packages are those whose tests the rows name.
func (l *laboratory) packages() []string {
	var all []string
	for _, r := range l.rows {
		all = append(all, r.pkg)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// edited are the sources with every edit in them, by file.
func (l *laboratory) edited() (map[string]string, error) {
	sources := make(map[string]string)
	for _, r := range l.rows {
		for _, e := range r.edits {
			if _, read := sources[e.file]; !read {
				text, err := os.ReadFile(filepath.FromSlash(e.file))
				if err != nil {
					return nil, err
				}
				sources[e.file] = string(text)
			}
			if n := strings.Count(sources[e.file], e.old); n != 1 {
				return nil, fmt.Errorf("%s: %s has the text %d times, not once:\n%s", r.id, e.file, n, e.old)
			}
			sources[e.file] = strings.Replace(sources[e.file], e.old, e.new, 1)
		}
	}
	return sources, nil
}

// compile builds each package's tests once, with every edit in them.
func (l *laboratory) compile() error {
	sources, err := l.edited()
	if err != nil {
		return err
	}
	replace := make(map[string]string)
	put := func(file, text string) error {
		absolute, err := filepath.Abs(filepath.FromSlash(file))
		if err != nil {
			return err
		}
		replace[absolute] = filepath.Join(l.folder, fmt.Sprintf("%d%s", len(replace), filepath.Ext(file)))
		return os.WriteFile(replace[absolute], []byte(text), 0o600)
	}
	for file, text := range sources {
		if strings.Contains(text, "mutant.") {
			text = strings.Replace(text, "\nimport ", "\nimport \"fundesk/mutant\"\nimport ", 1)
		}
		if err := put(file, text); err != nil {
			return err
		}
	}
	if err := put("mutant/mutant.go", fmt.Sprintf(switchSource, l.chosen())); err != nil {
		return err
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.overlay(), data, 0o600); err != nil {
		return err
	}
	for _, pkg := range l.packages() {
		build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", l.overlay(), "-o", l.program(pkg), pkg)
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build the tests of %s: %w\n%s", pkg, err, out)
		}
	}
	return nil
}

// check runs the tests of every package that rows name, with the row id switched on.
func (l *laboratory) check(id string) error {
	for _, pkg := range l.packages() {
		var tests []string
		for _, r := range l.rows {
			if r.pkg == pkg {
				test, _, _ := strings.Cut(r.test, "/")
				tests = append(tests, "^"+strings.Trim(test, "^$")+"$")
			}
		}
		if out, err := l.run(pkg, strings.Join(tests, "|"), id, greenTimeout); err != nil {
			return fmt.Errorf("%s: %w\n%s", pkg, err, out)
		}
	}
	return nil
}

// seen is the first test that turns red when the row is switched on, "" where none does.
func (l *laboratory) seen(r row) (string, error) {
	out, err := l.run(r.pkg, r.test, r.id, redTimeout)
	var ended *exec.ExitError
	switch {
	case err == nil && strings.Contains(out, "no tests to run"):
		return "", fmt.Errorf("%s: %s has no test %s", r.id, r.pkg, r.test)
	case err == nil:
		return "", nil
	case !errors.As(err, &ended):
		return "", err
	}
	if strings.Contains(out, "panic: test timed out") {
		return "a test did not end", nil
	}
	if failed := failedTest.FindStringSubmatch(out); failed != nil {
		return failed[1], nil
	}
	return "", fmt.Errorf("%s: no test failed, and the program of the tests did: %w\n%.500s", r.id, err, out)
}

var failedTest = regexp.MustCompile(`--- FAIL: (\S+)`)

// How long tests may take: all that are named of a package, and the one that is to turn red.
const (
	greenTimeout = "5m"
	redTimeout   = "45s"
)

// run starts the tests of a package in its folder, as go test does.
func (l *laboratory) run(pkg, test, id, timeout string) (string, error) {
	if err := os.WriteFile(l.chosen(), []byte(id), 0o600); err != nil {
		return "", err
	}
	command := exec.Command(l.program(pkg), "-test.run", test, "-test.failfast", "-test.timeout", timeout)
	command.Dir = filepath.FromSlash(pkg)
	// The programs that tests build have the edits, too.
	command.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+l.overlay()))
	out, err := command.CombinedOutput()
	return string(out), err
}
