package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// resultsFile is where an import keeps its results. Without a name it keeps nothing.
type resultsFile struct {
	mu   sync.Mutex
	file *os.File
}

// openResults opens a results file to be added to. A last line that a crash cut is
// ended, so that the next one stands alone.
func openResults(path string) (*resultsFile, error) {
	if path == "" {
		return &resultsFile{}, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, usageError(err.Error())
	}
	last := make([]byte, 1)
	if end, err := file.Seek(0, io.SeekEnd); err == nil && end > 0 {
		if _, err := file.ReadAt(last, end-1); err == nil && last[0] != '\n' {
			if _, err := file.WriteString("\n"); err != nil {
				return nil, errors.Join(usageError(err.Error()), file.Close())
			}
		}
	}
	return &resultsFile{file: file}, nil
}

// write adds one line. One that a record's creation depends on is in the file when
// write returns; the operating system keeps it when this process dies.
func (r *resultsFile) write(result lineResult) error {
	if r.file == nil {
		return nil
	}
	line, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("write a result: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the results file: %w", err)
	}
	return nil
}

func (r *resultsFile) close() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.file.Sync(), r.file.Close())
}
