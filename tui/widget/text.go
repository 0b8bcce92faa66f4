// Package widget holds the parts that several pages of the terminal interface are
// drawn with: text fitted to cells, a windowed table, a text editor, frames.
//
// A widget is a plain struct or function: it is told its size and draws lines of
// exactly that width. It must not know pages, keys, the client or the service, and
// does no input or output.
//
// What the library has is taken from it, wrapped: textinput and textarea, spinner and progress. Its help is not: the
// footer leaves out keys that do not work now, and the library's greys them. Nor is its table, at 4.2 ms a key against
// 15 µs, nor its viewport, whose styles took a quarter of the time of a card.
//
//	table := widget.Table[call, call]{Columns: columns, Cell: cell}
//	table.SetHeight(20)
//	lines := table.Lines(rows, 80, head, style)
package widget

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/render"
)

// Fit returns text cut or padded to exactly width cells. Styles inside it survive.
func Fit(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if render.IsPlain(text) {
		// Most of a screen is ASCII, with one byte for each cell.
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

const manyBlanks = "                                                                                                " +
	"                                "

func blanks(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(manyBlanks) {
		return manyBlanks[:n]
	}
	return strings.Repeat(" ", n)
}

// Wrap breaks text into lines of at most width cells, at spaces if possible.
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
		lines = append(lines, strings.Split(wrapLine(line, width), "\n")...)
	}
	return lines
}

// wrapLine breaks a line at blanks and hyphens, but not at a hyphen within a date or a number, or within an amount.
func wrapLine(line string, width int) string {
	wrap := render.Method(line).Wrap
	if !strings.ContainsAny(line, "-€") || strings.ContainsAny(line, noBreak+noBlank) {
		return wrap(line, width, " ")
	}
	whole := hyphenBehindDigit().ReplaceAllString(line, "$1"+noBreak)
	whole = blankInAmount().ReplaceAllString(whole, "$1$3"+noBlank+"$2$4")
	return strings.NewReplacer(noBreak, "-", noBlank, " ").Replace(wrap(whole, width, " "))
}

// noBreak is a hyphen at which no line ends, and noBlank such a blank.
const (
	noBreak = "\u2011"
	noBlank = "\u00a0"
)

var (
	hyphenBehindDigit = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d)-\b`) })
	blankInAmount     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(€) (\d)|(\d) (€)`) })
)

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

// Beside joins blocks of the same height from left to right, with a rule between them.
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
			lines[y] = Fit(render.Method(under).Truncate(under, before, ""), left) +
				"\x1b[m" + Fit(line, w) +
				"\x1b[m" + Fit("", after-left-w) + rightOf(under, after, width)
		}
	}
	return lines
}

// wholeWords returns the end of the part before a cell, and the start of the part after another one, so that no word is
// cut. Lines and bars are not words.
func wholeWords(line string, before, after int) (until, from int) {
	isWord := func(r rune) bool { return r != ' ' && r != '|' && (r < '─' || r > '▟') }
	until, from = before, after
	at, start, last := 0, 0, ' '
	for _, r := range line {
		isWithin := isWord(r) && isWord(last)
		if isWord(r) && !isWithin {
			start = at
		}
		if at == before && isWithin {
			until = start
		}
		isCut := at == after && isWithin || at > after && isWord(r)
		if isCut && from == at {
			from = at + render.Width(string(r))
		}
		at, last = at+render.Width(string(r)), r
	}
	return until, min(from, at)
}

// rightOf returns the part of a line from a cell on, in width cells. Half a wide character becomes a blank.
func rightOf(line string, from, width int) string {
	m := render.Method(line)
	right := m.TruncateLeft(line, from, "")
	if render.Width(right) > width-from {
		right = m.TruncateLeft(line, from+1, "")
	}
	return FitRight(right, width-from)
}

// Borders of a frame: lines, and for terminals without them.
var (
	LineBorder  = lipgloss.RoundedBorder()
	ASCIIBorder = lipgloss.ASCIIBorder()
)

// Frame draws panes and dialogs: lines between two sides, with titles in the edges. A bare one has rules
// and no sides.
type Frame struct {
	lipgloss.Border
	Width int
	Bare  bool
	Paint func(string) string // Draws the border; nil leaves it plain.
	Foot  string              // At the right of the lower edge; a bare frame has none.
}

// Inner returns the cells between the sides.
func (f Frame) Inner() int {
	if f.Bare {
		return max(f.Width, 0)
	}
	return max(f.Width-4, 0)
}

// Top returns the upper edge, with a title at its left and a text at its right.
func (f Frame) Top(title, aside string) string {
	if f.Bare {
		return Fit(title, f.Width-render.Width(aside)-1) + " " + aside
	}
	return f.edge(f.TopLeft, f.TopRight, title, aside)
}

// Rule returns a line from side to side, with titles as Top has them.
func (f Frame) Rule(title, aside string) string {
	if f.Bare {
		return f.edge("", "", title, aside)
	}
	return f.edge(f.MiddleLeft, f.MiddleRight, title, aside)
}

func (f Frame) edge(left, right, title, aside string) string {
	line, room := f.Border.Top, f.Width-render.Width(left+right)-2 // A line fills both ends.
	fit := func(text string, least int) string {
		if width := min(render.Width(text), room-2); text != "" && width >= least {
			room -= width + 2
			return " " + Fit(text, width) + " "
		}
		return ""
	}
	aside = fit(aside, render.Width(aside))
	title = fit(title, 1)
	return f.paint(left+line) + title + f.paint(strings.Repeat(line, max(room, 0))) + aside + f.paint(line+right)
}

func (f Frame) paint(text string) string {
	if f.Paint == nil {
		return text
	}
	return f.Paint(text)
}

// Line returns a text between the sides.
func (f Frame) Line(text string) string {
	if f.Bare {
		return Fit(text, f.Width)
	}
	return f.paint(f.Left) + " " + Fit(text, f.Inner()) + "\x1b[m " + f.paint(f.Right)
}

// Lines returns texts between the sides.
func (f Frame) Lines(texts ...string) []string {
	lines := make([]string, len(texts))
	for i, text := range texts {
		lines[i] = f.Line(text)
	}
	return lines
}

// Close makes drawn lines exactly height lines, the last of them the lower edge.
func (f Frame) Close(lines []string, height int) []string {
	if f.Bare {
		return Block(lines, f.Width, height)
	}
	lines = lines[:min(len(lines), max(height-1, 0))]
	for len(lines) < height-1 {
		lines = append(lines, f.Line(""))
	}
	return append(lines, f.edge(f.BottomLeft, f.BottomRight, "", f.Foot))
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

// Unjoined returns text without the characters that terminals draw in different widths: joiners, variants, keycaps and
// skin tones. A family becomes its members, and a border after it keeps its place.
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
