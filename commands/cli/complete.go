package cli

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/completions"
	"fundesk/render"
)

// Completer is a function of cobra that completes one word.
type Completer = cobra.CompletionFunc

// Values completes with fixed values.
func Values[T ~string](all []T) Completer {
	return cobra.FixedCompletions(apitype.Texts(all), cobra.ShellCompDirectiveNoFileComp)
}

// Records completes with records of a noun.
func (s *Session) Records(find func(completions.Source, context.Context, string) []string) Completer {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		s.Flags.NoInput, s.Flags.Quiet, s.Flags.debug = true, true, false // It never asks, and fails silently.
		s.isCompletion = true
		source := completions.Source{Connect: s.Connect, Patience: s.App.CompletionPatience}
		lines := slices.DeleteFunc(find(source, ctx, toComplete), func(line string) bool {
			value, _, _ := strings.Cut(line, "\t")
			return slices.Contains(args, value)
		})
		return lines, cobra.ShellCompDirectiveNoFileComp
	}
}

// RecordsOf completes with the records of a noun. It returns nil for a noun without records.
func (s *Session) RecordsOf(noun string) Completer {
	return map[string]Completer{
		"person": s.Records(completions.Source.Persons),
		"call":   s.Records(completions.Source.Calls),
		"pledge": s.Records(completions.Source.Pledges),
		"outbox": s.outboxEntries,
	}[noun]
}

// Parts completes the last value of a list with commas between; those before it are kept.
func Parts(all func() []string) Completer {
	return func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		before := toComplete[:strings.LastIndexByte(toComplete, ',')+1]
		lines := all()
		for i := range lines {
			lines[i] = before + lines[i]
		}
		return lines, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// ColumnsOf returns the columns of a noun.
func ColumnsOf(noun string) []string {
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

// RegisterFlag completes a flag that the command has.
func RegisterFlag(cmd *cobra.Command, name string, complete Completer) {
	if complete == nil {
		return
	}
	if flag := cmd.Flags().Lookup(name); flag != nil || cmd.PersistentFlags().Lookup(name) != nil {
		// The only error is a second registration, and each name comes once.
		_ = cmd.RegisterFlagCompletionFunc(name, complete)
	}
}

func (s *Session) outboxEntries(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var entries []outbox.Entry
	dir, err := s.StateDir()
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "outbox")) // To open it would create it.
	}
	if err == nil {
		entries, _, _ = s.AllEntries() // Unreadable values are not offered.
	}
	lines := make([]string, len(entries))
	for i, entry := range entries {
		lines[i] = entry.ID + "\t" + entry.Op + ", " + string(entry.State)
	}
	return lines, cobra.ShellCompDirectiveNoFileComp
}

// ProfileNames completes with the profiles.
func (s *Session) ProfileNames(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	config, err := s.Config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(config.Profiles)) {
		if strings.HasPrefix(name, toComplete) {
			lines = append(lines, name+"\t"+ShownURL(config.Profiles[name].BaseURL))
		}
	}
	return lines, cobra.ShellCompDirectiveNoFileComp
}
