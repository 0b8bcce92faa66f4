package render

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many cells of a terminal a text takes: the sum over its code points, as terminals count by
// default. Styles take none.
func Width(text string) int {
	if IsPlain(text) {
		return len(text)
	}
	if width, ok := simpleWidth(text); ok {
		return width
	}
	return Method(text).StringWidth(text)
}

// Cut shortens a text to a number of cells; a cut one ends in an ellipsis.
func Cut(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	return Method(text).Truncate(text, width, "…")
}

// Pad fills a text with spaces to a number of cells.
func Pad(text string, width int) string {
	if missing := width - Width(text); missing > 0 {
		return text + strings.Repeat(" ", missing)
	}
	return text
}

// Method counts the cells of a text by code points. A text of simple letters and signs takes as many cells by
// characters, which are used if possible: the library fills two megabytes of tables when it first counts a code point
// above the Latin ones.
func Method(text string) ansi.Method {
	for _, r := range text {
		if r >= utf8.RuneSelf && !isSimple(r) {
			return ansi.WcWidth
		}
	}
	if !isNarrow() {
		return ansi.WcWidth
	}
	return ansi.GraphemeWidth
}

// simpleWidth returns the number of cells of a text of ASCII, simple characters and styles. ok is false for any other
// text.
func simpleWidth(text string) (width int, ok bool) {
	if !isNarrow() {
		return 0, false
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\x1b':
			n := styleLength(text[i:])
			if n == 0 {
				return 0, false
			}
			i += n
		case c < ' ' || c == 0x7f:
			return 0, false
		case c < utf8.RuneSelf:
			i++
			width++
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			if !isSimple(r) {
				return 0, false
			}
			i += n
			width++
		}
	}
	return width, true
}

// styleLength returns the length in bytes of the style at the beginning of a text, or 0.
func styleLength(text string) int {
	if len(text) < 3 || text[1] != '[' {
		return 0
	}
	for i := 2; i < len(text); i++ {
		if text[i] == 'm' {
			return i + 1
		}
		if strings.IndexByte("0123456789;:", text[i]) < 0 {
			return 0
		}
	}
	return 0
}

// isNarrow reports that letters of ambiguous width take one cell. With RUNEWIDTH_EASTASIAN the two ways of counting
// differ for them.
var isNarrow = sync.OnceValue(func() bool { return ansi.StringWidth("é") == 1 })

// isSimple reports whether a code point above ASCII is always a character of its own, and takes one cell outside East
// Asia by both ways of counting: Latin letters, punctuation, currencies, pictures of control characters, and the signs
// of frames and marks.
func isSimple(r rune) bool {
	return r >= 0xa0 && r < 0x300 && r != '\u00ad' ||
		r >= '\u2500' && r <= '\u25fc' ||
		r >= '\u2010' && r <= '\u2027' ||
		r >= '\u20a0' && r <= '\u20bf' ||
		r >= '\u2400' && r <= '\u2426' ||
		r == '✓' || r == '→' || r == '✎'
}
