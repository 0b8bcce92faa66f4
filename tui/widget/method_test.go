package widget

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// What is counted without the large tables has the same width as with them, and makes no
// character with what stands beside it.
func TestMethodsAgreeWhereEitherIsUsed(t *testing.T) {
	t.Parallel()
	simple := 0
	for r := rune(' '); r <= utf8.MaxRune; r++ {
		if !isSimple(r) {
			continue
		}
		simple++
		for _, text := range []string{string(r), "a" + string(r) + "z", string(r) + string(r), "…" + string(r) + "é"} {
			if got, want := ansi.StringWidth(text), ansi.StringWidthWc(text); got != want {
				t.Errorf("%q (%U): got %d cells, want %d", text, r, got, want)
			}
		}
	}
	if simple < 1000 {
		t.Errorf("got %d code points, want the letters and signs of most screens", simple)
	}
	for text, want := range map[string]ansi.Method{
		"Zoë … │ ✓ €": ansi.GraphemeWidth, "\x1b[1mbold\x1b[m": ansi.GraphemeWidth, "e\u0301": ansi.WcWidth, "a\u200db": ansi.WcWidth, "世": ansi.WcWidth, "🇳🇱": ansi.WcWidth,
	} {
		if got := Method(text); got != want {
			t.Errorf("%q: got method %d, want %d", text, got, want)
		}
	}
}

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
			if Method(line) != ansi.GraphemeWidth {
				t.Errorf("%s: %q needs the tables", path, line)
			}
		}
	}
}
