package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"fundesk/apiclient/durable"
)

// unfinished is what the names of files end with that are not whole yet. One that is left
// over was made by a program that was killed, and may be erased.
const unfinished = ".unfinished"

// Backup copies the database and its key into new files. The database has its name only when
// it and its key are whole and on the disk. Spec gap: S13.
func (e *sqliteEngine) Backup(ctx context.Context, file string) (err error) {
	key, err := e.SigningSeed(ctx)
	if err != nil {
		return err
	}
	if err := absent(file); err != nil {
		return err
	}
	made, err := e.copyBeside(ctx, file)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(made))
		}
	}()
	if err := writeKey(keyPath(file), key); errors.Is(err, fs.ErrExist) {
		// Left by a backup that was killed here, or not ours to replace.
		if there, err := readKey(keyPath(file)); err != nil || !bytes.Equal(there, key) {
			return errors.Join(fmt.Errorf("%s is another database's", keyPath(file)), err)
		}
	} else if err != nil {
		return err
	}
	return publish(made, file)
}

// copyBeside writes a whole copy of the database beside the place where it belongs.
func (e *sqliteEngine) copyBeside(ctx context.Context, path string) (made string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+unfinished) // 0600
	if err != nil {
		return "", err
	}
	_, err = e.db.ExecContext(ctx, `VACUUM INTO $1`, file.Name())
	if err = errors.Join(sqliteError(err), file.Sync(), file.Close()); err != nil {
		_ = os.Remove(file.Name()) // The first error is the one to tell.
	}
	return file.Name(), err
}

// publish gives a whole file its name, unless a file has it already, and keeps the name over a
// power loss.
func publish(from, to string) error {
	switch err := os.Link(from, to); {
	case err == nil:
		err = os.Remove(from)
		return errors.Join(err, durable.SyncFolder(filepath.Dir(to)))
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
	return durable.SyncFolder(filepath.Dir(to))
}
