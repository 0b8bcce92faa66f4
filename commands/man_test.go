package commands

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

var manFolder = flag.String("man", "", "the folder to write the manual pages to")

// The manual pages are made from the commands whenever they are needed, so they are never
// stale; .ci/release packs them:
//
//	go test ./commands -run TestManualPages -man /tmp/man
func TestManualPages(t *testing.T) {
	t.Parallel()
	folder := *manFolder
	if folder == "" {
		folder = t.TempDir()
	}
	root := wholeTree(t)
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Manual: "fundesk", Source: "fundesk"}, folder); err != nil {
		t.Fatal(err)
	}
	walkCommands(root, func(cmd *cobra.Command) {
		if cmd.Name() == "help" {
			return // The topics are in the reference.
		}
		page := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		text, err := os.ReadFile(filepath.Join(folder, page))
		if err != nil {
			t.Error(err)
			return
		}
		if !strings.Contains(string(text), strings.ReplaceAll(cmd.Short, "-", `\-`)) && !strings.Contains(string(text), cmd.Short) {
			t.Errorf("%s: got no %q", page, cmd.Short)
		}
	})
}
