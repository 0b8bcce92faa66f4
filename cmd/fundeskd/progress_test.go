package main

import (
	"bytes"
	"testing"
	"time"
)

// TestProgress counts records while a clock goes on by hand.
func TestProgress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		set  progress
		step time.Duration // Between two looks at the clock.
		want string
	}{
		{"ends soon", progress{size: 1 << 20}, time.Second, ""},
		{"file", progress{size: 4 * progressRecords * 10}, 10 * time.Second, "256 records, 26 a second, 25 %, 30s left\n512 records, 26 a second, 50 %, 20s left\n"},
		{"pipe", progress{}, 10 * time.Second, "256 records, 26 a second\n512 records, 26 a second\n"},
		{"terminal", progress{terminal: true}, time.Second, "\r\x1b[K256 records, 256 a second\r\x1b[K512 records, 256 a second\r\x1b[K"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			clock := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
			p := test.set
			p.to, p.now = &out, func() time.Time { return clock }
			p.restart()
			for n := 1; n <= 2*progressRecords; n++ {
				if n%progressRecords == 0 {
					clock = clock.Add(test.step)
				}
				p.add(10)
			}
			p.end()
			if out.String() != test.want {
				t.Errorf("got %q, want %q", out.String(), test.want)
			}
		})
	}
}
