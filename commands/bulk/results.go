package bulk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
	Line   int     `json:"line"`
	UUID   string  `json:"uuid"`
	Sum    string  `json:"sum,omitempty"`
	State  string  `json:"state"`
	OK     *bool   `json:"ok,omitempty"` // Nil: only planned.
	Status int     `json:"status,omitempty"`
	Error  *string `json:"error,omitempty"`
}

// IsDone reports whether the line was carried out.
func (r Result) IsDone() bool { return r.OK != nil && *r.OK }

// SumOf is a check sum of a line. The uuid keeps it from telling that two persons share a
// value.
func SumOf(id apitype.UUID, text []byte) string {
	sum := sha256.Sum256(append([]byte(id.String()), text...))
	return hex.EncodeToString(sum[:8])
}

// Earlier is what earlier runs did, by the number of the line: its last result counts.
type Earlier map[int]Result

// ReadResults reads what earlier runs did, and tells how many bytes that were. A line that
// a crash cut is passed over.
func ReadResults(path string) (known Earlier, size int64, err error) {
	known = Earlier{}
	if path == "" {
		return known, 0, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, 0, nil
	}
	if err != nil {
		return nil, 0, &Fault{Message: err.Error()}
	}
	if !areResults(data) {
		return nil, 0, &Fault{"the file " + path + " holds no results of an import or apply", "name a file of its own: --results FILE"}
	}
	for line := range bytes.Lines(data) {
		known.note(line)
	}
	return known, int64(len(data)), nil
}

// note reads one line of a results file.
func (e Earlier) note(line []byte) {
	var r Result
	if json.Unmarshal(line, &r) == nil && r.Line > 0 && r.UUID != "" {
		e[r.Line] = r
	}
}

// areResults reports whether a file begins as an import begins one; a crash may have cut
// its first line. Any other file is not for us to add to.
func areResults(data []byte) bool {
	const begin = `{"line":`
	first, _, _ := bytes.Cut(data, []byte("\n"))
	return strings.HasPrefix(begin, string(first)) || bytes.HasPrefix(first, []byte(begin))
}

// IsSameFile reports whether two names lead to one file that is there.
func IsSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Results is where results are kept. Without a name it keeps nothing.
type Results struct{ file *os.File }

// OpenResults opens a results file to be added to, for this run alone: two of them would
// give a line two uuids, and create its record twice. size is how much of it was read; more
// of it means that another run came in between. A last line that a crash cut is ended, so
// that the next one stands alone.
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
	if size > 0 {
		if _, err := file.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			if _, err := file.WriteString("\n"); err != nil {
				return nil, errors.Join(&Fault{Message: err.Error()}, file.Close())
			}
		}
	}
	return &Results{file: file}, nil
}

// Write adds results. When one is lost, the uuid of its plan tells that the record is there.
func (r *Results) Write(results ...Result) error {
	if r.file == nil {
		return nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	for _, result := range results {
		if err := enc.Encode(result); err != nil {
			return fmt.Errorf("write a result: %w", err)
		}
	}
	if _, err := r.file.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write the results file: %w", err)
	}
	return nil
}

// Sync puts on disk what was written, the file's name included.
func (r *Results) Sync() error {
	if r.file == nil {
		return nil
	}
	if err := r.file.Sync(); err != nil {
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
