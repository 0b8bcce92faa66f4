package commands_test

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"fundesk/commands"
	"fundesk/service/servicetest"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // As the scripts have it: the files of expected output name days.
	code := m.Run()
	commands.RemovePrograms()
	os.Exit(code)
}

// Promise K11: doctor lists the files of an agent's computer that name a person.
func TestScripts(t *testing.T) {
	t.Parallel()
	programs, err := commands.Programs()
	servicetest.Check(t, err)
	wantPrograms(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			// As by default. A command for which it is set looks for no service that is installed on this machine.
			env.Setenv("XDG_DATA_HOME", filepath.Join(home, ".local", "share"))
			env.Setenv("TZ", "UTC")
			env.Setenv("PATH", programs+string(os.PathListSeparator)+env.Getenv("PATH"))
			if servicetest.OnPostgres() {
				database, giveBack, err := servicetest.TakePostgres()
				if err != nil {
					return err
				}
				env.Setenv("FUNDESKD_DATABASE", database)
				env.Defer(func() { servicetest.Report(t, giveBack()) })
			}
			return os.MkdirAll(env.Getenv("HOME"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":    serve,
			"read":     read,
			"uuidof":   firstUUID,
			"json":     checkJSON,
			"lines":    countLines,
			"fileperm": filePermissions,
			"hangbus":  hangBus,
			"demo":     demo,
		},
	})
}

var neededProgram = regexp.MustCompile(`(?m)^\[!exec:(.+)\] skip`)

// wantPrograms fails in CI instead of skipping a script.
func wantPrograms(t *testing.T) {
	t.Helper()
	if os.Getenv("CI") == "" {
		return
	}
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	servicetest.Check(t, err)
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		servicetest.Check(t, err)
		for _, needed := range neededProgram.FindAllStringSubmatch(string(text), -1) {
			if _, err := exec.LookPath(needed[1]); err != nil {
				t.Errorf("%s: %v", script, err)
			}
		}
	}
}

// serve VARIABLE [flags] starts fundeskd on a free port and keeps its address.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	programs, err := commands.Programs()
	ts.Check(err)
	cmd := exec.Command(filepath.Join(programs, "fundeskd"),
		append([]string{"serve", "--listen", "127.0.0.1:0"}, args[1:]...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{
		"HOME=" + ts.Getenv("HOME"),
		"XDG_DATA_HOME=" + ts.Getenv("XDG_DATA_HOME"),
		"PATH=" + ts.Getenv("PATH"),
		"FUNDESKD_DATABASE=" + ts.Getenv("FUNDESKD_DATABASE"),
	}
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	ts.Setenv(args[0], strings.TrimSpace(line))
}

// read VARIABLE FILE keeps the first line of a file, stdout by default.
func read(ts *testscript.TestScript, _ bool, args []string) {
	file := "stdout"
	if len(args) > 1 {
		file = args[1]
	}
	line, _, _ := strings.Cut(strings.TrimSpace(ts.ReadFile(file)), "\n")
	if line == "" {
		ts.Fatalf("%s is empty", file)
	}
	ts.Setenv(args[0], line)
}

// json FILE wants one JSON document.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if valid := json.Valid([]byte(ts.ReadFile(args[0]))); valid == neg {
		ts.Fatalf("%s: got valid %v", args[0], valid)
	}
}

// lines FILE N wants that many lines.
func countLines(ts *testscript.TestScript, _ bool, args []string) {
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); args[1] != strconv.Itoa(got) {
		ts.Fatalf("%s: got %d lines, want %s", args[0], got, args[1])
	}
}

// fileperm FILE MODE wants these permissions.
func filePermissions(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := info.Mode().Perm().String(); got != args[1] {
		ts.Fatalf("%s: got %s, want %s", args[0], got, args[1])
	}
}

// uuidof VARIABLE FILE keeps the uuid of the first object of a JSON array.
func firstUUID(ts *testscript.TestScript, _ bool, args []string) {
	var list []struct {
		UUID string `json:"uuid"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &list))
	if len(list) == 0 {
		ts.Fatalf("%s is empty", args[1])
	}
	ts.Setenv(args[0], list[0].UUID)
}

// hangbus VARIABLE listens like a session bus and never answers.
func hangBus(ts *testscript.TestScript, _ bool, args []string) {
	dir, err := os.MkdirTemp("", "bus") // The path of a socket must be short.
	ts.Check(err)
	listener, err := net.Listen("unix", filepath.Join(dir, "bus"))
	ts.Check(err)
	ts.Defer(func() {
		listener.Close()
		os.RemoveAll(dir)
	})
	ts.Setenv(args[0], "unix:path="+filepath.Join(dir, "bus"))
}

// demo gives the script the demo's data, and their clock.
func demo(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Setenv("FUNDESK_TEST_SHIFT", commands.DemoShift.String())
	ts.Check(commands.CopyDemo(ts.Getenv("HOME")))
}
