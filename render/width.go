package render

import (
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Width is how many cells of a terminal a text takes.
func Width(text string) int {
	if isSimple(text) {
		return utf8.RuneCountInString(text)
	}
	return runewidth.StringWidth(text)
}

// Cut shortens a text to a number of cells; a cut one ends in an ellipsis.
func Cut(text string, width int) string {
	switch {
	case Width(text) <= width:
		return text
	case width > 0 && isSimple(text):
		return string([]rune(text)[:width-1]) + "…"
	default:
		return runewidth.Truncate(text, width, "…")
	}
}

// Pad fills a text with spaces to a number of cells.
func Pad(text string, width int) string {
	if missing := width - Width(text); missing > 0 {
		return text + strings.Repeat(" ", missing)
	}
	return text
}

// isSimple reports whether each code point of a text takes one cell. The library is not
// asked for such: it fills two megabytes of tables the first time that it counts one above
// the Latin letters, and an ellipsis is one.
func isSimple(text string) bool {
	if isClean(text) {
		return true
	}
	for _, r := range text {
		if r < ' ' || r >= 0x7f && !IsSimple(r) {
			return false
		}
	}
	return !runewidth.EastAsianWidth
}

// IsSimple reports whether a code point above ASCII is a character of its own wherever it
// stands, and has one cell outside East Asia, by both ways of counting: Latin letters, punctuation, currencies,
// pictures of control characters, and what frames and marks are drawn with.
func IsSimple(r rune) bool {
	return r >= 0xa0 && r < 0x300 && r != '\u00ad' || r >= '\u2500' && r <= '\u25fc' || r >= '\u2010' && r <= '\u2027' ||
		r >= '\u20a0' && r <= '\u20bf' || r >= '\u2400' && r <= '\u2426' || r == '✓' || r == '→'
}
