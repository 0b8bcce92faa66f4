package servicetest

import "testing"

// Long skips a test that takes more than two seconds if the tests run with -short.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes more than two seconds")
	}
}
