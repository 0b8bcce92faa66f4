package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"fundesk/service"
)

// maxLine is the longest line of a load, in bytes: a signature file may be in it.
const maxLine = 64 << 20

// How many lines are decoded by one goroutine at a time: few enough to wait for, and no
// more than so many bytes, but for a single line.
const (
	chunkLines = 256
	chunkBytes = 1 << 20
)

// chunk is a part of NDJSON that is decoded by itself.
type chunk struct {
	lines   [][]byte
	numbers []int // Of the lines.
	records []service.LoadRecord
	err     error         // Of what follows the records.
	decoded chan struct{} // Closed when it is.
}

// readLines hands the records of NDJSON to add in their order, with the size of the line;
// an error of a line names it. Empty lines are passed over. Decoding costs more than
// saving: it is done by several goroutines, some lines ahead. After an error the reading of
// a file is waited for, so that it can be read again; a pipe may be silent for ever.
func readLines(ctx context.Context, from io.Reader, file bool, add func(record service.LoadRecord, bytes int) error) error {
	workers := runtime.GOMAXPROCS(0)
	work, inOrder := make(chan *chunk), make(chan *chunk, 2*workers)
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		defer close(work)
		defer close(inOrder)
		split(from, func(c *chunk) bool {
			select {
			case inOrder <- c:
			case <-stop:
				return false
			}
			select {
			case work <- c:
				return true
			case <-stop:
				return false
			}
		})
	})
	for range workers {
		running.Go(func() {
			for c := range work {
				c.decode()
			}
		})
	}
	defer func() {
		close(stop)
		if file {
			running.Wait()
		}
	}()
	for {
		select {
		case c, more := <-inOrder:
			if !more {
				return nil
			}
			if err := c.hand(add); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hand hands over the records of a chunk when they are decoded.
func (c *chunk) hand(add func(record service.LoadRecord, bytes int) error) error {
	<-c.decoded
	for i, record := range c.records {
		if err := add(record, len(c.lines[i])+1); err != nil {
			return err
		}
	}
	return c.err
}

// split reads lines and emits them in chunks until emit is false.
func split(from io.Reader, emit func(*chunk) bool) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	next, size := newChunk(), 0
	for n := 1; ; n++ {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				next.err = fmt.Errorf("line %d: %w", n, err)
			}
			emit(next)
			return
		}
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		next.lines, next.numbers = append(next.lines, bytes.Clone(line)), append(next.numbers, n)
		if size += len(line); len(next.lines) < chunkLines && size < chunkBytes {
			continue
		}
		if !emit(next) {
			return
		}
		next, size = newChunk(), 0
	}
}

func newChunk() *chunk { return &chunk{decoded: make(chan struct{})} }

// decode decodes the lines up to the first bad one.
func (c *chunk) decode() {
	defer close(c.decoded)
	c.records = make([]service.LoadRecord, 0, len(c.lines))
	for i, line := range c.lines {
		record, err := service.DecodeLoadRecord(line)
		if err != nil {
			c.err = fmt.Errorf("line %d: %w", c.numbers[i], err)
			return
		}
		record.Line = c.numbers[i] // The service says it of a record that it refuses.
		c.records = append(c.records, record)
	}
}
