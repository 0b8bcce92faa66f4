package widget

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/render"
)

// All that the interface draws by itself is counted without the large tables.
func TestScreensNeedNoTables(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join("..", "testdata", "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("screens: got %v %v, want some", paths, err)
	}
	for _, path := range paths {
		screen, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.ReplaceAll(string(screen), "世界", "")) { // A name.
			if render.Method(line) != ansi.GraphemeWidth {
				t.Errorf("%s: %q needs the tables", path, line)
			}
		}
	}
}

func TestScroll(t *testing.T) {
	t.Parallel()
	lines := []string{"one", "\x1b[1mtwo\x1b[m", "drei 👨 Männer", "four", "-- five --", "  six", "seven"}
	var s Scroll
	s.Set(lines, 3)
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
	s.Set(lines[:5], 3)
	check("fewer lines", 0, lines[2:5]...)
	s.Set(lines[:2], 5)
	check("more room than lines", 0, lines[0], lines[1], "", "", "")
	s.Set(nil, 2)
	check("nothing", 0, "", "")
	for _, none := range []int{0, -2} {
		s.Set(lines, none)
		check("no room", len(lines))
	}
}

// A spinner turns for what is late, and stops with it: then nothing is to be drawn.
func TestSpinnerTurnsWhileSomethingIsLate(t *testing.T) {
	t.Parallel()
	s := NewSpinner(true)
	s.After = time.Nanosecond
	if cmd := s.Follow(nil, false); cmd != nil || s.Sign() != "…" {
		t.Fatalf("nothing is waited for: got %q and a command %v, want dots", s.Sign(), cmd != nil)
	}
	first := s.Follow(nil, true)
	if again := s.Follow(nil, true); first == nil || again != nil {
		t.Fatal("a wait has one timer")
	}
	s.Follow(nil, false)
	early := first()
	if cmd := s.Follow(early, false); cmd != nil || s.Sign() != "…" {
		t.Errorf("it came in time: got %q, want dots", s.Sign())
	}
	second := s.Follow(nil, true)
	if cmd := s.Follow(early, true); cmd != nil {
		t.Error("the timer of an earlier wait started the spinner")
	}
	tick := s.Follow(second(), true)
	if tick == nil || s.Sign() != " |" {
		t.Fatalf("late: got %q, want the first sign", s.Sign())
	}
	if next := s.Follow(tick(), true); next == nil || s.Sign() != " /" {
		t.Errorf("later: got %q, want the second sign", s.Sign())
	}
	if next := s.Follow(spinner.TickMsg{}, false); next != nil || s.Sign() != "…" {
		t.Errorf("it came: got %q and a command %v, want dots and none", s.Sign(), next != nil)
	}
	var none Spinner
	if cmd := none.Follow(tea.FocusMsg{}, true); cmd != nil || none.Sign() != "…" {
		t.Error("the zero value turns")
	}
}

func TestBar(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		done, all int
		want      string
	}{{0, 4, "........"}, {1, 4, "##......"}, {4, 4, "########"}, {0, 0, "........"}} {
		if got := Bar(test.done, test.all, 8, true); got != test.want {
			t.Errorf("%d of %d: got %q, want %q", test.done, test.all, got, test.want)
		}
	}
	if got := Bar(1, 2, 4, false); got != "██░░" {
		t.Errorf("got %q, want half a bar", got)
	}
}

// A list of items without room for all has whole ones, and a sign for the others.
func TestWholeItems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		width int
		want  string
	}{
		{40, "confirmed 12, corrected 6, never 1"},
		{33, "confirmed 12, corrected 6, …"},
		{27, "confirmed 12, …"},
		{8, "confirmed 12, corrected 6, never 1"}, // The table cuts it.
	} {
		if got := wholeItems("confirmed 12, corrected 6, never 1", test.width); got != test.want {
			t.Errorf("%d: got %q, want %q", test.width, got, test.want)
		}
	}
}
