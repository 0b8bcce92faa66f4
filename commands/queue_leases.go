package commands

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/render"
)

func queueLeases(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "leases", Short: "List who holds which call", Args: noArgs,
		Long: "List the calls that agents hold, the longest held first. A call that was taken ahead is not on a screen yet.\n" +
			"It shows nothing of donors.",
		Example: "  fundesk queue leases\n  fundesk queue leases -o json --jq '.[] | [.name, .expiresAt]'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := render.Select(render.HeldColumns(), s.flags.columns, false); err != nil {
				return err
			}
			client, err := s.connect(cmd.Context())
			if err != nil {
				return err
			}
			leases, err := client.Queue.Leases(cmd.Context())
			if err != nil {
				return err
			}
			return showMembers(s, "leaseUuid", render.HeldColumns(), leases.Raw, "leases")
		},
	}
}

func queueCallbacks(s *session) *cobra.Command {
	flags, o := &listFlags{}, apitype.QueueDeferralListOptions{}
	cmd := &cobra.Command{
		Use: "callbacks", Short: "List the calls that were put off, the earliest first", Args: noArgs,
		Long:    "List the calls that were put off, the earliest first, also those whose time has come.",
		Example: "  fundesk queue callbacks\n  fundesk queue callbacks --user 7d0f7c1e-2d3c-4c8e-9a39-5a2e1a0c6b44 --all -o csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runList(s, cmd, flags, lister[apitype.Deferral, apitype.QueueDeferralListOptions]{
				columns: render.DeferralColumns(), options: &o, identifier: "callUuid",
				at: func(p apitype.Paging) { o.First, o.After = p.First, p.After },
				of: func(c *apiclient.Client) *apiclient.Collection[apitype.Deferral, apitype.QueueDeferralListOptions] {
					return c.Queue.Deferrals
				},
			})
		},
	}
	flags.register(s, cmd)
	cmd.Flags().Var(uuidValue(&o.UserUUID), "user", "only those that are kept for this user")
	return cmd
}

// putOff is how calls are put off.
type putOff struct{ yes, dryRun, allowEmpty bool }

// putOff gives back or puts off what the arguments name, and says until when.
func (s *session) putOff(cmd *cobra.Command, args []string, d *deferral, flags putOff, send func(*apiclient.QueueService, context.Context, apitype.UUID, apitype.DeferRequest) error) error {
	r, err := d.request(s)
	if err != nil {
		return err
	}
	named, err := s.targets(cmd.Context(), args, flags.allowEmpty)
	if err != nil {
		return err
	}
	if _, err := render.Select(resultColumns(), s.flags.columns, false); err != nil {
		return usageError(err.Error())
	}
	ids, many := bulk.Distinct(named), len(args) > 1 || args[0] == "-"
	if flags.dryRun {
		return printDeferrals(s, many, ids, r)
	}
	client, err := s.connect(cmd.Context())
	if err != nil {
		return err
	}
	s.noteUntil(r)
	if !many {
		return send(client.Queue, cmd.Context(), ids[0], r)
	}
	if len(ids) > 0 {
		if err := s.askChange(cmd.Context(), flags.yes, "queue "+cmd.Name()+" for "+count(len(ids), "call"), nil, len(ids)); err != nil {
			return err
		}
	}
	printed, err := newResults(s)
	if err != nil {
		return err
	}
	outcomes := bulk.InOrder(cmd.Context(), bulk.DefaultConcurrency, slices.Values(ids), func(ctx context.Context, id apitype.UUID) (*apiclient.Response, error) {
		return &apiclient.Response{Status: http.StatusNoContent}, send(client.Queue, ctx, id, r)
	})
	return printOutcomes(printed, outcomes, func(id apitype.UUID) apitype.UUID { return id }, len(ids))
}

// noteUntil says the time that was understood.
func (s *session) noteUntil(r apitype.DeferRequest) {
	if r.NotBefore != nil {
		s.note("due %s", r.NotBefore.In(time.Local).Format("Monday 2 January 2006 15:04 MST"))
	}
}

// printDeferrals prints the requests that would put calls off.
func printDeferrals(s *session, many bool, ids []apitype.UUID, r apitype.DeferRequest) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.noteUntil(r)
	return printRequests(s, many, func(yield func(apiclient.Change) bool) {
		for _, id := range ids {
			if !yield(apiclient.Change{Method: http.MethodPut, Path: "/fundesk/v1/queue/calls/" + id.String() + "/later", Body: body}) {
				return
			}
		}
	})
}

// releaseUser gives back all that a user holds.
func (s *session) releaseUser(ctx context.Context, r apitype.ReleaseUserRequest, yes bool) error {
	options, err := s.output()
	if err != nil {
		return err
	}
	client, err := s.connect(ctx)
	if err != nil {
		return err
	}
	question := "give back all calls that user " + r.UserUUID.String() + " holds"
	if r.Deferrals {
		question += ", and open the callbacks to every user"
	}
	if err := s.askChange(ctx, yes, question, nil, 1); err != nil {
		return err
	}
	released, err := client.Queue.ReleaseUser(ctx, r)
	if err != nil {
		return err
	}
	return render.Record(s.app.Out, render.ReleasedColumns(), options, released.Raw, released.Decode)
}
