package main

import (
	"fmt"
	"io"
	"time"
)

// progress prints a line now and then while a long command runs. A short command prints none.
type progress struct {
	to   io.Writer
	now  func() time.Time
	size int64 // Of what is read, in bytes. Zero means unknown.

	records int64
	read    int64 // In bytes.
	begun   time.Time
	printed time.Time // When the last line was printed.
}

const (
	progressPause   = 10 * time.Second // Between two lines.
	progressRecords = 256              // Between two readings of the clock.
)

func (p *program) newProgress(size int64) *progress {
	return &progress{to: p.Err, now: p.Now, size: size}
}

// restart counts from zero again.
func (p *progress) restart() {
	p.records, p.read = 0, 0
	p.begun = p.now()
	p.printed = p.begun
}

// add counts one record and the bytes that it was read from.
func (p *progress) add(bytes int) {
	p.records++
	p.read += int64(bytes)
	if p.records%progressRecords != 0 {
		return
	}
	now := p.now()
	if now.Sub(p.printed) < progressPause {
		return
	}
	p.printed = now
	fmt.Fprintln(p.to, p.line(now))
}

// line returns the records so far, their rate and, if the size is known, the share and the time left.
func (p *progress) line(now time.Time) string {
	took := now.Sub(p.begun)
	line := fmt.Sprintf("%s, %.0f a second", count(int(p.records), "record"), float64(p.records)/took.Seconds())
	if p.size == 0 || p.read == 0 {
		return line
	}
	share := float64(p.read) / float64(p.size)
	left := time.Duration(float64(took) * (1 - share) / share).Round(time.Second)
	return line + fmt.Sprintf(", %.0f %%, %v left", 100*share, max(left, 0))
}
