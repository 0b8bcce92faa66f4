package tui

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fundesk/render"
)

// inCodes returns a screen with its colours written as «codes».
func inCodes(screen []string) string {
	codes := regexp.MustCompile("\x1b\\[([0-9;]*)m").ReplaceAllString(strings.Join(screen, "\n"), "«$1»")
	return trailing.ReplaceAllString(ansi.Strip(codes), "")
}

// The pages of a supervisor, a dialog over the card, and a Desk without a connection, in the colours of a dark and of a
// light terminal. The small size has all of them.
func TestGoldenColours(t *testing.T) {
	t.Parallel()
	for _, theme := range []string{"", "light"} {
		name := map[string]string{"": "-colours", "light": "-light"}[theme]
		shot := func(d *driver, screen string, wants ...string) {
			t.Helper()
			d.sees(wants...)
			codes := inCodes(d.app.screen())
			golden(t, screen+name, regexp.MustCompile(`127.0.0.1:[0-9]{5}`).ReplaceAllString(codes, "127.0.0.1:40000"))
		}
		floor := floorWorld(t)
		floor.options.Theme = theme
		shot(newDriver(t, floor.options), "floor", "2 agents, 1 on a call", "a callback is due")

		w, down := newQueueWorld(t), fault(nil)
		w.faulty(t, &down)
		w.options.Theme = theme
		d := newDriver(t, w.options)
		d.press("6")
		shot(d, "stats", "verification")
		d.enter("1", "n")
		w.Clock.Advance(time.Second)
		d.enter("i", "h", "i", "esc", "X")
		shot(d, "cancel", "Cancel the call", "y yes")
		d.press("n")
		down = func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }
		d.press("R")
		shot(d, "offline", "offline")
	}
}

// The dialog with the longest words cuts none of them in Dutch and in German.
func TestGoldenLaterInLanguages(t *testing.T) {
	t.Parallel()
	for language, locale := range map[string]string{"nl": "nl_NL.UTF-8", "de": "de_DE.UTF-8"} {
		w := newQueueWorld(t)
		w.options.Language = language
		w.options.Locale = render.LocaleFrom(func(string) string { return locale })
		d := newDriver(t, w.options)
		d.size(80, 24)
		d.press("n")
		w.Clock.Advance(time.Second)
		d.press("b")
		golden(t, "later-"+language+"-80x24", trailing.ReplaceAllString(d.text(), ""))
	}
}
