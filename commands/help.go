package commands

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/commands/cli"
	"fundesk/tui"
)

//go:embed topics/*.txt
var topicTexts embed.FS

// text returns a function that reads a page as it is written.
func text(name string) func() string {
	return func() string {
		page, err := topicTexts.ReadFile("topics/" + name + ".txt")
		if err != nil {
			panic(err) // It is embedded.
		}
		return string(page)
	}
}

func topics() map[string]func() string {
	return map[string]func() string{
		"exit-codes":  text("exit-codes"),
		"environment": text("environment"),
		"output":      text("output"),
		"filters":     filtersTopic,
		"scripting":   text("scripting"),
		"keys":        keysTopic,
	}
}

func helpCommand(s *cli.Session) *cobra.Command {
	names := append([]string{"options"}, slices.Sorted(maps.Keys(topics()))...)
	return &cobra.Command{
		Use: "help [COMMAND | TOPIC]", Short: "Help on a command or a topic", Args: cobra.ArbitraryArgs,
		Long:      "Help on a command, or on one of the topics " + strings.Join(names, ", ") + ".",
		Example:   "  fundesk help call list\n  fundesk help exit-codes",
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Root().Help()
			}
			if len(args) == 1 && args[0] == "options" {
				_, err := fmt.Fprint(s.App.Out, "Flags of every command\n\n"+cmd.Root().PersistentFlags().FlagUsagesWrapped(helpWidth))
				return err
			}
			if topic, ok := topics()[args[0]]; ok && len(args) == 1 {
				_, err := fmt.Fprint(s.App.Out, topic())
				return err
			}
			target, unread, err := cmd.Root().Find(args)
			if err != nil || len(unread) > 0 || target == cmd.Root() {
				return cli.WithHint(cli.UsageError("there is no help on "+cli.Quote(strings.Join(args, " "))), "topics: "+strings.Join(names, ", "))
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

func filtersTopic() string {
	var b strings.Builder
	b.WriteString(filtersText)
	writeFilters(&b, "person list", apitype.PersonFilters())
	writeFilters(&b, "call list", apitype.CallFilters())
	fmt.Fprintf(&b, "  --%-32s %s\n", "no-external-reference", "only calls without an external reference")
	writeFilters(&b, "call list, applied after the download", apitype.CallSelections())
	writeFilters(&b, "pledge list", apitype.PledgeFilters())
	writeFilters(&b, "queue", apitype.QueueFilters())
	return b.String()
}

func writeFilters[O any](b *strings.Builder, of string, filters []apitype.Filter[O]) {
	fmt.Fprintf(b, "\n%s\n", of)
	for _, f := range filters {
		fmt.Fprintf(b, "  --%-32s %s\n", f.FlagName()+" "+strings.ToUpper(f.Kind()), f.Help)
	}
}

const filtersText = `Filters

Times are RFC 3339 (2026-11-20T09:15:00Z), a local day (2026-11-20, today,
yesterday), now, or an age (90s, 90m, 36h, 7d, 2w): that long ago. What databases,
mails and date print is read, too (2026-11-20 09:15:00+01), and so are the words of
English, Dutch and German (monday 14:00, gisteren, 24. Dezember). A text with two
meanings is refused with both. For queue later --at, a length of time is ahead.

The interface has no filter for a call's status, type or person: call list --status,
--type and --person filter what was retrieved, and --limit counts what passes. A
service that offers a filter on the status is asked for that.
`

// keysTopic is the registry of keys of the terminal interface.
func keysTopic() string {
	var b strings.Builder
	b.WriteString("Keys of fundesk tui\n")
	scope := ""
	for _, key := range tui.Keys() {
		if key.Scope != scope {
			scope = key.Scope
			fmt.Fprintf(&b, "\n%s\n", scope)
		}
		fmt.Fprintf(&b, "  %-14s %s\n", strings.Join(key.Keys, " "), key.Help)
	}
	return b.String()
}
