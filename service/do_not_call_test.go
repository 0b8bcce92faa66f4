package service

import (
	"slices"
	"testing"
)

// A number is looked for in each spelling in which an earlier version may have blocked it.
func TestSpellingsOfANumber(t *testing.T) {
	t.Parallel()
	for _, given := range []string{"+31612345678", "+310612345678"} {
		for _, blocked := range []string{"+31612345678", "+310612345678"} {
			if got := spellingsOf([]string{given}); !slices.Contains(got, blocked) {
				t.Errorf("%s: got %q, want %s among them", given, got, blocked)
			}
		}
	}
}
