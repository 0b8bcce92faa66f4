package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"fundesk/apiclient/durable"
)

// unfinished ends the names of incomplete files. A killed program may leave one, which may be deleted.
const unfinished = ".unfinished"

// Backup copies the database into a new file. The file gets its name once it is complete and on disk. Backup returns
// its SHA-256. Spec gap: S13.
func (e *sqliteEngine) Backup(ctx context.Context, file string) (string, error) {
	if err := absent(file); err != nil {
		return "", err
	}
	made, err := e.copyBeside(ctx, file)
	if err != nil {
		return "", err
	}
	sum, err := SumOf(made)
	if err == nil {
		err = publish(made, file)
	}
	if err != nil {
		_ = os.Remove(made) // The first error is reported.
	}
	return sum, err
}

// SumOf returns the SHA-256 of a file, in hexadecimal digits.
func SumOf(path string) (sum string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// copyBeside writes a complete copy of the database into the folder of its final place.
func (e *sqliteEngine) copyBeside(ctx context.Context, path string) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+unfinished) // 0600
	if err != nil {
		return "", err
	}
	_, err = e.db.ExecContext(ctx, `VACUUM INTO $1`, file.Name())
	err = errors.Join(copyError(path, err), file.Sync(), file.Close())
	if err != nil {
		_ = os.Remove(file.Name()) // The first error is reported.
	}
	return file.Name(), err
}

// copyError names the disk that has no space left for a copy: that of the database may be another one.
func copyError(path string, err error) error {
	refused, ok := errors.AsType[*sqlite.Error](err)
	if ok && refused.Code()&0xff == sqlite3.SQLITE_FULL {
		return fmt.Errorf("write %s: its disk has no space left", path)
	}
	return sqliteError(err)
}

// publish gives a complete file its name, which survives a power loss. It refuses to replace a file.
func publish(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		err = os.Remove(from)
		return errors.Join(err, durable.SyncFolder(filepath.Dir(to)))
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// The file system has no links.
	if err := absent(to); err != nil {
		return err
	}
	return replace(from, to)
}

// absent refuses a path that exists.
func absent(path string) error {
	_, err := os.Lstat(path)
	if err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func replace(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(to))
}

// Restore replaces an SQLite database, which no program may have open, by a backup. It copies the backup, migrates the
// copy, changes it and checks it first. kept names the renamed files of the old database. Spec gap: S51.
func Restore(
	ctx context.Context,
	file, database string,
	change func(restored *Store) error,
) ([]string, error) {
	path, ok := strings.CutPrefix(database, "sqlite:")
	if !ok || path == "" {
		return nil, errors.New("only an SQLite database is restored; PostgreSQL has pg_restore")
	}
	if err := cmp.Or(unlikeFiles(file, path), unserved(path)); err != nil {
		return nil, err
	}
	var kept []string
	made, err := checkedCopy(ctx, file, path, change)
	if err == nil {
		kept, err = takePlace(made, path)
	}
	if made != "" && err != nil {
		_ = os.Remove(made) // The first error is reported.
	}
	return kept, err
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

// checkedCopy makes a complete copy of a backup in the folder of its final place, in the schema of this program.
func checkedCopy(ctx context.Context, file, path string, change func(*Store) error) (made string, err error) {
	backup, err := inspectSQLite(ctx, file, true)
	if err != nil {
		return "", fmt.Errorf("read the backup: %w", wayOut(err))
	}
	defer func() { err = errors.Join(err, backup.Close()) }()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	made, err = backup.copyBeside(ctx, path)
	if err != nil {
		return made, fmt.Errorf("copy the backup: %w", err)
	}
	store, err := Open(ctx, Options{Database: "sqlite:" + made, Existing: true})
	if err != nil {
		return made, fmt.Errorf("open a copy of the backup: %w", err)
	}
	var found []string
	err = change(store)
	if err == nil {
		found, err = store.Check(ctx)
	}
	err = errors.Join(err, store.Close())
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("problems of the backup: %d; the first: %s", len(found), found[0])
	}
	return made, err
}

// restoring is the suffix of a file that marks a database while its files are replaced. While it exists, no program
// opens the database.
const restoring = ".restoring"

// unrestored refuses a database after a restore that was cut short.
func unrestored(path string) error {
	_, err := os.Lstat(path + restoring)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf(
		"a restore was not finished; run fundeskd restore again. To go back, put the files named %s.before-… in "+
			"their place and erase %s",
		path,
		path+restoring,
	)
}

// takePlace renames the files of the database, and gives a copy its name. It may be interrupted at any point: no
// program opens the database until it has run to its end, and it can run again.
func takePlace(made, path string) ([]string, error) {
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
	var kept []string
	for _, part := range []struct{ from, to string }{
		{path, old},
		{path + "-wal", old + "-wal"},
	} {
		err := os.Rename(part.from, part.to)
		if err == nil {
			kept = append(kept, part.to)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return kept, err
		}
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return kept, err
	}
	if err := errors.Join(os.Rename(made, path), durable.SyncFolder(filepath.Dir(path))); err != nil {
		return kept, err
	}
	return kept, errors.Join(os.Remove(path+restoring), durable.SyncFolder(filepath.Dir(path)))
}

// IsServed reports whether another process has an SQLite file open. This process must not have it open.
func IsServed(database string) bool {
	path, ok := strings.CutPrefix(database, "sqlite:")
	return ok && errors.Is(unserved(path), errServed)
}

var errServed = errors.New("another program has it open; stop what serves it first")
