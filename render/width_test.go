package render

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

// What is counted without the library has as many cells as it says, and is cut as it does.
func TestWidthAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	if runewidth.EastAsianWidth {
		t.Skip("the locale has letters of two cells")
	}
	var simple strings.Builder
	for r := rune(0x80); r < 0x3000; r++ {
		if !isSimple(r) {
			continue
		}
		simple.WriteRune(r)
		for _, text := range []string{string(r), "a" + string(r), string(r) + "b…", string(r) + "\u0301", "e" + string(r) + "漢"} {
			if got, want := Width(text), runewidth.StringWidth(text); got != want {
				t.Errorf("%q: got %d cells, want %d", text, got, want)
			}
		}
	}
	for _, text := range []string{"", "a", "Anneke", "Zoë Ångström", "漢字かな", "e\u0301e\u0301", "a\u200db", simple.String()} {
		for width := 1; width < 12; width++ {
			if got, want := Cut(text, width), runewidth.Truncate(text, width, "…"); got != want {
				t.Errorf("%q to %d cells: got %q, want %q", text, width, got, want)
			}
		}
	}
}
