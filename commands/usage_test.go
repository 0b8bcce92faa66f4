package commands

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"fundesk/render"
)

// Help fits a terminal of 80 columns; what is typed, in usage and examples, stays on its line. That of the
// program fits one screen.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	l := line{environment: map[string]string{"HOME": t.TempDir()}}
	pages := [][]string{{"--help"}, {"help", "options"}, {"help", "changes"}, {"help", "lists"}, {"help", "settings"}}
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		pages = append(pages, append(strings.Fields(cmd.CommandPath())[1:], "--help"))
	})
	for name := range topics() {
		pages = append(pages, []string{"help", name})
	}
	for _, page := range pages {
		out, errs, code := l.run(t, page...)
		if code != 0 || out == "" {
			t.Errorf("%v: got exit code %d and %q", page, code, errs)
		}
		isTyped := false
		for text := range strings.Lines(out) {
			text = strings.TrimRight(text, "\n")
			if text != "" && text[0] != ' ' {
				isTyped = text == "Usage:" || text == "Examples:"
			}
			if width := render.Width(text); width > helpWidth && !isTyped && page[len(page)-1] == "--help" {
				t.Errorf("%v: got %d columns: %s", page, width, text)
			}
		}
		if lines := strings.Count(out, "\n"); page[0] == "--help" && lines > 45 {
			t.Errorf("got %d lines of help, want one screen", lines)
		}
	}
}
