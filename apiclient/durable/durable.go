// Package durable keeps files that must survive a crash: written whole or not at all, and
// locked against other processes.
//
// It must not know what is in the files; it imports nothing of this module.
//
//	unlock, err := durable.Lock(filepath.Join(dir, "lock"))
//	if err != nil {
//		return err
//	}
//	defer unlock()
//	err = durable.WriteFile(path, content)
package durable

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

// NewPrefix begins the names of files that are being written. A file older than a minute was left by a writer that
// died.
const NewPrefix = ".new-"

// WriteFile writes a file of its owner's so that it is there whole or not at all, also
// after a power cut: temporary file, flush, rename, flush of the folder. The file is closed
// before it is renamed: Windows renames no open one.
func WriteFile(path string, content []byte) error {
	return Write(path, func(file io.Writer) error {
		_, err := file.Write(content)
		return err
	})
}

// Write does the work of [WriteFile] for content that does not fit into memory.
func Write(path string, content func(io.Writer) error) (err error) {
	folder := filepath.Dir(path)
	file, err := os.CreateTemp(folder, NewPrefix+"*") // Mode 0600.
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	err = note(Wrote, file.Name(), "", content(file))
	if err == nil {
		err = Sync(file)
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		return err
	}
	err = Rename(file.Name(), path)
	if err != nil {
		return err
	}
	return SyncFolder(folder)
}

// MakeFolders makes a folder and its missing parents, readable for their owner only. Their names are on disk when it
// returns: a power cut would lose a folder with everything flushed in it. It leaves existing names as they are.
func MakeFolders(paths ...string) error {
	changed := map[string]bool{}
	for _, path := range paths {
		if err := makeFolder(path, changed); err != nil {
			return err
		}
	}
	for folder := range changed {
		err := SyncFolder(folder)
		if err != nil && !errors.Is(err, fs.ErrPermission) { // The folder may be writable but not readable.
			return err
		}
	}
	return nil
}

// makeFolder adds the folders whose names it changed.
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

// SyncFolder flushes the names in a folder to disk, if the system can.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	return note(NamesFlushed, path, "", ignoreUnsupported(folder.Sync()))
}

// Rename renames a file. It waits for readers if the system requires it.
func Rename(from, to string) error { return note(Renamed, from, to, rename(from, to)) }

// Remove removes a file. It waits for readers if the system requires it.
func Remove(path string) error { return note(Removed, path, "", remove(path)) }

// Append adds to the end of a file that was opened for that.
func Append(file *os.File, content []byte) error {
	_, err := file.Write(content)
	return note(Wrote, file.Name(), "", err)
}

// Sync flushes the content of a file to disk. For its name, see [SyncFolder].
func Sync(file *os.File) error { return note(Flushed, file.Name(), "", file.Sync()) }

// Erase removes a file that may not be there; its name does not come back with a power cut.
func Erase(path string) error {
	err := Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

var errNotOurs = errors.New("is not a file of fundesk")

// ReadFile reads up to most bytes of a regular file of ours; links are not followed.
func ReadFile(path string, most int64) ([]byte, error) {
	file, err := openNoFollow(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !OwnedByUs(info) {
		return nil, errNotOurs
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// ErrHeld is a lock that another process has.
var ErrHeld = errors.New("another process has locked it")

// TryLock locks a file that is open for writing for this process, or returns ErrHeld. The lock ends when the file is
// closed, or the process dies.
func TryLock(file *os.File) error {
	err := lockFile(file, false)
	if err != nil && isHeld(err) {
		return ErrHeld
	}
	return err
}

// IsNamed reports whether an open file still has its name. A lock on a file that another process has removed protects
// nothing.
func IsNamed(file *os.File) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(file.Name())
	return err == nil && os.SameFile(opened, named)
}

// OpenLocked opens an existing file with the lock on it, or returns ErrHeld.
func OpenLocked(path string) (*os.File, error) {
	file, err := openNoFollow(path, os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if err := TryLock(file); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// IsHeld reports whether another process has locked a file.
func IsHeld(path string) bool {
	file, err := OpenLocked(path)
	if err == nil {
		_ = file.Close()
	}
	return errors.Is(err, ErrHeld)
}

// NameOf returns a short name for a file that is one of a text, such as an address.
func NameOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// CheckLocks returns why files in a folder cannot be locked. Some network file systems have no locks, and nothing is
// sent from there.
func CheckLocks(folder string) error {
	file, err := os.CreateTemp(folder, NewPrefix+"*")
	if err != nil {
		return err
	}
	return errors.Join(TryLock(file), file.Close(), os.Remove(file.Name()))
}

// CheckRoom returns why nothing can be written in a folder, such as a full disk.
func CheckRoom(folder string) error {
	file, err := os.CreateTemp(folder, NewPrefix+"*")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, leastRoom))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// leastRoom is what a change needs on the disk, in bytes.
const leastRoom = 4096

// Lock waits for the lock on the file of a name, which it makes, and keeps it until unlock.
func Lock(path string) (func(), error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(file, true); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil
}

// Kind is the kind of a [Change].
type Kind string

// The kinds of changes.
const (
	Wrote        Kind = "wrote"         // The file has new content, which is not on disk yet.
	Flushed      Kind = "flushed"       // The file's content is on disk.
	Made         Kind = "made"          // A folder.
	Renamed      Kind = "renamed"       // To another name.
	Removed      Kind = "removed"       // The name.
	NamesFlushed Kind = "names flushed" // Of the files in a folder.
)

// Change is a change of a file or folder by this package.
type Change struct {
	Kind Kind
	Path string
	To   string // The new name of what was renamed.
}

var watcher atomic.Pointer[func(Change)]

// Watch calls see after each change, from several goroutines at a time. There is one watcher: tests use it to cut the
// power.
func Watch(see func(Change)) { watcher.Store(&see) }

// note passes a change to the watcher.
func note(kind Kind, path, to string, err error) error {
	if see := watcher.Load(); see != nil && err == nil {
		(*see)(Change{Kind: kind, Path: path, To: to})
	}
	return err
}
