package bulk

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"fundesk/apiclient/apitype"
)

// Spool keeps the rows of a large file on disk until all are checked, so that memory does not grow with the file. Only
// this user can read it, and it ends with the program.
type Spool[T any] struct {
	// Len is the number of values.
	Len int

	file *os.File
	name string // Of the file, until it is gone.
	in   *bufio.Writer
	err  error
}

// NewSpool makes a spool. [Spool.Close] must be called.
func NewSpool[T any]() (*Spool[T], error) {
	file, err := os.CreateTemp("", "fundesk-*") // Mode 0600.
	if err != nil {
		return nil, fmt.Errorf("keep the lines: %w", err)
	}
	s := &Spool[T]{file: file, in: bufio.NewWriterSize(file, 64<<10)}
	if os.Remove(file.Name()) != nil { // Not while it is open, on Windows.
		s.name = file.Name()
	}
	return s, nil
}

// Add keeps one value more.
func (s *Spool[T]) Add(value T) {
	s.Len++
	text, err := json.Marshal(value)
	s.keep(err)
	_, err = s.in.Write(append(text, '\n'))
	s.keep(err)
}

// All yields the values in the order in which they were added. It may be used several times.
func (s *Spool[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		s.keep(s.in.Flush())
		lines := bufio.NewReaderSize(io.NewSectionReader(s.file, 0, 1<<62), 64<<10)
		for range s.Len {
			var value T
			text, err := lines.ReadBytes('\n')
			if err == nil {
				err = apitype.DecodeExact(text, &value)
			}
			if s.keep(err); s.err != nil || !yield(value) {
				return
			}
		}
	}
}

func (s *Spool[T]) keep(err error) {
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("keep the lines: %w", err)
	}
}

// Err returns the reason if a value could not be stored or read again. [Spool.All] may have ended early then.
func (s *Spool[T]) Err() error { return s.err }

// Close forgets the values. A spool that was not opened has none.
func (s *Spool[T]) Close() error {
	if s == nil {
		return nil
	}
	err := s.file.Close()
	if s.name != "" {
		err = errors.Join(err, os.Remove(s.name))
	}
	return err
}
