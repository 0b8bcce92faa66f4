//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockFile locks an open file for this process; without wait it fails if another process has it.
func lockFile(file *os.File, wait bool) error {
	how := unix.LOCK_EX
	// NFS locks no file that was opened for reading only. Refused everywhere, it shows at once.
	if flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY {
		return errors.Join(err, unix.EBADF)
	}
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(file.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func isHeld(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }

// OwnedByUs reports whether the file belongs to the user of this process.
func OwnedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// openNoFollow opens a file, and no link to one.
func openNoFollow(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

func rename(from, to string) error { return os.Rename(from, to) }

func remove(path string) error { return os.Remove(path) }

// ignoreUnsupported drops the error of a file system that cannot flush a folder.
func ignoreUnsupported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}
