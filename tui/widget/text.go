// Package widget holds the parts that several pages of the terminal interface are
// drawn with: text fitted to cells, a windowed table, a text editor, frames.
//
// A widget is a plain struct or function: it is told its size and draws lines of
// exactly that width. It must not know pages, keys, the client or the service, and
// does no input or output.
//
// What the library has is taken from it, wrapped: textinput and textarea, viewport, spinner and
// progress. Its help is not, since the footer leaves out what does not work now, where that
// greys it; nor its table, at 4.2 ms a key against 15 µs.
//
//	table := widget.Table[call]{Columns: columns}
//	table.SetHeight(20)
//	lines := table.Lines(rows, 80, head, style)
package widget

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"fundesk/render"
)

// Fit returns text cut or padded to exactly width cells. Styles inside it survive.
func Fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if render.IsPlain(text) {
		// Most of a screen is ASCII, where a byte is a cell.
		if len(text) > width {
			return text[:width-1] + "…"
		}
		if len(text) == width {
			return text
		}
		return text + blanks(width-len(text))
	}
	w := render.Width(text)
	if w > width {
		text = render.Cut(text, width)
		w = render.Width(text)
	}
	return text + blanks(width-w)
}

// FitRight returns Fit with the text at the right edge.
func FitRight(text string, width int) string {
	w := render.Width(text)
	if w >= width {
		return Fit(text, width)
	}
	return blanks(width-w) + text
}

const manyBlanks = "                                                                                                                                "

func blanks(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(manyBlanks) {
		return manyBlanks[:n]
	}
	return strings.Repeat(" ", n)
}

// Wrap breaks text into lines of at most width cells, at spaces where it can.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if render.Width(line) <= width {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, strings.Split(render.Method(line).Wrap(line, width, " "), "\n")...)
	}
	return lines
}

// Block makes lines exactly height lines of exactly width cells.
func Block(lines []string, width, height int) []string {
	block := make([]string, max(height, 0))
	for i := range block {
		if i < len(lines) {
			block[i] = Fit(lines[i], width)
		} else {
			block[i] = blanks(width)
		}
	}
	return block
}

// Beside joins blocks of the same height, with a rule between them.
func Beside(rule string, blocks ...[]string) []string {
	if len(blocks) == 0 {
		return nil
	}
	size := 0
	for _, block := range blocks {
		for _, line := range block {
			size += len(line) + len(rule)
		}
	}
	// One string for all lines: a frame is drawn with every key.
	var b strings.Builder
	b.Grow(size)
	lines := make([]string, len(blocks[0]))
	for i := range lines {
		start := b.Len()
		for j, block := range blocks {
			if j > 0 {
				b.WriteString(rule)
			}
			b.WriteString(block[i])
		}
		lines[i] = b.String()[start:]
	}
	return lines
}

// Over lays a block over the middle of a screen of exactly width cells.
func Over(screen, block []string, width int) []string {
	if len(block) == 0 {
		return screen
	}
	w := min(render.Width(block[0]), width)
	left := (width - w) / 2
	top := max((len(screen)-len(block))/2, 0)
	lines := append([]string(nil), screen...)
	for i, line := range block {
		if y := top + i; y < len(lines) {
			under := lines[y]
			before, after := wholeWords(ansi.Strip(under), left, left+w)
			lines[y] = Fit(render.Method(under).Truncate(under, before, ""), left) + "\x1b[m" + Fit(line, w) + "\x1b[m" + Fit("", after-left-w) + rightOf(under, after, width)
		}
	}
	return lines
}

// wholeWords returns up to where a line is shown before a cell, and from where after another one, so
// that no word is torn. Lines and bars are no words.
func wholeWords(line string, before, after int) (until, from int) {
	isWord := func(r rune) bool { return r != ' ' && r != '|' && (r < '─' || r > '▟') }
	until, from = before, after
	at, start, last := 0, 0, ' '
	for _, r := range line {
		if isWord(r) && !isWord(last) {
			start = at
		}
		if at == before && isWord(r) && isWord(last) {
			until = start
		}
		if at >= after && from == at && isWord(r) && (at > after || isWord(last)) {
			from = at + render.Width(string(r))
		}
		at, last = at+render.Width(string(r)), r
	}
	return until, min(from, at)
}

// rightOf returns what stands from a cell on in a line of width cells. Half a wide character
// becomes a blank.
func rightOf(line string, from, width int) string {
	m := render.Method(line)
	right := m.TruncateLeft(line, from, "")
	if render.Width(right) > width-from {
		right = m.TruncateLeft(line, from+1, "")
	}
	return FitRight(right, width-from)
}

// Border is the characters of a frame.
type Border struct {
	TopLeft, TopRight, BottomLeft, BottomRight, Horizontal, Vertical string
}

// Borders of a frame: lines, and for terminals without them.
var (
	LineBorder  = Border{"╭", "╮", "╰", "╯", "─", "│"}
	ASCIIBorder = Border{"+", "+", "+", "+", "-", "|"}
)

// Frame draws a frame of width cells with a title around lines.
func Frame(border Border, title string, lines []string, width, height int) []string {
	inner := width - 4
	if inner < 1 || height < 2 {
		return Block(lines, width, height)
	}
	head := border.TopLeft + border.Horizontal
	if title != "" {
		head += " " + Fit(title, min(render.Width(title), inner)) + " "
	}
	head += strings.Repeat(border.Horizontal, max(width-render.Width(head)-1, 0)) + border.TopRight
	framed := make([]string, 0, height)
	framed = append(framed, Fit(head, width))
	for _, line := range Block(lines, inner, height-2) {
		framed = append(framed, border.Vertical+" "+line+"\x1b[m "+border.Vertical)
	}
	return append(framed, border.BottomLeft+strings.Repeat(border.Horizontal, width-2)+border.BottomRight)
}

// The characters that join others or choose their looks. Terminals do not agree on the
// cells that they make of them.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	keycap             = '\u20e3'
	textVariant        = '\ufe0e'
	emojiVariant       = '\ufe0f'
	firstSkinTone      = '\U0001f3fb'
	lastSkinTone       = '\U0001f3ff'
)

// Unjoined returns text without the characters that every terminal draws in a width of its
// own: joiners after a letter or a picture, variants, keycaps and skin tones. A family
// becomes its members, and a border after it stays where it is.
func Unjoined(text string) string {
	if render.IsPlain(text) {
		return text
	}
	var b strings.Builder
	before := rune(0)
	for i, r := range text {
		switch {
		case r == utf8.RuneError:
			_, size := utf8.DecodeRuneInString(text[i:])
			b.WriteString(text[i : i+size]) // Left for others to show.
		case (r == zeroWidthJoiner || r == zeroWidthNonJoiner) && before >= utf8.RuneSelf,
			r == keycap, r == textVariant, r == emojiVariant,
			r >= firstSkinTone && r <= lastSkinTone && before >= utf8.RuneSelf:
			continue
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}
