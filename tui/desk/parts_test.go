package desk_test

import (
	"slices"
	"strings"
	"testing"
)

// The line is cut after each part of each group. Undo takes back the rest and names the part that stays. The card shows
// it, and a asks before another attempt.
func TestUndoSpeaksOfParts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, key, cutBefore, stays string
		attempts                    int
		loses                       bool
	}{
		{"the attempt stays, the note goes", "a with a note", "/notes", "the attempt of ", 1, false},
		{"nothing stays", "a with a note", "/add-attempt", "", 0, false},
		{
			name:      "the correction stays, the result goes",
			key:       "ctrl+s with a correction",
			cutBefore: "/complete",
			stays:     "the correction stays",
		},
		{"nothing stays of the correction", "ctrl+s with a correction", "/update", "", 0, false},
		{
			name:      "the outcome of the attempt is unknown",
			key:       "a with a note",
			cutBefore: "/add-attempt",
			stays:     "whether the service has the attempt of ",
			attempts:  1,
			loses:     true,
		},
	} {
		f := newFloor(t, 3)
		a, line := f.agentOn(t.TempDir())
		line.cuts = test.cutBefore
		line.losesCut = test.loses
		a.press("n")
		a.perform(a.Next())
		call := a.Call.UUID
		a.press(test.key)
		endings[test.key](a)
		a.sendHeld()
		if !a.Changes.CanUndo() {
			t.Errorf("%s: got nothing to undo", test.name)
			continue
		}
		a.told = nil
		a.press("u")
		a.perform(a.Changes.Undo())
		if !a.IsOn(call) || f.call(call).AttemptsCount != test.attempts {
			t.Errorf("%s: got %+v on the desk and %d attempts", test.name, a.Call, f.call(call).AttemptsCount)
			continue
		}
		onCard := slices.ContainsFunc(a.Warnings(), func(text string) bool {
			return strings.Contains(text, test.stays)
		})
		if test.stays == "" {
			if strings.Contains(strings.Join(a.told, "\n"), "stays") {
				t.Errorf("%s: got %q, want all taken back", test.name, a.told)
			}
			continue
		}
		if !a.heard(test.stays) || !onCard {
			t.Errorf("%s: got %q and %q, want %q", test.name, a.told, a.Warnings(), test.stays)
		}
		asks := a.Ask.NotReached().Next
		isAttempt := strings.Contains(test.stays, "attempt")
		if isAttempt != (asks != nil && strings.Contains(asks.Title, "attempt")) {
			t.Errorf("%s: got %+v for a, want a question: %t", test.name, asks, isAttempt)
		}
	}
}
