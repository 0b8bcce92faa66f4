package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// equivalentPath lists the changes that nobody could see, with the reason.
const equivalentPath = ".ci/mutants/equivalent.txt"

// howRandom says which changes are made, and who looks for them.
type howRandom struct {
	n        int
	random   *rand.Rand
	named    string        // Of those with such a name, in which ** is any text: all of them where n is 0.
	bound    time.Duration // How long tests look for a change.
	packages []string      // Whose tests look; none: all.
}

// sample makes random changes of the code and switches on one after the other. It runs the
// tests that reach the change, until one turns red, and lists the changes that none saw.
func sample(work string, how howRandom) error {
	equivalent, err := readEquivalent(equivalentPath)
	if err != nil {
		return err
	}
	all, err := allChanges()
	if err != nil {
		return err
	}
	fmt.Printf("%d changes could be made\n", len(all))
	if how.named != "" {
		name := changeNames(how.named)
		all = slices.DeleteFunc(all, func(c change) bool { return !name.MatchString(c.name) })
		if how.n == 0 {
			how.n = len(all)
		}
	}
	how.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	l := &laboratory{folder: work}
	if len(how.packages) == 0 {
		how.packages = []string{"./..."}
	}
	chosen, err := l.compileChanges(all[:min(how.n, len(all))], how.packages)
	if err != nil {
		return err
	}
	tests, err := l.allTests(how.packages)
	if err != nil {
		return err
	}
	found := make(map[string][]string)
	var printing sync.Mutex
	err = abreast(len(chosen), func(i int) error {
		started := time.Now()
		kind, what, err := l.look(chosen[i], tests, how.bound)
		if err != nil {
			return err
		}
		if kind != red && kind != hangs && slices.ContainsFunc(equivalent, func(of *regexp.Regexp) bool { return of.MatchString(chosen[i].name) }) {
			kind = same
		}
		printing.Lock()
		defer printing.Unlock()
		line := fmt.Sprintf("%s:%d %s", chosen[i].file, chosen[i].line, chosen[i].name)
		found[kind] = append(found[kind], line)
		fmt.Printf("%-10s %5.1fs  %s  %s\n", kind, time.Since(started).Seconds(), line, what)
		return nil
	})
	fmt.Printf("%d random changes: %d were seen by a test that fails, %d by one that does not end, %d change nothing, %d were not seen:\n%s\n",
		len(chosen), len(found[red]), len(found[hangs]), len(found[same]), len(found[green])+len(found[late]), strings.Join(append(found[green], found[late]...), "\n"))
	return err
}

// What becomes of a change.
const (
	red   = "red"
	hangs = "HANGS"      // The tests do not end, which fails them in the end.
	same  = "equivalent" // Not seen, and known to change nothing.
	green = "GREEN"      // Not seen by any test that reaches it.
	late  = "NOT YET"    // Not seen within the bound.
)

// readEquivalent reads the list: the name of a change in a line, in which ** is any text, and below
// it, indented, why nobody could see it.
func readEquivalent(path string) ([]*regexp.Regexp, error) {
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	var names []*regexp.Regexp
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "#") {
			names = append(names, changeNames(line))
		}
	}
	return names, nil
}

// changeNames matches the names of changes; ** is any text.
func changeNames(pattern string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*\*`, ".*") + "$")
}

var errorAt = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`)

// compileChanges compiles the tests of packages with all changes in, but for those that are not Go.
func (l *laboratory) compileChanges(changes []change, packages []string) ([]change, error) {
	for {
		for i := range changes {
			changes[i].number = i + 1
		}
		l.sources = make(map[string]string)
		for _, c := range changes {
			if _, known := l.sources[c.file]; !known {
				text, err := withChanges(c.file, changes)
				if err != nil {
					return nil, err
				}
				l.sources[c.file] = text
			}
		}
		err := l.compile(packages)
		failed, ok := errors.AsType[*buildError](err)
		if !ok {
			return changes, err
		}
		before := len(changes)
		for _, found := range errorAt.FindAllStringSubmatch(failed.out, -1) {
			file := l.origin[filepath.Base(found[1])]
			line, _ := strconv.Atoi(found[2])
			changes = slices.DeleteFunc(changes, func(c change) bool { return c.file == file && c.line <= line && line <= c.last })
		}
		if len(changes) == before {
			return nil, err
		}
		fmt.Printf("%d changes do not compile\n", before-len(changes))
	}
}
