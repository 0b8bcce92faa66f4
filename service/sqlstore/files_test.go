package sqlstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A file takes the place of another one, or its own where there is none; one that is not there is named.
func TestFilesTakeTheirPlace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	from, to := filepath.Join(folder, "from"), filepath.Join(folder, "to")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(name, want string) {
		t.Helper()
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", filepath.Base(name), got, err, want)
		}
	}
	for _, put := range []func(from, to string) error{replace, publish} {
		if err := put(from, to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of no file: got %v", err)
		}
	}
	if err := absent(to); err != nil {
		t.Errorf("got %v where nothing is", err)
	}
	write(from, "a")
	if err := publish(from, to); err != nil {
		t.Error(err)
	}
	holds(to, "a")
	write(from, "b")
	for _, err := range []error{publish(from, to), absent(to)} {
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("got %v where a file is, want that it is there", err)
		}
	}
	holds(to, "a")
	if err := replace(from, to); err != nil {
		t.Error(err)
	}
	holds(to, "b")
	if _, err := os.Stat(from); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want the file under its new name alone", err)
	}
}
