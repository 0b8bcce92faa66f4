package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/render"
)

// agentsFlags are the flags of queue agents.
type agentsFlags struct {
	since    *apitype.Time
	watch    bool
	interval time.Duration
}

func queueAgents(s *cli.Session) *cobra.Command {
	a := &agentsFlags{}
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Show agents and their results today",
		Args:  cli.NoArgs,
		Long: "Show each agent: the call type, since when, and today's results. The list contains no donors' data.\n" +
			"--watch updates it until it is interrupted.",
		Example: "  fundesk queue agents\n  fundesk queue agents --watch\n  fundesk queue agents --since 7d -o csv",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.run(s, cmd) },
	}
	cmd.Flags().Var(cli.TimeValue(s.App.Now, &a.since), "since", "count what was done after this time (default: today)")
	cmd.Flags().BoolVar(&a.watch, "watch", false, "update it until it is interrupted")
	cmd.Flags().DurationVar(&a.interval, "interval", 5*time.Second, "time between two requests of --watch, at least 1s")
	return cmd
}

func (a *agentsFlags) run(s *cli.Session, cmd *cobra.Command) error {
	if a.interval < time.Second {
		return cli.UsageError("--interval must be at least 1s")
	}
	client, print, err := cli.Open(cmd.Context(), s, "userUuid", render.QueueAgentColumns())
	if err != nil {
		return err
	}
	for {
		if err := a.show(cmd.Context(), s, client, print); err != nil || !a.watch {
			return err
		}
		if err := apiclient.Pause(cmd.Context(), a.interval); err != nil {
			return err
		}
	}
}

// show asks once and prints all agents. On a terminal they replace the last ones.
func (a *agentsFlags) show(
	ctx context.Context,
	s *cli.Session,
	client *apiclient.Client,
	print cli.Printer[apitype.QueueAgent],
) error {
	since := a.since
	if since == nil { // Each time, because a watch goes on over midnight.
		today, err := apitype.ParseTypedTime("today", s.App.Now())
		if err != nil {
			return err
		}
		since = &today
	}
	agents, err := client.Queue.Agents(ctx, apitype.QueueAgentsOptions{Since: since})
	isScreen := s.OnTerminal() && !s.IsAccessible()
	if err == nil && a.watch && isScreen {
		fmt.Fprint(s.App.Out, "\x1b[H\x1b[2J")
	}
	print.Now = s.App.Now() // Times are shown by their age.
	return print.Members("agents", agents.Raw, err)
}
