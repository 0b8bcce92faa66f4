package cli

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
)

// AllowEmptyFlag declares the flag of a command that reads identifiers from stdin.
func AllowEmptyFlag(cmd *cobra.Command, allow *bool) {
	cmd.Flags().BoolVar(allow, "allow-empty", false, "with -: accept empty input")
}

// ParseID reads an identifier from the arguments.
func ParseID(text string) (apitype.UUID, error) {
	id, err := parseUUID(text)
	if err != nil {
		return id, UsageError(Quote(text) + " " + err.Error())
	}
	return id, nil
}

// beginsUUID matches the beginning of an identifier, as tables show it.
var beginsUUID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{0,4}){0,3}(-[0-9a-f]{0,12})?(…|\.\.\.)?$`)
})

// errBeginning is the error of such a text. Two records may share it.
var errBeginning = errors.New("is only the beginning of a UUID; -o id and -o wide print the whole one")

// parseUUID reads an identifier, and reports the beginning of one by name.
func parseUUID(text string) (apitype.UUID, error) {
	id, err := apitype.ParseUUID(text)
	if err != nil && beginsUUID().MatchString(text) {
		err = errBeginning
	}
	return id, err
}

// Targets returns the identifiers of the arguments, or of stdin for "-". All are checked before the first request.
func (s *Session) Targets(ctx context.Context, args []string, allowEmpty bool) ([]apitype.UUID, error) {
	if len(args) == 0 {
		return nil, UsageError("no UUID is given")
	}
	if len(args) == 1 && args[0] == "-" {
		ids, err := unlessInterrupted(ctx, func() ([]apitype.UUID, error) { return bulk.ReadTargets(s.App.In) })
		if err == nil && len(ids) == 0 && !allowEmpty {
			// As kubectl does: an empty pipe is more often a command that failed before than
			// a wish to change nothing.
			err = WithHint(
				UsageError("stdin named no record; nothing was done"),
				"add --allow-empty if that is fine",
			)
		}
		return ids, RefusedInput(err)
	}
	ids := make([]apitype.UUID, len(args))
	for i, arg := range args {
		id, err := s.parseTarget(arg)
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	return ids, nil
}

// parseTarget reads an identifier. The error of a person's name says how to find the person.
func (s *Session) parseTarget(text string) (apitype.UUID, error) {
	id, err := ParseID(text)
	isPerson := len(s.Args) > 0 && strings.TrimSuffix(s.Args[0], "s") == "person"
	isName := !strings.ContainsAny(text, "0123456789")
	if err != nil && isPerson && isName {
		err = WithHint(err, "find the UUID: fundesk person list --search NAME -o id")
	}
	return id, err
}

// RefusedInput returns the usage error of input that cannot be used.
func RefusedInput(err error) error {
	if fault, ok := errors.AsType[*bulk.Fault](err); ok {
		return WithHint(UsageError(fault.Message), fault.Hint)
	}
	return err
}
