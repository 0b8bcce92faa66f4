package render

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width is how many cells of a terminal a text takes: the sum over its code points, as
// terminals count unless they are asked to do otherwise. Styles take none.
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
	switch {
	case Width(text) <= width:
		return text
	case width <= 0:
		return ""
	default:
		return Method(text).Truncate(text, width, "…")
	}
}

// Pad fills a text with spaces to a number of cells.
func Pad(text string, width int) string {
	if missing := width - Width(text); missing > 0 {
		return text + strings.Repeat(" ", missing)
	}
	return text
}

// Method is how the cells of a text are counted: over its code points. A text of letters
// and signs that make no characters together has as many cells by its characters; that is
// asked for where it can be, because the library fills two megabytes of tables the first
// time that it counts a code point above the Latin ones.
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

// simpleWidth is the number of cells of a text of ASCII, simple characters and styles; ok
// is false where it holds anything else.
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

// styleLength is how many bytes of text are the style that it begins with; 0 when it
// begins with something else.
func styleLength(text string) int {
	if len(text) < 3 || text[1] != '[' {
		return 0
	}
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case c == 'm':
			return i + 1
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}

// isNarrow reports that letters of ambiguous width have one cell. Where RUNEWIDTH_EASTASIAN
// says otherwise, the two ways of counting do not agree on them.
var isNarrow = sync.OnceValue(func() bool { return ansi.StringWidth("é") == 1 })

// isSimple reports whether a code point above ASCII is a character of its own wherever it
// stands, and has one cell outside East Asia, by both ways of counting: Latin letters, punctuation, currencies,
// pictures of control characters, and what frames and marks are drawn with.
func isSimple(r rune) bool {
	return r >= 0xa0 && r < 0x300 && r != '\u00ad' || r >= '\u2500' && r <= '\u25fc' || r >= '\u2010' && r <= '\u2027' ||
		r >= '\u20a0' && r <= '\u20bf' || r >= '\u2400' && r <= '\u2426' || r == '✓' || r == '→' || r == '✎'
}
