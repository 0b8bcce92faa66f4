package main

import (
	"flag"
	"testing"

	"fundesk/cmd/manual"
)

var update = flag.Bool("update", false, "write the manual pages anew")

// The manual pages are made from the commands:
//
//	go test ./cmd/fundeskd -run TestManualPages -update
func TestManualPages(t *testing.T) {
	t.Parallel()
	manual.Check(t, (&program{}).root(), "man", *update)
}
