package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fundesk/apiclient/apitype"
)

// What would wait longer than 2 s is refused after a quarter of a second, and neither it nor
// a caller who went away holds up what comes next. The answer to a change is sent in any case.
func TestLongPauseIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, agents, greedy := newPacer(), apitype.NewUUID(), apitype.NewUUID()
		pay := func(ctx context.Context, weight int64, must bool) (took time.Duration, err error) {
			begun := time.Now()
			err = p.pay(ctx, greedy, weight, must)
			return time.Since(begun), err
		}
		p.atWork(agents)
		if took, err := pay(t.Context(), 72<<20, false); took != 0 || err != nil { // Two seconds and a quarter.
			t.Errorf("got %v after %v, want no pause", err, took)
		}
		if took, err := pay(t.Context(), 1<<20, false); took != 250*time.Millisecond || !errors.Is(err, errFlight) {
			t.Errorf("got %v after %v, want a refusal after 250ms", err, took)
		}
		left, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if took, err := pay(left, 32<<20, false); took != time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v after %v, want the end of the context after 1s", err, took)
		}
		if took, err := pay(t.Context(), 1<<20, false); took != time.Second || err != nil {
			t.Errorf("got %v after %v, want a pause of 1s: what is left of the first", err, took)
		}
		if took, err := pay(left, 128<<20, true); took != 0 || err != nil {
			t.Errorf("got %v after %v, want no refusal for a caller who left", err, took)
		}
		p.atWork(agents)
		if took, err := pay(t.Context(), 1<<20, true); took != 2*time.Second || err != nil {
			t.Errorf("got %v after %v, want what must be sent to be sent after 2s", err, took)
		}
	})
}

// What is heavy, from 64 KiB on, takes its time of 32 MiB a second, while another account was at work
// within 5 s; what is not takes none. Spec gap: S32.
func TestPaceOfHeavyRequests(t *testing.T) {
	t.Parallel()
	const heavy, light = 64 << 10, 64<<10 - 1
	tests := []struct {
		name   string
		paid   []int64 // And then 1 MiB waits.
		own    bool    // Whether the account itself was at work last.
		pauses time.Duration
		after  time.Duration
	}{
		{name: "heavy", paid: []int64{heavy}, pauses: time.Second / 512},
		{name: "light", paid: []int64{light}},
		{name: "two", paid: []int64{heavy, 2 * heavy}, pauses: 3 * time.Second / 512},
		{name: "paid for already", paid: []int64{heavy}, after: time.Second / 512},
		{name: "at work 5 s ago", paid: []int64{256 << 20}, after: 5 * time.Second},
		{name: "at work just before", paid: []int64{192 << 20}, after: 5*time.Second - time.Millisecond, pauses: time.Second + time.Millisecond},
		{name: "the own work", paid: []int64{heavy}, own: true, pauses: time.Second / 512},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, own, other := newPacer(), apitype.NewUUID(), apitype.NewUUID()
				p.atWork(other)
				if test.own {
					p.atWork(own)
				}
				now := time.Now()
				for _, weight := range test.paid {
					if weight >= heavyFrom {
						p.charge(own, weight, now)
					} else if err := p.pay(t.Context(), own, weight, false); err != nil {
						t.Fatal(err)
					}
				}
				if pause := p.charge(own, 1<<20, now.Add(test.after)); max(pause, 0) != test.pauses {
					t.Errorf("got a pause of %v, want %v", pause, test.pauses)
				}
			})
		})
	}
}
