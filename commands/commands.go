// Package commands is the command line of fundesk: it reads arguments, calls the client
// and has the answer rendered.
//
// It must not know the service's insides, SQL or HTTP details: the embedded service is
// handed in by main, requests are the client's, output is render's. A command declares
// its flags and calls one run function; a typed error decides the exit code in one
// place.
//
//	app := commands.App{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}
//	code := commands.Run(ctx, os.Args[1:], app)
//	os.Exit(code)
package commands

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/commands/account"
	"fundesk/commands/change"
	"fundesk/commands/cli"
	"fundesk/commands/desk"
	"fundesk/commands/doctor"
	"fundesk/commands/queue"
	"fundesk/commands/read"
)

// App is the environment of the commands.
type App = cli.App

// Embedded is a service inside the process.
type Embedded = cli.Embedded

// entry is a top-level command. Only the chosen one is built: an eager tree costs more
// than the rest of a start.
type entry struct {
	name    string
	aliases []string
	short   string
	group   string
	build   func(*cli.Session) *cobra.Command
}

// entries returns the top-level commands in the order of the help.
func entries() []entry {
	return []entry{
		{"person", []string{"persons"}, "List, read, create and change persons", groupRecords, personCommand},
		{"call", []string{"calls"}, "List, read, create and work calls", groupRecords, callCommand},
		{"pledge", []string{"pledges"}, "List, read, create and change pledges", groupRecords, pledgeCommand},
		{"queue", []string{"queues"}, "Work with the queue of calls", groupWork, queue.Command},
		{"processed", nil, "Mark retrieved records as processed", groupMoving, change.Processed},
		{"pull", nil, "Retrieve what is new since the last time", groupMoving, read.Pull},
		{"query", nil, "Answer a question from a local copy, in SQL", groupMoving, read.Query},
		{"copy", nil, "Keep a local copy of the records", groupMoving, read.Copy},
		{"outbox", nil, "Manage unsent changes", groupMoving, change.Outbox},
		{"auth", nil, "Log in and out, show the token", groupSettings, account.Auth},
		{
			"profile",
			[]string{"profiles"},
			"Keep the services and accounts that you work with",
			groupSettings,
			account.Profiles,
		},
		{"api", nil, "Send any API request", groupMoving, apiCommand},
		{"tui", nil, "Open the Desk in the terminal", groupWork, desk.TUI},
		{"demo", nil, "Try everything on sample data", groupWork, desk.Demo},
		{"doctor", nil, "Find out why fundesk does not work", groupSettings, doctor.Command},
		{"version", nil, "Print the version", groupSettings, versionCommand},
		{"completion", nil, "Print a completion script for a shell", groupSettings, completionCommand},
	}
}

// ErrTerminated is the cause of a context that SIGTERM ended.
var ErrTerminated = cli.ErrTerminated

// Run runs one command line and returns its exit code.
func Run(ctx context.Context, args []string, app cli.App) int {
	if app.Now == nil {
		app.Now = time.Now
	}
	if slices.Equal(args, []string{"--version"}) { // As with any other program.
		args = []string{"version"}
	}
	args = joinValues(args)
	s := cli.NewSession(app, args)
	defer s.Close()
	root := newRoot(s, args)
	root.SetArgs(append([]string{}, args...)) // Nil would mean the arguments of the process.
	root.SetContext(ctx)
	out := &checkedOutput{Writer: app.Out}
	root.SetOut(out)
	command, err := root.ExecuteContextC(ctx)
	return s.Finish(command, cmp.Or(err, wrongVerb(command), out.err))
}

// maxRetries keeps a script from waiting for a service that is down for an hour.
const maxRetries = 10

// onlyPrint are the commands that neither change nor wait for anything.
var onlyPrint = []string{"version", "help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

// begin refuses what no command takes, before one is run.
func begin(s *cli.Session, cmd *cobra.Command) error {
	err := wrongVerb(cmd)
	if err != nil {
		return err
	}
	cmd.Flags().Visit(trimParts)
	isPrint := slices.Contains(onlyPrint, cmd.Name())
	if s.App.ZoneError != nil && !isPrint {
		return cli.UsageError(s.App.ZoneError.Error())
	}
	if s.App.WatchSignals != nil && !isPrint {
		s.App.WatchSignals()
	}
	if s.Flags.Timeout <= 0 {
		return cli.UsageError("--timeout must be greater than 0")
	}
	if s.Flags.Retries < 0 || s.Flags.Retries > maxRetries {
		return cli.UsageError("--retry must be 0 to " + strconv.Itoa(maxRetries))
	}
	// Of a variable that is not set.
	for _, name := range []string{"profile", "base-url", "output", "columns", "sort-by", "jq", "ca-cert"} {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		switch flag.Value.String() {
		case "", "[]":
			return cli.UsageError("--" + name + " must not be empty")
		}
	}
	return checkOutput(s, cmd)
}

// trimParts removes the blanks around the values of a flag that takes several, separated by commas.
func trimParts(f *pflag.Flag) {
	list, isList := f.Value.(pflag.SliceValue)
	if !isList || f.Value.Type() != "stringSlice" {
		return
	}
	parts := list.GetSlice()
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	_ = list.Replace(parts) // Of texts it takes any.
}

// wrongVerb returns the error of an argument of a noun: only a verb that does not exist is left as one.
func wrongVerb(cmd *cobra.Command) error {
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		return cli.UnknownVerb(cmd, cmd.Flags().Arg(0))
	}
	return nil
}

// newRoot builds the command tree as far as the arguments need it.
func newRoot(s *cli.Session, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "fundesk",
		Short: "The fundraising desk: calls, persons and pledges",
		Long: "fundesk works with a Fundraising Data Service: persons (donors), their pledges, and the phone\n" +
			"calls to make.\n\n" +
			"Topics: fundesk help options, changes, lists, settings, exit-codes, environment, output, filters,\n" +
			"scripting, keys",
		Example: "  fundesk demo\n" +
			"  fundesk --profile demo call list --status requested\n" +
			"  fundesk auth login --profile prod --base-url https://api.example.org",
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return begin(s, cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.OnTerminal() {
				return account.Welcome(cmd.Context(), s)
			}
			return cmd.Help()
		},
	}
	root.InitDefaultHelpFlag() // The command after it is no value of it.
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(s.App.Out)
	root.SetErr(s.App.Err)
	root.SetIn(s.App.In)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return cli.FlagErrorOf(s.Args, cmd, err) })
	s.Flags.Register(root)
	root.SetUsageFunc(printUsage)
	root.SetHelpFunc(printHelp)
	root.SetHelpCommand(helpCommand(s))
	names := cli.Positional(args)
	isOverview := len(names) == 0 || len(names) == 1 && names[0] == "help" // Only names are shown.
	chosen := chosenEntry(names)
	for _, e := range entries() {
		if isOverview {
			root.AddCommand(&cobra.Command{Use: e.name, Short: e.short, Run: func(*cobra.Command, []string) {}})
			continue
		}
		if chosen == "" || e.name == chosen || slices.Contains(e.aliases, chosen) {
			command := e.build(s)
			command.Aliases = e.aliases
			command.Short = e.short
			root.AddCommand(command)
		}
	}
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		addCompletions(s, root)
	}
	return root
}

// chosenEntry returns the first argument that is not a flag, if it names a top-level command. "" builds the whole tree.
// For help and completion it returns the argument after.
func chosenEntry(names []string) string {
	if len(names) > 0 && strings.HasPrefix(names[0], "__complete") {
		names = names[1:]
		if len(names) < 2 { // The word that is being typed may be any command.
			return ""
		}
	}
	if len(names) == 0 {
		return ""
	}
	for _, e := range entries() {
		if e.name == names[0] || slices.Contains(e.aliases, names[0]) {
			return e.name
		}
	}
	return ""
}

// joinValues joins an opt-in flag with a following true or false, because the flag alone means true. It joins --arg
// with the following name and value, as jq reads them.
func joinValues(args []string) []string {
	var joined []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		isBeforeYesNo := i+1 < len(args) && (args[i+1] == "true" || args[i+1] == "false")
		switch {
		case arg == "--":
			return append(joined, args[i:]...)
		case strings.HasPrefix(arg, "--opt-in-") && isBeforeYesNo:
			i++
			arg += "=" + args[i]
		case arg == "--arg" && i+2 < len(args) && !strings.Contains(args[i+1], "="):
			i += 2
			arg += "=" + args[i-1] + "=" + args[i]
		}
		joined = append(joined, arg)
	}
	return joined
}
