package commands

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/commands/bulk"
	"fundesk/commands/cli"
	"fundesk/completions"
	"fundesk/render"
)

// addCompletions gives every flag and argument of the tree its values. It runs only
// when a shell asks.
func addCompletions(s *cli.Session, root *cobra.Command) {
	flags := map[string]cli.Completer{
		"output": cli.Values(render.Formats),
		"columns": func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return cli.Parts(func() []string { return cli.ColumnsOf(topCommand(cmd)) })(cmd, args, toComplete)
		},
		"sort-by": func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			names := cli.ColumnsOf(topCommand(cmd))
			for _, name := range slices.Clone(names) {
				names = append(names, "-"+name)
			}
			return cli.Values(names)(cmd, args, toComplete)
		},
		"for-excel":               cli.Values(append(render.PhoneCountries(), "EN")),
		"encoding":                cli.Values(bulk.Encodings),
		"person":                  s.Records(completions.Source.Persons),
		"related-case":            s.Records(completions.Source.Pledges),
		"result-code":             s.Records(completions.Source.ResultCodes),
		"profile":                 s.ProfileNames,
		"owning-organization":     s.Records(completions.Source.Organizations),
		"recruiting-organization": s.Records(completions.Source.Organizations),
		"calling-organization":    s.Records(completions.Source.Organizations),
		"language":                cli.Values(apitype.LanguageCodes()),
		"country":                 countries,
	}
	walkCommands(root, func(cmd *cobra.Command) {
		top := topCommand(cmd)
		for name, complete := range flags {
			cli.RegisterFlag(cmd, name, complete)
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if value, ok := flag.Value.(*cli.Value); ok && value.Choice != nil && value.Choice() != nil {
				cli.RegisterFlag(cmd, flag.Name, cli.Values(value.Choice()))
			}
			if flag.Value.Type() == "time" && flag.Name != "date-of-birth" {
				cli.RegisterFlag(cmd, flag.Name, cli.Values(typedTimes))
			}
		})
		keepFilesOut(cmd)
		takesIDs := (strings.Contains(cmd.Use, "UUID") || strings.Contains(cmd.Use, " ID")) && cmd.Name() != "action" &&
			cmd.Name() != "mark"
		if complete := s.RecordsOf(top); complete != nil && takesIDs && cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = complete
			if top == "call" && slices.Contains([]string{"attempt", "complete", "cancel", "expire"}, cmd.Name()) {
				cmd.ValidArgsFunction = s.Records(completions.Source.OpenCalls)
			}
		}
	})
}

// typedTimes are examples of times, besides a full one.
var typedTimes = []string{"now", "today", "yesterday", "90m", "36h", "7d", "2w"}

// countries completes with the countries of addresses, or of readable files.
func countries(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if cmd.Flags().Lookup("map") != nil {
		return cli.Values(render.PhoneCountries())(cmd, args, toComplete)
	}
	return cli.Values(apitype.CountryCodes())(cmd, args, toComplete)
}

// keepFilesOut offers no files for a flag that takes no file.
func keepFilesOut(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		switch flag.Name {
		case "file", "input", "results", "state", "errors", "mapping":
		default:
			if _, given := cmd.GetFlagCompletionFunc(flag.Name); !given {
				cli.RegisterFlag(cmd, flag.Name, cobra.NoFileCompletions)
			}
		}
	})
}

func topCommand(cmd *cobra.Command) string {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return cmd.Name()
}

func walkCommands(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, child := range cmd.Commands() {
		walkCommands(child, visit)
	}
}
