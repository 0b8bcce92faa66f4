package account

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/configuration.md has every key of a profile.
func TestConfigurationPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range settings() {
		if !strings.Contains(string(page), "`"+setting.key+"`") {
			t.Errorf("docs/configuration.md does not have %s: %s", setting.key, setting.help)
		}
	}
}

// A command of a profile is taken apart as a shell would.
func TestShellWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                       nil,
		"  \t\n ":                nil,
		"a":                      {"a"},
		" a  b\tc\nd ":           {"a", "b", "c", "d"},
		`'' b`:                   {"", "b"},
		`b ""`:                   {"b", ""},
		`a"b c"'d "e'f`:          {`ab cd "ef`},
		`call list --x "a b" ''`: {"call", "list", "--x", "a b", ""},
	} {
		if got, err := shellWords(text); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}
