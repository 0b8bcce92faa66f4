package durable

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// lockFile locks one byte far beyond the end of an open file, so that reading it stays
// possible; without wait it fails when another process has it.
func lockFile(file *os.File, wait bool) error {
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

func isHeld(err error) bool {
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING)
}

// OwnedByUs returns true: other users cannot open the folders of a Windows profile.
func OwnedByUs(fs.FileInfo) bool { return true }

// openNoFollow opens a file.
func openNoFollow(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0) }

// heldTries and heldPause set how long another program may have a file open, such as a scanner or another fundesk.
const (
	heldTries = 50
	heldPause = 10 * time.Millisecond
)

// whenFree retries while another program has the file open.
func whenFree(try func() error) (err error) {
	for range heldTries {
		err = try()
		if !errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(heldPause)
	}
	return err
}

// rename waits for readers.
func rename(from, to string) error { return whenFree(func() error { return os.Rename(from, to) }) }

// remove waits for readers.
func remove(path string) error { return whenFree(func() error { return os.Remove(path) }) }

// ignoreUnsupported drops the error of flushing a folder, which Windows cannot.
func ignoreUnsupported(error) error { return nil }

// CheckTrust trusts all: the folders of a Windows profile are closed to others.
func CheckTrust(string) error { return nil }

// CheckClosed trusts all, as CheckTrust does.
func CheckClosed(string) error { return nil }
