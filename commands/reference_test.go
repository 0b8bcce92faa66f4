package commands

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write the reference anew")

// The reference is made from the commands:
//
//	go test ./commands -run TestReference -update
func TestReference(t *testing.T) {
	t.Parallel()
	const path = "REFERENCE.md"
	got := reference(wholeTree(t))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is stale; run this test with -update:\n%s", path, diff)
	}
}

// reference is every command with its flags, the flags that all have first, and the
// topics of the help but the keys, which belong to the terminal interface.
func reference(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fundesk: reference\n\nMade from the commands by `go test ./commands -run TestReference -update`.\n\n%s\n\n", root.Long)
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
