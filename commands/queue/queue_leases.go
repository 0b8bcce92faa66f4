package queue

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/commands/read"
	"fundesk/render"
)

func queueLeases(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:   "leases",
		Short: "List which agent has which call",
		Args:  cli.NoArgs,
		Long: "List the calls that agents have, the oldest lease first. A prefetched call is not on a screen yet.\n" +
			"The list contains no donors' data.",
		Example: "  fundesk queue leases\n  fundesk queue leases -o json --jq '.[] | [.name, .expiresAt]'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, print, err := cli.Open(cmd.Context(), s, "leaseUuid", render.HeldColumns())
			if err != nil {
				return err
			}
			leases, err := client.Queue.Leases(cmd.Context(), apitype.QueueLeaseListOptions{})
			return print.Members("leases", leases.Raw, err)
		},
	}
}

func queueCallbacks(s *cli.Session) *cobra.Command {
	flags, o := &read.ListFlags{}, apitype.QueueDeferralListOptions{}
	cmd := &cobra.Command{
		Use:   "callbacks",
		Short: "List callbacks, the earliest first",
		Args:  cli.NoArgs,
		Long:  "List callbacks, the earliest first. Due callbacks are included.",
		Example: "  fundesk queue callbacks\n" +
			"  fundesk queue callbacks --user 7d0f7c1e-2d3c-4c8e-9a39-5a2e1a0c6b44 --all -o csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return read.RunList(s, cmd, flags, read.List[apitype.Deferral, apitype.QueueDeferralListOptions]{
				Columns:    render.DeferralColumns(),
				Options:    &o,
				Identifier: "callUuid",
				After:      func(cursor string) { o.After = cursor },
				Of: func(
					c *apiclient.Client,
				) *apiclient.Collection[apitype.Deferral, apitype.QueueDeferralListOptions] {
					return c.Queue.Deferrals
				},
			})
		},
	}
	flags.Register(s, cmd)
	cmd.Flags().Var(cli.UUIDValue(&o.UserUUID), "user", "only callbacks reserved for this user")
	return cmd
}

// releaseUser releases the leases of a user. It asks first.
func (d *putOff) releaseUser(ctx context.Context, s *cli.Session, r apitype.ReleaseUserRequest) error {
	if d.dryRun {
		return printRequest(s, http.MethodPost, "/fundesk/v1/queue/release", r)
	}
	client, print, err := cli.Open(ctx, s, "", render.ReleasedColumns())
	if err != nil {
		return err
	}
	question := "give back all calls that user " + r.UserUUID.String() + " holds"
	if r.Deferrals {
		question += ", and open the callbacks to every user"
	}
	if r.Pending {
		question += ", and free donors whose change is still to be sent"
	}
	if err := s.AskChange(ctx, d.yes, question, nil, 1); err != nil {
		return err
	}
	released, err := client.Queue.ReleaseUser(ctx, r)
	if err != nil {
		return err
	}
	return s.Done(print.Record(released, nil))
}
