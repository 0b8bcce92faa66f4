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
// a caller who went away holds up what comes next.
func TestLongPauseIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, agents, greedy := newPacer(), apitype.NewUUID(), apitype.NewUUID()
		wait := func(ctx context.Context, body int64) (took time.Duration, err error) {
			begun := time.Now()
			_, err = p.wait(ctx, greedy, "POST /x", body)
			return time.Since(begun), err
		}
		p.answered(agents, "GET /y", 0, 0, 100)
		if took, err := wait(t.Context(), 72<<20); took != 0 || err != nil { // Two seconds and a quarter.
			t.Errorf("got %v after %v, want no pause", err, took)
		}
		if took, err := wait(t.Context(), 1<<20); took != 250*time.Millisecond || !errors.Is(err, errFlight) {
			t.Errorf("got %v after %v, want a refusal after 250ms", err, took)
		}
		gone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if took, err := wait(gone, 32<<20); took != time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v after %v, want the end of the context after 1s", err, took)
		}
		if took, err := wait(t.Context(), 1<<20); took != time.Second || err != nil {
			t.Errorf("got %v after %v, want a pause of 1s: what is left of the first", err, took)
		}
	})
}

// A route of which an answer was heavy is expected to be heavy for 10 s. Spec gap: S32.
func TestHeavyAnswerIsExpectedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, agents, greedy := newPacer(), apitype.NewUUID(), apitype.NewUUID()
		p.answered(greedy, "GET /x", 0, 0, 1<<20)
		for after, want := range map[time.Duration]int64{10*time.Second - time.Millisecond: 1 << 20, 10 * time.Second: 0} {
			now := time.Now().Add(after)
			p.mu.Lock()
			p.atWork(agents, now)
			p.mu.Unlock()
			if got, _ := p.reserve(greedy, "GET /x", 0, now); got != want {
				t.Errorf("after %v: got %d bytes reckoned with, want %d", after, got, want)
			}
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
		do     func(p *pacer, own, other apitype.UUID) // And then a request with 1 MiB waits.
		pauses time.Duration
		after  time.Duration
	}{
		{name: "a body before", do: func(p *pacer, own, _ apitype.UUID) { p.answered(own, "POST /x", 0, heavy, 0) }, pauses: time.Second / 512},
		{name: "a light body", do: func(p *pacer, own, _ apitype.UUID) { p.answered(own, "POST /x", 0, light, 0) }},
		{name: "an answer", do: func(p *pacer, own, _ apitype.UUID) { p.answered(own, "GET /y", 0, 0, heavy) }, pauses: time.Second / 512},
		{name: "a light answer", do: func(p *pacer, own, _ apitype.UUID) { p.answered(own, "GET /y", 0, 0, light) }},
		{name: "body and answer", do: func(p *pacer, own, _ apitype.UUID) { p.answered(own, "GET /y", 0, heavy, heavy) }, pauses: time.Second / 256},
		{name: "more than was reckoned with", do: func(p *pacer, own, _ apitype.UUID) { p.answered(own, "GET /y", heavy, 0, 3*heavy) }, pauses: time.Second / 256},
		{name: "what was over already", do: func(p *pacer, own, _ apitype.UUID) { p.answered(own, "GET /y", 0, 0, heavy) }, after: time.Second / 512},
		{name: "who was at work 5 s ago", do: func(p *pacer, own, _ apitype.UUID) { p.answered(own, "GET /y", 0, 0, 256<<20) }, after: 5 * time.Second},
		{name: "who was at work just before", do: func(p *pacer, own, _ apitype.UUID) { p.answered(own, "GET /y", 0, 0, 192<<20) }, after: 5*time.Second - time.Millisecond, pauses: time.Second + time.Millisecond},
		{name: "the own work", do: func(p *pacer, own, other apitype.UUID) {
			p.answered(own, "GET /y", 0, 0, light)
			p.answered(own, "GET /y", 0, 0, heavy)
		}, pauses: time.Second / 512},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, own, other := newPacer(), apitype.NewUUID(), apitype.NewUUID()
				p.answered(other, "GET /z", 0, 0, 1)
				test.do(p, own, other)
				if _, pause := p.reserve(own, "POST /x", 1<<20, time.Now().Add(test.after)); max(pause, 0) != test.pauses {
					t.Errorf("got a pause of %v, want %v", pause, test.pauses)
				}
			})
		})
	}
}
