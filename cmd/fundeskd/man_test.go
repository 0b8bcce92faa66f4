package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra/doc"
)

var manFolder = flag.String("man", "", "the folder to write the manual pages to")

// The manual pages are made from the commands whenever they are needed, so they are never
// stale; .ci/release packs them:
//
//	go test ./cmd/fundeskd -run TestManualPages -man /tmp/man
func TestManualPages(t *testing.T) {
	t.Parallel()
	folder := *manFolder
	if folder == "" {
		folder = t.TempDir()
	}
	root := (&program{}).root()
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Manual: "fundesk", Source: "fundesk"}, folder); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"fundeskd.1", "fundeskd-serve.1", "fundeskd-account-add.1"} {
		if _, err := os.Stat(filepath.Join(folder, page)); err != nil {
			t.Error(err)
		}
	}
}
