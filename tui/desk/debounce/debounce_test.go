package debounce

import (
	"testing"
	"time"
)

// A key that ends a call does nothing until the call was visible for 0.6 s, and until the same key
// has rested for a second: a key that is held down ends one call, also on a line that stalls.
func TestKeysMeantForTheCallBefore(t *testing.T) {
	t.Parallel()
	type press struct {
		after           time.Duration // Since the call came on screen.
		key             string
		isRepeat, isEnd bool
		ignored         bool
	}
	for _, test := range []struct {
		name    string
		presses []press
	}{
		{"too soon", []press{{599 * time.Millisecond, "1", false, true, true}}},
		{"soon enough", []press{{600 * time.Millisecond, "1", false, true, false}}},
		{
			name: "again, after it was ignored",
			presses: []press{
				{100 * time.Millisecond, "1", false, true, true},
				{1099 * time.Millisecond, "1", false, true, true},
				{2099 * time.Millisecond, "1", false, true, false},
			},
		},
		{
			name: "after a key for this call",
			presses: []press{
				{50 * time.Millisecond, "down", false, false, false},
				{599 * time.Millisecond, "1", false, true, true},
			},
		},
		{
			name: "after the same key as text",
			presses: []press{
				{600 * time.Millisecond, "1", false, false, false},
				{1500 * time.Millisecond, "1", false, true, true},
			},
		},
		{
			name: "in one piece",
			presses: []press{
				{time.Second, "1", false, true, false},
				{time.Second, "1", false, true, true},
				{time.Second, "1", false, true, true},
			},
		},
		{"held down, as the terminal tells", []press{{time.Second, "1", true, true, true}}},
		{
			name: "held down, as its speed tells",
			presses: []press{
				{time.Second, "1", false, true, false},
				{1999 * time.Millisecond, "1", false, true, true},
				{2999 * time.Millisecond, "1", false, true, false},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var g Keys
			shown := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
			g.Show(shown)
			for _, p := range test.presses {
				if got := g.Press(p.key, p.isRepeat, p.isEnd, shown.Add(p.after)); got != p.ignored {
					t.Errorf("%s after %v: got ignored %v, want %v", p.key, p.after, got, p.ignored)
				}
			}
		})
	}
}
