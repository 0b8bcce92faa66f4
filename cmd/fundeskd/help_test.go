package main

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/cmd/manual"
)

// TestCommandsHaveExamples walks the command tree. Each command accepts its examples, and the value of each flag has a
// descriptive name.
func TestCommandsHaveExamples(t *testing.T) {
	t.Parallel()
	root := (&program{Getenv: func(string) string { return "" }, Now: time.Now}).root()
	for _, c := range root.Commands() {
		if strings.Contains(c.Long, "the application") || strings.Contains(c.Long, "the specified shell") {
			t.Errorf("%s has the words of the library: %s", c.CommandPath(), c.Long)
		}
		for _, leaf := range append(c.Commands(), c) {
			if leaf.Short == "" || (!leaf.HasSubCommands() && leaf.Example == "") {
				t.Errorf("%s has no short text or example", leaf.CommandPath())
			}
			for line := range strings.Lines(leaf.Long + "\n" + leaf.LocalFlags().FlagUsagesWrapped(80)) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
					t.Errorf("%s: got a line of %d columns: %s", leaf.CommandPath(), n, line)
				}
			}
			for line := range strings.Lines(leaf.Example) {
				checkExample(t, leaf, line)
			}
			leaf.LocalFlags().VisitAll(func(f *pflag.Flag) {
				name, _ := pflag.UnquoteUsage(f)
				kind := f.Value.Type()
				if kind == "duration" && name != kind ||
					strings.Contains(kind, "int") && name != "N" && name != "number" {
					t.Errorf("%s: the value of --%s is called %q", leaf.CommandPath(), f.Name, name)
				}
			})
		}
	}
}

// checkExample wants a line that runs a command with flags and arguments that it has.
func checkExample(t *testing.T, c *cobra.Command, line string) {
	t.Helper()
	_, ours, found := strings.Cut(line, c.CommandPath())
	ours, _, _ = strings.Cut(ours, " > ")
	var words []string
	for i, part := range strings.Split(strings.ReplaceAll(ours, "'", `"`), `"`) {
		if i%2 == 1 { // What was quoted is one word.
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	if err := c.ParseFlags(words); err != nil || !found {
		t.Errorf("%s: the example %q does not run it: %v", c.CommandPath(), line, err)
		return
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil || strings.Contains(line, "…") {
		t.Errorf("%s: the example %q has other arguments: %v", c.CommandPath(), line, err)
	}
}

// A mistake in a command line gets an error in this program's own words, with the value.
func TestMistakesAreNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args string
		want string
	}{
		{"token issue", "missing ACCOUNT-UUID; see: fundeskd token issue --help"},
		{"check x", `unexpected argument "x"; see: fundeskd check --help`},
		{"load - more", `unexpected argument "more"; see: fundeskd load --help`},
		{"sample --persons 1.5", `--persons must be a whole number, not "1.5"`},
		{"sample --seed -5", `--seed must be a whole number, 0 at least, not "-5"`},
		{"serve --rate many", `--rate must be a number, not "many"`},
		{"account add a --ttl 90d", `--ttl must be a duration such as 30s or 336h, not "90d"`},
		{"check --no-migrate=maybe", `--no-migrate must be true or false, not "maybe"`},
		{"check --deep", "unknown flag: --deep"},
	}
	for _, test := range tests {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			code, _, errs := newFileEnvironment(t).run(test.args)
			if want := "fundeskd: " + test.want + "\n"; code != exitUsage || errs != want {
				t.Errorf("got code %d, %q, want %q", code, errs, want)
			}
		})
	}
}

func TestSampleTwice(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var made map[string]int
	e.must(&made, "sample --persons 1 --seed 7")
	e.try("sample --persons 2 --seed 7").Ends(exitFailure, "seed 7", "another --seed")
	e.must(&made, "sample --persons 1 --seed 8")
}

var update = flag.Bool("update", false, "rewrite the golden files")

var pagesTo = flag.String("pages", "", "write the manual pages of a release into this `folder`")

// A release holds the manual pages of the commands, which its script writes:
//
//	go test ./cmd/fundeskd -run TestManualPages -pages /tmp
func TestManualPages(t *testing.T) {
	t.Parallel()
	manual.Write(t, (&program{}).root(), *pagesTo)
}

// fullDisk is a file that cannot be written.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A page of the help that cannot be written is an error, as a list is. The answer to a change says that it is done.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	for _, args := range [][]string{
		{},
		{"--help"},
		{"help", "serve"},
		{"account"},
		{"account", "add", "--help"},
		{"--version"},
		{"__complete", "account", ""},
		{"openapi"},
	} {
		var errs bytes.Buffer
		code := run(t.Context(), args, e.program("", fullDisk{}, &errs))
		if code != exitFailure || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%v: got exit code %d and %q, want 1 with the reason", args, code, errs.String())
		}
	}
	var errs bytes.Buffer
	run(t.Context(), []string{"account", "add", "Anna", "--all-organizations"}, e.program("", fullDisk{}, &errs))
	want := "fundeskd: the command is done, but its answer cannot be shown: no space left on device\n"
	if errs.String() != want {
		t.Errorf("got %q, want %q", errs.String(), want)
	}
}
