//go:build race

package servicetest

// IsRaced is true if the race detector watches the tests, and the programs that they build.
const IsRaced = true
