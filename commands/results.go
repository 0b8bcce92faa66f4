package commands

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

// lineResult is one line of the results file. The uuids of all lines are written before
// the first record is sent (state "planned"), so that an import that was interrupted, by
// a power cut too, never creates a record twice.
type lineResult struct {
	Line   int     `json:"line"`
	UUID   string  `json:"uuid"`
	Sum    string  `json:"sum,omitempty"`
	State  string  `json:"state"`        // planned, done or failed.
	OK     *bool   `json:"ok,omitempty"` // Nil: only planned.
	Status int     `json:"status,omitempty"`
	Error  *string `json:"error,omitempty"`
}

// sumOf is a check sum of a line. The uuid keeps it from telling that two persons share
// a value.
func sumOf(id apitype.UUID, text []byte) string {
	sum := sha256.Sum256(append([]byte(id.String()), text...))
	return hex.EncodeToString(sum[:8])
}

// readResults reads what an earlier run did, and tells how many bytes that were: the
// last result of each line counts. A line that a crash cut is passed over.
func readResults(path string) (known map[int]lineResult, size int64, err error) {
	known = map[int]lineResult{}
	if path == "" {
		return known, 0, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, 0, nil
	}
	if err != nil {
		return nil, 0, usageError(err.Error())
	}
	if !areResults(data) {
		return nil, 0, withHint(usageError("the file "+path+" holds no results of an import"), "name a file of its own: --results FILE")
	}
	for line := range bytes.Lines(data) {
		noteResult(known, line)
	}
	return known, int64(len(data)), nil
}

// areResults reports whether a file begins as an import begins one; a crash may have cut
// its first line. Any other file is not for us to add to.
func areResults(data []byte) bool {
	const begin = `{"line":`
	first, _, _ := bytes.Cut(data, []byte("\n"))
	return strings.HasPrefix(begin, string(first)) || bytes.HasPrefix(first, []byte(begin))
}

// isSameFile reports whether two names lead to one file that is there.
func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// noteResult reads one line of a results file.
func noteResult(known map[int]lineResult, line []byte) {
	var r lineResult
	if json.Unmarshal(line, &r) == nil && r.Line > 0 && r.UUID != "" {
		known[r.Line] = r
	}
}

// resultsFile is where an import keeps its results. Without a name it keeps nothing.
type resultsFile struct {
	file *os.File
}

// openResults opens a results file to be added to, for this import alone: two of them
// would give a line two uuids, and create its record twice. size is how much of it was
// read; more of it means that another import came in between. A last line that a crash
// cut is ended, so that the next one stands alone.
func openResults(path string, size int64) (*resultsFile, error) {
	if path == "" {
		return &resultsFile{}, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, usageError(err.Error())
	}
	if errors.Is(durable.TryLock(file), durable.ErrHeld) { // A file system without locks hides it.
		return nil, errors.Join(withHint(usageError("another import is using the results file "+path+"; nothing was sent"),
			"wait until it has ended, then run the same command again"), file.Close())
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() != size {
		return nil, errors.Join(withHint(usageError("another import wrote to the results file "+path+" meanwhile; nothing was sent"),
			"run the same command again"), file.Close())
	}
	last := make([]byte, 1)
	if size > 0 {
		if _, err := file.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			if _, err := file.WriteString("\n"); err != nil {
				return nil, errors.Join(usageError(err.Error()), file.Close())
			}
		}
	}
	return &resultsFile{file: file}, nil
}

// plan writes the uuids of the lines that have none in the file yet. They are on disk,
// the file's name included, when it returns.
func (r *resultsFile) plan(lines []importLine, known map[int]lineResult) error {
	if r.file == nil {
		return nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	for _, line := range lines {
		if _, planned := known[line.number]; planned {
			continue
		}
		if err := enc.Encode(lineResult{Line: line.number, UUID: line.change.UUID.String(), State: "planned"}); err != nil {
			return fmt.Errorf("write the results file: %w", err)
		}
	}
	if _, err := r.file.Write(text.Bytes()); err != nil {
		return fmt.Errorf("write the results file: %w", err)
	}
	if err := r.sync(); err != nil {
		return err
	}
	_ = durable.SyncFolder(filepath.Dir(r.file.Name())) // Not every file system can.
	return nil
}

// sync puts on disk what was written.
func (r *resultsFile) sync() error {
	if r.file == nil {
		return nil
	}
	if err := r.file.Sync(); err != nil {
		return fmt.Errorf("write the results file: %w", err)
	}
	return nil
}

// write adds one line. When it is lost, the uuid of the plan tells that the record is
// there.
func (r *resultsFile) write(result lineResult) error {
	if r.file == nil {
		return nil
	}
	line, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("write a result: %w", err)
	}
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the results file: %w", err)
	}
	return nil
}

func (r *resultsFile) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// isDone reports whether the record of a line was created.
func isDone(r lineResult) bool { return r.OK != nil && *r.OK }
