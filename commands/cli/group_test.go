package cli

import (
	"testing"

	"github.com/spf13/cobra"
)

// A verb is built alone where it is named behind its noun, and with all others elsewhere.
func TestChosenVerb(t *testing.T) {
	t.Parallel()
	build := func(*Session) *cobra.Command { return nil }
	for _, args := range [][]string{{"call"}, {"call", "lst"}, {"call", "--status", "list"}, {"help", "call"}, {"--profile", "list", "call"}, {"__complete", "call", "list"}, {"__complete"}, {"__complete", "list", "list", ""}} {
		if got := chosenVerb(args, "call", Verbs{"list": build}); got != "" {
			t.Errorf("%v: got only %s built, want all", args, got)
		}
	}
	for _, args := range [][]string{{"calls", "list"}, {"call", "list", "--status"}, {"__complete", "call", "list", "--st"}, {"__completeNoDesc", "call", "list", ""}} {
		if got := chosenVerb(args, "call", Verbs{"list": build, "get": build}); got != "list" {
			t.Errorf("%v: got %q, want list alone", args, got)
		}
	}
}
