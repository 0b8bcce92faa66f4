package completions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/durable"
)

// freshness is how long answers are kept: long enough for the tabs of one line.
const freshness = 30 * time.Second

// keptAs begins the names of files with answers: identifiers, names and states, and
// nothing else of a person. The time of an answer is that of its file.
const keptAs = "completion-"

// Forget removes the answers that are kept in a folder, those of all accounts.
func Forget(dir string) { forget(dir, func(time.Time) bool { return true }) }

// forgetStale removes answers that are not given any more.
func (s Source) forgetStale() {
	now := s.Now()
	forget(s.Dir, func(at time.Time) bool { return at.After(now) || now.Sub(at) > freshness })
}

// forget removes the answers of which old is true; it matters to nobody when that fails.
func forget(dir string, old func(time.Time) bool) {
	if dir == "" {
		return
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, file := range files {
		info, err := file.Info()
		if err == nil && strings.HasPrefix(file.Name(), keptAs) && old(info.ModTime()) {
			_ = os.Remove(filepath.Join(dir, file.Name()))
		}
	}
}

// path is the file of one account's answers; "" where nothing is kept.
func (s Source) path(ctx context.Context, client *apiclient.Client, kind string) string {
	if s.Dir == "" {
		return ""
	}
	account, err := client.Identity(ctx)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(client.BaseURL() + " " + account + " " + kind))
	return filepath.Join(s.Dir, keptAs+hex.EncodeToString(sum[:8])+".json")
}

// load reads a kept answer; what is stale was removed before.
func (s Source) load(path string) (values []Value, ok bool) {
	if path == "" {
		return nil, false
	}
	data, err := os.ReadFile(path)
	return values, err == nil && json.Unmarshal(data, &values) == nil
}

// save keeps an answer; it matters to nobody when that fails.
func (s Source) save(path string, values []Value) {
	data, err := json.Marshal(values)
	if path == "" || err != nil {
		return
	}
	// The folder above is not made: it would not be one that ends with the login.
	if err := os.Mkdir(s.Dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return
	}
	if durable.WriteFile(path, data) == nil {
		now := s.Now()
		_ = os.Chtimes(path, now, now)
	}
}
