package tui

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"fundesk/render"
	"fundesk/tui/desk/queue"
)

// The head has the clock in every language and at every size, and no page loses its name for the profile's.
func TestHeadShowsTheClock(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		language string
		width    int
		want     string
	}{
		{"", 80, "7 Floor     09:15 · online"},
		{"", 120, "test · 09:15 · online"},
		{"nl", 80, "7         09:15"},
		{"nl", 120, "7 Team"},
		{"de", 80, "7 Team       09:15"},
		{"de", 120, "test · 09:15 · online"},
	} {
		w := newWorld(t)
		w.options.Language = test.language
		d := newDriver(t, w.options)
		d.send(tea.WindowSizeMsg{Width: test.width, Height: 24})
		head, _, _ := strings.Cut(d.text(), "\n")
		if !strings.Contains(head, "09:15") || !strings.Contains(head, test.want) {
			t.Errorf("%q at %d: got %q, want %q", test.language, test.width, head, test.want)
		}
	}
}

// A Desk without a connection names the service once.
func TestOfflineNamesTheServiceOnce(t *testing.T) {
	t.Parallel()
	w, down := newWorld(t), fault(nil)
	w.faulty(t, &down)
	d := newDriver(t, w.options)
	d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	down = func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }
	d.press("2")
	d.press("R")
	_, host, _ := strings.Cut(w.URL, "://")
	if text := d.text(); !strings.Contains(text, "No connection") || strings.Count(text, host) != 1 {
		t.Errorf("got\n%s\nwant %s once", text, host)
	}
}

// A profile may have the name of a word of the Desk. It is no word to translate.
func TestProfileKeepsItsName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Language = "de"
	w.options.Locale = render.LocaleFrom(func(string) string { return "de_DE.UTF-8" })
	d := newDriver(t, w.options)
	const want = "Der token_command des Profils work muss ein anderes Token ausgeben"
	if got := d.app.Say("The token_command of profile work must print another token"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A profile without languages says nothing of those that the agent speaks: no card warns of the donor's.
func TestNoLanguageIsGuessed(t *testing.T) {
	t.Setenv("LANGUAGE", "en")
	w := newWorld(t)
	w.options.Languages = nil
	d := newDriver(t, w.options)
	d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	d.press("n")
	if text := d.text(); !strings.Contains(text, "Anna Jansen") || strings.Contains(text, "you: ") {
		t.Errorf("got\n%s\nwant a card without a warning of the language", text)
	}
	if got := queue.KnownLanguages(d.app.Day.Filter, d.app.Day.Languages, d.app.Day.Leases.State); len(got) == 0 || got[0] != "en" {
		t.Errorf("got %q to choose from, want that of the locale", got)
	}
}

// A narrow terminal shows all results of the chosen agent, and the age in words.
func TestFloorCutsNothingOfTheChosenAgent(t *testing.T) {
	t.Parallel()
	w := floorWorld(t)
	d := newDriver(t, w.options)
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.enter("R", "j")
	if text := d.text(); !strings.Contains(text, "seen 4 minutes ago · wants to stop 1") {
		t.Errorf("got\n%s\nwant when the agent was seen, and all results", text)
	}
}
