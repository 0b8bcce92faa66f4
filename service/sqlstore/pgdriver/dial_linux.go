package pgdriver

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// unacknowledged is how long what was sent may go without the network of the other side, in
// milliseconds. Keep-alives are not sent then, and a commit has no deadline of its own.
const unacknowledged = 10_000

// limitUnacknowledged ends a connection whose other side does not answer.
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
