//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettingsOfTheService(t *testing.T) {
	t.Parallel()
	const text = "# FUNDESKD_DATABASE=sqlite:/no\n; A=b\nFUNDESK_DATA_DIR=/var/lib/fundeskd\n\n" +
		"FUNDESKD_DATABASE=\"postgres://db/fundesk?a=b\"\nQUOTED='x y'\nalone\n"
	want := map[string]string{
		"FUNDESK_DATA_DIR": "/var/lib/fundeskd", "FUNDESKD_DATABASE": "postgres://db/fundesk?a=b", "QUOTED": "x y",
	}
	if diff := cmp.Diff(want, settingsIn(text)); diff != "" {
		t.Error(diff)
	}
}

// Who names a database or another home works on that, root too.
func TestRootNamesWhatItWorksOn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args, variable string
		want           bool
	}{
		{"check", "", true},
		{"account list", "FUNDESK_LOG=x", true},
		{"check --database sqlite:x", "", false},
		{"--database=sqlite:x check", "", false},
		{"check", "HOME=/home/operator", false},
		{"check", "FUNDESKD_DATABASE=sqlite:x", false},
		{"check", "FUNDESK_DATA_DIR=/srv", false},
		{"check", "XDG_DATA_HOME=/srv", false},
	} {
		name, value, _ := strings.Cut(test.variable, "=")
		set := map[string]string{"HOME": "/root"}
		set[name] = value
		getenv := func(variable string) string { return set[variable] }
		if got := isForService(strings.Fields(test.args), getenv, "/root"); got != test.want {
			t.Errorf("%s with %q: got %v, want %v", test.args, test.variable, got, test.want)
		}
	}
}
