//go:build unix

package profile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFolder waits until no other program has locked a folder, and locks it until unlock.
func lockFolder(dir string) (unlock func(), err error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(folder.Fd()), unix.LOCK_EX)
		if err == nil {
			return func() { _ = folder.Close() }, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(err, folder.Close())
		}
	}
}
