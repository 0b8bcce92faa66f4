package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a text from outside safe for one line of a terminal: newlines and tabs
// become spaces; control, bidirectional, zero-width and other invisible characters
// become visible.
func Clean(text string) string {
	if IsPlain(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case isJoiner(r) && joins(text[:i], text[i+size:]):
			b.WriteRune(r)
		case isHidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// joins reports whether a joiner has its place between two texts: a family of emoji, or letters of a script that joins
// them. Latin has no joiners, so one within it hides something.
func joins(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	return isJoined(last) && isJoined(next)
}

// isJoined reports whether a joiner may stand beside a character.
func isJoined(r rune) bool {
	isLetter := unicode.IsLetter(r) || unicode.IsMark(r)
	isJoining := isLetter && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) && !isHidden(r)
	return isJoining || isEmoji(r)
}

// isEmoji reports whether a character is a symbol, or chooses how one looks.
func isEmoji(r rune) bool {
	return r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sk, unicode.Variation_Selector)
}

// apartEmoji takes the joiners of emoji out of a text: terminals draw a family in different widths, and its members in
// one.
func apartEmoji(text string) string {
	if !strings.ContainsRune(text, '\u200d') {
		return text
	}
	var b strings.Builder
	before := rune(0)
	for _, r := range text {
		if r == '\u200d' && isEmoji(before) {
			continue
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// CleanLines cleans a text of several lines.
func CleanLines(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = Clean(line)
	}
	return strings.Join(lines, "\n")
}

// IsPlain reports whether a text holds printable ASCII only, the common case: a byte is a cell.
func IsPlain[T ~string | ~[]byte](text T) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// isHidden reports whether a character moves the cursor, turns the direction of text,
// or cannot be seen.
func isHidden(r rune) bool {
	if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) ||
		unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Co, r) {
		return true
	}
	if r == 0x034f || r == 0x115f || r == 0x1160 || r == 0x17b4 || r == 0x17b5 || r == 0x3164 || r == 0xffa0 {
		return true
	}
	return r >= 0xe0000 && r <= 0xe0fff
}

// CleanJSON makes JSON safe for a terminal and leaves its meaning: what Clean would
// replace is written as a \u escape.
func CleanJSON(data []byte) []byte {
	if IsPlain(data) {
		return data
	}
	var b []byte
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == '\n':
			b = append(b, data[i])
		case r == utf8.RuneError && size == 1:
			b = append(b, `\ufffd`...)
		case r > 0xffff && isHidden(r):
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		case r >= ' ' && isHidden(r):
			b = fmt.Appendf(b, `\u%04x`, r)
		case r < ' ' && r != '\t': // Only white space between values can be here.
			b = append(b, ' ')
		default:
			b = append(b, data[i:i+size]...)
		}
		i += size
	}
	return b
}
