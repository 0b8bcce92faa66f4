package main

import (
	"strings"
	"testing"
	"unicode"
)

// With --ascii every sign that is drawn is ASCII; the letters of a record stay as they are.
func TestASCIIScreen(t *testing.T) {
	t.Parallel()
	term := newHome(t).openTerminal(t, 100, 30)
	isSign := func(r rune) bool { return r > unicode.MaxASCII && !unicode.IsLetter(r) }
	for _, flag := range []string{"", " --ascii"} {
		term.write("fundesk demo" + flag + "\n")
		screen := term.waitFor("Pledges")
		if got := !strings.ContainsFunc(screen, isSign); got != (flag != "") {
			t.Errorf("demo%s: got signs in ASCII only %t in\n%s", flag, got, screen)
		}
		term.send("q")
		term.wait("the end", func(screen string) bool { return !strings.Contains(screen, "Pledges") })
	}
}
