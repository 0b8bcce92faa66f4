package cli

import (
	"fmt"
	"strings"
	"testing"
)

// Errors are told as JSON however the format was asked for.
func TestWantsJSON(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"call list":                   false,
		"call list -o json":           true,
		"call list -ojson":            true,
		"call list -o=ndjson":         true,
		"call list -qo json":          true,
		"call list -qojson":           true,
		"call list --output ndjson":   true,
		"call list --output=json":     true,
		"call list --jq .":            true,
		"call list --jq=.":            true,
		"call list --jq . -o tsv":     false,
		"call list -o json -o csv":    false,
		"call list -- -o json":        false,
		"call list --quiet -o id":     false,
		"call list -o":                false,
		"call list --other-o json":    false,
		"outbox show o json":          false,
		"call list -q":                false,
		"call list -o csv --no-input": false,
	} {
		if got := WantsJSON(strings.Fields(line)); got != want {
			t.Errorf("%s: got %t, want %t", line, got, want)
		}
	}
}

// What could not be read is counted once, however often it is read.
func TestOmissions(t *testing.T) {
	t.Parallel()
	var o omissions
	o.add("call 1", "/person")
	o.add("call 2", "")
	o.add("call 1", "/person")
	if n, first := o.Read(); n != 2 || first != "/person of call 1" {
		t.Errorf("got %d, %q, want two, the first of call 1", n, first)
	}
	for n := range 10_001 {
		o.add(fmt.Sprint(n), "")
	}
	if n, _ := o.Read(); n != 10_000 {
		t.Errorf("got %d, want no more than ten thousand", n)
	}
}
