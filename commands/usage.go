package commands

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fundesk/commands/cli"
	"fundesk/render"
)

// The groups of the top-level commands, in the order of the help.
const (
	groupRecords  = "Records"
	groupMoving   = "In and out"
	groupWork     = "The desk"
	groupSettings = "Services and settings"
)

// printUsage prints the help below the description of a command. Global flags have a page of their own.
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
	shown, pages := pflag.NewFlagSet("", pflag.ContinueOnError), []string{}
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if page := cli.PageOf(f); page == "" {
			shown.AddFlag(f)
		} else {
			pages = append(pages, page)
		}
	})
	if shown.HasAvailableFlags() {
		fmt.Fprintf(&b, "\nFlags:\n%s\n", strings.TrimRight(shown.FlagUsagesWrapped(helpWidth), " \n"))
	}
	b.WriteByte('\n')
	for _, page := range flagPages {
		if page.name == "options" || slices.Contains(pages, page.name) {
			fmt.Fprintf(&b, "%s: fundesk help %s\n", page.title, page.name)
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "More about a command: %s COMMAND --help\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), b.String())
	return err
}

// helpWidth is the width of the help. Examples are printed as they are typed.
const helpWidth = 80

// printHelp prints what a command is for, and its usage. An unknown verb has no help: Run returns its error.
func printHelp(cmd *cobra.Command, _ []string) {
	if wrongVerb(cmd) != nil {
		return
	}
	if text := strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)); text != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", wrapped(text, helpWidth))
	}
	cmd.SetErr(cmd.OutOrStdout())
	_ = cmd.Usage() // checkedOutput keeps its error.
}

// checkedOutput keeps the first error of writing: cobra drops those of help and completions.
type checkedOutput struct {
	io.Writer

	err error
}

// Write passes data on.
func (o *checkedOutput) Write(data []byte) (int, error) {
	n, err := o.Writer.Write(data)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// wrapped breaks the paragraphs of a text into lines of at most that many columns.
func wrapped(text string, columns int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, paragraph := range paragraphs {
		if strings.Contains(paragraph, "\n ") { // It is laid out.
			continue
		}
		var b strings.Builder
		width := 0
		for word := range strings.FieldsSeq(paragraph) {
			length := render.Width(word)
			switch {
			case width == 0:
			case width+1+length > columns:
				b.WriteByte('\n')
				width = 0
			default:
				b.WriteByte(' ')
				width++
			}
			b.WriteString(word)
			width += length
		}
		paragraphs[i] = b.String()
	}
	return strings.Join(paragraphs, "\n\n")
}

// writeCommands lists the subcommands of a command. The commands of the program are in groups.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	shown := slices.DeleteFunc(
		slices.Clone(cmd.Commands()),
		func(c *cobra.Command) bool { return !c.IsAvailableCommand() && c.Name() != "help" },
	)
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
