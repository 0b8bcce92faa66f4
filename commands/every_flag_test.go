package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
