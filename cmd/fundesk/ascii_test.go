package main

import (
	"strings"
	"testing"
)

// With --ascii nothing else is on the screen.
func TestASCIIScreen(t *testing.T) {
	t.Parallel()
	term := newHome(t).openTerminal(t, 100, 30)
	for _, flag := range []string{"", " --ascii"} {
		term.write("fundesk demo" + flag + "\n")
		screen := term.waitFor("Pledges")
		if got := !strings.ContainsFunc(screen, func(r rune) bool { return r >= 0x80 }); got != (flag != "") {
			t.Errorf("demo%s: got ASCII only %t in\n%s", flag, got, screen)
		}
		term.send("q")
		term.wait("the end", func(screen string) bool { return !strings.Contains(screen, "Pledges") })
	}
}
