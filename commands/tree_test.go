package commands

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"fundesk/commands/cli"
	"fundesk/render"
	"fundesk/service/embedded"
	"fundesk/service/servicetest"
)

// wholeTree returns every command.
func wholeTree(t *testing.T) *cobra.Command {
	t.Helper()
	s := cli.NewSession(
		cli.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string {
			return ""
		}, Now: time.Now},
		nil,
	)
	return newRoot(s, []string{"help", "everything"})
}

func TestEveryCommandIsDescribed(t *testing.T) {
	t.Parallel()
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s: got short %q and example %q, want both", cmd.CommandPath(), cmd.Short, cmd.Example)
		}
		if leaf := !cmd.HasSubCommands(); leaf && (cmd.Long == "" || strings.Count(cmd.Example, "fundesk ") < 2) {
			t.Errorf("%s: got long %q and example %q, want the why and two examples",
				cmd.CommandPath(), cmd.Long, cmd.Example)
		}
		if strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: got %q, want no full stop", cmd.CommandPath(), cmd.Short)
		}
		for line := range strings.Lines(cmd.Example) {
			if !strings.Contains(line, "fundesk") && !strings.HasPrefix(strings.TrimSpace(line), "--") {
				t.Errorf("%s: got example %q, want one of fundesk", cmd.CommandPath(), line)
			}
		}
	})
}

// reading lists the commands that change nothing, by their last word.
var reading = []string{
	"agents", "callbacks", "changes", "checks", "completion", "demo", "doctor", "erased", "export", "get", "help",
	"leases", "list", "query", "show", "stats", "status", "token", "tui", "version",
}

func TestEveryChangeAcceptsYes(t *testing.T) {
	t.Parallel()
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		isChange := !cmd.HasSubCommands() && !slices.Contains(reading, cmd.Name())
		if isChange && cmd.Flags().Lookup("yes") == nil {
			t.Errorf("%s: got no --yes", cmd.CommandPath())
		}
	})
}

// The tree for one noun must equal the tree in the help.
func TestChosenEntry(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"nothing", nil, ""},
		{"a noun", []string{"call", "list"}, "call"},
		{"a plural", []string{"calls", "list"}, "call"},
		{"flags before", []string{"--profile", "demo", "-o", "json", "pledge", "list"}, "pledge"},
		{"flags with values", []string{"--profile=demo", "-ojson", "--quiet", "person"}, "person"},
		{"help", []string{"help", "call"}, ""},
		{"completion of a verb", []string{"__complete", "call", ""}, "call"},
		{"completion of a noun", []string{"__complete", "cal"}, ""},
		{"an unknown word", []string{"bogus"}, ""},
		{"a value that looks like a noun", []string{"--profile", "call", "person", "list"}, "person"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			servicetest.Same(t, "Positional", test.want, chosenEntry(cli.Positional(test.args)))
		})
	}
}

// A line with a noun and a verb builds only those two, and they equal their parts of the whole tree.
func TestOnlyTheChosenVerbIsBuilt(t *testing.T) {
	t.Parallel()
	usage := func(cmd *cobra.Command) string { return cmd.CommandPath() + "\n" + cmd.UsageString() }
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		if path := strings.Fields(cmd.CommandPath()); len(path) == 3 {
			args := append(path[1:], "--help")
			s := cli.NewSession(
				cli.App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string {
					return ""
				}, Now: time.Now},
				args,
			)
			found, _, err := newRoot(s, args).Find(args)
			if err != nil || len(found.Parent().Commands()) != 1 {
				t.Errorf("%s: got %d verbs and %v, want this one",
					cmd.CommandPath(), len(found.Parent().Commands()), err)
			}
			if diff := cmp.Diff(usage(cmd), usage(found)); diff != "" {
				t.Errorf("%s (-whole tree +alone):\n%s", cmd.CommandPath(), diff)
			}
		}
	})
}

// leafArguments are the arguments that a command needs on the demo. %CALL, %PERSON and %PLEDGE stand for its records.
var leafArguments = map[string][]string{
	"query":               {"SELECT uuid FROM persons LIMIT 1"},
	"person get":          {"%PERSON"},
	"person create":       {"--dry-run", "--owning-organization", "%PERSON", "--recruiting-organization", "%PERSON"},
	"person update":       {"%PERSON", "--academic-title", "dr."},
	"person import":       {"-", "--yes"},
	"person apply":        {"-", "--yes"},
	"person export":       {"%PERSON"},
	"person erase":        {"%PERSON", "--reason", "r", "--dry-run"},
	"person consent list": {"%PERSON"},
	"person consent add":  {"%PERSON", "--channel", "sms", "--basis", "customer"},
	"call checks":         {"%CALL"},
	"call get":            {"%CALL"},
	"call create":         {"--person", "%PERSON", "--type", "winback"},
	"call attempt":        {"%CALL"},
	"call complete":       {"%CALL", "--yes"},
	"call cancel":         {"%CALL", "--yes"},
	"call expire":         {"%CALL", "--yes"},
	"call import":         {"-", "--yes"},
	"pledge get":          {"%PLEDGE"},
	"pledge create":       {"--person", "%PERSON"},
	"pledge update":       {"%PLEDGE", "--recruiting-location-label", "Oost"},
	"pledge action":       {"drop", "%PLEDGE", "--yes"},
	"pledge import":       {"-", "--yes"},
	"pledge apply":        {"-", "--yes"},
	"processed mark":      {"call", "%CALL"},
	"outbox show":         {"none"},
	"outbox drop":         {"none", "--yes"},
	"profile add":         {"other", "--base-url", "https://a.example"},
	"profile use":         {"demo"},
	"profile remove":      {"none", "--yes"},
	"profile set":         {"none", "agent=%CALL"},
	"queue pause":         {"lunch", "--user", "%CALL"},
	"queue ready":         {"--user", "%CALL"},
	"queue extend":        {"%CALL"},
	"queue release":       {"%CALL"},
	"queue later":         {"%CALL", "--at", "tomorrow"},
	"queue take":          {"--user", "%CALL"},
	"queue settings set":  {"-"},
	"api":                 {"GET", "/api/v1/calls"},
	"completion":          {"bash"},
	"help":                {"output"},
}

// quiet lists the commands without records in their output: scripts, prose, or nothing.
var quiet = []string{"completion", "help", "profile add", "profile use", "auth login", "auth logout"}

// demoIDs returns records of the demo, by their placeholders.
func demoIDs(t *testing.T, home string) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for _, noun := range []string{"call", "person", "pledge"} {
		out, errs, code := runIn(t, home, "", noun, "list", "--limit", "1", "-q", "-o", "id")
		if code != 0 {
			t.Fatalf("%s list: %s", noun, errs)
		}
		ids["%"+strings.ToUpper(noun)] = strings.TrimSpace(out)
	}
	return ids
}

// leafCommand returns a line that runs a command on the demo.
func leafCommand(path string, ids map[string]string) []string {
	args := strings.Fields(path)
	for _, arg := range leafArguments[path] {
		if id, ok := ids[arg]; ok {
			arg = id
		}
		args = append(args, arg)
	}
	return args
}

// runIn runs one command line on the demo of a home folder.
func runIn(t *testing.T, home, in, words string, more ...string) (out, errs string, code int) {
	t.Helper()
	return runWith(t, map[string]string{"HOME": home, "FUNDESK_PROFILE": "demo"}, in, words, more...)
}

// runWith runs the program in an environment.
func runWith(
	t *testing.T, environment map[string]string, in, words string, more ...string,
) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	code = Run(ctx, append(servicetest.Words(words), more...), cli.App{
		In: strings.NewReader(in), Out: &stdout, Err: &stderr, Now: DemoNow, Version: func() string { return "test" },
		Getenv: func(name string) string { return environment[name] },
		OpenEmbedded: func(ctx context.Context, name, dataDir string) (cli.Embedded, error) {
			if err := os.MkdirAll(dataDir, 0o700); err != nil {
				return nil, err
			}
			return embedded.Open(ctx, embedded.Options{
				Path:   filepath.Join(dataDir, name+".db"),
				Sample: name == "demo",
				Now:    DemoNow,
			})
		},
	})
	return stdout.String(), stderr.String(), code
}

// Help fits a terminal of 80 columns, topics too. Lines to type, in usage, examples and recipes, are not wrapped. The
// program's own help fits one screen.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	l := line{environment: map[string]string{"HOME": t.TempDir()}}
	pages := [][]string{{"--help"}, {"help", "options"}, {"help", "changes"}, {"help", "lists"}}
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		pages = append(pages, append(strings.Fields(cmd.CommandPath())[1:], "--help"))
	})
	for name := range topics() {
		pages = append(pages, []string{"help", name})
	}
	for _, page := range pages {
		out, errs, code := l.run(t, "", page...)
		if code != 0 || out == "" {
			t.Errorf("%v: got exit code %d and %q", page, code, errs)
		}
		isTyped := false
		for text := range strings.Lines(out) {
			text = strings.TrimRight(text, "\n")
			if text != "" && text[0] != ' ' {
				isTyped = text == "Usage:" || text == "Examples:"
			}
			isRecipe := strings.HasPrefix(text, "  $ ")
			if width := render.Width(text); width > helpWidth && !isTyped && !isRecipe {
				t.Errorf("%v: got %d columns: %s", page, width, text)
			}
		}
		if lines := strings.Count(out, "\n"); page[0] == "--help" && lines > 45 {
			t.Errorf("got %d lines of help, want one screen", lines)
		}
	}
}

// A line is taken apart by the flags that every command has.
func TestPartsOfALine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line, names, joined string
	}{
		{"", "", ""},
		{"call list", "call list", "call list"},
		{"--profile p call -q list --retry 3 x", "call list x", "--profile p call -q list --retry 3 x"},
		{"-o json --arg a open - 1", "open - 1", "-o json --arg=a=open - 1"},
		{"--quiet open 1", "open 1", "--quiet open 1"},
		{"call -- -q x", "call -q x", "call -- -q x"},
		{"call --", "call", "call --"},
		{"--", "", "--"},
		{"-q help", "help", "-q help"},
		{"__complete x", "__complete x", "__complete x"},
		{"calls", "calls", "calls"},
		{"open --profile", "open", "open --profile"},
		{"x --opt-in-sms false y --opt-in-mail true", "x false y true", "x --opt-in-sms=false y --opt-in-mail=true"},
		{"x --opt-in-sms maybe --opt-in-sms", "x maybe", "x --opt-in-sms maybe --opt-in-sms"},
		{"x --arg a b c", "x b c", "x --arg=a=b c"},
		{"x --arg a=b c", "x c", "x --arg a=b c"},
		{"x --arg a", "x", "x --arg a"},
		{"x -- --arg a b", "x --arg a b", "x -- --arg a b"},
	} {
		args := strings.Fields(test.line)
		servicetest.Same(t, test.line, test.names, strings.Join(cli.Positional(args), " "))
		servicetest.Same(t, test.line, test.joined, strings.Join(joinValues(args), " "))
	}
}
