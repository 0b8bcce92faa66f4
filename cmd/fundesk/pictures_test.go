package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"fundesk/service/servicetest"
)

// mostOfAPicture is the most that a page may load for one picture, in bytes.
const mostOfAPicture = 400_000

// No picture of the README and of docs/ is older than the screens, whose mark it has, or larger than a page may load.
func TestPicturesAreOfTheseScreens(t *testing.T) {
	t.Parallel()
	sum := sha256.New()
	for _, pattern := range []string{"*-120x36.txt", "card-*.txt"} {
		screens, err := filepath.Glob("../../tui/testdata/" + pattern)
		if err != nil || len(screens) == 0 {
			t.Fatalf("golden screens %s: got %d, %v", pattern, len(screens), err)
		}
		slices.Sort(screens)
		for _, screen := range screens {
			text, err := os.ReadFile(screen)
			servicetest.Check(t, err)
			sum.Write(text)
		}
	}
	want := "<!-- screens " + hex.EncodeToString(sum.Sum(nil))[:16] + " -->"
	pictures, err := filepath.Glob("../../.github/*.svg")
	if err != nil || len(pictures) != 8 {
		t.Fatalf("got %d pictures, %v, want 8", len(pictures), err)
	}
	for _, picture := range pictures {
		drawn, err := os.ReadFile(picture)
		servicetest.Check(t, err)
		if !strings.Contains(string(drawn), want) {
			t.Errorf("%s is not of these screens: cmd/fundesk/testdata/picture/picture.sh draws it again",
				filepath.Base(picture))
		}
		if len(drawn) > mostOfAPicture {
			t.Errorf("%s has %d bytes, want %d at most", filepath.Base(picture), len(drawn), mostOfAPicture)
		}
	}
}

// With --ascii every sign that is drawn is ASCII; the letters of a record stay as they are.
func TestASCIIScreen(t *testing.T) {
	t.Parallel()
	term := newHome(t).openTerminal(t, 100, 30)
	isSign := func(r rune) bool { return r > unicode.MaxASCII && !unicode.IsLetter(r) }
	for _, flag := range []string{"", " --ascii"} {
		term.write("fundesk demo" + flag + "\n")
		screen := term.waitFor("verification") // The queue is read.
		if got := !strings.ContainsFunc(screen, isSign); got != (flag != "") {
			t.Errorf("demo%s: got signs in ASCII only %t in\n%s", flag, got, screen)
		}
		term.send("q")
		term.wait("the end", func(screen string) bool { return !strings.Contains(screen, "Pledges") })
	}
}
