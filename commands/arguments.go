package commands

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// needArgs wants at least n arguments.
func needArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return missing(cmd, len(args))
		}
		return nil
	}
}

// needExactly wants n arguments.
func needExactly(n int) cobra.PositionalArgs {
	return cobra.MatchAll(needArgs(n), atMost(n))
}

// atMost wants no more than n arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return withHint(usageError("unexpected argument "+quote(args[n])), "usage: "+cmd.UseLine())
		}
		return nil
	}
}

// missing names the first argument that was not given, as the usage line does.
func missing(cmd *cobra.Command, given int) error {
	name := "argument"
	if names := strings.Fields(cmd.Use)[1:]; given < len(names) {
		name = strings.TrimRight(names[given], "…")
	}
	return withHint(usageError("missing "+name), "usage: "+cmd.UseLine())
}

// noArgs wants none.
func noArgs(cmd *cobra.Command, args []string) error { return atMost(0)(cmd, args) }

// positional are the arguments that are neither flags nor values of the flags that
// every command has.
func positional(args []string) []string {
	var names []string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return append(names, args[i+1:]...)
		case takesValue(arg):
			i++
		case strings.HasPrefix(arg, "-") && arg != "-":
		default:
			names = append(names, arg)
		}
	}
	return names
}

// takesValue reports whether the next argument is the value of a flag that every
// command has.
func takesValue(arg string) bool {
	switch arg {
	case "--profile", "--base-url", "-o", "--output", "--columns", "--sort-by", "--arg", "--jq", "--timeout", "--retry", "--ca-cert":
		return true
	}
	return false
}

var errQuote = errors.New("has a quote that does not end")

// shellWords splits a text into words, as a shell does with quotes.
func shellWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, begun = r, true
		case strings.ContainsRune(" \t\n", r):
			if begun || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	if begun || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words, nil
}
