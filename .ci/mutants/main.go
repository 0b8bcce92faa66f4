// Command mutants breaks promises of the papers on purpose, one at a time, and wants a test
// to turn red for each.
//
//	go run ./.ci/mutants                  every row of the list, and that no promise lacks one
//	go run ./.ci/mutants -check           that no promise lacks one, and that the edits can be made
//	go run ./.ci/mutants S14 pull-since   these rows
//	go run ./.ci/mutants -random 200      random changes of the code; lists those that no test saw
//
// All rows are compiled once: each edit asks at run time whether its row is switched on.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const listPath = ".ci/mutants/promises.txt"

func main() {
	log.SetFlags(0)
	random := flag.Int("random", 0, "make `N` random changes instead of those of the list")
	check := flag.Bool("check", false, "break nothing: look whether every row could be")
	seed := flag.Uint64("seed", 0, "of the random changes; 0: another one each time")
	flag.Parse()
	if err := run(*check, *random, *seed, flag.Args()); err != nil {
		log.Fatalf("mutants: %s", err)
	}
}

func run(check bool, random int, seed uint64, only []string) error {
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if random > 0 {
		if seed == 0 {
			seed = rand.Uint64()
		}
		fmt.Printf("seed %d\n", seed)
		return sample(work, random, rand.New(rand.NewPCG(seed, 1)))
	}
	rows, err := readRows(listPath)
	if err != nil {
		return err
	}
	if err := everyPromiseHasRow(rows); err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return r.test == "" || len(only) > 0 && !slices.Contains(only, r.id) })
	l := &laboratory{folder: work, rows: rows}
	if check {
		_, err := l.edited()
		return err
	}
	if err := l.compile(); err != nil {
		return err
	}
	if err := l.check(""); err != nil { // Nothing is switched on: all is green.
		return fmt.Errorf("without a change: %w", err)
	}
	green := 0
	for _, r := range rows {
		started := time.Now()
		test, err := l.seen(r)
		if err != nil {
			return err
		}
		if test == "" {
			green++
			test = "GREEN: nothing saw it"
		}
		fmt.Printf("%-28s %5.1fs  %s\n", r.id, time.Since(started).Seconds(), test)
	}
	if green > 0 {
		return fmt.Errorf("%d of %d broken promises were seen by no test", green, len(rows))
	}
	fmt.Printf("%d promises, each seen when it is broken\n", len(rows))
	return nil
}

// papers are those whose promises carry an identifier, at the beginning of a row of a table.
var papers = map[string]*regexp.Regexp{
	"SECURITY.md":       regexp.MustCompile(`(?m)^(?:\| )?(P\d+)(?: \||:)`),
	"service/DESIGN.md": regexp.MustCompile(`(?m)^\| (S\d+) \|`),
}

// everyPromiseHasRow is an error that names the promises of the papers that nothing breaks.
func everyPromiseHasRow(rows []row) error {
	var missing []string
	for paper, promise := range papers {
		text, err := os.ReadFile(filepath.FromSlash(paper))
		if err != nil {
			return err
		}
		for _, found := range promise.FindAllStringSubmatch(string(text), -1) {
			if !slices.ContainsFunc(rows, func(r row) bool { return r.promise() == found[1] }) {
				missing = append(missing, found[1])
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("%s has no row for %s", listPath, strings.Join(missing, ", "))
	}
	return nil
}
