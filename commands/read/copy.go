package read

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/commands/cli"
	"fundesk/commands/localcopy"
)

// Copy returns the command copy.
func Copy(s *cli.Session) *cobra.Command {
	return cli.Group(
		s,
		"copy",
		"Keep the records of the service in an SQLite file on this computer, for fundesk query. Each service and\n"+
			"account has its own. Logging out deletes it.",
		"  fundesk copy sync\n  fundesk copy remove --yes",
		cli.Verbs{"sync": copySync, "status": copyStatus, "remove": copyRemove},
	)
}

// aboutTables returns the help of the tables.
func aboutTables() string {
	return "The tables have the interface's names, with _ for a dot. Columns with * are whole numbers: yes is 1,\n" +
		"and _cents is an amount in cents. Times are texts in UTC, such as 2026-11-20T09:00:00.000Z: compare\n" +
		"them with strftime('%FT%T', 'now', '-7 days'). The table marks has only the marks that this computer\n" +
		"made since the copy was created. socialSecurityNumber is left out.\n\n" + localcopy.Help()
}

func copySync(s *cli.Session) *cobra.Command {
	var anew bool
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Read what is new, corrected or erased",
		Args:  cli.NoArgs,
		Long: "Read what is new, corrected, released or erased since the last sync. The next sync finishes one that\n" +
			"was cut short. If the service was restored, or the account may see other records now, sync ends\n" +
			"with exit code 8: begin again with --anew.\n\n" + aboutTables(),
		Example: "  fundesk copy sync\n  fundesk copy sync --anew -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, read, err := syncCopy(cmd.Context(), s, anew, localcopy.Details())
			if err != nil {
				return err
			}
			shown := struct {
				File string `json:"file"`
				localcopy.Read
			}{path, read}
			return cli.ShowOne(s, shown, []cli.Pair{
				{"file", path},
				{"persons", strconv.Itoa(read.Persons)},
				{"calls", strconv.Itoa(read.Calls)},
				{"pledges", strconv.Itoa(read.Pledges)},
				{"erased", strconv.Itoa(read.Erased)},
			})
		},
	}
	cmd.Flags().BoolVar(&anew, "anew", false, "empty the copy first, except for the marks")
	cli.YesFlag(cmd)
	return cmd
}

// syncCopy brings the copy up to date, with the details that are named.
func syncCopy(
	ctx context.Context,
	s *cli.Session,
	anew bool,
	details []string,
) (path string, read localcopy.Read, err error) {
	path, err = s.CopyPath(ctx)
	if err != nil {
		return path, read, err
	}
	client, err := s.Connect(ctx)
	if err != nil {
		return path, read, err
	}
	c, err := localcopy.Open(ctx, path)
	if err != nil {
		return path, read, aboutCopy(err)
	}
	err = c.Used(s.Target.BaseURL, s.Target.Name)
	if err == nil && anew {
		err = c.Reset(ctx)
	}
	if err == nil {
		read, err = c.Sync(ctx, client, details, s.App.Now())
	}
	return path, read, aboutCopy(errors.Join(err, c.Close()))
}

// aboutCopy adds a hint to an error of a copy.
func aboutCopy(err error) error {
	known, _ := cli.ErrorAs(err)
	if errors.Is(err, apiclient.ErrEpoch) || errors.Is(err, apiclient.ErrBehind) {
		return cli.WithHint(err, "begin again from the start: fundesk copy sync --anew")
	}
	if err == nil || known != nil || errors.Is(err, context.Canceled) {
		return err
	}
	if localcopy.IsFull(err) {
		return cli.WithHint(
			cli.Failure(apiclient.KindFailure, "the copy: the disk is full"),
			"make room and sync again, or let FUNDESK_STATE_DIR name a folder on another disk",
		)
	}
	if errors.Is(err, localcopy.ErrNoFolder) {
		return cli.WithHint(
			cli.Failure(apiclient.KindFailure, "the copy: %s", err),
			"FUNDESK_STATE_DIR names another folder for it",
		)
	}
	return cli.WithHint(
		cli.Failure(apiclient.KindFailure, "the copy: %s", err),
		"if the file is damaged: fundesk copy remove --yes",
	)
}

func copyStatus(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show the copy: its file, its age and its records",
		Args:    cli.NoArgs,
		Long:    "Show the file of the copy, when a sync last came to its end, and how many records it has.",
		Example: "  fundesk copy status\n  fundesk copy status --jq .syncedAt",
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := s.CopyPath(cmd.Context())
			if err != nil {
				return err
			}
			status, err := localcopy.StatusOf(cmd.Context(), path)
			if err != nil {
				return aboutCopy(err)
			}
			synced := "never"
			if status.SyncedAt != nil {
				synced = status.SyncedAt.String()
			}
			return cli.ShowOne(s, status, []cli.Pair{
				{"file", status.File},
				{"synced", synced},
				{"bytes", strconv.FormatInt(status.Bytes, 10)},
				{"persons", strconv.Itoa(status.Persons)},
				{"calls", strconv.Itoa(status.Calls)},
				{"pledges", strconv.Itoa(status.Pledges)},
			})
		},
	}
}

func copyRemove(s *cli.Session) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:     "remove",
		Short:   "Delete the copy of the service and account",
		Args:    cli.NoArgs,
		Long:    "Delete the file of the copy. The marks in it are lost; the service keeps its own.",
		Example: "  fundesk copy remove --yes\n  fundesk copy remove --yes -q",
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := s.CopyPath(cmd.Context())
			if err != nil {
				return err
			}
			if err := s.Ask(cmd.Context(), yes, "delete the copy of "+s.Target.Service()); err != nil {
				return err
			}
			isThere, err := localcopy.Remove(cmd.Context(), path)
			switch {
			case err != nil:
				return cli.Failure(apiclient.KindFailure, "delete the copy: %s", err)
			case isThere:
				s.Note("deleted %s", path)
			default:
				s.Note("there is no copy of this service and account")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
