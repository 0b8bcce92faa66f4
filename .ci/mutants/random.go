package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
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

// sample makes n random changes of the code and switches on one after the other. It runs the
// tests of the packages whose programs reach the change, until one turns red, and lists the
// changes that none saw.
func sample(work string, n int, random *rand.Rand) error {
	equivalent, err := readEquivalent(equivalentPath)
	if err != nil {
		return err
	}
	all, err := allChanges()
	if err != nil {
		return err
	}
	fmt.Printf("%d changes could be made\n", len(all))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	l := &laboratory{folder: work}
	chosen, err := l.compileChanges(all[:min(n, len(all))])
	if err != nil {
		return err
	}
	suites, err := l.suites()
	if err != nil {
		return err
	}
	var seen, same, green []string
	var printing sync.Mutex
	err = abreast(len(chosen), func(i int) error {
		started := time.Now()
		test, err := l.seen(chosen[i], suites)
		if err != nil {
			return err
		}
		kind, list := "red", &seen
		switch {
		case test != "":
		case slices.ContainsFunc(equivalent, func(of *regexp.Regexp) bool { return of.MatchString(chosen[i].name) }):
			kind, list = "equivalent", &same
		default:
			kind, list = "GREEN", &green
		}
		printing.Lock()
		defer printing.Unlock()
		*list = append(*list, chosen[i].name)
		fmt.Printf("%-10s %5.1fs  %s:%d %s  %s\n", kind, time.Since(started).Seconds(), chosen[i].file, chosen[i].line, chosen[i].name, test)
		return nil
	})
	fmt.Printf("%d random changes: %d were seen, %d change nothing, %d were not seen:\n%s\n",
		len(chosen), len(seen), len(same), len(green), strings.Join(green, "\n"))
	return err
}

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
			names = append(names, regexp.MustCompile("^"+strings.ReplaceAll(regexp.QuoteMeta(line), `\*\*`, ".*")+"$"))
		}
	}
	return names, nil
}

var errorAt = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`)

// compileChanges compiles the tests with all changes in, but for those that are not Go.
func (l *laboratory) compileChanges(changes []change) ([]change, error) {
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
		err := l.compile([]string{"./..."})
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

// suite is the tests of a package, and what they reach.
type suite struct {
	pkg     string
	took    time.Duration
	left    []string // Tests that are red without a change.
	reached map[int]bool
}

// recording is where the numbers begin with which a program notes what it reaches.
const recording = 100_000

// suites runs the tests of every package without a change.
func (l *laboratory) suites() ([]suite, error) {
	out, err := exec.Command("go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}", "./...").Output()
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	folders := strings.Fields(string(out))
	all := make([]suite, len(folders))
	err = abreast(len(folders), func(i int) error {
		pkg, err := filepath.Rel(root, folders[i])
		if err != nil {
			return err
		}
		s := suite{pkg: "./" + pkg, reached: make(map[int]bool)}
		o, err := l.run(s.pkg, recording+i, time.Hour)
		if err != nil {
			return err
		}
		s.took = o.took
		for _, failed := range failedTest.FindAllStringSubmatch(o.out, -1) {
			test, _, _ := strings.Cut(failed[1], "/")
			s.left = append(s.left, "^"+test+"$")
		}
		if o.failed != "" && s.left == nil {
			return fmt.Errorf("%s: %s\n%s", s.pkg, o.failed, o.out)
		}
		slices.Sort(s.left)
		s.left = slices.Compact(s.left)
		if text, err := os.ReadFile(filepath.Join(l.folder, fmt.Sprintf("reached.%d", recording+i))); err == nil {
			for _, field := range strings.Fields(string(text)) {
				number, _ := strconv.Atoi(field)
				s.reached[number] = true
			}
		}
		fmt.Printf("%5.1fs  %s reaches %d; red without a change: %v\n", s.took.Seconds(), s.pkg, len(s.reached), s.left)
		all[i] = s
		return nil
	})
	slices.SortFunc(all, func(a, b suite) int { return int(a.took - b.took) })
	return all, err
}

// seen is the first test that turns red, twice, when the change is switched on; "" where none
// does. The package's own tests go first, then the quickest.
func (l *laboratory) seen(c change, suites []suite) (string, error) {
	own := "./" + filepath.ToSlash(filepath.Dir(c.file))
	ordered := slices.Clone(suites)
	slices.SortStableFunc(ordered, func(a, b suite) int {
		switch {
		case a.pkg == own:
			return -1
		case b.pkg == own:
			return 1
		default:
			return 0
		}
	})
	for _, s := range ordered {
		if !s.reached[c.number] {
			continue
		}
		for left := slices.Clone(s.left); ; {
			limit := 3*s.took + time.Minute
			o, err := l.run(s.pkg, c.number, limit, "-test.failfast", "-test.skip", strings.Join(append(left, "^$"), "|"))
			if err != nil || o.failed == "" {
				if err != nil {
					return "", err
				}
				break
			}
			name, _, _ := strings.Cut(o.failed, "/")
			if strings.Contains(name, " ") { // Not a test: the program, or one that did not end.
				return s.pkg + ": " + o.failed, nil
			}
			again, err := l.run(s.pkg, c.number, limit, "-test.run", "^"+name+"$")
			if err != nil || again.failed != "" {
				return s.pkg + " " + o.failed, err
			}
			left = append(left, "^"+name+"$") // By luck, or beside others: no sight of it.
		}
	}
	return "", nil
}
