package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/service/servicetest"
)

// execHome returns a folder with a program that adds each page to a file, and fails while a file fail is there.
func execHome(t *testing.T) (l line, program, taken string) {
	t.Helper()
	h := plain(t)
	h.Sample(60)
	home := t.TempDir()
	program, taken = filepath.Join(home, "take"), filepath.Join(home, "taken")
	servicetest.Check(t, os.WriteFile(program, []byte(`#!/bin/sh
cat >> "$0n"; echo "--" >> "$0n"; echo "took $1"
if test -e "$0.fail"; then exit 3; fi
`), 0o700))
	return lineAt(t, h.URL, h.Token(), "HOME", home), program, taken
}

// A program gets every record. It is not started when nothing is new.
func TestPullExecHandsOverPages(t *testing.T) {
	t.Parallel()
	l, program, taken := execHome(t)
	whole, _, _ := l.run(t, "pull call --since 2000-01-01 -q")
	out, errs, code := l.run(t, "pull call --exec", program+` 'one word'`)
	if code != 0 || !strings.HasPrefix(out, "took one word\n") {
		t.Fatalf("got exit code %d, %q and %s", code, out, errs)
	}
	got, err := os.ReadFile(taken)
	servicetest.Check(t, err)
	if len(uuids(whole)) == 0 || len(uuids(string(got))) != len(uuids(whole)) {
		t.Errorf("got %d calls, want %d", len(uuids(string(got))), len(uuids(whole)))
	}
	l.try(t, "pull call --exec", program).Ends(0).PrintsOnly("")
}

// The position moves and records are marked only after the program ended with 0.
func TestPullExecFails(t *testing.T) {
	t.Parallel()
	l, program, taken := execHome(t)
	writeFile(t, program+".fail", "")
	l.try(t, "pull call --mark-processed --exec", program).MustEnd(1, "exit status 3", "did not move")
	first, err := os.ReadFile(taken)
	servicetest.Check(t, err)
	servicetest.Check(t, os.Remove(program+".fail"))
	servicetest.Check(t, os.Remove(taken))
	l.try(t, "pull call --mark-processed --exec", program).MustEnd(0)
	again, err := os.ReadFile(taken)
	servicetest.Check(t, err)
	if !strings.HasPrefix(string(again), string(first)) {
		t.Errorf("the next pull did not hand over the page that failed")
	}
}

// Each page has the header of a csv file.
func TestPullExecWritesWholeFiles(t *testing.T) {
	t.Parallel()
	l, program, taken := execHome(t)
	l.try(t, "pull person -o csv --columns uuid --exec", program).MustEnd(0)
	got, err := os.ReadFile(taken)
	servicetest.Check(t, err)
	for page := range strings.SplitSeq(strings.TrimSuffix(string(got), "--\n"), "--\n") {
		if !strings.HasPrefix(page, "uuid\r\n") || strings.Count(page, "\n") < 2 {
			t.Errorf("got the page %q, want a header and rows", page)
		}
	}
}

// A line that needs a shell, and a program that does not exist, are refused before anything is read.
func TestPullExecRefusesShells(t *testing.T) {
	t.Parallel()
	l := lineAt(t, nowhere, "t")
	for line, said := range map[string]string{
		"jq . | sort":       "without a shell",
		"cat > file":        "without a shell",
		"cat 'open":         "quote",
		"":                  "no program",
		"no-such-program x": "no program",
	} {
		l.try(t, "pull call --exec", line).Ends(2, said)
	}
}
