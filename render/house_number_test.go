package render_test

import (
	"testing"

	"fundesk/render"
)

// A house number reads as it is said: an addition of digits or of a word stands apart.
func TestHouseNumber(t *testing.T) {
	t.Parallel()
	for _, test := range [][3]string{
		{"61", "", "61"},
		{"61", "a", "61a"},
		{"61", "é", "61é"},
		{"61", "-2", "61-2"},
		{"61", "3", "61 3"},
		{"61", "bis", "61 bis"},
		{"16", "bte 3", "16 bte 3"},
	} {
		if got := render.HouseNumber(test[0], test[1]); got != test[2] {
			t.Errorf("%q and %q: got %q, want %q", test[0], test[1], got, test[2])
		}
	}
}
