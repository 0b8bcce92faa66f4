// Command mutants breaks promises of the papers on purpose, one at a time, and wants a test
// to turn red for each.
//
//	go run ./.ci/mutants                  every row of the lists, and that no promise lacks one
//	go run ./.ci/mutants -check           that no promise lacks one, and that the edits can be made
//	go run ./.ci/mutants S14 pull-since   these rows
//	go run ./.ci/mutants -random 200      random changes of the code; lists those that no test saw
//	go run ./.ci/mutants -change 'tui/widget/scroll.go Set: **' ./tui/widget ./tui
//	                                      changes of these names, and the tests of these packages;
//	                                      with -random, so many of them
//
// All is compiled once: each edit asks at run time whether it is switched on. Linux only.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// The lists: what the papers promise in sentences, and what has a name of its own.
const (
	listPath  = ".ci/mutants/promises.txt"
	namesPath = ".ci/mutants/names.txt"
)

func main() {
	log.SetFlags(0)
	random := flag.Int("random", 0, "make `N` random changes instead of those of the list")
	check := flag.Bool("check", false, "break nothing: look whether every row could be")
	named := flag.String("change", "", "make the changes of this `NAME`, in which ** is any text")
	bound := flag.Duration("bound", 2*time.Minute, "how long tests look for a random change: who was not seen then is listed")
	seed := flag.Uint64("seed", 0, "of the random changes; 0: another one each time")
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	how := howRandom{n: *random, named: *named, bound: *bound, random: rand.New(rand.NewPCG(*seed, 1)), packages: flag.Args()}
	if *random > 0 {
		fmt.Printf("seed %d\n", *seed)
	}
	if err := run(*check, how, flag.Args()); err != nil {
		log.Fatalf("mutants: %s", err)
	}
}

func run(check bool, how howRandom, only []string) error {
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if how.n > 0 || how.named != "" {
		return sample(work, how)
	}
	rows, err := readRows(listPath)
	if err != nil {
		return err
	}
	if err := everyPromiseHasRow(rows); err != nil {
		return err
	}
	named, err := readNames(namesPath, len(rows)+1)
	if err != nil {
		return err
	}
	rows = append(rows, named...)
	if err := everyNumberIsKnown(rows); err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.test == "" || len(only) > 0 && !slices.Contains(only, r.id) })
	sources, err := edited(rows)
	if err != nil || check {
		return err
	}
	l := &laboratory{folder: work, sources: sources}
	if err := l.compile(packagesOf(rows)); err != nil {
		return err
	}
	return l.breakEach(rows)
}

// How long tests may take: all that are named of a package, and the one that is to turn red.
const (
	greenTimeout = 5 * time.Minute
	redTimeout   = time.Minute
)

// breakEach switches one row after the other on, and wants its test to turn red.
func (l *laboratory) breakEach(rows []row) error {
	packages := packagesOf(rows)
	err := abreast(len(packages), func(i int) error { // Nothing is switched on: all is green.
		var tests []string
		for _, r := range rows {
			if r.pkg == packages[i] {
				tests = append(tests, r.test)
			}
		}
		o, err := l.run(packages[i], 0, greenTimeout, "-test.run", exactly(tests))
		if err == nil && o.failed != "" {
			err = fmt.Errorf("without a change: %s: %s\n%s", packages[i], o.failed, o.out)
		}
		return err
	})
	if err != nil {
		return err
	}
	proved := make([]bool, len(rows))
	err = abreast(len(rows), func(i int) error {
		r := rows[i]
		o, err := l.run(r.pkg, r.number, redTimeout, "-test.failfast", "-test.run", r.test)
		if err != nil {
			return err
		}
		if o.failed == "" && strings.Contains(o.out, "no tests to run") {
			return fmt.Errorf("%s: %s has no test %s", r.id, r.pkg, r.test)
		}
		switch o.failed {
		case "":
			o.failed = "GREEN: nothing saw it"
		case didNotEnd, programEnded:
			o.failed = "UNPROVED: " + o.failed
		default:
			proved[i] = true
		}
		fmt.Printf("%-28s %5.1fs  %s\n", r.id, o.took.Seconds(), o.failed)
		return nil
	})
	if err != nil {
		return err
	}
	if left := len(slices.DeleteFunc(proved, func(is bool) bool { return is })); left > 0 {
		return fmt.Errorf("%d of %d broken promises were seen by no test that fails", left, len(rows))
	}
	fmt.Printf("%d promises, each seen when it is broken\n", len(rows))
	return nil
}
