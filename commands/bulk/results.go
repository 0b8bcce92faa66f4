package bulk

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

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

// Sum is a check sum of a row. The zero value means none.
type Sum [8]byte

// SumOf returns the sum of a row: of its cells with the names of their columns, or of its JSON, in any order. Equal
// rows differ by the number of equal rows before. Empty cells and the columns of a file of mistakes do not count.
func SumOf(header []string, row Row, before int) Sum {
	var text []byte
	if row.Text != nil {
		value := jsontext.Value(bytes.Clone(row.Text))
		_ = value.Canonicalize() // It stays as it is if it is not JSON.
		text = value
	} else {
		cells := make([]string, 0, len(row.Cells))
		for i, cell := range row.Cells {
			if i < len(header) && cell != "" && !IsOwnColumn(header[i]) {
				cells = append(cells, header[i]+"\x00"+cell)
			}
		}
		slices.Sort(cells)
		text = []byte(strings.Join(cells, "\x00\x00"))
	}
	if before > 0 {
		text = append(text, "\x00#"+strconv.Itoa(before)...)
	}
	sum := sha256.Sum256(text)
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

// Past is the result of earlier runs for a row. The zero value means none.
type Past struct {
	UUID apitype.UUID
	Line int
	Done bool
}

// Started reports whether an earlier run gave the row a uuid.
func (p Past) Started() bool { return !p.UUID.IsZero() }

// Earlier has the results of earlier runs at one service.
type Earlier struct {
	Rows  map[Sum]Past
	Lines map[int]Sum // The last row of each line.
	Last  map[apitype.UUID]Sum
	// Elsewhere is a service that results of the file belong to, if none belong to this one.
	Elsewhere string
	Size      int64 // In bytes of the file.
}

// ReadResults reads what earlier runs did at a service; without one, at any. A line that a crash cut is passed over.
func ReadResults(path, service string) (Earlier, error) {
	var known Earlier
	known.Rows, known.Lines, known.Last = map[Sum]Past{}, map[int]Sum{}, map[apitype.UUID]Sum{}
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
	begin, _, _ = bytes.Cut(begin, []byte("\n"))
	if !strings.HasPrefix(begins, string(begin)) {
		return known, &Fault{
			"the file " + path + " holds no results of an import or apply",
			"name a file of its own: --results FILE",
		}
	}
	for {
		line, readErr := in.ReadBytes('\n')
		if err := known.note(line, service); err != nil {
			return known, &Fault{
				"the results file " + path + " " + err.Error(),
				"finish it with that version, or name another file",
			}
		}
		if errors.Is(readErr, io.EOF) {
			return known, nil
		}
		if readErr != nil {
			return known, &Fault{Message: readErr.Error()}
		}
	}
}

var errOldResults = errors.New("was written by an earlier version, which did not recognise rows")

// note adds a line of the file.
func (e *Earlier) note(line []byte, service string) error {
	e.Size += int64(len(line))
	var r Result
	if json.Unmarshal(line, &r) != nil || r.Line <= 0 {
		return nil
	}
	id, err := apitype.ParseUUID(r.UUID)
	if err != nil {
		return nil
	}
	if r.Sum == (Sum{}) {
		return errOldResults
	}
	planned, isPlanned := e.Rows[r.Sum]
	isOfAnother := service != "" && r.Service != "" && apitype.BaseURL(r.Service) != service
	if r.State == StatePlanned && isOfAnother {
		if len(e.Rows) == 0 {
			e.Elsewhere = r.Service
		}
	} else if r.State == StatePlanned || isPlanned && planned.UUID == id {
		past := Past{UUID: id, Line: r.Line, Done: r.IsDone()}
		e.Rows[r.Sum], e.Lines[r.Line], e.Elsewhere = past, r.Sum, ""
		if past.Done {
			e.Last[id] = r.Sum
		}
	}
	return nil
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
		return nil, &Fault{"keep the results: " + err.Error(), "--results FILE keeps them elsewhere"}
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
