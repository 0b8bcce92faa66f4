package commands

import (
	"testing"

	"fundesk/cmd/manual"
)

// The manual pages are made from the commands:
//
//	go test ./commands -run TestManualPages -update
func TestManualPages(t *testing.T) {
	t.Parallel()
	manual.Check(t, wholeTree(t), "man", *update)
}
