package pgdriver

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// unacknowledged limits the time without an acknowledgement of sent data, in milliseconds. Keep-alives
// are not sent in that state, and a commit has no deadline of its own.
const unacknowledged = 10_000

// limitUnacknowledged ends a connection whose peer does not answer.
func limitUnacknowledged(_ context.Context, network, _ string, raw syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var refused error
	err := raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, unacknowledged)
	})
	return errors.Join(err, refused)
}
