package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// inspectSQLite opens a file to look at it: no byte of it, of its log or of its key changes. One
// of an earlier version is refused unless mayBeOlder.
func inspectSQLite(ctx context.Context, path string, mayBeOlder bool) (_ *sqliteEngine, err error) {
	file, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case file.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case file.Size() == 0:
		return nil, errEmptyFile
	}
	settings, err := inspectSettings(path)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", sqliteName(path, settings))
	if err != nil {
		return nil, err
	}
	e := &sqliteEngine{path: path, file: file, moved: make(chan struct{}, 1), db: db, stop: make(chan struct{})}
	e.openPools(max(2, runtime.GOMAXPROCS(0)))
	if err := cmp.Or(unrestored(path), e.refusal(examine(ctx, db, Options{NoMigrate: !mayBeOlder}, false)), e.keyThere()); err != nil { // The first one tells what to do.
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// logHeader is the size of a log that holds no change yet. Where its writer was killed SQLite would
// wait for another writer, ten seconds and in vain.
const logHeader = 32

// inspectSettings are those of a connection that changes nothing. Reading a log needs its
// index, the file beside it, which is only read too. Without a log, or a change in it, no program has
// the file open, and it is read as one that never changes: SQLite would make both files otherwise.
func inspectSettings(path string) (string, error) {
	const always = "mode=ro&_pragma=busy_timeout(10000)&_pragma=mmap_size(2147483648)&_pragma=temp_store(MEMORY)"
	log, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return always + "&immutable=1", nil
	}
	if err != nil {
		return "", err
	}
	if log.Size() <= logHeader && seesLocks && unserved(path) == nil {
		return always + "&immutable=1", nil
	}
	switch _, err := os.Stat(path + "-shm"); {
	case err == nil:
		return always + "&readonly_shm=1", nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("its log %s-wal is there without the index %s-shm; fundeskd migrate brings the log into the file", path, path)
	default:
		return "", err
	}
}

// foreign refuses a file that is not to be opened, before it is opened to be written: that turns on the
// log. A file with changes in its log cannot be looked at so; its log is on already.
func foreign(ctx context.Context, path string) (err error) {
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > logHeader {
		return nil
	}
	db, err := sql.Open("sqlite", sqliteName(path, "mode=ro&immutable=1"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return examine(ctx, db, Options{}, true)
}

// examine refuses a file that is not a database of ours, or is of a version that is refused; one without tables,
// too, unless it may be new.
func examine(ctx context.Context, db *sql.DB, o Options, mayBeNew bool) error {
	var s schema
	var tables, own int
	err := db.QueryRowContext(ctx, `SELECT user_version, (SELECT COUNT(*) FROM sqlite_schema), (`+ownTables+`) FROM pragma_user_version`).Scan(&s.version, &tables, &own)
	switch {
	case err != nil:
		return err
	case tables == 0 && s.version == 0 && !mayBeNew:
		return errors.New("it holds no tables; no fundeskd ever wrote to it")
	case (tables > 0 || !mayBeNew) && (s.version == 0 || own < 5):
		return errAnotherProgram
	case tables > 0 && s.version > known():
		var text string
		err = db.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = ?`, servedBySetting).Scan(&text)
		s.servedBy, _ = strconv.Atoi(text) // One that says nothing is served by programs of its version.
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	_, err = s.pending(o)
	return err
}

// ownTables counts the tables that every database of ours has, five of them.
const ownTables = `SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('settings', 'accounts', 'persons', 'pledges', 'calls')`

// keyThere refuses a file without its key.
func (e *sqliteEngine) keyThere() error {
	_, err := readKey(keyPath(e.path))
	if errors.Is(err, fs.ErrNotExist) {
		return e.keyMissing()
	}
	return err
}

func (e *sqliteEngine) keyMissing() error {
	path := keyPath(e.path)
	return fmt.Errorf("its key %s is missing: without it no token is good; put it back from where the database came from, or from beside a backup. "+
		"Where it is lost, openssl genpkey -algorithm ed25519 -out makes another one, with which every token is issued anew", path)
}
