package commands

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/cmd/manual"
)

var (
	update  = flag.Bool("update", false, "rewrite the golden files")
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

// filesText returns the list of places for files.
const filesText = `~/.config/fundesk/config.toml    profiles; mode 0600
~/.config/fundesk/keys.toml      keys of the tui, where they were changed
~/.local/state/fundesk/outbox    changes that are not sent yet, drafts
~/.local/state/fundesk/pull      where each pull ended
~/.local/share/fundesk           data of the demo
`
