package commands

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/commands/profile"
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

// flagError is a flag that is not there, or has a value that it cannot have: told in
// words of this program, not in those of the library that reads numbers.
func flagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return usageError(err.Error())
	}
	wants := map[string]string{
		"int":      "must be a whole number",
		"duration": "must be a duration such as 30s or 2m",
		"bool":     "must be true or false",
	}[invalid.GetFlag().Value.Type()]
	if wants == "" {
		wants = invalid.Unwrap().Error()
	}
	name, value := "--"+invalid.GetFlag().Name, invalid.GetValue()
	switch {
	case strings.HasPrefix(wants, "is not "):
		return usageError(name + " " + quote(value) + " " + wants)
	case value == "":
		return usageError(name + " " + wants)
	default:
		return usageError(name + " " + wants + ", not " + quote(value))
	}
}

// defaults is the profile in use, empty when there is none: what it says of the user
// must not stand in the way of a --dry-run.
func (s *session) defaults() profile.Profile {
	t, err := s.resolve()
	if err != nil {
		return profile.Profile{}
	}
	return t.profile
}

// keptFile is the flag value of a file that is read, and written again: never a stream.
type keptFile struct{ name *string }

func (f keptFile) String() string { return *f.name }

func (f keptFile) Type() string { return "string" }

func (f keptFile) Set(name string) error {
	if name == "-" {
		return errors.New("wants a file that can be read again (./- for one of that name)")
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return errors.New("wants a file that can be read again, which " + quote(name) + " is not")
	}
	*f.name = name
	return nil
}
