package outbox

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks one byte far beyond the end of an open file, so that reading it
// stays possible. The lock ends when the file is closed, or the process dies.
func lockFile(file *os.File, wait bool) error {
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
}

// ownedByUs is true: the folders of a Windows profile are closed to others.
func ownedByUs(fs.FileInfo) bool { return true }

func openNoFollow(path string) (*os.File, error) { return os.Open(path) }

// ignoreUnsupported drops the error of flushing a folder, which Windows cannot.
func ignoreUnsupported(error) error { return nil }
