// Package queue is the command queue, for dialers and supervisors: the calls that wait, leases and
// callbacks.
package queue

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/commands/desk"
	"fundesk/commands/read"
	"fundesk/render"
)

// Command returns the command queue.
func Command(s *cli.Session) *cobra.Command {
	return cli.Group(
		s,
		"queue",
		"Agents share one queue of waiting calls. A lease gives a donor to one agent at a time.\n"+
			"The queue is an extension, which some services do not have.",
		"  fundesk queue status\n  fundesk queue take --count 3 -o json",
		cli.Verbs{
			"status": queueStatus, "list": queueList, "take": queueTake, "extend": queueExtend,
			"release": queueRelease, "later": queueLater, "leases": queueLeases, "callbacks": queueCallbacks,
			"agents": queueAgents, "settings": queueSettings, "pause": queuePause, "ready": queueReady,
			"message": queueMessage,
		},
	)
}

func queueStatus(s *cli.Session) *cobra.Command {
	var o apitype.QueueOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Count the calls in the queue",
		Args:  cli.NoArgs,
		Long: "Count calls by their place in the queue: waiting, due, deferred, and leased by agents. Closed calls\n" +
			"wait for the donor's calling hours; opensAt is when the first of them can be given.",
		Example: "  fundesk queue status\n  fundesk queue status --language nl -o json --jq .waiting",
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, print, err := cli.Open(cmd.Context(), s, "", render.QueueStateColumns())
			if err != nil {
				return err
			}
			return print.Record(client.Queue.State(cmd.Context(), o))
		},
	}
	cli.RegisterFilters(s, cmd, apitype.QueueFilters(), &o)
	return cmd
}

func queueList(s *cli.Session) *cobra.Command {
	flags, o := &read.ListFlags{}, apitype.QueueCallListOptions{}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the waiting calls, the next one first",
		Args:    cli.NoArgs,
		Long:    "List the waiting calls, in the order in which agents get them.",
		Example: "  fundesk queue list --limit 10\n  fundesk queue list --type winback --all -o ndjson",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return read.RunList(s, cmd, flags, read.List[apitype.Call, apitype.QueueCallListOptions]{
				Columns: render.CallColumns(),
				Options: &o,
				After:   func(cursor string) { o.After = cursor },
				Of: func(c *apiclient.Client) *apiclient.Collection[apitype.Call, apitype.QueueCallListOptions] {
					return c.Queue.Calls
				},
			})
		},
	}
	flags.Register(s, cmd)
	cli.RegisterFilters(s, cmd, apitype.QueueFilters(), &o.QueueOptions)
	return cmd
}

func queueTake(s *cli.Session) *cobra.Command {
	o, number, lease, dryRun := apitype.QueueOptions{}, 1, apitype.DefaultLease, false
	cmd := &cobra.Command{
		Use:   "take",
		Short: "Lease the next calls",
		Args:  cli.NoArgs,
		Long: "Lease the next calls, for dialers and scripts. No other agent gets these donors until the lease\n" +
			"ends. An attempt or the end of a call ends its lease. An empty list means that no call waits.\n" +
			"Without --type and --language, the profile's call_types and languages apply.",
		Example: "  fundesk queue take -o json\n" +
			"  fundesk queue take --count 5 --language nl --lease 30m -o ndjson --jq '{leaseUuid, callUuid}'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if number < 1 || number > apitype.MaxTake {
				return cli.UsageError(fmt.Sprintf("--count %d must be from 1 to %d", number, apitype.MaxTake))
			}
			seconds, err := leaseSeconds(lease)
			if err != nil {
				return err
			}
			if err := s.Agent(&o.UserUUID); err != nil {
				return err
			}
			if err := desk.AgentFilter(s, &o.QueueFilter); err != nil {
				return err
			}
			if o.UserUUID == nil {
				return cli.WithHint(
					cli.UsageError("no user is named for the lease"),
					"add --user UUID"+s.SettingHint("agent", "UUID"),
				)
			}
			r := apitype.TakeRequest{
				RequestUUID:  apitype.NewUUID(),
				UserUUID:     *o.UserUUID,
				Count:        &number,
				LeaseSeconds: seconds,
				QueueFilter:  o.QueueFilter,
			}
			if err := change.Refuse(r.Validate()); err != nil {
				return err
			}
			if dryRun {
				return printRequest(s, http.MethodPost, "/fundesk/v1/queue/take", r)
			}
			client, print, err := cli.Open(cmd.Context(), s, "leaseUuid", render.LeaseColumns())
			if err != nil {
				return err
			}
			taken, err := client.Queue.Take(cmd.Context(), r)
			return print.Members("leases", taken.Raw, err)
		},
	}
	cli.RegisterFilters(s, cmd, apitype.QueueFilters(), &o)
	cmd.Flags().Lookup("user").Usage = "user who will call (default: the profile's agent)"
	cmd.Flags().IntVar(&number, "count", 1, "calls to lease, 1 to 10")
	cmd.Flags().DurationVar(&lease, "lease", apitype.DefaultLease, "how long the leases last, 30s to 1h")
	dryRunFlag(cmd, &dryRun)
	return cmd
}

// dryRunFlag declares --dry-run, and --yes, which every change accepts, on a change that asks nothing.
func dryRunFlag(cmd *cobra.Command, dryRun *bool) {
	cmd.Flags().BoolVar(dryRun, "dry-run", false, "print the request and send nothing")
	cli.YesFlag(cmd)
	cli.OnPage(cmd, "changes", "yes", "dry-run")
}

// printRequest prints a request that is not sent.
func printRequest(s *cli.Session, method, path string, request any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	planned := apiclient.Change{Method: method, Path: path, Body: body}
	return change.PrintRequests(s, false, slices.Values([]apiclient.Change{planned}))
}

func leaseSeconds(lease time.Duration) (*int, error) {
	if lease%time.Second != 0 || lease < apitype.MinLease || lease > apitype.MaxLease {
		return nil, cli.UsageError("--lease " + lease.String() + " must be whole seconds, from 30s to 1h")
	}
	return new(int(lease / time.Second)), nil
}

func queueExtend(s *cli.Session) *cobra.Command {
	lease, dryRun := apitype.DefaultLease, false
	cmd := &cobra.Command{
		Use:   "extend LEASE",
		Short: "Extend a lease",
		Args:  cli.NeedExactly(1),
		Long:  "Set how long a lease lasts, from now on. If the lease has ended, the exit code is 3.",
		Example: "  fundesk queue extend 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b\n" +
			"  fundesk queue extend 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b --lease 30m",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := cli.ParseID(args[0])
			if err != nil {
				return err
			}
			seconds, err := leaseSeconds(lease)
			if err != nil {
				return err
			}
			r := apitype.ExtendRequest{LeaseSeconds: seconds}
			if dryRun {
				return printRequest(s, http.MethodPost, "/fundesk/v1/queue/leases/"+id.String()+"/extend", r)
			}
			client, print, err := cli.Open(cmd.Context(), s, "leaseUuid", render.LeaseColumns())
			if err != nil {
				return err
			}
			return print.Record(client.Queue.Extend(cmd.Context(), id, r))
		},
	}
	cmd.Flags().DurationVar(&lease, "lease", apitype.DefaultLease, "how long the lease lasts from now on, 30s to 1h")
	dryRunFlag(cmd, &dryRun)
	return cmd
}

func queueRelease(s *cli.Session) *cobra.Command {
	var what apitype.ReleaseUserRequest
	d := putOff{
		method:    http.MethodPost,
		path:      "/fundesk/v1/queue/leases/%s/release",
		send:      (*apiclient.QueueService).Release,
		endsLease: true,
	}
	cmd := &cobra.Command{
		Use:   "release LEASE… | --user UUID",
		Short: "Give leased calls back",
		Long: "Give a call back to the queue, at once or at a later time with --at. A lease that has ended is\n" +
			"accepted. With --user and no LEASE, everything that this user has is given back, for example\n" +
			"when an agent leaves. --deferrals also opens the user's callbacks to every agent. --pending also\n" +
			"frees donors whose call the user has ended while the change is still to be sent: use it only if\n" +
			"that client will never send it. Both ask first; off a terminal they need --yes.",
		Example: "  fundesk queue release 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b\n" +
			"  fundesk queue release 0b1d5a4e-31a4-4f0a-8f5e-8a1e4f6c2d3b --at 'tomorrow 18:00' --anyone\n" +
			"  fundesk queue release --user 7d0f7c1e-2d3c-4c8e-9a39-5a2e1a0c6b44 --deferrals --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && d.user != nil && d.at == "" {
				what.UserUUID = *d.user
				return d.releaseUser(cmd.Context(), s, what)
			}
			if what.Deferrals || what.Pending {
				return cli.UsageError("--deferrals and --pending go with --user, without a LEASE and --at")
			}
			if len(args) == 0 {
				return cli.Missing(cmd, 0)
			}
			return d.run(s, cmd, args)
		},
	}
	d.register(cmd)
	cmd.Flags().Lookup("user").Usage = "with --at: reserve it for this user (default: the profile's agent). Without " +
		"LEASE: give back all calls of this user"
	cmd.Flags().BoolVar(&what.Deferrals, "deferrals", false, "with --user: open the user's callbacks to every user")
	cmd.Flags().
		BoolVar(&what.Pending, "pending", false, "with --user: also free donors whose change is still to be sent")
	return cmd
}

func queueLater(s *cli.Session) *cobra.Command {
	d := putOff{method: http.MethodPut, path: "/fundesk/v1/queue/calls/%s/later", send: (*apiclient.QueueService).Later}
	cmd := &cobra.Command{
		Use:   "later UUID… | -",
		Short: "Defer calls",
		Args:  cli.NeedArgs(1),
		Long: "Defer a call that no agent has leased: no agent gets it before its time. It is reserved for the\n" +
			"profile's agent, or for --user. 30 minutes after it was due, any agent can get it. Several calls, and\n" +
			"the callback of another user, ask first; off a terminal they need --yes. A callback that changed in\n" +
			"between stays as it is (exit code 6).",
		Example: "  fundesk queue later 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 --at 'tomorrow 18:00'\n" +
			"  fundesk queue later 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 --at 2026-12-01T10:00:00Z --anyone\n" +
			"  fundesk queue callbacks -o id --all | fundesk queue later - --at 'tomorrow 9:00' --anyone --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			if d.at == "" {
				return cli.UsageError("--at is missing: the time from which agents may get the call")
			}
			return d.run(s, cmd, args)
		},
	}
	d.register(cmd)
	cli.AllowEmptyFlag(cmd, &d.allowEmpty)
	cli.OnPage(cmd, "changes", "allow-empty")
	return cmd
}
