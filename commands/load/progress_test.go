package load

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/creack/pty"

	"fundesk/commands/cli"
)

// Off a terminal progress is a line in ten seconds, with the rate so far and the time that is
// left at it.
func TestProgressOffATerminal(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := newProgress(cli.NewSession(cli.App{Err: &errs, Now: func() time.Time { return now }}, nil), 100, nil)
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

// On a terminal progress is one line that is written over, and gone at the end.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	for accessible, want := range map[string]string{
		"":  "\r\x1b[K2 of 4, 1 a second, 2s left\r\x1b[K3 of 4, 2 a second, 1s left\r\x1b[K",
		"1": "2 of 4, 1 a second, 2s left\r\n",
	} {
		master, terminal, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer master.Close()
		all := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(master) // Ends with an error, when the terminal is closed.
			all <- string(text)
		}()
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		p := newProgress(
			cli.NewSession(
				cli.App{Err: terminal, Now: func() time.Time {
					return now
				}, Getenv: func(string) string { return accessible }},
				nil,
			),
			4,
			nil,
		)
		for _, later := range []time.Duration{
			999 * time.Millisecond,
			501 * time.Millisecond,
			200 * time.Millisecond,
			199 * time.Millisecond,
		} {
			now = now.Add(later)
			p.step()
		}
		p.end()
		terminal.Close()
		if got := <-all; got != want {
			t.Errorf("%q: got %q, want %q", accessible, got, want)
		}
	}
}

// Without a known total, no message claims how much is left.
func TestProgressOfAnUnknownLength(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := newProgress(cli.NewSession(cli.App{Err: &errs, Now: func() time.Time { return now }}, nil), 0, nil)
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
