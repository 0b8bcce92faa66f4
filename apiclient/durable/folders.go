package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeFolders makes folders for their owner's eyes, and those that they are in, where they
// are missing. Their names are on disk when it returns: what is flushed in a folder that a
// power cut takes is gone with it. What is there already is left as it is, a folder or not.
func MakeFolders(paths ...string) error {
	changed := map[string]bool{}
	for _, path := range paths {
		if err := makeFolder(path, changed); err != nil {
			return err
		}
	}
	for folder := range changed {
		if err := SyncFolder(folder); err != nil && !errors.Is(err, fs.ErrPermission) { // It may be written, and not read.
			return err
		}
	}
	return nil
}

// makeFolder notes the folders whose names it changed.
func makeFolder(path string, changed map[string]bool) error {
	above := filepath.Dir(path)
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrNotExist) && above != path {
		if err := makeFolder(above, changed); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		changed[above] = true
	}
	return note(Made, path, "", err)
}
