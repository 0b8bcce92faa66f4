package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progress tells on stderr how far a long command is: on a terminal one line that
// changes, elsewhere a line now and then. What ends soon says nothing.
type progress struct {
	to       io.Writer
	now      func() time.Time
	terminal bool
	size     int64 // In bytes; 0: unknown.

	records, read int64
	start, said   time.Time
	share         float64 // Done, of 1; 0: unknown.
	shown         bool
}

const (
	progressTerminal = 500 * time.Millisecond
	progressPlain    = 10 * time.Second
	progressRecords  = 256 // Between two looks at the clock.
)

func (p *program) newProgress() *progress {
	return &progress{to: p.Err, now: p.Now, terminal: isTerminal(p.Err)}
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (p *progress) restart() (end func()) {
	p.records, p.read, p.share = 0, 0, 0
	p.start = p.now()
	p.said = p.start
	return p.end
}

// add counts a record and the bytes that it was read from.
func (p *progress) add(bytes int) {
	p.records++
	p.read += int64(bytes)
	if p.records%progressRecords != 0 {
		return
	}
	now := p.now()
	every := progressPlain
	if p.terminal {
		every = progressTerminal
	}
	if now.Sub(p.said) < every {
		return
	}
	p.said = now
	if p.size > 0 {
		p.share = float64(p.read) / float64(p.size)
	}
	p.say(now)
}

// part says how much is done where no size is known.
func (p *progress) part(done, of int) { p.share = float64(done) / float64(of) }

func (p *progress) say(now time.Time) {
	took := now.Sub(p.start)
	line := fmt.Sprintf("%s, %.0f a second", count(int(p.records), "record"), float64(p.records)/took.Seconds())
	if p.share > 0 {
		left := time.Duration(float64(took) * (1 - p.share) / p.share).Round(time.Second)
		line += fmt.Sprintf(", %.0f %%, %v left", 100*p.share, max(left, 0))
	}
	if p.terminal {
		fmt.Fprintf(p.to, "\r\x1b[K%s", line)
		p.shown = true
		return
	}
	fmt.Fprintln(p.to, line)
}

func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
