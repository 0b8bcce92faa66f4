package commands

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
)

// allowEmptyFlag declares the flag of a command that reads identifiers from stdin.
func allowEmptyFlag(cmd *cobra.Command, allow *bool) {
	cmd.Flags().BoolVar(allow, "allow-empty", false, "with -: stdin may name nothing")
}

// parseID reads an identifier from the arguments.
func parseID(text string) (apitype.UUID, error) {
	id, err := apitype.ParseUUID(text)
	if err != nil {
		return id, usageError(quote(text) + " " + err.Error())
	}
	return id, nil
}

// targets are the identifiers of the arguments, or of stdin for "-". All are checked
// before the first request.
func (s *session) targets(ctx context.Context, args []string, allowEmpty bool) ([]apitype.UUID, error) {
	if len(args) == 0 {
		return nil, usageError("no UUID is given")
	}
	if len(args) == 1 && args[0] == "-" {
		ids, err := unlessInterrupted(ctx, func() ([]apitype.UUID, error) { return bulk.ReadTargets(s.app.In) })
		if err == nil && len(ids) == 0 && !allowEmpty {
			// As kubectl does: an empty pipe is more often a command that failed before than
			// a wish to change nothing.
			err = withHint(usageError("stdin named no record; nothing was done"), "add --allow-empty where that is fine")
		}
		return ids, refusedInput(err)
	}
	ids := make([]apitype.UUID, len(args))
	for i, arg := range args {
		id, err := parseID(arg)
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	return ids, nil
}

// refusedInput is the usage error of input that cannot be used.
func refusedInput(err error) error {
	if fault, ok := errors.AsType[*bulk.Fault](err); ok {
		return withHint(usageError(fault.Message), fault.Hint)
	}
	return err
}
