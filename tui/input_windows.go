package tui

import (
	"io"
)

// inputOf returns in: the library asks the console for keys, not for bytes.
func inputOf(in io.Reader) io.Reader { return in }

// isCooked reports whether a line feed also returns to the first column; here it never
// does.
func isCooked(io.Reader) bool { return false }
