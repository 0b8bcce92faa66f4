package tui

import (
	"testing"

	"fundesk/service/servicetest"
)

// An upper-case letter without a meaning names Caps Lock. One with a meaning does its action.
func TestCapsLockIsNamed(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.enter("n", "Z")
	d.sees("Z does nothing: is Caps Lock on?")
	d.press("W")
	d.lacks("Caps Lock")
}

// On French and Belgian keyboards the keys of the digits are digits where only digits are asked for.
func TestDigitsWithoutShift(t *testing.T) {
	t.Parallel()
	_, d := opened(t)
	d.enter("n", "c", "é")
	servicetest.Same(t, "c é", "refused", d.app.Day.Form().ResultCode)
	d.press("ç")
	if got := d.app.Day.Form().Rating; got == nil || *got != 9 {
		t.Errorf("ç: got the rating %v, want 9", got)
	}
	d.enter("f", `"`)
	d.sees("a@example.org")
	d.press("'")
	if got := d.app.Day.Form().Corrections; len(got) > 0 {
		t.Errorf("typed: got %v, want no correction yet", got)
	}
	d.enter("enter")
	servicetest.Same(t, "Corrections", "", d.app.Day.Form().Corrections["email"])
	d.enter("esc", "esc", "c", "Z")
	d.sees("no result has the key Z")
}
