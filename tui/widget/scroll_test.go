package widget

import (
	"slices"
	"testing"
)

func TestScroll(t *testing.T) {
	t.Parallel()
	lines := []string{"one", "\x1b[1mtwo\x1b[m", "drei 👨 Männer", "four", "-- five --", "  six", "seven"}
	var s Scroll
	s.Set(lines, 16, 3)
	check := func(what string, below int, want ...string) {
		t.Helper()
		if got := s.Lines(); !slices.Equal(got, want) || s.Below() != below {
			t.Errorf("%s: got %q with %d below, want %q with %d", what, got, s.Below(), want, below)
		}
	}
	check("at the top", 4, lines[:3]...)
	s.By(-1)
	check("above the top", 4, lines[:3]...)
	s.By(2)
	check("two down", 2, lines[2:5]...)
	s.By(100)
	check("below the end", 0, lines[4:]...)
	s.Keep(3, 4)
	check("a line above is kept in sight", 1, lines[3:6]...)
	s.Keep(6, 7)
	check("a line below is kept in sight", 0, lines[4:]...)
	s.Set(lines[:5], 16, 3)
	check("fewer lines", 0, lines[2:5]...)
	s.Set(lines[:2], 16, 5)
	check("more room than lines", 0, lines[0], lines[1], "", "", "")
	s.Set(nil, 16, 2)
	check("nothing", 0, "", "")
	for _, none := range []int{0, -2} {
		s.Set(lines, 16, none)
		check("no room", len(lines), "")
	}
}
