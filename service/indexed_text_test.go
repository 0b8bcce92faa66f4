package service

import (
	"strings"
	"testing"
)

// A text of up to 500 bytes stands in its index as it is; a longer one with its beginning and a
// digest, which is another for another text, and cuts no character. Spec gap: L5.
func TestIndexedText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", strings.Repeat("x", 500), strings.Repeat("世", 166) + "ab"} {
		if got := IndexedText(text); got != text {
			t.Errorf("%d bytes: got %q, want the text itself", len(text), got)
		}
	}
	const digest = len("…") + 64
	for text, want := range map[string]string{
		strings.Repeat("x", 501):            strings.Repeat("x", 500),
		"ab" + strings.Repeat("世", 200):     "ab" + strings.Repeat("世", 166),
		"abc" + strings.Repeat("世", 200):    "abc" + strings.Repeat("世", 165),
		strings.Repeat("x", 500) + "\x00…y": strings.Repeat("x", 500),
	} {
		got := IndexedText(text)
		if beginning, ok := strings.CutPrefix(got, want+"…"); !ok || len(beginning) != 64 || len(got) != len(want)+digest {
			t.Errorf("%d bytes: got %q, want %d bytes and a digest", len(text), got, len(want))
		}
		if IndexedText(text+"z") == got || IndexedText(got) == got {
			t.Errorf("%d bytes: another text stands for the same", len(text))
		}
	}
}
