package widget

import (
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// Method is how the cells of a text are counted: over its code points. A text of letters
// and signs that make no characters together has as many cells by its characters; that is
// asked for where it can be, because the library fills two megabytes of tables the first
// time that it counts a code point above the Latin ones.
func Method(text string) ansi.Method {
	for _, r := range text {
		if !isSimple(r) {
			return ansi.WcWidth
		}
	}
	if !isNarrow() {
		return ansi.WcWidth
	}
	return ansi.GraphemeWidth
}

// isSimple reports whether a code point is a character of its own wherever it stands, and
// has the same width by both ways of counting: Latin letters, punctuation, currencies,
// pictures of control characters, and what frames and marks are drawn with.
func isSimple(r rune) bool {
	return r < 0x300 || r >= '\u2500' && r <= '\u25ff' || r >= '\u2010' && r <= '\u2027' ||
		r >= '\u20a0' && r <= '\u20bf' || r >= '\u2400' && r <= '\u2426' || r == '✓'
}

// isNarrow reports that letters of ambiguous width have one cell. Where RUNEWIDTH_EASTASIAN
// says otherwise, the two ways of counting do not agree on them.
var isNarrow = sync.OnceValue(func() bool { return ansi.StringWidth("é") == 1 })
