//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"
)

// endSignals returns what asks the program to end; SIGHUP is a closed terminal.
func endSignals() []os.Signal {
	return []os.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT}
}

// notifyContinued sends a signal when the program continues after it was stopped.
func notifyContinued(signals chan<- os.Signal) { signal.Notify(signals, syscall.SIGCONT) }
