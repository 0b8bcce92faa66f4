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
