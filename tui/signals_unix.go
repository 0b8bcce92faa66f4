//go:build unix

package tui

import (
	"os"
	"syscall"
)

// endSignals are what asks the program to end; SIGHUP is a closed terminal.
func endSignals() []os.Signal {
	return []os.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT}
}
