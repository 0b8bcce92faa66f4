package widget

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"fundesk/render"
)

// All that the interface draws by itself is counted without the large tables.
func TestScreensNeedNoTables(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("screens: got %v %v, want some", paths, err)
	}
	for _, path := range paths {
		screen, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.ReplaceAll(string(screen), "世界", "")) { // A name.
			if render.Method(line) != ansi.GraphemeWidth {
				t.Errorf("%s: %q needs the tables", path, line)
			}
		}
	}
}
