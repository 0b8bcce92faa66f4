package commands

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/apiclient/apitype"
	"fundesk/commands/account"
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
		"settings":    account.SettingsTopic,
	}
}

// flagPages are the pages that describe flags of many commands.
var flagPages = []struct{ name, title string }{
	{"changes", "Flags of every change"},
	{"lists", "Flags of every list"},
	{"options", "Flags of every command"},
}

// flagsOf returns the flags of a page, as the first command declares them.
func flagsOf(root *cobra.Command, page string) *pflag.FlagSet {
	if page == "options" {
		return root.PersistentFlags()
	}
	flags := pflag.NewFlagSet(page, pflag.ContinueOnError)
	walkCommands(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if cli.PageOf(f) == page && flags.Lookup(f.Name) == nil {
				flags.AddFlag(f)
			}
		})
	})
	return flags
}

func helpCommand(s *cli.Session) *cobra.Command {
	names := slices.Sorted(maps.Keys(topics()))
	for _, page := range flagPages {
		names = append(names, page.name)
	}
	return &cobra.Command{
		Use:       "help [COMMAND | TOPIC]",
		Short:     "Help on a command or a topic",
		Args:      cobra.ArbitraryArgs,
		Long:      "Help on a command, or on one of the topics " + strings.Join(names, ", ") + ".",
		Example:   "  fundesk help call list\n  fundesk help exit-codes",
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Root().Help()
			}
			for _, page := range flagPages {
				if len(args) == 1 && args[0] == page.name {
					_, err := fmt.Fprint(
						s.App.Out,
						page.title+"\n\n"+flagsOf(cmd.Root(), page.name).FlagUsagesWrapped(helpWidth),
					)
					return err
				}
			}
			if topic, ok := topics()[args[0]]; ok && len(args) == 1 {
				_, err := fmt.Fprint(s.App.Out, topic())
				return err
			}
			target, unread, err := cmd.Root().Find(args)
			if err != nil || len(unread) > 0 || target == cmd.Root() {
				return cli.WithHint(
					cli.UsageError("there is no help on "+cli.Quote(strings.Join(args, " "))),
					"topics: "+strings.Join(names, ", "),
				)
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
	writeFilters(
		&b,
		"person list, where the service can search",
		[]apitype.Filter[apitype.PersonListOptions]{apitype.PersonSearch()},
	)
	writeFilters(&b, "call list", apitype.CallFilters())
	writeEntry(&b, "--no-external-reference", filterWidth, "only calls without an external reference")
	writeFilters(
		&b,
		"call list, where the service keeps it",
		[]apitype.Filter[apitype.CallListOptions]{apitype.CompletedBy()},
	)
	writeFilters(&b, "call list, filtered on your computer", apitype.CallSelections())
	writeFilters(&b, "pledge list", apitype.PledgeFilters())
	writeFilters(&b, "queue", apitype.QueueFilters())
	return b.String()
}

func writeFilters[O any](b *strings.Builder, of string, filters []apitype.Filter[O]) {
	fmt.Fprintf(b, "\n%s\n", of)
	for _, f := range filters {
		writeEntry(b, "--"+f.FlagName()+" "+strings.ToUpper(f.Kind()), filterWidth, f.Help)
	}
}

// The widths of the names in the lists of topics.
const (
	filterWidth = 34
	keyWidth    = 31
)

// writeEntry writes a name, and its description in a column beside it.
func writeEntry(b *strings.Builder, name string, nameWidth int, description string) {
	description = wrapped(description, helpWidth-nameWidth-3)
	indent := strings.Repeat(" ", nameWidth+3)
	fmt.Fprintf(b, "  %-*s %s\n", nameWidth, name, strings.ReplaceAll(description, "\n", "\n"+indent))
}

const filtersText = `Filters

Times of filters are RFC 3339 (2026-11-20T09:15:00Z), a local day or time
(2026-11-20, yesterday, 2026-11-20 09:15), now, or an age (90s, 90m, 36h, 7d,
2w). The formats of databases, mails and date are read (2026-11-20 09:15:00+01),
and words of English, Dutch and German (monday 14:00, gisteren, 24. Dezember). A
text with two meanings is refused with both. --requested-until DAY includes the
day. For queue later --at, a length of time is ahead.

Times of records (--starts-at, --attempted-at, CSV cells, JSON) take the same
forms. There a day is midnight UTC and a time without a zone is UTC, on every
computer.

The interface has no filter for a call's status, type or person: call list
--status, --type and --person filter on your computer, and --limit counts the
calls that match. If the service has a filter for the status, fundesk uses it.
`

// keysTopic lists the keys of the terminal interface, with the names that keys.toml has for what they do.
func keysTopic() string {
	var b strings.Builder
	b.WriteString("Keys of fundesk tui: the keys, the name in keys.toml, and what they do\n")
	scope := ""
	for _, key := range tui.Keys() {
		if key.Scope != scope {
			scope = key.Scope
			fmt.Fprintf(&b, "\n%s\n", scope)
		}
		writeEntry(&b, fmt.Sprintf("%-14s %-16s", strings.Join(key.Keys, " "), key.Action), keyWidth, key.Help)
	}
	return b.String()
}
