package httpapi

import (
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// TestRates counts requests while a clock goes on by hand: one second's worth at once, and then at the rate.
// Spec gap: R2.
func TestRates(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	a, b := apitype.NewUUID(), apitype.NewUUID()
	for _, test := range []struct {
		perSecond float64
		limit     string
		waits     []time.Duration // Of requests without a pause.
		later     time.Duration   // And then one is taken.
	}{
		{2, "2", []time.Duration{0, 0, 500 * time.Millisecond, 500 * time.Millisecond}, 500 * time.Millisecond},
		{2.5, "2", []time.Duration{0, 0, 400 * time.Millisecond}, 400 * time.Millisecond},
		{0.5, "1", []time.Duration{0, 2 * time.Second}, 2 * time.Second},
	} {
		for pause, isTaken := range map[time.Duration]bool{
			0:              false,
			test.later / 4: false,
			test.later:     true,
			time.Hour:      true,
		} {
			now := clock
			g := newGate(test.perSecond, func() time.Time { return now })
			if g.limit[0] != test.limit {
				t.Errorf("%v: got the limit %s told, want %s", test.perSecond, g.limit, test.limit)
			}
			for i, want := range test.waits {
				if got := g.count(a); got != want {
					t.Errorf("%v: request %d: got %v, want %v", test.perSecond, i, got, want)
				}
			}
			if g.count(b) != 0 {
				t.Errorf("%v: another account waits", test.perSecond)
			}
			now = now.Add(pause)
			if pause == time.Hour { // No more than at the start.
				for i, want := range test.waits {
					if got := g.count(a); got != want {
						t.Errorf("%v: an hour later, request %d: got %v, want %v", test.perSecond, i, got, want)
					}
				}
			} else if got := g.count(a); (got == 0) != isTaken {
				t.Errorf("%v: after %v: got %v, want it taken: %t", test.perSecond, pause, got, isTaken)
			}
		}
	}
	if newGate(0, nil).count(a) != 0 {
		t.Error("a request waits where there is no rate")
	}
}
