//go:build !linux

package pgdriver

import (
	"context"
	"syscall"
)

// limitUnacknowledged leaves it to the system to end a connection whose peer is gone.
func limitUnacknowledged(context.Context, string, string, syscall.RawConn) error { return nil }
