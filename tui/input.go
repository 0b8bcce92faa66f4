package tui

import (
	"bytes"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// The marks around pasted text.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// longestSequence is the length up to which the input waits for the end of a control sequence, in bytes. No key of a
// terminal sends a longer one.
const longestSequence = 32

// wholeInput hands on what a terminal sends in whole characters and whole control
// sequences, however it arrives. The library waits 50 ms for the rest of what was cut
// and then takes the pieces for keys: the second byte of a ß would begin a command that
// swallows all text after it, and half of the mark that ends a paste keeps the paste and
// all that is typed later from ever coming.
type wholeInput struct {
	in io.Reader

	mu      sync.Mutex // A reader that was given up may still wait while the next one begins.
	ready   []byte     // Read, whole, and not handed on.
	cut     []byte     // The beginning of an incomplete sequence.
	pasting bool
	answer  cutAnswer
	err     error // Returned after the input before it.
}

// Read may return nothing, and no error, where all it has is cut: that is asked for
// again, as its rest arrives.
func (w *wholeInput) Read(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ready) == 0 && w.err == nil {
		w.fill(len(p))
	}
	n := copy(p, w.ready)
	w.ready = w.ready[n:]
	if n == 0 {
		return 0, w.err
	}
	return n, nil
}

// fill reads once. most limits the ready bytes if they complete a cut sequence, because the library first asks a
// terminal whether there is more.
func (w *wholeInput) fill(most int) {
	buffer := make([]byte, max(most-len(w.cut), 1))
	n, err := w.in.Read(buffer)
	came := buffer[:n]
	if len(w.cut) == 0 && !w.pasting {
		came = w.answer.take(came, time.Now())
	}
	all := append(w.cut, came...)
	w.ready, w.cut, w.err = all, nil, err
	if err != nil {
		return // There is no rest to wait for.
	}
	whole, pasting := wholePart(all, w.pasting)
	w.ready, w.pasting = all[:whole:whole], pasting
	w.cut = bytes.Clone(all[whole:])
}

// wholePart returns how much of b can be handed on, and whether a paste goes on after it.
func wholePart(b []byte, pasting bool) (int, bool) {
	if i, j := bytes.LastIndex(b, []byte(pasteStart)), bytes.LastIndex(b, []byte(pasteEnd)); i != j {
		pasting = i > j
	}
	for i := len(b) - 1; i >= max(len(b)-utf8.UTFMax+1, 0); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i, pasting
			}
			break
		}
	}
	i := bytes.LastIndexByte(b, '\x1b')
	if i < 0 {
		return len(b), pasting
	}
	if pasting {
		if tail := b[i:]; len(tail) < len(pasteEnd) && bytes.HasPrefix([]byte(pasteEnd), tail) {
			return i, pasting
		}
		return len(b), pasting
	}
	if isCutSequence(b[i:]) {
		return i, pasting
	}
	return len(b), pasting
}

// isCutSequence reports whether b is a control sequence without its end. Esc alone and
// esc with a bracket are keys, too: those are not waited for.
func isCutSequence(b []byte) bool {
	if len(b) < 3 || len(b) > longestSequence || b[1] != '[' {
		return false
	}
	for _, c := range b[2:] {
		if c < 0x20 || c > 0x3f {
			return false
		}
	}
	return true
}
