package render

import (
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
		if r > '~' && !isSimple(r) {
			continue
		}
		simple++
		for _, text := range []string{string(r), "a" + string(r) + "z", string(r) + string(r), "…" + string(r) + "é"} {
			got, ok := simpleWidth(text)
			if want := ansi.StringWidthWc(text); got != want || !ok || ansi.StringWidth(text) != want {
				t.Errorf("%q (%U): got %d cells by hand (%v), %d by characters, want %d", text, r, got, ok, ansi.StringWidth(text), want)
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

// Styles take no cells; what is neither text nor a style is left to the library.
func TestSimpleWidth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "Zoë": 3, "\x1b[1;38;5;3mbold\x1b[m": 4, "\x1b[m": 0, "a\x1b[4:3m│": 2, "\x1b[0;99mb": 1,
		"\x1b": -1, "\x1b[": -1, "\x1b[1": -1, "\x1b[2K": -1, "\x1b[2Km": -1, "\x1b[/m": -1, "\x1b]0;t\a": -1, "a\tb": -1, "\x7f": -1, "\u00ad": -1, "世": -1, "e\u0301": -1, "\xff": -1,
	} {
		got, ok := simpleWidth(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}
