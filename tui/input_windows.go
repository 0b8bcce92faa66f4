package tui

import (
	"io"
)

// inputOf returns in: the library asks the console for keys, not for bytes.
func inputOf(in io.Reader) io.Reader { return in }
