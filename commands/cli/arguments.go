package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// NeedArgs wants at least n arguments.
func NeedArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return Missing(cmd, len(args))
		}
		return nil
	}
}

// NeedExactly wants n arguments.
func NeedExactly(n int) cobra.PositionalArgs {
	return cobra.MatchAll(NeedArgs(n), AtMost(n))
}

// AtMost wants no more than n arguments.
func AtMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return WithHint(UsageError("unexpected argument "+Quote(args[n])), "usage: "+cmd.UseLine())
		}
		return nil
	}
}

// Missing names the first argument that was not given, as the usage line does.
func Missing(cmd *cobra.Command, given int) error {
	name := "argument"
	if names := strings.Fields(cmd.Use)[1:]; given < len(names) {
		name = strings.TrimRight(names[given], "…")
	}
	return WithHint(UsageError("missing "+name), "usage: "+cmd.UseLine())
}

// NoArgs wants none.
func NoArgs(cmd *cobra.Command, args []string) error { return AtMost(0)(cmd, args) }

// Positional returns the arguments that are neither flags nor values of global flags.
func Positional(args []string) []string {
	var names []string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return append(names, args[i+1:]...)
		case slices.Contains(valueFlags, arg):
			i++
		case strings.HasPrefix(arg, "-") && arg != "-":
		default:
			names = append(names, arg)
		}
	}
	return names
}

// valueFlags are the global flags whose value is the next argument.
var valueFlags = []string{
	"--profile",
	"--base-url",
	"-o",
	"--output",
	"--columns",
	"--sort-by",
	"--arg",
	"--jq",
	"--timeout",
	"--retry",
	"--ca-cert",
	"--for-excel",
}
