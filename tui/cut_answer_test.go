package tui

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fundesk/service/servicetest"
)

// apart is input that comes in pieces, each a while after the one before.
type apart struct {
	pieces []string
	gap    time.Duration
}

func (a *apart) Read(p []byte) (int, error) {
	if len(a.pieces) == 0 {
		return 0, io.EOF
	}
	time.Sleep(a.gap)
	n := copy(p, a.pieces[0])
	a.pieces = a.pieces[1:]
	return n, nil
}

// After an esc alone, what follows within half a second as the rest of a control sequence never becomes keys, in
// whatever pieces it comes. What is typed later, or is not such a rest, does.
func TestCutAnswersAreNoKeys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		pieces []string
		gap    time.Duration
		want   string
	}{
		{"a colour", []string{"\x1b", "]11;rgb:1e1e/1e1e/1e1e\x1b\\x"}, 120 * time.Millisecond, "x"},
		{"a colour in pieces", []string{"\x1b", "]", "11;rgb:1e", "1e/b/f\a", "x"}, 120 * time.Millisecond, "x"},
		{"a colour whose end is cut", []string{"\x1b", "]11;rgb:1\x1b", "\\x"}, 120 * time.Millisecond, "x"},
		{"a mode", []string{"\x1b", "[?2026;2$yx"}, 120 * time.Millisecond, "x"},
		{"a mode in pieces", []string{"\x1b", "[", "?2026;2$yx"}, 120 * time.Millisecond, "x"},
		{"an arrow", []string{"\x1b", "[Bx"}, 400 * time.Millisecond, "x"},
		{"an arrow of another kind", []string{"\x1b", "OBx"}, 400 * time.Millisecond, "x"},
		{"the mouse", []string{"\x1b", "[<0;12;7Mx"}, 120 * time.Millisecond, "x"},
		{"the mouse of an old terminal", []string{"\x1b", "[M !!x"}, 120 * time.Millisecond, "x"},
		{"a bracket alone", []string{"\x1b", "]", "n"}, 120 * time.Millisecond, "n"},
		{"another key", []string{"\x1b", "n"}, 120 * time.Millisecond, "n"},
		{"a bracket later", []string{"\x1b", "]n"}, 600 * time.Millisecond, "]n"},
		{"a paste", []string{"\x1b", "[200~O[B]\x1b[201~x"}, 120 * time.Millisecond, "<esc>[O[B]]x"},
	}
	for _, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			got := heardFrom(&wholeInput{in: &apart{test.pieces, test.gap}})
			servicetest.Same(t, test.name, strings.TrimPrefix(test.want, "<esc>"), strings.TrimPrefix(got, "<esc>"))
		})
	}
}
