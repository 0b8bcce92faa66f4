// Package desk opens the agent's desk: drawn on a terminal, or as questions and answers, line by line, if ACCESSIBLE
// asks for it. It checks the profile's settings of the desk.
package desk

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/commands/profile"
	"fundesk/tui"
)

// TUI returns the command tui.
func TUI(s *cli.Session) *cobra.Command {
	var ascii bool
	pages := tui.PageNames()
	cmd := &cobra.Command{
		Use:       "tui [PAGE]",
		Args:      cli.AtMost(1),
		ValidArgs: pages,
		Long: "Work calls in the terminal: take the next call, record attempts and results, look up persons and\n" +
			"pledges. PAGE is " + strings.Join(pages, ", ") + ". With ACCESSIBLE=1 you work calls by\n" +
			"questions and answers, line by line, without a drawn screen.",
		Example: "  fundesk tui\n  fundesk tui calls --profile prod",
		RunE: func(cmd *cobra.Command, args []string) error {
			page := "desk"
			if len(args) > 0 {
				page = args[0]
			}
			if !slices.Contains(pages, page) {
				return cli.UsageError(
					"there is no page " + cli.Quote(page) + "; there are " + strings.Join(pages, ", "),
				)
			}
			return runTUI(s, cmd, page, ascii)
		},
	}
	cmd.Flags().BoolVar(&ascii, "ascii", false, "draw with ASCII characters only")
	return cmd
}

// Demo returns the command demo.
func Demo(s *cli.Session) *cobra.Command {
	var ascii bool
	cmd := &cobra.Command{
		Use:  "demo",
		Args: cli.NoArgs,
		Long: "Open the desk on sample data. Nothing needs to be set up. The data stays on this computer, and\n" +
			"`--profile demo` gives every other command the same data. Four invented colleagues work\n" +
			"beside you while the desk is open: see the Floor.",
		Example: "  fundesk demo\n  fundesk --profile demo call list --status requested",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.Flags.Profile, s.Flags.BaseURL = profile.Demo, ""
			return runTUI(s, cmd, "desk", ascii)
		},
	}
	cmd.Flags().BoolVar(&ascii, "ascii", false, "draw with ASCII characters only")
	return cmd
}

func runTUI(s *cli.Session, cmd *cobra.Command, page string, ascii bool) error {
	if !s.OnTerminal() || !cli.IsTerminal(s.App.In) {
		return cli.WithHint(
			cli.UsageError("the terminal interface needs a terminal"),
			"for scripts: fundesk call list --help",
		)
	}
	if s.IsAccessible() {
		return ByLines(cmd.Context(), s, 0)
	}
	if s.Trace() != nil && cli.IsTerminal(s.App.Err) {
		return cli.WithHint(
			cli.UsageError("--debug would write over the screen"),
			"into a file: fundesk "+cmd.Name()+" --debug 2>FILE",
		)
	}
	screen, err := ScreenOptions(cmd.Context(), s, page, ascii)
	if err != nil {
		return err
	}
	defer colleagues(s)()
	// From here on the interface itself ends the program, and saves drafts first.
	return tui.Run(context.WithoutCancel(cmd.Context()), screen)
}

// inventedNotice announces the colleagues of the sample data.
const inventedNotice = "Demo: everyone here is invented"

// colleagues has the colleagues of sample data work until the function that it returns is called.
func colleagues(s *cli.Session) func() {
	if s.Embedded() == nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { s.Embedded().Work(ctx) })
	return func() { stop(); working.Wait() }
}

// ScreenOptions returns the options of the terminal interface on the chosen service.
func ScreenOptions(ctx context.Context, s *cli.Session, page string, ascii bool) (tui.Options, error) {
	options, t, err := deskOptions(ctx, s)
	if err != nil {
		return tui.Options{}, err
	}
	var actions []apitype.PledgeAction
	for _, action := range t.Profile.PledgeActions {
		actions = append(actions, apitype.PledgeAction(action))
	}
	screen := tui.Options{
		Options:       options,
		Profile:       t.Label(),
		PledgeActions: actions,
		Page:          page,
		NoColor: s.Flags.NoColor ||
			s.App.Getenv("NO_COLOR") != "",
		ASCII:  ascii,
		Remote: s.App.Getenv("SSH_CONNECTION") != "",
		Log:    s.Trace(),
	}
	if ends := s.TokenEnd(); ends != "" {
		screen.Notice = "the token " + ends + ": ask for another one"
	}
	if !t.IsEmbedded() {
		screen.Login = cli.AnotherToken(t)
	} else if !s.Embedded().Agent().IsZero() {
		screen.Notice = inventedNotice
	}
	config, err := s.Config()
	if err != nil {
		return tui.Options{}, err
	}
	err = inProfile(s, t, screenSettings(t.Profile, config, &screen))
	return screen, err
}
