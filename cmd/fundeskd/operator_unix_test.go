//go:build unix

package main

import (
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
	for _, args := range [][]string{{"check", "--database", "sqlite:x"}, {"--database=sqlite:x", "check"}} {
		if !namesDatabase(args) {
			t.Errorf("%q: got that no database is named", args)
		}
	}
}
