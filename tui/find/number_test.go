package find_test

import (
	"testing"

	"fundesk/tui/find"
)

// A part of a number is found however it is written. One with a prefix begins the number, behind the code of its
// country.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]map[string]bool{
		"06 12":    {"31612": true, "3161234567": true, "123612": true, "1234612": false, "99": false},
		"+31 (0)6": {"31612": true, "32612": false},
		"00316":    {"31612": true},
		"612":      {"1234612": true},
		"12":       {"31612": true},
	} {
		number := find.NumberOf(typed)
		if number.IsLong() != (typed != "12") {
			t.Errorf("%s: got long %t", typed, number.IsLong())
		}
		for digits, isIn := range want {
			if got := number.IsIn(digits); got != isIn {
				t.Errorf("%s in %s: got %t, want %t", typed, digits, got, isIn)
			}
		}
	}
	if find.NumberOf("06x").IsLong() {
		t.Error("06x: got a number")
	}
}

// The list of persons finds a number as the Desk does, however it is written.
func TestNumbersAreFoundInLists(t *testing.T) {
	t.Parallel()
	text := "0b1d5a4e Anna Bos 06 87 66 93 94 +31687669394 +31201234567"
	for search, want := range map[string]bool{
		"0687669394":    true,
		"06 87669394":   true,
		"0031687669394": true,
		"+31687669394":  true,
		"020-1234567":   true,
		"669394":        true,
		"bos":           true,
		"0787669394":    false,
		"066":           false,
		"12":            true,
	} {
		if got := find.InRecord(text, find.Terms(search)); got != want {
			t.Errorf("%q: got %t, want %t", search, got, want)
		}
	}
}
