package commands

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/commands/profile"
	"fundesk/tui"
)

func tuiCommand(s *session) *cobra.Command {
	var ascii bool
	pages := tui.PageNames()
	cmd := &cobra.Command{
		Use: "tui [PAGE]", Args: atMost(1), ValidArgs: pages,
		Long: "Work calls in the terminal: take the next call, record attempts and results, look up persons and\n" +
			"pledges. PAGE is " + strings.Join(pages, ", ") + ". With ACCESSIBLE=1 calls are worked by\n" +
			"questions and answers, line by line, without a drawn screen.",
		Example: "  fundesk tui\n  fundesk tui calls --profile prod",
		RunE: func(cmd *cobra.Command, args []string) error {
			page := "desk"
			if len(args) > 0 {
				page = args[0]
			}
			if !slices.Contains(pages, page) {
				return usageError("there is no page " + quote(page) + "; there are " + strings.Join(pages, ", "))
			}
			return s.runTUI(cmd, page, ascii)
		},
	}
	cmd.Flags().BoolVar(&ascii, "ascii", false, "draw with ASCII characters only")
	return cmd
}

func demoCommand(s *session) *cobra.Command {
	var ascii bool
	cmd := &cobra.Command{
		Use: "demo", Args: noArgs,
		Long: "Open the desk on sample data. Nothing needs to be set up; the data stays where it is, and\n" +
			"`--profile demo` gives every other command the same data.",
		Example: "  fundesk demo\n  fundesk --profile demo call list --status requested",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.flags.profile, s.flags.baseURL = profile.Demo, ""
			return s.runTUI(cmd, "desk", ascii)
		},
	}
	cmd.Flags().BoolVar(&ascii, "ascii", false, "draw with ASCII characters only")
	return cmd
}

// runTUI opens the terminal interface on the chosen service.
func (s *session) runTUI(cmd *cobra.Command, page string, ascii bool) error {
	if !s.onTerminal() || !isTerminal(s.app.In) {
		return withHint(usageError("the terminal interface needs a terminal"), "for scripts: fundesk call list --help")
	}
	if s.isAccessible() {
		return s.lineDesk(cmd.Context())
	}
	screen, err := s.screenOptions(cmd.Context(), page, ascii)
	if err != nil {
		return err
	}
	// From here on the interface itself ends the program, and saves drafts first.
	return tui.Run(context.WithoutCancel(cmd.Context()), screen)
}

// screenOptions are those of the terminal interface on the chosen service.
func (s *session) screenOptions(ctx context.Context, page string, ascii bool) (tui.Options, error) {
	options, t, err := s.deskOptions(ctx)
	if err != nil {
		return tui.Options{}, err
	}
	var actions []apitype.PledgeAction
	for _, action := range t.profile.PledgeActions {
		actions = append(actions, apitype.PledgeAction(action))
	}
	screen := tui.Options{
		Options: options, Profile: t.label(), PledgeActions: actions, Page: page,
		NoColor: s.flags.noColor || s.app.Getenv("NO_COLOR") != "", ASCII: ascii,
	}
	if ends := s.tokenEnd(); ends != "" {
		screen.Notice = "the token " + ends + ": ask for another one"
	}
	if !t.isEmbedded() {
		screen.Login = anotherToken(t)
	}
	config, err := s.config()
	if err != nil {
		return tui.Options{}, err
	}
	err = s.inProfile(t, screenSettings(t.profile, config, &screen))
	return screen, err
}
