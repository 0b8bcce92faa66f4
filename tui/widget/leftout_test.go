package widget_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// programs are what tests start, by the Debian package that has it.
var programs = map[string]string{
	"bash": "bash", "curl": "curl", "dbus-run-session": "dbus", "fish": "fish", "gnome-keyring-daemon": "gnome-keyring",
	"initdb": "postgresql", "jq": "jq", "pgbouncer": "pgbouncer", "python3": "python3", "sh": "dash", "sqlite3": "sqlite3",
	"strace": "strace", "timeout": "coreutils", "tmux": "tmux", "zsh": "zsh",
}

// What tests and scripts of other packages look for before they start it is told when it is missing.
func TestEveryProgramIsTold(t *testing.T) {
	t.Parallel()
	for pattern, looksFor := range map[string]*regexp.Regexp{
		"../../commands/testdata/script/*.txtar": regexp.MustCompile(`(?m)^\[!exec:(.+)\] skip`),
		"../../cmd/fundesk/*_test.go":            regexp.MustCompile(`need\(t, "(.+)"\)`),
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: got %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range looksFor.FindAllStringSubmatch(string(text), -1) {
				for name := range strings.SplitSeq(found[1], `", "`) {
					if programs[name] == "" && name != "go" {
						t.Errorf("%s looks for %s, which has no package here", file, name)
					}
				}
			}
		}
	}
}

// TestMain tells once what go test ./... left out for want of programs: go shows nothing that a
// passing package prints. It does so here since this package is the last one; TestImports sees to that.
func TestMain(m *testing.M) {
	code := m.Run()
	if missing := missingPrograms(); len(missing) > 0 {
		tell(os.Getppid(), "left out: the tests that start programs of "+strings.Join(missing, ", ")+
			", which are not installed; go test -v names each, .ci/run installs them")
	}
	os.Exit(code)
}

// missingPrograms are the packages whose programs are not there.
func missingPrograms() (packages []string) {
	path := os.Getenv("PATH") + ":/usr/sbin"
	if found, err := filepath.Glob("/usr/lib/postgresql/*/bin"); err == nil {
		path += ":" + strings.Join(found, ":")
	}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		isThere := slices.ContainsFunc(filepath.SplitList(path), func(folder string) bool {
			_, err := exec.LookPath(filepath.Join(folder, name))
			return err == nil
		})
		if !isThere {
			packages = append(packages, programs[name])
		}
	}
	return packages
}

// tell writes a line to the standard error of the go command that runs this test, when no test of
// its runs any more. On a system that does not show it, nothing is told.
func tell(command int, line string) {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", command))
	if err != nil || string(name) != "go\n" {
		return
	}
	for deadline := time.Now().Add(20 * time.Minute); othersRun(command) && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}
	out, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/2", command), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return
	}
	fmt.Fprintln(out, line)
	_ = out.Close() // Nobody waits for it.
}

// othersRun reports whether the go command runs the tests of another package.
func othersRun(command int) bool {
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return false
	}
	return slices.ContainsFunc(all, func(path string) bool {
		text, _ := os.ReadFile(path) // It may have ended.
		name, rest, _ := strings.Cut(string(text), ") ")
		parent := strings.Fields(rest + " ? ?")[1]
		id, name, _ := strings.Cut(name, " (")
		return parent == strconv.Itoa(command) && id != strconv.Itoa(os.Getpid()) && strings.Contains(name, ".tes") // Longer names are cut.
	})
}
