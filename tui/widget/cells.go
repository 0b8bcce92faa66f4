package widget

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/rivo/uniseg"

	"fundesk/render"
)

// cells translates between a text and the library's editors, which move and erase by code points and count cells in
// their own way. A character of several code points, or one that is drawn differently, is interned: the editor holds
// one code point of the same width for it. The zero value is ready.
type cells struct {
	texts []internedText
	index map[string]rune
}

// internedText is a character that an editor holds under a code point of ours.
type internedText struct {
	text  string // What was typed.
	drawn string // One or two cells.
}

// The code points of interned characters. Text that contains one of them has it interned like any other. The editors
// count one cell for the first range and two for the second.
const (
	firstNarrow = '\U00100000'
	firstWide   = '\U00033480' // Unassigned, and wide like its whole plane.
	mostCells   = 0xc000       // In each range.
)

// lineSign is drawn for a line end that is more than the editor takes.
const lineSign = "↵"

func isInterned(r rune) bool {
	return r >= firstNarrow && r < firstNarrow+mostCells || r >= firstWide && r < firstWide+mostCells
}

// encode returns text as an editor holds it. Of its line ends only the first lines are kept
// as such; those after them are characters.
func (c *cells) encode(text string, lines int) string {
	if render.IsPlain(text) {
		return text
	}
	var b strings.Builder
	for cluster := range clusters(text) {
		switch {
		case cluster == "\n" && lines > 0:
			lines--
			b.WriteString(cluster)
		case cluster == "\n":
			b.WriteRune(c.intern(cluster, lineSign))
		default:
			drawn := draw(cluster)
			runes := []rune(cluster)
			isItself := len(runes) == 1 && drawn == cluster && !isInterned(runes[0])
			if isItself && uniseg.StringWidth(cluster) == render.Width(cluster) {
				b.WriteString(cluster)
				continue
			}
			b.WriteRune(c.intern(cluster, drawn))
		}
	}
	return b.String()
}

// draw returns a character as a terminal shows it, in one or two cells.
func draw(cluster string) string {
	text := render.Clean(Unjoined(cluster))
	w := render.Width(text)
	if w == 0 {
		return " "
	}
	if w > 2 {
		return render.Method(text).Truncate(text, 2, "")
	}
	return text
}

func (c *cells) intern(text, drawn string) rune {
	if r, known := c.index[text]; known {
		return r
	}
	if len(c.texts) == mostCells { // More than any text has, so that nothing is left out.
		return unicode.ReplacementChar
	}
	first := rune(firstNarrow)
	if render.Width(drawn) == 2 {
		first = firstWide
	}
	r := first + rune(len(c.texts))
	c.texts = append(c.texts, internedText{text, drawn})
	if c.index == nil {
		c.index = map[string]rune{}
	}
	c.index[text] = r
	return r
}

// of returns the interned character of a code point, if it is one.
func (c *cells) of(r rune) (internedText, bool) {
	if r >= firstNarrow && int(r-firstNarrow) < len(c.texts) {
		return c.texts[r-firstNarrow], true
	}
	if r >= firstWide && r < firstNarrow && int(r-firstWide) < len(c.texts) {
		return c.texts[r-firstWide], true
	}
	return internedText{}, false
}

// decode returns the typed text for the content of an editor.
func (c *cells) decode(held string) string {
	if len(c.texts) == 0 {
		return held
	}
	var b strings.Builder
	for _, r := range held {
		if cell, interned := c.of(r); interned {
			b.WriteString(cell.text)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// line draws a line of an editor in width cells. mark draws the character at index cursor. A negative cursor draws
// none.
func (c *cells) line(held string, width, cursor int, mark func(string) string) string {
	if cursor < 0 && len(c.texts) == 0 {
		return Fit(held, width)
	}
	var b strings.Builder
	at, styled := 0, false
	for _, r := range held {
		if styled || r == '\x1b' { // The library styles the selection.
			styled = r != 'm'
			b.WriteRune(r)
			continue
		}
		text := string(r)
		if cell, interned := c.of(r); interned {
			text = cell.drawn
		}
		if at == cursor {
			text = mark(text)
		}
		b.WriteString(text)
		at++
	}
	if cursor >= at {
		b.WriteString(mark(" "))
	}
	return Fit(b.String(), width)
}

// selected draws a line that is selected as a whole.
func (c *cells) selected(held string, width int, mark func(string) string) string {
	return Fit(mark(strings.TrimRight(c.line(held, width, -1, nil), " ")), width)
}

// joined returns typed with the character before it, if both form one: a typed accent may join the letter before it.
func joined(before, typed string) (string, bool) {
	if before == "" || typed == "" || render.IsPlain(typed) {
		return typed, false
	}
	if first, _ := ansi.FirstGraphemeCluster(before+typed, ansi.GraphemeWidth); len(first) > len(before) {
		return before + typed, true
	}
	return typed, false
}

// typed returns the text of a key or a paste, or "" for a key without text.
func typed(msg tea.Msg) string {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return msg.Text
	case tea.PasteMsg:
		return msg.Content
	default:
		return ""
	}
}

// clusters returns the characters of text, as a reader counts them.
func clusters(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for text != "" {
			cluster, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth) // Its width is not asked for.
			if !yield(cluster) {
				return
			}
			text = text[len(cluster):]
		}
	}
}

// sanitize removes control characters from a text, so that pasted text contains only what is visible. lines allows
// several lines.
func sanitize(text string, lines bool) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r == '\n' && lines {
			return r
		}
		if r == '\n' || r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text)
}
