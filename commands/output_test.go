package commands

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A page of the help, a version or a completion that cannot be written is an error, as a list is.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	lines := [][]string{
		{},
		{"help"},
		{"help", "output"},
		{"help", "call"},
		{"version"},
		{"--version"},
		{"completion", "bash"},
		{"__complete", "person", ""},
		{"profile", "list", "-o", "json"},
	}
	walkCommands(wholeTree(t), func(cmd *cobra.Command) {
		words := strings.Fields(cmd.CommandPath())[1:]
		lines = append(lines, append(words, "--help"))
	})
	for _, args := range lines {
		var stderr bytes.Buffer
		app := hasty(appOf(map[string]string{"HOME": t.TempDir()}, strings.NewReader(""), fullDisk{}, &stderr))
		code := Run(t.Context(), args, app)
		if code != 1 || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%v: got exit code %d and %q, want 1 with the reason", args, code, stderr.String())
		}
	}
}
