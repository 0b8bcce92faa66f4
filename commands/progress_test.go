package commands

import (
	"bytes"
	"testing"
	"time"
)

// Off a terminal progress is a line in ten seconds, with the rate so far and the time that is
// left at it.
func TestProgressOffATerminal(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := newProgress(newSession(App{Err: &errs, Now: func() time.Time { return now }}, nil), 100)
	for range 25 { // Two a second.
		now = now.Add(500 * time.Millisecond)
		p.step()
	}
	p.end()
	want := "2 of 100, 2 a second, 49s left\n22 of 100, 2 a second, 39s left\n"
	if got := errs.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Where nobody knows how much there is, nothing is said of what is left.
func TestProgressOfAnUnknownLength(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := newProgress(newSession(App{Err: &errs, Now: func() time.Time { return now }}, nil), 0)
	share := 0.0
	p.share = func() float64 { return share }
	for _, share = range []float64{0, 0.5} {
		now = now.Add(10 * time.Second)
		p.step()
	}
	if got, want := errs.String(), "1 read, 0 a second\n2 read, 0 a second, 20s left\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
