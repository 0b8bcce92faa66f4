package widget

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// TextField is an editor of one line, based on the library's. A character is a grapheme, and no key starts a clipboard
// program. The zero value is an empty text; it must not be copied after the first use.
type TextField struct {
	input    *textinput.Model
	cells    cells
	selected bool // All of the text; typing replaces it.
}

func (t *TextField) inner() *textinput.Model {
	if t.input != nil {
		return t.input
	}
	m := textinput.New()
	m.Prompt = ""
	m.SetStyles(textinput.Styles{}) // The cursor is reversed, and does not blink.
	m.KeyMap.Paste.SetEnabled(false)
	_ = m.Focus()
	t.input = &m
	return t.input
}

// Value returns the text.
func (t *TextField) Value() string {
	if t.input == nil {
		return ""
	}
	return t.cells.decode(t.input.Value())
}

// IsEmpty reports whether there is no text.
func (t *TextField) IsEmpty() bool { return t.Value() == "" }

// SetValue replaces the text and puts the cursor at its end.
func (t *TextField) SetValue(text string) {
	if t.input == nil && text == "" {
		return
	}
	m := t.inner()
	t.selected = false
	m.SetValue(t.cells.encode(sanitize(text, false), 0))
	m.CursorEnd()
}

// Select selects all of the text. Typing replaces it, and a key that moves keeps it.
func (t *TextField) Select() { t.selected = !t.IsEmpty() }

// Insert puts typed or pasted text at the cursor, over the selection.
func (t *TextField) Insert(text string) {
	m := t.inner()
	if t.selected {
		t.SetValue("")
	}
	before := ""
	if at := m.Position(); at > 0 {
		before = t.cells.decode(string([]rune(m.Value())[at-1 : at]))
	}
	text, joins := joined(before, sanitize(text, false))
	if joins {
		t.update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	t.update(tea.PasteMsg{Content: t.cells.encode(text, 0)})
}

// Update handles a key or a paste and reports whether the text has changed.
func (t *TextField) Update(msg tea.Msg) bool {
	m := t.inner()
	if text := typed(msg); text != "" {
		t.Insert(text)
		return true
	}
	before, selected := m.Value(), t.selected
	t.selected = false
	if t.update(msg); selected && m.Value() != before { // An erasing key erases the selection.
		t.SetValue("")
	}
	return m.Value() != before
}

func (t *TextField) update(msg tea.Msg) { *t.input, _ = t.input.Update(msg) }

// Line draws the text in width cells, scrolled so that the cursor is in sight, which is
// drawn by mark.
func (t *TextField) Line(width int, mark func(string) string) string {
	if width < 2 {
		return Fit("", width)
	}
	m := t.inner()
	if t.selected {
		return t.cells.selected(m.Value(), width, mark)
	}
	if m.Width() != width-1 { // The cursor may be after the last character.
		m.SetWidth(width - 1)
		m.SetCursor(m.Position())
	}
	before, after, _ := strings.Cut(m.View(), reversed)
	return t.cells.line(before+ansi.Strip(after), width, utf8.RuneCountInString(before), mark)
}

// reversed is the sequence with which the library begins to draw the cursor.
const reversed = "\x1b[7m"
