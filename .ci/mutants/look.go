package main

import (
	"cmp"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// test is a test of a package, and what it reaches when it runs alone.
type test struct {
	pkg, name string
	took      time.Duration
	isRed     bool // Without a change: it sees nothing.
	reached   map[int]bool
}

// recording is where the numbers begin with which a program notes what it reaches.
const recording = 100_000

var testName = regexp.MustCompile(`(?m)^(?:Test|Fuzz|Example)\w*$`)

// allTests runs every test alone, without a change.
func (l *laboratory) allTests(packages []string) ([]test, error) {
	out, err := exec.Command("go", append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}"}, packages...)...).Output()
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var tests []test
	for _, folder := range strings.Fields(string(out)) {
		pkg, err := filepath.Rel(root, folder)
		if err != nil {
			return nil, err
		}
		listed, err := l.run("./"+pkg, 0, time.Hour, "-test.list", ".")
		if err != nil || listed.failed != "" {
			return nil, fmt.Errorf("list the tests of %s: %w\n%s", pkg, err, listed.out)
		}
		for _, name := range testName.FindAllString(listed.out, -1) {
			tests = append(tests, test{pkg: "./" + pkg, name: name})
		}
	}
	started := time.Now()
	if err := abreast(len(tests), func(i int) error { return l.record(&tests[i], recording+i) }); err != nil {
		return nil, err
	}
	fmt.Printf("%d tests, each alone: %.0fs\n", len(tests), time.Since(started).Seconds())
	return tests, nil
}

// record runs a test and notes what it reaches.
func (l *laboratory) record(t *test, number int) error {
	o, err := l.run(t.pkg, number, 10*time.Minute, "-test.run", "^"+t.name+"$")
	if err != nil {
		return err
	}
	if t.took, t.isRed, t.reached = o.took, o.failed != "", make(map[int]bool); t.isRed {
		fmt.Printf("red without a change: %s %s: %s\n", t.pkg, t.name, o.failed)
	}
	text, err := os.ReadFile(filepath.Join(l.folder, fmt.Sprintf("reached.%d", number)))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, field := range strings.Fields(string(text)) {
		reached, _ := strconv.Atoi(field)
		t.reached[reached] = true
	}
	return nil
}

// look is what becomes of a change that is switched on, and the test that saw it, or how many
// looked. The quick ones go first, and those of its own package before others that take as long;
// as many run in one go as take some seconds.
func (l *laboratory) look(c change, tests []test, bound time.Duration) (kind, what string, err error) {
	tests = slices.DeleteFunc(slices.Clone(tests), func(t test) bool { return t.isRed || !t.reached[c.number] })
	own := "./" + filepath.ToSlash(filepath.Dir(c.file))
	class := func(t test) int { // Of tests that take up to 1, 2, 4 ... s.
		took := t.took
		if t.pkg == own {
			took /= 4
		}
		return bits.Len(uint(took / time.Second))
	}
	slices.SortFunc(tests, func(a, b test) int {
		return cmp.Or(class(a)-class(b), strings.Compare(a.pkg, b.pkg), cmp.Compare(a.took, b.took))
	})
	began := time.Now()
	for done := 0; done < len(tests); {
		if time.Since(began) > bound {
			return late, fmt.Sprintf("not within %s, by %d of %d tests", bound, done, len(tests)), nil
		}
		together := tests[done : done+1]
		took := tests[done].took
		for done+len(together) < len(tests) && tests[done+len(together)].pkg == together[0].pkg && took < 10*time.Second {
			together = tests[done : done+len(together)+1]
			took += together[len(together)-1].took
		}
		kind, what, err := l.seenBy(c, together, 3*took+30*time.Second)
		if kind != "" || err != nil {
			return kind, what, err
		}
		done += len(together)
	}
	return green, fmt.Sprintf("by none of %d tests", len(tests)), nil
}

// seenBy is what becomes of a change under some tests of a package: one that turns red does so
// twice, and is not one that had bad luck. "" when none sees it.
func (l *laboratory) seenBy(c change, tests []test, limit time.Duration) (kind, what string, err error) {
	var names []string
	for _, t := range tests {
		names = append(names, t.name)
	}
	pkg := tests[0].pkg
	for len(names) > 0 {
		o, err := l.run(pkg, c.number, limit, "-test.failfast", "-test.run", exactly(names))
		if err != nil || o.failed == "" {
			return "", "", err
		}
		name, _, _ := strings.Cut(o.failed, "/")
		switch {
		case o.failed == didNotEnd:
			without, err := l.run(pkg, 0, limit, "-test.run", exactly(names))
			if err != nil || without.failed != didNotEnd {
				return hangs, pkg, err
			}
			return "", "", nil // This machine is too busy for them.
		case o.failed == programEnded:
			return red, pkg + ": " + o.failed, nil
		}
		again, err := l.run(pkg, c.number, limit, "-test.run", exactly([]string{name}))
		if err != nil || again.failed != "" {
			return red, pkg + " " + o.failed, err
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	}
	return "", "", nil
}
