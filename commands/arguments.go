package commands

import (
	"fmt"

	"github.com/spf13/cobra"

	"fundesk/commands/profile"
)

// needArgs wants at least n arguments.
func needArgs(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return withHint(usageError("too few arguments"), "usage: "+cmd.UseLine())
		}
		return nil
	}
}

// needExactly wants n arguments.
func needExactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return withHint(usageError(fmt.Sprintf("want %d argument(s), got %d", n, len(args))), "usage: "+cmd.UseLine())
		}
		return nil
	}
}

// noArgs wants none.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return withHint(usageError("unexpected argument "+quote(args[0])), "usage: "+cmd.UseLine())
	}
	return nil
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
