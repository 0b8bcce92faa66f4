package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

func replace(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(to))
}

// Carry takes over to a restored database what was revoked in the one that it replaces. That is nil
// where it cannot be read, with the reason.
type Carry func(before *Store, unread error, restored *Store) error

// Restore puts a backup and its key in the place of an SQLite database, which no program may have
// open; the backup stays as it is. It is copied, brought up to date and checked first. kept are
// the files that were there before, under other names. Spec gap: S51.
func Restore(ctx context.Context, file, database string, carry Carry) (kept []string, err error) {
	path, ok := strings.CutPrefix(database, "sqlite:")
	if !ok || path == "" {
		return nil, errors.New("only an SQLite database is restored; PostgreSQL has pg_restore")
	}
	if err := cmp.Or(unlikeFiles(file, path), unserved(path)); err != nil {
		return nil, err
	}
	made, err := checkedCopy(ctx, file, path, func(restored *Store) error { return carryOver(ctx, path, restored, carry) })
	if err == nil {
		kept, err = takePlace(made, path)
	}
	if made != "" && err != nil {
		_, _ = os.Remove(made), os.Remove(keyPath(made)) // The first error is the one to tell.
	}
	return kept, err
}

// carryOver opens the database that is replaced, if there is one, without changing it.
func carryOver(ctx context.Context, path string, restored *Store, carry Carry) (err error) {
	if _, missing := os.Stat(path); missing != nil {
		// A restore before this one may have been interrupted, and has given it another name.
		earlier, err := filepath.Glob(path + ".before-*Z")
		if err != nil || len(earlier) == 0 || unrestored(path) == nil {
			return err
		}
		path = slices.Max(earlier)
	}
	engine, err := inspectSQLite(ctx, path, true)
	if err != nil {
		return carry(nil, wayOut(err), restored)
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	return carry(&Store{engine: engine}, nil, restored)
}

// unlikeFiles refuses a file that would be restored from itself.
func unlikeFiles(file, path string) error {
	from, err := os.Stat(file)
	if err != nil {
		return err
	}
	if to, err := os.Stat(path); err == nil && os.SameFile(from, to) {
		return fmt.Errorf("%s is the database itself", file)
	}
	return nil
}

// checkedCopy is a whole copy of a backup and of its key, of the version of this program, beside
// the place where it belongs.
func checkedCopy(ctx context.Context, file, path string, change func(*Store) error) (made string, err error) {
	backup, err := inspectSQLite(ctx, file, true)
	if err != nil {
		return "", wayOut(err)
	}
	defer func() { err = errors.Join(err, backup.Close()) }()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if made, err = backup.copyBeside(ctx, path); err != nil {
		return made, err
	}
	key, err := readKey(keyPath(file))
	if err == nil {
		err = writeKey(keyPath(made), key)
	}
	if err != nil {
		return made, err
	}
	store, err := Open(ctx, Options{Database: "sqlite:" + made, Existing: true})
	if err != nil {
		return made, err
	}
	var found []string
	if err = change(store); err == nil {
		found, err = store.Check(ctx)
	}
	if err = errors.Join(err, store.Close()); err == nil && len(found) > 0 {
		err = fmt.Errorf("problems of the backup: %d; the first: %s", len(found), found[0])
	}
	return made, err
}

// restoring is what the name of a file ends with that stands beside a database while others take
// the place of its files. Until it is gone no program opens the database.
const restoring = ".restoring"

// unrestored refuses a database whose files belong together no longer.
func unrestored(path string) error {
	switch _, err := os.Lstat(path + restoring); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	default:
		return fmt.Errorf("a restore was not finished; run fundeskd restore again. To go back, put the files named %s.before-… in their place and erase %s", path, path+restoring)
	}
}

// takePlace gives a copy the name of the database, and the files that had it other names. It may be
// ended anywhere: no program opens the database until it is done, and it can be done again.
func takePlace(made, path string) (kept []string, err error) {
	_, before := os.Lstat(path + restoring)
	mark, err := os.OpenFile(path+restoring, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(mark.Close(), durable.SyncFolder(filepath.Dir(path))); err != nil {
		return nil, err
	}
	if err := unserved(path); err != nil {
		if before != nil { // It was ours.
			err = errors.Join(err, os.Remove(path+restoring))
		}
		return nil, err
	}
	old := path + ".before-" + time.Now().UTC().Format("20060102T150405.000Z")
	for _, part := range []struct{ from, to string }{
		{path, old}, {path + "-wal", old + "-wal"}, {keyPath(path), keyPath(old)},
	} {
		switch err := os.Rename(part.from, part.to); {
		case err == nil:
			kept = append(kept, part.to)
		case !errors.Is(err, fs.ErrNotExist):
			return kept, err
		}
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kept, err
	}
	if err := errors.Join(os.Rename(keyPath(made), keyPath(path)), os.Rename(made, path), durable.SyncFolder(filepath.Dir(path))); err != nil {
		return kept, err
	}
	return kept, errors.Join(os.Remove(path+restoring), durable.SyncFolder(filepath.Dir(path)))
}

// IsServed reports whether another process has an SQLite file open. Nothing of the file may be open in
// this one.
func IsServed(database string) bool {
	path, ok := strings.CutPrefix(database, "sqlite:")
	return ok && errors.Is(unserved(path), errServed)
}

var errServed = errors.New("another program has it open; stop what serves it first")
