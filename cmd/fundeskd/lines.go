package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"fundesk/service"
)

// maxLine is the longest line of a load, in bytes: a signature file may be in it.
const maxLine = 64 << 20

// readLines hands the records of NDJSON to add in their order, with the size of the line; an error of a line
// names it. Empty lines are passed over. A goroutine reads: a pipe may be silent when the context ends. After
// an error the reading of a file is waited for, so that it can be read again.
func readLines(ctx context.Context, from io.Reader, file bool, add func(record service.LoadRecord, bytes int) error) (err error) {
	lines, stop, ended := make(chan []byte, 64), make(chan struct{}), make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(from)
		scanner.Buffer(make([]byte, 0, 64<<10), maxLine)
		defer func() { ended <- scanner.Err() }()
		defer close(lines)
		for scanner.Scan() {
			select {
			case lines <- bytes.Clone(scanner.Bytes()):
			case <-stop:
				return
			}
		}
	}()
	defer func() {
		close(stop)
		if file && err != nil {
			for range lines { // Until it is closed.
			}
		}
	}()
	for n := 1; ; n++ {
		select {
		case line, more := <-lines:
			if !more {
				return atLine(n, <-ended)
			}
			if err := addLine(n, line, add); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// addLine hands the record of a line on, if it has one.
func addLine(n int, line []byte, add func(record service.LoadRecord, bytes int) error) error {
	text := bytes.TrimSpace(line)
	if len(text) == 0 {
		return nil
	}
	record, err := service.DecodeLoadRecord(text)
	if err != nil {
		return atLine(n, err)
	}
	record.Line = n // The service says it of a record that it refuses.
	return add(record, len(line)+1)
}

func atLine(n int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", n, err)
}
