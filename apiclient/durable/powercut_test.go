package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fundesk/apiclient/durable"
	"fundesk/apiclient/durable/powercut"
)

// A file in folders that were not there is whole or not there after a power cut, and has what
// was written last when that was done: drafts, configuration, tokens, positions of pulls and
// what a desk remembers are written by this.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	disk := powercut.Record(t, folder)
	place := filepath.Join("a", "b", "kept")
	texts := []string{strings.Repeat("one ", 500), "two", strings.Repeat("three", 900)}
	done := []int{0}
	for _, text := range texts {
		path := filepath.Join(folder, place)
		err := errors.Join(durable.MakeFolders(filepath.Dir(path)), durable.WriteFile(path, []byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		done = append(done, disk.Now())
	}
	disk.Replay(t, func(t *testing.T, left string, moment int) {
		text, err := os.ReadFile(filepath.Join(left, place))
		written := 0 // How many were done.
		for written < len(texts) && moment >= done[written+1] {
			written++
		}
		isLast := written > 0 && string(text) == texts[written-1]
		isNext := written < len(texts) && string(text) == texts[written]
		isNone := written == 0 && errors.Is(err, fs.ErrNotExist)
		if !isLast && !isNext && !isNone {
			t.Errorf("after %d that were done: got %d bytes, %v", written, len(text), err)
		}
	})
}
