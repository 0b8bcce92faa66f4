package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCommandsHaveExamples walks the command tree: every example is a command line that
// its command takes, and the value of each flag has a name that says what it is.
func TestCommandsHaveExamples(t *testing.T) {
	t.Parallel()
	root := (&program{Getenv: func(string) string { return "" }}).root()
	for _, c := range root.Commands() {
		for _, leaf := range append(c.Commands(), c) {
			if leaf.Short == "" || (!leaf.HasSubCommands() && leaf.Example == "") {
				t.Errorf("%s has no short text or example", leaf.CommandPath())
			}
			for line := range strings.Lines(leaf.Example) {
				checkExample(t, leaf, line)
			}
			leaf.LocalFlags().VisitAll(func(f *pflag.Flag) {
				name, _ := pflag.UnquoteUsage(f)
				if kind := f.Value.Type(); kind == "duration" && name != kind || strings.Contains(kind, "int") && name != "N" && name != "number" {
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
	if err := c.Args(c, c.Flags().Args()); err != nil || strings.Contains(line, "…") {
		t.Errorf("%s: the example %q has other arguments: %v", c.CommandPath(), line, err)
	}
}
