package tui

import (
	"os"
	"syscall"
)

// endSignals returns what asks the program to end.
func endSignals() []os.Signal { return []os.Signal{syscall.SIGTERM, os.Interrupt} }

// notifyContinued does nothing: Windows stops no programs.
func notifyContinued(chan<- os.Signal) {}
