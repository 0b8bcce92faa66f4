package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// unfinished is what the names of files end with that are not whole yet. One that is left
// over was made by a program that was killed, and may be erased.
const unfinished = ".unfinished"

// backup copies the database and its key into new files. The database has its name only when
// it and its key are whole and on the disk. Spec gap: S13.
func (e *sqliteEngine) backup(ctx context.Context, file string) (err error) {
	key, err := e.seed(ctx)
	if err != nil {
		return err
	}
	if err := absent(file); err != nil {
		return err
	}
	made, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*"+unfinished) // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(made.Name()))
		}
	}()
	_, err = e.db.ExecContext(ctx, `VACUUM INTO $1`, made.Name())
	if err = errors.Join(sqliteError(err), made.Sync(), made.Close()); err != nil {
		return err
	}
	if err := writeKey(keyPath(file), key); errors.Is(err, fs.ErrExist) {
		// Left by a backup that was killed here, or not ours to replace.
		if there, err := readKey(keyPath(file)); err != nil || !bytes.Equal(there, key) {
			return errors.Join(fmt.Errorf("%s is another database's", keyPath(file)), err)
		}
	} else if err != nil {
		return err
	}
	return publish(made.Name(), file)
}

// publish gives a whole file its name, unless a file has it already, and keeps the name over a
// power loss.
func publish(from, to string) error {
	switch err := os.Link(from, to); {
	case err == nil:
		err = os.Remove(from)
		return errors.Join(err, syncFolder(filepath.Dir(to)))
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// The file system has no links.
	if err := absent(to); err != nil {
		return err
	}
	return replace(from, to)
}

// absent refuses a path that something has already.
func absent(path string) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}

// replace puts a whole file in the place of another one.
func replace(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}
