package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Verbs build the commands below a noun by their names. Only the chosen one is built, as of the nouns.
type Verbs map[string]func(*Session) *cobra.Command

// Group is a noun: it only holds verbs.
func Group(s *Session, use, long, example string, below Verbs) *cobra.Command {
	command := &cobra.Command{
		Use: use, Long: long, Example: example,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return UnknownVerb(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	chosen := chosenVerb(s.Args, use, below)
	for _, name := range slices.Sorted(maps.Keys(below)) {
		if chosen == "" || name == chosen {
			command.AddCommand(below[name](s))
		}
	}
	return command
}

// chosenVerb is the second argument when it names a verb of the noun that is the first;
// "" has all of them built. Of a line that begins with flags it is not asked: they may be
// the verb's own. For completion both are looked for before the word that is being typed.
func chosenVerb(args []string, noun string, below Verbs) string {
	if len(args) > 1 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		args = args[1 : len(args)-1]
	}
	if len(args) > 1 && (args[0] == noun || args[0] == noun+"s") && below[args[1]] != nil {
		return args[1]
	}
	return ""
}

// UnknownVerb is the usage error of a command that does not exist.
func UnknownVerb(cmd *cobra.Command, name string) error {
	text := "unknown command " + Quote(name) + " for " + Quote(cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = typosIn(name)
	hint := "see: " + cmd.CommandPath() + " --help"
	if similar := slices.Sorted(slices.Values(cmd.SuggestionsFor(name))); len(similar) > 0 { // The verbs stand in no order.
		hint = "did you mean " + strings.Join(similar, " or ") + "?"
	}
	return WithHint(UsageError(text), hint)
}

// typosIn is how many letters a name that was meant may differ by: a letter or two that are
// typed alone are near to every short name.
func typosIn(typed string) int { return min(2, (len(typed)+1)/2) }

// Nearest are the names that may have been meant.
func Nearest(typed string, names []string) []string {
	known := &cobra.Command{SuggestionsMinimumDistance: typosIn(typed)}
	for _, name := range names {
		known.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return known.SuggestionsFor(typed)
}
