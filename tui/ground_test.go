package tui

import (
	"image/color"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// The terminal's answer about its background decides the colours if it comes at once, and no key runs.
func TestBackgroundDecidesTheColours(t *testing.T) {
	t.Parallel()
	ground := func(of color.Color) string {
		d := newDriver(t, newQueueWorld(t).options)
		d.send(tea.BackgroundColorMsg{Color: of})
		d.press("n")
		return inCodes(d.app.screen())
	}
	if dark, light := ground(color.Black), ground(color.White); dark == light || !strings.Contains(light, "Anna Jansen") {
		t.Error("got the same colours on a dark and on a light ground")
	}
}

// The palette names the actions in the agent's language.
func TestPaletteSpeaksTheLanguage(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	w.options.Language = "nl"
	d := newDriver(t, w.options)
	d.enter("n", ":")
	d.typing("pauze")
	d.sees("pauze")
	if text := d.text(); strings.Contains(text, "take a break") {
		t.Errorf("got\n%s\nwant Dutch", text)
	}
}
