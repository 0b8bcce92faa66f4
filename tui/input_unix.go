//go:build unix

package tui

import (
	"io"
	"os"

	"golang.org/x/term"
)

// wholeFile is wholeInput over a terminal, which the library must know for one.
type wholeFile struct {
	*os.File
	whole wholeInput
}

func (f *wholeFile) Read(p []byte) (int, error) { return f.whole.Read(p) }

// inputOf returns the source of keys: in, or the terminal if in is nil. It returns nil if the library has to find the
// terminal.
func inputOf(in io.Reader) io.Reader {
	if in == nil {
		if !term.IsTerminal(int(os.Stdin.Fd())) {
			return nil
		}
		in = os.Stdin
	}
	if file, isFile := in.(*os.File); isFile {
		return &wholeFile{File: file, whole: wholeInput{in: file}}
	}
	return &wholeInput{in: in}
}
