package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
	"fundesk/render"
)

// checkedCall is a call with its checks.
type checkedCall struct {
	call   apitype.UUID
	checks apitype.CallChecks
}

// Checks returns the verb checks of calls.
func Checks(s *cli.Session) *cobra.Command {
	allowEmpty := false
	cmd := &cobra.Command{
		Use:   "checks UUID… | -",
		Short: "Show what was checked in calls",
		Args:  cli.NeedArgs(1),
		Long: "Show the details that an agent checked with the donor, one line each with the call, the time and\n" +
			"the agent. objection means that the right to object was offered. A call without checks has no\n" +
			"line; - reads UUIDs or NDJSON from stdin.",
		Example: "  fundesk call checks 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10\n" +
			"  fundesk call checks - -o csv < uuids.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := s.Targets(cmd.Context(), args, allowEmpty)
			if err != nil {
				return err
			}
			client, print, err := cli.Open(cmd.Context(), s, "callUuid", render.CheckColumns())
			if err != nil {
				return err
			}
			list, err := print.List()
			if err != nil {
				return err
			}
			return printChecks(cmd.Context(), client, list, bulk.Distinct(ids))
		},
	}
	cli.AllowEmptyFlag(cmd, &allowEmpty)
	return cmd
}

// printChecks prints the checks of calls. A missing call does not stop the others.
func printChecks(
	ctx context.Context,
	client *apiclient.Client,
	list *render.List[render.CallCheck],
	ids []apitype.UUID,
) error {
	read := func(ctx context.Context, id apitype.UUID) (checkedCall, error) {
		record, err := client.Checks(ctx, id)
		checks, err := apiclient.Decoded(record, err)
		return checkedCall{id, checks}, err
	}
	var failed []error
	for outcome := range bulk.InOrder(ctx, bulk.DefaultConcurrency, slices.Values(ids), read) {
		if outcome.Err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", outcome.Item, outcome.Err))
			continue
		}
		if err := addChecks(list, outcome.Value); err != nil {
			return err
		}
	}
	if len(failed) == len(ids) && len(ids) > 0 {
		err := list.Abort(false)
		if len(ids) == 1 {
			return errors.Join(errors.Unwrap(failed[0]), err)
		}
		return errors.Join(cli.Partial(failed, len(ids)), err)
	}
	if err := list.Close(); err != nil {
		return err
	}
	return cli.Partial(failed, len(ids))
}

func addChecks(list *render.List[render.CallCheck], of checkedCall) error {
	for _, item := range of.checks.Items {
		row := render.CallCheck{
			CallUUID: of.call,
			Name:     item.Name,
			At:       item.At,
			UserUUID: of.checks.UserUUID,
		}
		raw, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if err := list.Add(raw, func() (render.CallCheck, error) { return row, nil }); err != nil {
			return err
		}
	}
	return nil
}
