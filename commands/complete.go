package commands

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/completions"
	"fundesk/render"
	"fundesk/tui/page"
)

// completer is a function of cobra that completes one word.
type completer = cobra.CompletionFunc

// values completes with fixed values.
func values[T ~string](all []T) completer {
	return cobra.FixedCompletions(apitype.Texts(all), cobra.ShellCompDirectiveNoFileComp)
}

// source asks the service; it never prompts and stays silent when it cannot.
func (s *session) source() completions.Source {
	s.flags.noInput, s.flags.quiet, s.flags.debug = true, true, false
	return completions.Source{
		Connect:  func(ctx context.Context) (*apiclient.Client, error) { return s.connect(ctx) },
		Patience: s.app.CompletionPatience,
	}
}

// records completes with records of a noun.
func (s *session) records(find func(completions.Source, context.Context, string) []string) completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		lines := slices.DeleteFunc(find(s.source(), ctx, toComplete), func(line string) bool {
			value, _, _ := strings.Cut(line, "\t")
			return slices.Contains(args, value)
		})
		return lines, cobra.ShellCompDirectiveNoFileComp
	}
}

// recordsOf completes with what a noun has, nil for one that has nothing.
func (s *session) recordsOf(noun string) completer {
	return map[string]completer{
		"person": s.records(completions.Source.Persons),
		"call":   s.records(completions.Source.Calls),
		"pledge": s.records(completions.Source.Pledges),
		"outbox": s.outboxEntries,
	}[noun]
}

// addCompletions gives every flag and argument of the tree its values. It runs only
// when a shell asks.
func (s *session) addCompletions(root *cobra.Command) {
	flags := map[string]completer{
		"output": values(render.Formats),
		"type":   values(apitype.CallTypes),
		"columns": func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return parts(func() []string { return columnsOf(topCommand(cmd)) })(cmd, args, toComplete)
		},
		"gender":              values(apitype.Genders),
		"person":              s.records(completions.Source.Persons),
		"related-case":        s.records(completions.Source.Pledges),
		"result-code":         s.records(completions.Source.ResultCodes),
		"token-storage":       values([]string{"keyring", "file", "command"}),
		"profile":             s.profileNames,
		"owning-organization": s.records(completions.Source.Organizations), "recruiting-organization": s.records(completions.Source.Organizations),
		"calling-organization": s.records(completions.Source.Organizations),
		"opt-in-email":         values([]string{"true", "false"}),
		"opt-in-mail":          values([]string{"true", "false"}),
		"opt-in-phone":         values([]string{"true", "false"}),
		"opt-in-sms":           values([]string{"true", "false"}),
		"recruitment-type":     values(apitype.RecruitmentTypes),
		"language":             values(apitype.LanguageCodes()), "languages": parts(apitype.LanguageCodes),
		"country":           countries,
		"theme":             values(page.Themes),
		"donation-interval": values(apitype.DonationIntervals), "initial-donation-interval": values(apitype.DonationIntervals),
	}
	statuses := map[string]completer{"call": values(apitype.CallStatuses), "pledge": values(apitype.PledgeStatuses)}
	walkCommands(root, func(cmd *cobra.Command) {
		top := topCommand(cmd)
		for name, complete := range flags {
			registerFlag(cmd, name, complete)
		}
		registerFlag(cmd, "status", statuses[top])
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if filter, ok := flag.Value.(interface{ Values() []string }); ok && filter.Values() != nil {
				registerFlag(cmd, flag.Name, values(filter.Values()))
			}
			if flag.Value.Type() == "time" && flag.Name != "date-of-birth" {
				registerFlag(cmd, flag.Name, values(typedTimes))
			}
		})
		keepFilesOut(cmd)
		takesIDs := (strings.Contains(cmd.Use, "UUID") || strings.Contains(cmd.Use, " ID")) && cmd.Name() != "action" && cmd.Name() != "mark"
		if complete := s.recordsOf(top); complete != nil && takesIDs && cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = complete
		}
	})
}

// typedTimes are ways of writing a time, besides a whole one.
var typedTimes = []string{"now", "today", "yesterday", "90m", "36h", "7d", "2w"}

// parts completes the last value of a list with commas between; those before it are kept.
func parts(all func() []string) completer {
	return func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		before := toComplete[:strings.LastIndexByte(toComplete, ',')+1]
		lines := all()
		for i := range lines {
			lines[i] = before + lines[i]
		}
		return lines, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// countries completes with those of addresses, or those whose way of writing a file may have.
func countries(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if cmd.Flags().Lookup("map") != nil {
		return values(render.PhoneCountries())(cmd, args, toComplete)
	}
	return values(apitype.CountryCodes())(cmd, args, toComplete)
}

// columnsOf are the columns of a noun.
func columnsOf(noun string) []string {
	switch noun {
	case "person":
		return render.Names(render.PersonColumns())
	case "call":
		return render.Names(render.CallColumns())
	case "pledge":
		return render.Names(render.PledgeColumns())
	default:
		return nil
	}
}

// keepFilesOut has no file offered for a flag whose value is none.
func keepFilesOut(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		switch flag.Name {
		case "file", "input", "results", "state", "errors":
		default:
			if _, given := cmd.GetFlagCompletionFunc(flag.Name); !given {
				registerFlag(cmd, flag.Name, cobra.NoFileCompletions)
			}
		}
	})
}

// registerFlag completes a flag that the command has.
func registerFlag(cmd *cobra.Command, name string, complete completer) {
	if complete == nil {
		return
	}
	if flag := cmd.Flags().Lookup(name); flag != nil || cmd.PersistentFlags().Lookup(name) != nil {
		// The only error is a second registration, and each name comes once.
		_ = cmd.RegisterFlagCompletionFunc(name, complete)
	}
}

// topCommand is the top-level command that a command belongs to.
func topCommand(cmd *cobra.Command) string {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return cmd.Name()
}

// walkCommands visits a tree of commands.
func walkCommands(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, child := range cmd.Commands() {
		walkCommands(child, visit)
	}
}

// outboxEntries completes with what waits in the outbox.
func (s *session) outboxEntries(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	entries, _, _ := s.allEntries() // What cannot be read is not offered.
	lines := make([]string, len(entries))
	for i, entry := range entries {
		lines[i] = entry.ID + "\t" + entry.Op + ", " + string(entry.State)
	}
	return lines, cobra.ShellCompDirectiveNoFileComp
}

// profileNames completes with the profiles.
func (s *session) profileNames(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	config, err := s.config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(config.Profiles)) {
		if strings.HasPrefix(name, toComplete) {
			lines = append(lines, name+"\t"+shownURL(config.Profiles[name].BaseURL))
		}
	}
	return lines, cobra.ShellCompDirectiveNoFileComp
}
