package widget

// Scroll is a window on lines. The zero value is at the top.
type Scroll struct {
	lines       []string
	top, height int
}

// By goes down by lines, or up, as far as the lines that were shown last.
func (s *Scroll) By(lines int) { s.to(s.top + lines) }

// Top returns the first line in sight.
func (s *Scroll) Top() int { return s.top }

// Set sets the lines and the room for them.
func (s *Scroll) Set(lines []string, height int) {
	s.lines, s.height = lines, max(height, 0)
	s.By(0)
}

// Keep goes as far as is needed to have the lines from first to before last in sight.
func (s *Scroll) Keep(first, last int) { s.to(max(min(s.top, first), last-s.height)) }

func (s *Scroll) to(line int) { s.top = max(0, min(line, len(s.lines)-s.height)) }

// Below returns how many lines are below those in sight.
func (s *Scroll) Below() int { return max(len(s.lines)-s.top-s.height, 0) }

// Lines returns the lines in sight, and blank ones for the rest of the room.
func (s *Scroll) Lines() []string {
	lines := make([]string, s.height)
	copy(lines, s.lines[s.top:])
	return lines
}
