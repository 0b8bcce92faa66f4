package queue

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/render"
)

// stating sets the state of a user.
type stating struct {
	user   *apitype.UUID
	dryRun bool
}

func (t *stating) register(s *cli.Session, cmd *cobra.Command) {
	cmd.Flags().Var(cli.UUIDValue(&t.user), "user", "the user (default: the profile's agent)")
	dryRunFlag(cmd, &t.dryRun)
}

func (t *stating) run(ctx context.Context, s *cli.Session, request apitype.UserStateRequest) error {
	if err := change.Refuse(request.Validate()); err != nil {
		return err
	}
	if err := s.Agent(&t.user); err != nil {
		return err
	}
	if t.user == nil {
		return cli.WithHint(cli.UsageError("no user is named"), "add --user UUID"+s.SettingHint("agent", "UUID"))
	}
	if t.dryRun {
		return printRequest(s, http.MethodPut, "/fundesk/v1/queue/users/"+t.user.String()+"/state", request)
	}
	client, print, err := cli.Open(ctx, s, "userUuid", render.UserStateColumns())
	if err != nil {
		return err
	}
	state, err := client.Queue.SetState(ctx, *t.user, request)
	if err != nil {
		return err
	}
	return s.Done(print.Record(state, nil))
}

func queuePause(s *cli.Session) *cobra.Command {
	t := &stating{}
	reasons := apitype.Texts(apitype.PauseReasons)
	cmd := &cobra.Command{
		Use:       "pause REASON",
		Short:     "Pause: give the leased calls back and get none",
		Args:      cli.NeedExactly(1),
		ValidArgs: reasons,
		Long: "Give back what the user holds, except calls whose change is still to be sent. The user gets no\n" +
			"calls until queue ready, a call that the user opens in the Desk, or 12 hours later. REASON is one of\n" +
			strings.Join(reasons, ", ") + ".",
		Example: "  fundesk queue pause lunch\n" +
			"  fundesk queue pause technical --user 7d0f7c1e-2d3c-4c8e-9a39-5a2e1a0c6b44",
		RunE: func(cmd *cobra.Command, args []string) error {
			reason := apitype.PauseReason(args[0])
			return t.run(cmd.Context(), s, apitype.UserStateRequest{State: apitype.UserPaused, Reason: &reason})
		},
	}
	t.register(s, cmd)
	return cmd
}

func queueReady(s *cli.Session) *cobra.Command {
	t := &stating{}
	cmd := &cobra.Command{
		Use:     "ready",
		Short:   "End a pause",
		Args:    cli.NoArgs,
		Long:    "End the pause of a user, who gets calls again.",
		Example: "  fundesk queue ready\n  fundesk queue ready --user 7d0f7c1e-2d3c-4c8e-9a39-5a2e1a0c6b44",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return t.run(cmd.Context(), s, apitype.UserStateRequest{State: apitype.UserReady})
		},
	}
	t.register(s, cmd)
	return cmd
}

func queueMessage(s *cli.Session) *cobra.Command {
	var organization, user *apitype.UUID
	dryRun := false
	cmd := &cobra.Command{
		Use:   "message [TEXT]",
		Short: "Send a message to all desks, or show it",
		Args:  cli.AtMost(1),
		Long: "Show a message of 200 characters at most on all desks of an organization. It goes at midnight of\n" +
			"the organization's country, or after 12 hours without a country. An empty TEXT removes it. Without\n" +
			"TEXT, print the messages that are shown.",
		Example: "  fundesk queue message 'Team meeting at 15:00'\n  fundesk queue message ''\n  fundesk queue message",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.Agent(&user); err != nil {
				return err
			}
			client, print, err := cli.Open(cmd.Context(), s, "organizationUuid", render.MessageColumns())
			if err != nil {
				return err
			}
			if len(args) == 0 && dryRun {
				return cli.UsageError("--dry-run needs TEXT")
			}
			if len(args) == 0 {
				all, err := client.Queue.Messages(cmd.Context())
				return print.Members("messages", all.Raw, err)
			}
			request := apitype.QueueMessageRequest{Text: args[0], UserUUID: user}
			request.OrganizationUUID, err = organizationOf(cmd.Context(), client, organization)
			if err != nil {
				return err
			}
			if err := change.Refuse(request.Validate()); err != nil {
				return err
			}
			if dryRun {
				return printRequest(s, http.MethodPut, "/fundesk/v1/queue/message", request)
			}
			before, err := apiclient.Decoded(client.Queue.Messages(cmd.Context()))
			mayRead := apiclient.KindOf(err) != apiclient.KindForbidden // An account may send messages and read none.
			if err != nil && mayRead {
				return err
			}
			all, err := client.Queue.SetMessage(cmd.Context(), request)
			if err != nil {
				return err
			}
			noteReplaced(s, before, request)
			return s.Done(print.Members("messages", all.Raw, nil))
		},
	}
	cmd.Flags().Var(cli.UUIDValue(&organization), "organization", "the organization, if the account sees several")
	cmd.Flags().Var(cli.UUIDValue(&user), "user", "the user who sends it (default: the profile's agent)")
	dryRunFlag(cmd, &dryRun)
	return cmd
}

// noteReplaced names the message of the organization that is gone: another supervisor may have sent it.
func noteReplaced(s *cli.Session, before apitype.QueueMessages, request apitype.QueueMessageRequest) {
	for _, m := range before.Messages {
		isOther := m.OrganizationUUID != request.OrganizationUUID
		switch {
		case isOther, m.Text == request.Text:
		case request.Text == "":
			s.Note("removed the message %s", strconv.Quote(m.Text))
		default:
			s.Note("replaced the message %s", strconv.Quote(m.Text))
		}
	}
}

// organizationOf returns the chosen organization, or else the only one that the account sees.
func organizationOf(
	ctx context.Context,
	client *apiclient.Client,
	chosen *apitype.UUID,
) (apitype.UUID, error) {
	if chosen != nil {
		return *chosen, nil
	}
	read, _, err := client.Settings(ctx, "")
	if err != nil {
		return apitype.UUID{}, err
	}
	only, err := settingsOf(read, apitype.UUID{}, "add --organization UUID")
	return only.UUID, err
}
