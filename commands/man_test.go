package commands

import (
	"strings"
	"testing"

	"fundesk/cmd/manual"
)

// The manual pages are made from the commands:
//
//	go test ./commands -run TestManualPages -update
func TestManualPages(t *testing.T) {
	t.Parallel()
	sections := []manual.Section{
		{Title: "EXIT STATUS", Text: strings.TrimPrefix(text("exit-codes")(), "Exit codes\n\n")},
		{Title: "ENVIRONMENT", Text: strings.TrimPrefix(text("environment")(), "Environment\n\n")},
		{Title: "FILES", Text: filesText},
	}
	for _, name := range []string{"exit-codes", "environment", "output", "filters", "scripting"} {
		sections = append(sections, manual.Section{Title: name, Text: topics()[name]()})
	}
	manual.Check(t, wholeTree(t), "man", *update, sections...)
}

// filesText is what is kept where.
const filesText = `~/.config/fundesk/config.toml    profiles; mode 0600
~/.config/fundesk/keys.toml      keys of the tui, where they were changed
~/.local/state/fundesk/outbox    changes that are not sent yet, drafts
~/.local/state/fundesk/pull      where each pull ended
~/.local/share/fundesk           data of the demo
`
