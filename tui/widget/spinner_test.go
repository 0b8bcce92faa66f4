package widget

import (
	"testing"
	"time"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
)

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
