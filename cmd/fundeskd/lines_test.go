package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestReadLines reads lines in order, and ends at an error wherever it is.
func TestReadLines(t *testing.T) {
	t.Parallel()
	const n = 775
	line := func(i int) string {
		return fmt.Sprintf(`{"kind":"user","data":{"uuid":"6f1f0a6e-7d0d-4f0c-9a55-%012d","identifier":"","name":""}}`,
			i)
	}
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line(i)
	}
	refused := errors.New("refused")
	tests := []struct {
		name   string
		change func(lines []string)
		stop   int // The record that add refuses.
		want   int // Records that are handed over.
		err    string
	}{
		{"all", func([]string) {}, -1, n, ""},
		{"empty lines", func(l []string) { l[5], l[300] = "", "  " }, -1, n - 2, ""},
		{"a bad line", func(l []string) { l[400] = "{" }, -1, 400, "line 401: "},
		{"two bad lines", func(l []string) { l[700], l[300] = "{", "{" }, -1, 300, "line 301: "},
		{"refused", func([]string) {}, 270, 271, "refused"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			mine := append([]string{}, lines...)
			test.change(mine)
			got, last := 0, 0
			err := readLines(t.Context(), strings.NewReader(
				strings.Join(mine, "\n"),
			), true, func(record service.LoadRecord, _ int) error {
				if record.Line <= last {
					t.Errorf("got line %d after line %d", record.Line, last)
				}
				last = record.Line
				if got++; got == test.stop+1 {
					return refused
				}
				return nil
			})
			if got != test.want ||
				(err == nil) != (test.err == "") ||
				(err != nil && !strings.HasPrefix(err.Error(), test.err)) {
				t.Errorf("got %d records and %v, want %d and %q", got, err, test.want, test.err)
			}
		})
	}
}

// TestReadLinesOfAPipe shows that a bad line is reported while the pipe is still open.
func TestReadLinesOfAPipe(t *testing.T) {
	t.Parallel()
	read, written := io.Pipe()
	go func() { _, _ = io.WriteString(written, strings.Repeat("{\n", 256)) }() // And then nothing.
	err := readLines(t.Context(), read, false, func(service.LoadRecord, int) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
		t.Errorf("got %v", err)
	}
	_ = written.Close()
}

// slowFile gives bad lines, and then takes a while.
type slowFile struct {
	lines  io.Reader
	isRead bool // To its end.
}

func (f *slowFile) Read(p []byte) (int, error) {
	n, err := f.lines.Read(p)
	if err != nil {
		time.Sleep(time.Hour) // By the clock of the bubble.
		f.isRead = true
	}
	return n, err
}

// TestReadLinesOfAFile shows that the file is closed after a bad line: it may be read again.
func TestReadLinesOfAFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := &slowFile{lines: strings.NewReader("{\n")}
		err := readLines(t.Context(), file, true, func(service.LoadRecord, int) error { return nil })
		if err == nil || !strings.HasPrefix(err.Error(), "line 1: ") || !file.isRead {
			t.Errorf("got %v, and the file read: %t", err, file.isRead)
		}
	})
}

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
		{
			name: "file",
			set:  progress{size: 4 * progressRecords * 10},
			step: 10 * time.Second,
			want: "256 records, 26 a second, 25 %, 30s left\n512 records, 26 a second, 50 %, 20s left\n",
		},
		{"pipe", progress{}, 10 * time.Second, "256 records, 26 a second\n512 records, 26 a second\n"},
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
			servicetest.Same(t, "out.String()", test.want, out.String())
		})
	}
}
