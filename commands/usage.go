package commands

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The groups of the top-level commands, in the order of the help.
const (
	groupRecords  = "Records"
	groupMoving   = "In and out"
	groupWork     = "The desk"
	groupSettings = "Services and settings"
)

// printUsage is the help below the description of a command. The flags that every command has
// are on a page of their own.
func printUsage(cmd *cobra.Command) error {
	var b strings.Builder
	cmd.InheritedFlags() // The line of usage knows of flags then.
	if !cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	} else {
		fmt.Fprintf(&b, "Usage:\n  %s COMMAND [flags]\n", cmd.CommandPath())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAliases:\n  %s\n", cmd.NameAndAliases())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		writeCommands(&b, cmd)
	}
	if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s\n", strings.TrimRight(flags.FlagUsages(), " \n"))
	}
	fmt.Fprintf(&b, "\nFlags of every command: fundesk help options\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "More about a command: %s COMMAND --help\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// writeCommands lists the commands below one, those of the program in their groups.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	shown := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() && c.Name() != "help" })
	if cmd.HasParent() {
		fmt.Fprintf(b, "\nCommands:\n")
		for _, c := range shown {
			fmt.Fprintf(b, "  %-11s %s\n", c.Name(), c.Short)
		}
		return
	}
	for _, title := range []string{groupRecords, groupWork, groupMoving, groupSettings} {
		fmt.Fprintf(b, "\n%s:\n", title)
		for _, e := range entries() {
			if e.group == title {
				fmt.Fprintf(b, "  %-11s %s\n", e.name, e.short)
			}
		}
	}
}
