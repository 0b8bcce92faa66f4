package commands

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// isTaken locks a file until it is closed, and reports whether another process did so
// before. The byte that it locks lies far beyond the end: everybody may read the file.
func isTaken(file *os.File) bool {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING)
}
