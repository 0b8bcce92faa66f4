package commands

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/cmd/manual"
)

var (
	update  = flag.Bool("update", false, "write golden files anew")
	pagesTo = flag.String("pages", "", "write the manual pages of a release into this `folder`")
	writeTo = flag.String("reference", "", "write the reference of a release to this `file`")
)

// A release holds every command on one page, which its script writes:
//
//	go test ./commands -run TestReference -reference /tmp/REFERENCE.md
func TestReference(t *testing.T) {
	t.Parallel()
	text := reference(wholeTree(t))
	if *writeTo != "" {
		if err := os.WriteFile(*writeTo, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		if cmd.HasParent() && !strings.Contains(text, "\n## "+cmd.CommandPath()+"\n") {
			t.Errorf("the reference has no section on %s", cmd.CommandPath())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && (strings.TrimSpace(f.Usage) == "" || !strings.Contains(text, "--"+f.Name)) {
				t.Errorf("%s --%s: got no description in the reference", cmd.CommandPath(), f.Name)
			}
		})
	})
}

// reference returns every command with its flags and the topics of the help, except the keys of
// the terminal interface.
func reference(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fundesk: reference\n\n%s\n\n", root.Long)
	fmt.Fprintf(&b, "## Flags of every command\n\n```\n%s```\n", root.PersistentFlags().FlagUsages())
	walkCommands(root, func(cmd *cobra.Command) {
		if cmd == root {
			return
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n", cmd.CommandPath(), cmd.Short)
		if cmd.Long != "" {
			fmt.Fprintf(&b, "%s\n\n", cmd.Long)
		}
		fmt.Fprintf(&b, "```\n%s\n\n%s\n```\n", cmd.UseLine(), strings.TrimRight(cmd.Example, "\n"))
		if flags := cmd.LocalNonPersistentFlags().FlagUsages(); flags != "" {
			fmt.Fprintf(&b, "\n```\n%s```\n", flags)
		}
	})
	for _, name := range []string{"exit-codes", "environment", "output", "filters", "scripting"} {
		fmt.Fprintf(&b, "\n## help %s\n\n```\n%s```\n", name, topics()[name]())
	}
	return b.String()
}

// A release holds the manual pages of the commands, which its script writes:
//
//	go test ./commands -run TestManualPages -pages /tmp
func TestManualPages(t *testing.T) {
	t.Parallel()
	sections := []manual.Section{
		{Title: "EXIT STATUS", Text: strings.TrimPrefix(text("exit-codes")(), "Exit codes\n\n")},
		{Title: "ENVIRONMENT", Text: strings.TrimPrefix(text("environment")(), "Environment\n\n")},
		{Title: "FILES", Text: filesText},
	}
	for _, name := range []string{"exit-codes", "environment", "output", "filters", "scripting"} {
		sections = append(sections, manual.Section{Title: name, Text: topics()[name]()})
	}
	manual.Write(t, wholeTree(t), *pagesTo, sections...)
}

// filesText is what is kept where.
const filesText = `~/.config/fundesk/config.toml    profiles; mode 0600
~/.config/fundesk/keys.toml      keys of the tui, where they were changed
~/.local/state/fundesk/outbox    changes that are not sent yet, drafts
~/.local/state/fundesk/pull      where each pull ended
~/.local/share/fundesk           data of the demo
`

// Each flag of each command is used by a script, by a line of testdata/flags, or by an argument
// of a test. A flag that several commands have in the same words needs one use.
func TestEveryFlagIsUsed(t *testing.T) {
	t.Parallel()
	used := usedLines(t)
	type shared struct{ name, usage string }
	unused := make(map[shared][]string)
	seen := make(map[shared]bool)
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		words := strings.Fields(cmd.CommandPath())[1:]
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			key := shared{f.Name, f.Usage}
			unused[key] = append(unused[key], cmd.CommandPath())
			seen[key] = seen[key] || slices.ContainsFunc(used, func(line string) bool { return usesFlag(line, words, f) })
		})
	})
	for key, commands := range unused {
		if !seen[key] {
			t.Errorf("no script and no line of testdata/flags uses --%s of %s", key.name, commands[0])
		}
	}
}

// usedLines returns what tests type after the name of the program.
func usedLines(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, pattern := range []string{"testdata/script/*.txtar", "testdata/flags/*.txt", "*_test.go", "../cmd/fundesk/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(string(text), "\n")...)
		}
	}
	return lines
}

// usesFlag reports whether a line has the words of a command in this order, and its flag; in Go
// the flag alone, as an argument.
func usesFlag(line string, words []string, f *pflag.Flag) bool {
	if strings.Contains(line, `"--`+f.Name+`"`) || strings.Contains(line, `" --`+f.Name+`"`) {
		return true
	}
	fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\",='", r) })
	at := 0
	for _, word := range words {
		next := slices.Index(fields[at:], word)
		if next < 0 {
			return false
		}
		at += next + 1
	}
	return slices.Contains(fields, "--"+f.Name) || f.Shorthand != "" && slices.Contains(fields, "-"+f.Shorthand)
}
