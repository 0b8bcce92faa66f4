package widget

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Editor is a field for text of one or many lines. It moves and erases by what a
// reader takes for a character. The zero value is an empty editor of one line.
type Editor struct {
	Multiline bool
	clusters  []string // One character each; "\n" ends a line.
	cursor    int
}

// Value is the text.
func (e *Editor) Value() string { return strings.Join(e.clusters, "") }

// IsEmpty reports whether there is no text.
func (e *Editor) IsEmpty() bool { return len(e.clusters) == 0 }

// SetValue replaces the text and puts the cursor at its end.
func (e *Editor) SetValue(text string) {
	e.clusters = split(e.clean(text))
	e.cursor = len(e.clusters)
}

// Insert puts text, typed or pasted, at the cursor.
func (e *Editor) Insert(text string) {
	before := strings.Join(e.clusters[:e.cursor], "") + e.clean(text)
	after := strings.Join(e.clusters[e.cursor:], "")
	// A typed accent may join the character before it, so that all is split anew.
	e.clusters = split(before + after)
	e.cursor = min(len(split(before)), len(e.clusters))
}

// clean keeps control characters out of the text: what was pasted must not be more
// than what is seen.
func (e *Editor) clean(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' && e.Multiline:
			return r
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || r == unicode.ReplacementChar:
			return -1
		default:
			return r
		}
	}, text)
}

func split(text string) []string {
	var clusters []string
	for text != "" {
		cluster, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth) // Its width is not asked for.
		clusters = append(clusters, cluster)
		text = text[len(cluster):]
	}
	return clusters
}

// Key handles an editing key by its name, such as "left"; handled is false for one
// that it does not know, and changed tells whether the text is another one.
func (e *Editor) Key(name string) (handled, changed bool) {
	before := len(e.clusters)
	switch name {
	case "left", "ctrl+b":
		e.cursor = max(e.cursor-1, 0)
	case "right", "ctrl+f":
		e.cursor = min(e.cursor+1, len(e.clusters))
	case "home", "ctrl+a":
		e.cursor = e.lineStart(e.cursor)
	case "end", "ctrl+e":
		e.cursor = e.lineEnd(e.cursor)
	case "up":
		e.vertical(-1)
	case "down":
		e.vertical(1)
	case "ctrl+left", "alt+b":
		e.cursor = e.wordLeft()
	case "ctrl+right", "alt+f":
		e.cursor = e.wordRight()
	case "backspace", "ctrl+h":
		e.erase(e.cursor-1, e.cursor)
	case "delete":
		e.erase(e.cursor, e.cursor+1)
	case "ctrl+w", "alt+backspace":
		e.erase(e.wordLeft(), e.cursor)
	case "ctrl+u":
		e.erase(e.lineStart(e.cursor), e.cursor)
	case "ctrl+k":
		e.erase(e.cursor, e.lineEnd(e.cursor))
	case "enter", "shift+enter", "ctrl+j":
		if !e.Multiline {
			return false, false
		}
		e.Insert("\n")
	default:
		return false, false
	}
	return true, len(e.clusters) != before
}

func (e *Editor) erase(from, to int) {
	from, to = max(from, 0), min(to, len(e.clusters))
	if from >= to {
		return
	}
	e.clusters = append(e.clusters[:from:from], e.clusters[to:]...)
	e.cursor = from
}

func (e *Editor) lineStart(at int) int {
	for at > 0 && e.clusters[at-1] != "\n" {
		at--
	}
	return at
}

func (e *Editor) lineEnd(at int) int {
	for at < len(e.clusters) && e.clusters[at] != "\n" {
		at++
	}
	return at
}

func (e *Editor) vertical(by int) {
	start := e.lineStart(e.cursor)
	column := e.cursor - start
	switch {
	case by < 0 && start > 0:
		above := e.lineStart(start - 1)
		e.cursor = min(above+column, start-1)
	case by > 0 && e.lineEnd(e.cursor) < len(e.clusters):
		below := e.lineEnd(e.cursor) + 1
		e.cursor = min(below+column, e.lineEnd(below))
	}
}

func (e *Editor) wordLeft() int {
	at := e.cursor
	for at > 0 && strings.TrimSpace(e.clusters[at-1]) == "" {
		at--
	}
	for at > 0 && strings.TrimSpace(e.clusters[at-1]) != "" {
		at--
	}
	return at
}

func (e *Editor) wordRight() int {
	at := e.cursor
	for at < len(e.clusters) && strings.TrimSpace(e.clusters[at]) == "" {
		at++
	}
	for at < len(e.clusters) && strings.TrimSpace(e.clusters[at]) != "" {
		at++
	}
	return at
}

// Lines draws the text in width by height cells, scrolled so that the cursor is in
// sight. With focus the cursor is drawn by cursor, which is handed its character. Each
// character passes clean before it is drawn.
func (e *Editor) Lines(width, height int, focus bool, clean, cursor func(string) string) []string {
	if width < 2 || height < 1 {
		return Block(nil, width, height)
	}
	lines := []string{}
	var line strings.Builder
	used, cursorLine := 0, 0
	flush := func() {
		lines = append(lines, line.String())
		line.Reset()
		used = 0
	}
	for i := 0; i <= len(e.clusters); i++ {
		text := " "
		if i < len(e.clusters) && e.clusters[i] != "\n" {
			text = clean(e.clusters[i])
		}
		w := max(Width(text), 1)
		if used+w > width {
			flush()
		}
		here := focus && i == e.cursor
		if here {
			cursorLine = len(lines)
			line.WriteString(cursor(text))
			used += w
		} else if i < len(e.clusters) && e.clusters[i] != "\n" {
			line.WriteString(text)
			used += w
		}
		if i < len(e.clusters) && e.clusters[i] == "\n" {
			flush()
		}
	}
	flush()
	top := 0
	if focus {
		top = max(0, cursorLine-height+1)
	}
	return Block(lines[min(top, len(lines)):], width, height)
}
