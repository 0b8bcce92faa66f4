package page

import (
	"regexp"
	"testing"
)

// Themes keep to the sixteen colours of the terminal, none is there under NO_COLOR, and a
// warning stands out in each of them.
func TestThemes(t *testing.T) {
	t.Parallel()
	ofTerminal := regexp.MustCompile(`^\x1b\[(?:[0-79]|3[0-7]|9[0-7]|;)*m`)
	colour := regexp.MustCompile(`\x1b\[[0-9;]*\b(?:3[0-9]|9[0-9]|38|48)\b`)
	for _, theme := range Themes {
		s, plain := NewStyles(theme, false, false), NewStyles(theme, true, false)
		for name, role := range map[string]paint{"warn": s.Warn, "bad": s.Bad, "key": s.Key, "accent": s.accent, "chosen": s.chosen} {
			if got := role("x"); !ofTerminal.MatchString(got) || got == "x" {
				t.Errorf("%s, %s: got %q, want a role of the terminal's own", theme, name, got)
			}
		}
		for name, role := range map[string]paint{"warn": plain.Warn, "bad": plain.Bad, "key": plain.Key, "good": plain.Good} {
			if got := role("x"); colour.MatchString(got) {
				t.Errorf("%s without colour, %s: got %q", theme, name, got)
			}
		}
		if s.Warn("x") == s.plain("x") || s.Bad("x") == s.Dim("x") {
			t.Errorf("%s: a warning looks like any text", theme)
		}
	}
	if got := NewStyles("high-contrast", false, false).Dim("x"); got != "x" {
		t.Errorf("high contrast: got %q, want nothing faint", got)
	}
}
