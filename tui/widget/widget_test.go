package widget

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"fundesk/render"
)

func TestFitIsExact(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "a", "plain text", "世界你好", "e\u0301e\u0301", "👩‍👩‍👧 family",
		"\x1b[1mbold\x1b[m and more", strings.Repeat("x", 300), "שלום",
	}
	for _, text := range texts {
		for _, width := range []int{0, 1, 2, 3, 7, 20, 140} {
			if got := render.Width(Fit(text, width)); got != width {
				t.Errorf("Fit(%q, %d): got %d cells, want %d", text, width, got, width)
			}
			if got := render.Width(FitRight(text, width)); got != width {
				t.Errorf("FitRight(%q, %d): got %d cells, want %d", text, width, got, width)
			}
		}
	}
}

func TestWrapKeepsEveryCharacter(t *testing.T) {
	t.Parallel()
	text := "The quick brown fox 世界你好 jumps\nover averyveryverylongwordindeed"
	for width := 2; width < 40; width++ {
		lines := Wrap(text, width)
		for _, line := range lines {
			if render.Width(line) > width {
				t.Errorf("width %d: line %q has %d cells", width, line, render.Width(line))
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got, want := squeeze(strings.Join(lines, "")), squeeze(text); got != want {
			t.Errorf("width %d: got %q, want %q", width, got, want)
		}
	}
}

func TestOverKeepsTheScreen(t *testing.T) {
	t.Parallel()
	screen := Block([]string{strings.Repeat("世", 20), "plain"}, 40, 9)
	frame := Frame{Border: LineBorder, Width: 12}
	framed := frame.Close([]string{frame.Top("a title that is longer than the frame", ""), frame.Line("x")}, 3)
	lines := Over(screen, framed, 40)
	if len(lines) != 9 {
		t.Fatalf("lines: got %d, want 9", len(lines))
	}
	for _, line := range lines {
		if render.Width(line) != 40 {
			t.Errorf("got %d cells, want 40: %q", render.Width(line), line)
		}
	}
	for from := range 4 {
		under := []string{"abcd世界efgh|"}
		over := Over(under, []string{strings.Repeat("#", 3+from*2)}, 13)
		if got := ansi.Strip(over[0]); !strings.HasSuffix(got, "|") || render.Width(got) != 13 {
			t.Errorf("beside a wide character: got %q, want its end unmoved", got)
		}
	}
}

// What is drawn takes the cells that a terminal gives it, whichever way it counts.
func TestUnjoinedIsAsWideEverywhere(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"a family", "👨\u200d👩\u200d👧", "👨👩👧"},
		{"a heart", "❤\ufe0f L", "❤ L"},
		{"a keycap", "1\ufe0f\u20e3", "1"},
		{"a skin tone", "👍🏽", "👍"},
		{"a Persian verb", "می\u200cخواهم", "میخواهم"},
		{"a hidden joiner among letters stays to be shown", "a\u200db", "a\u200db"},
		{"half a character stays to be shown", "世\xff", "世\xff"},
		{"accents stay", "Z\u0337\u0321e\u0301", "Z\u0337\u0321e\u0301"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Unjoined(test.text)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			wc, clusters := render.Width(got), ansi.StringWidth(got)
			if wc != clusters && utf8.ValidString(test.want) && !strings.Contains(test.want, "\u200d") {
				t.Errorf("%q: got %d cells and %d, want them equal", got, wc, clusters)
			}
		})
	}
}
