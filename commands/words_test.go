package commands

import (
	"strings"
	"testing"

	"fundesk/commands/cli"
)

// A line is taken apart by the flags that every command has.
func TestPartsOfALine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line, names, joined string
	}{
		{"", "", ""},
		{"call list", "call list", "call list"},
		{"--profile p call -q list --retry 3 x", "call list x", "--profile p call -q list --retry 3 x"},
		{"-o json --arg a open - 1", "open - 1", "-o json --arg=a=open - 1"},
		{"--quiet open 1", "open 1", "--quiet open 1"},
		{"call -- -q x", "call -q x", "call -- -q x"},
		{"call --", "call", "call --"},
		{"--", "", "--"},
		{"-q help", "help", "-q help"},
		{"__complete x", "__complete x", "__complete x"},
		{"calls", "calls", "calls"},
		{"open --profile", "open", "open --profile"},
		{"x --opt-in-sms false y --opt-in-mail true", "x false y true", "x --opt-in-sms=false y --opt-in-mail=true"},
		{"x --opt-in-sms maybe --opt-in-sms", "x maybe", "x --opt-in-sms maybe --opt-in-sms"},
		{"x --arg a b c", "x b c", "x --arg=a=b c"},
		{"x --arg a=b c", "x c", "x --arg a=b c"},
		{"x --arg a", "x", "x --arg a"},
		{"x -- --arg a b", "x --arg a b", "x -- --arg a b"},
	} {
		args := strings.Fields(test.line)
		if got := strings.Join(cli.Positional(args), " "); got != test.names {
			t.Errorf("%s: got the names %q, want %q", test.line, got, test.names)
		}
		if got := strings.Join(joinValues(args), " "); got != test.joined {
			t.Errorf("%s: got %q, want %q", test.line, got, test.joined)
		}
	}
}
