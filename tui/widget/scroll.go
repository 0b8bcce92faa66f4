package widget

import (
	"strings"

	"charm.land/bubbles/v2/viewport"
)

// Scroll is a window on lines, based on the library's viewport. Its keys and its mouse are not used: callers scroll by
// a number of lines. The zero value is at the top.
type Scroll struct{ view viewport.Model }

// By goes down by lines, or up, as far as the lines that were shown last.
func (s *Scroll) By(lines int) { s.view.SetYOffset(s.view.YOffset() + lines) }

// Top returns the first line in sight.
func (s *Scroll) Top() int { return s.view.YOffset() }

// Set sets the lines and the room for them. Lines are wrapped already.
func (s *Scroll) Set(lines []string, width, height int) {
	s.view.SetWidth(width)
	s.view.SetHeight(max(height, 0))
	s.view.SetContentLines(lines)
	s.By(0)
}

// Keep goes as far as is needed to have the lines from first to before last in sight.
func (s *Scroll) Keep(first, last int) {
	s.view.SetYOffset(max(min(s.Top(), first), last-s.view.Height()))
}

// Below returns how many lines are below those in sight.
func (s *Scroll) Below() int {
	return max(s.view.TotalLineCount()-s.Top()-s.view.Height(), 0)
}

// Lines returns the lines in sight. What the library filled them up with goes: it counts the cells of
// a character of several code points otherwise than terminals do.
func (s *Scroll) Lines() []string {
	lines := strings.Split(s.view.View(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}
