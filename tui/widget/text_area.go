package widget

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// TextArea is an editor of many lines, based on the library's: it wraps at words, moves by rows, pages and words, and
// selects with shift. A character is a grapheme, and no key starts a clipboard program. The zero value is an empty
// text; it must not be copied after the first use.
type TextArea struct {
	area  *textarea.Model
	cells cells
}

// The library drops text beyond this number of lines. It caches the wrapped rows of areaCache lines.
const (
	areaLines = 10_000
	areaCache = 256
)

// inner returns the library's model, made when it is first needed: it is a large one.
func (t *TextArea) inner() *textarea.Model {
	if t.area != nil {
		return t.area
	}
	m := textarea.New()
	m.Prompt, m.ShowLineNumbers, m.MaxWidth = "", false, 0
	m.SetStyles(textarea.Styles{Focused: textarea.StyleState{Selection: lipgloss.NewStyle().Reverse(true)}})
	m.SetVirtualCursor(false)
	m.KeyMap.InsertNewline.SetKeys("enter", "shift+enter", "ctrl+j")
	m.KeyMap.Paste.SetEnabled(false)
	m.KeyMap.CopySelection.SetEnabled(false)
	_ = m.Focus() // The page decides about the focus; the cursor does not blink.
	m.MaxHeight = areaCache
	m, _ = m.Update(nil) // This sizes the cache, independently of the height.
	m.MaxHeight = 0
	t.area = &m
	return t.area
}

// Value returns the text.
func (t *TextArea) Value() string {
	if t.area == nil {
		return ""
	}
	return t.cells.decode(t.area.Value())
}

// SetValue replaces the text and puts the cursor at its end.
func (t *TextArea) SetValue(text string) {
	if t.area == nil && text == "" {
		return
	}
	t.inner().Reset()
	t.Insert(text)
}

// Insert puts typed or pasted text at the cursor, over the selection.
func (t *TextArea) Insert(text string) {
	m := t.inner()
	m.DeleteSelection()
	text, joins := joined(t.before(), sanitize(text, true))
	if joins {
		t.update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	}
	m.InsertString(t.cells.encode(text, areaLines-m.LineCount()))
	t.update(nil)
}

// before returns the character before the cursor on its line, or "" at the beginning of the line.
func (t *TextArea) before() string {
	m := t.area
	if m.Column() == 0 {
		return ""
	}
	lines := strings.Split(m.Value(), "\n")
	return t.cells.decode(string([]rune(lines[m.Line()])[m.Column()-1 : m.Column()]))
}

// Update handles a key or a paste and reports whether the text has changed.
func (t *TextArea) Update(msg tea.Msg) (bool, tea.Cmd) {
	if text := typed(msg); text != "" {
		t.Insert(text)
		return true, nil
	}
	press, isKey := msg.(tea.KeyPressMsg)
	if !isKey {
		return false, nil
	}
	return t.press(press)
}

func (t *TextArea) press(msg tea.KeyPressMsg) (bool, tea.Cmd) {
	m := t.inner()
	if copies := textarea.DefaultKeyMap().CopySelection; key.Matches(msg, copies) && m.HasSelection() {
		return false, tea.SetClipboard(t.cells.decode(m.SelectedText()))
	}
	before := m.Value()
	if key.Matches(msg, m.KeyMap.DeleteCharacterForward) && !m.HasSelection() {
		// The library takes the end of the line along with its last character.
		line, column := m.Line(), m.Column()
		t.update(tea.KeyPressMsg{Code: tea.KeyRight})
		if m.Line() == line && m.Column() == column {
			return false, nil
		}
		msg = tea.KeyPressMsg{Code: tea.KeyBackspace}
	}
	t.update(msg)
	return m.Value() != before, nil
}

func (t *TextArea) update(msg tea.Msg) { *t.area, _ = t.area.Update(msg) }

// Lines draws the text in width by height cells, scrolled so that the cursor is in
// sight. With focus the cursor is drawn by mark, which is handed its character.
func (t *TextArea) Lines(width, height int, focus bool, mark func(string) string) []string {
	isEmpty := t.area == nil && !focus
	if width < 2 || height < 1 || isEmpty {
		return Block(nil, width, height)
	}
	m := t.inner()
	if m.Width() != width || m.Height() != height {
		m.SetWidth(width)
		m.SetHeight(height)
		t.update(nil) // The cursor stays in sight.
	}
	row := -1
	if at := m.Cursor(); focus && !m.HasSelection() && at != nil {
		row = at.Y
	}
	lines := strings.Split(m.View(), "\n")
	for i, line := range lines {
		cursor := -1
		if i == row {
			cursor = m.LineInfo().ColumnOffset
		}
		lines[i] = t.cells.line(line, width, cursor, mark)
	}
	return Block(lines, width, height)
}
