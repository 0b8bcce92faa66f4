package bulk

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/durable"
)

// The states of a line.
const (
	StatePlanned = "planned"
	StateDone    = "done"
	StateFailed  = "failed"
)

// Result is one line of the results file. The uuids of all lines are written before the
// first record is sent (StatePlanned), so that an import that was interrupted, by a power
// cut too, never creates a record twice.
type Result struct {
	Line    int     `json:"line"`
	UUID    string  `json:"uuid"`
	Sum     Sum     `json:"sum,omitzero"`
	State   string  `json:"state"`
	OK      *bool   `json:"ok,omitempty"` // Nil if it was only planned.
	Status  int     `json:"status,omitempty"`
	Error   *string `json:"error,omitempty"`
	Service string  `json:"service,omitempty"` // The service, in a plan.
}

// IsDone reports whether the line was carried out.
func (r Result) IsDone() bool { return r.OK != nil && *r.OK }

// Sum is a check sum of a line. The zero value means none.
type Sum [8]byte

// SumOf returns the sum of a line. The uuid is part of it, so that two persons with the same value have different sums.
func SumOf(id apitype.UUID, text []byte) Sum {
	sum := sha256.Sum256(append([]byte(id.String()), text...))
	return Sum(sum[:len(Sum{})])
}

// MarshalText writes the sum as hexadecimal digits.
func (s Sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads the text of [Sum.MarshalText]. Other texts give the zero value.
func (s *Sum) UnmarshalText(text []byte) error {
	if _, err := hex.Decode(s[:], text[:min(len(text), 2*len(s))]); err != nil {
		*s = Sum{}
	}
	return nil
}

// Past is the result of earlier runs for a line. The zero value means none.
type Past struct {
	UUID apitype.UUID
	Sum  Sum
	Done bool
}

// Started reports whether an earlier run gave the line a uuid.
func (p Past) Started() bool { return !p.UUID.IsZero() }

// Earlier has the results of earlier runs.
type Earlier struct {
	Lines   map[int]Past // By the number of the line: its last result counts.
	Service string       // The service of the last line that names one.
	Size    int64        // In bytes of the file.
}

// ReadResults reads what earlier runs did. A line that a crash cut is passed over.
func ReadResults(path string) (known Earlier, err error) {
	known.Lines = map[int]Past{}
	file, err := os.Open(path)
	if path == "" || errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return known, &Fault{Message: err.Error()}
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewReaderSize(file, 64<<10)
	begin, _ := in.Peek(len(begins)) // Less at the end of the file.
	if begin, _, _ = bytes.Cut(begin, []byte("\n")); !strings.HasPrefix(begins, string(begin)) {
		return known, &Fault{
			"the file " + path + " holds no results of an import or apply",
			"name a file of its own: --results FILE",
		}
	}
	for {
		line, err := in.ReadBytes('\n')
		known.note(line)
		if errors.Is(err, io.EOF) {
			return known, nil
		}
		if err != nil {
			return known, &Fault{Message: err.Error()}
		}
	}
}

func (e *Earlier) note(line []byte) {
	e.Size += int64(len(line))
	var r Result
	if json.Unmarshal(line, &r) != nil || r.Line <= 0 {
		return
	}
	if id, err := apitype.ParseUUID(r.UUID); err == nil {
		e.Lines[r.Line] = Past{UUID: id, Sum: r.Sum, Done: r.IsDone()}
		e.Service = cmp.Or(r.Service, e.Service)
	}
}

// begins is the beginning of a results file, which a crash may have cut. Nothing is added to any other file.
const begins = `{"line":`

// IsSameFile reports whether two names lead to one file that is there.
func IsSameFile(a, b string) bool {
	one, _ := os.Stat(a) // None is the same as no other.
	other, _ := os.Stat(b)
	return os.SameFile(one, other)
}

// Results writes the results file. Without a name it writes nothing.
type Results struct{ file *os.File }

// OpenResults opens a results file for appending, for this run alone: two runs would give a line two uuids, and create
// its record twice. size is the number of bytes read; if the file is longer, another run came in between. It ends a
// last line that a crash cut.
func OpenResults(path string, size int64) (*Results, error) {
	if path == "" {
		return &Results{}, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, &Fault{Message: err.Error()}
	}
	if errors.Is(durable.TryLock(file), durable.ErrHeld) { // A file system without locks hides it.
		return nil, errors.Join(&Fault{
			"another run is using the results file " + path + "; nothing was sent",
			"wait until it has ended, then run the same command again",
		}, file.Close())
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() != size {
		return nil, errors.Join(&Fault{
			"another run wrote to the results file " + path + " meanwhile; nothing was sent",
			"run the same command again",
		}, file.Close())
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, size-1); err == nil && last[0] != '\n' {
		if err := durable.Append(file, []byte("\n")); err != nil {
			return nil, errors.Join(&Fault{Message: err.Error()}, file.Close())
		}
	}
	return &Results{file: file}, nil
}

// Write adds a result. If a result is lost, the uuid of its plan still shows that the record exists.
func (r *Results) Write(result Result) error {
	if r.file == nil {
		return nil
	}
	text, err := json.Marshal(result)
	if err == nil {
		err = durable.Append(r.file, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the results file: %w", err)
	}
	return nil
}

// Sync puts on disk what was written, the file's name included.
func (r *Results) Sync() error {
	if r.file == nil {
		return nil
	}
	if err := durable.Sync(r.file); err != nil {
		return fmt.Errorf("write the results file: %w", err)
	}
	_ = durable.SyncFolder(filepath.Dir(r.file.Name())) // Not every file system can.
	return nil
}

// Close closes the file.
func (r *Results) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
