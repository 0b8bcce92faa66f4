//go:build unix

package cli

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// isReadable reports whether a terminal has a line, or gets one within a time.
func isReadable(file *os.File, within time.Duration) bool {
	for {
		wait := []unix.PollFd{{Fd: int32(file.Fd()), Events: unix.POLLIN}} //nolint:gosec // Descriptors are small.
		n, err := unix.Poll(wait, int(within.Milliseconds()))
		if err != unix.EINTR { //nolint:errorlint // It is a number.
			return n > 0 && wait[0].Revents&unix.POLLIN != 0
		}
	}
}
