//go:build unix

package commands

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// isTaken locks a file until it is closed, and reports whether another process did so
// before. A file system that knows no locks hides it; nothing is worse than it was.
func isTaken(file *os.File) bool {
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}
