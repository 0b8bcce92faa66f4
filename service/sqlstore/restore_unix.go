//go:build unix

package sqlstore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Where SQLite's locks of a file lie: a program that has it open, and reads by its log, holds one there.
const (
	sharedFirst = 0x40000002
	sharedSize  = 510
)

// seesLocks reports whether unserved works on this system.
const seesLocks = true

// unserved refuses a database that another process has open.
func unserved(path string) (err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lock := unix.Flock_t{
		Type:   unix.F_WRLCK,
		Whence: io.SeekStart,
		Start:  sharedFirst,
		Len:    sharedSize,
	}
	if err := unix.FcntlFlock(file.Fd(), unix.F_GETLK, &lock); err != nil {
		return err
	}
	if lock.Type != unix.F_UNLCK {
		return fmt.Errorf("%s: %w", path, errServed)
	}
	return nil
}
