package tui

import (
	"image/color"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// The terminal's answer about its background decides the colours if it comes in time, and no key runs.
func TestBackgroundDecidesTheColours(t *testing.T) {
	t.Parallel()
	ground := func(of color.Color, timeLeft time.Duration) string {
		d := newDriver(t, newQueueWorld(t).options)
		d.app.groundUntil = time.Now().Add(timeLeft)
		d.send(tea.BackgroundColorMsg{Color: of})
		d.press("n")
		return inCodes(d.app.screen())
	}
	dark, light, late := ground(color.Black, time.Hour), ground(color.White, time.Hour), ground(color.White, -time.Hour)
	if dark == light || !strings.Contains(light, "Anna Jansen") {
		t.Error("got the same colours on a dark and on a light ground")
	}
	if late != dark {
		t.Error("got other colours after an answer that came too late")
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
	d.lacks("take a break")
}
