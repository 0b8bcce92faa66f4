//go:build !race

package servicetest

// isRaced reports whether the race detector watches the tests.
const isRaced = false
