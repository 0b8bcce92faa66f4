package tui

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/render"
	"fundesk/tui/page"
)

// The dialog counts down, and fetches a new link in place of one that is over.
func TestSignatureLinkIsFetchedAnewWhenItIsOver(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	d.press("4")
	l := d.app.pages[page.PledgesPage].(*page.Pledges)
	screen := func() string { return strings.Join(d.app.screen(), "\n") }
	l.OfferSignature(page.SignatureRead{ID: pledgeID(1), Link: "https://files.example/s", Till: w.Clock.Now().Add(time.Hour)})
	if !strings.Contains(screen(), "valid for 60 more minutes") {
		t.Errorf("screen: got no 60 minutes:\n%s", screen())
	}
	w.Clock.Advance(25 * time.Minute)
	if !strings.Contains(screen(), "valid for 35 more minutes") {
		t.Errorf("screen: got no 35 minutes:\n%s", screen())
	}
	w.Clock.Advance(35 * time.Minute)
	if !strings.Contains(screen(), "no longer valid") {
		t.Errorf("screen: got no word that it is over:\n%s", screen())
	}
	d.press("y") // The pledge is read again; this one has no signature any more.
	if !strings.Contains(screen(), "this pledge has no signature") {
		t.Errorf("screen: got the old link, want the pledge read again:\n%s", screen())
	}
	l.OfferSignature(page.SignatureRead{ID: pledgeID(1), Link: "file:///etc/passwd", Till: w.Clock.Now()})
	if d.app.Dialog != nil || !strings.Contains(screen(), "is no https address") {
		t.Errorf("screen: got a file offered, want a refusal:\n%s", screen())
	}
}

// The title of the window is in screen shots, task bars and logs: it tells the profile,
// never a person.
func TestWindowTitleTellsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Profile = "prod\x1b]0;x\a\u202e"
	d := newDriver(t, w.options)
	d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	const want = `fundesk prod␛]0;x␇\u202e`
	for _, key := range []string{"", "n", "i", "A", "esc", "o", "2", "enter", "3", "enter", "4", "5", "6"} {
		if key != "" {
			d.press(key)
		}
		if got := d.app.View().WindowTitle; got != want {
			t.Errorf("after %q: got title %q, want %q", key, got, want)
		}
	}
}

// commandString is what a terminal obeys rather than draws: titles, the clipboard, links.
var commandString = regexp.MustCompile("(?s)\x1b[\\]P_^X](.*?)(?:\a|\x1b\\\\)")

// Everything that a session sends to the terminal, byte by byte: personal data is drawn
// and nothing else, what is masked is not sent before it is asked for, and the token never
// is.
func TestTerminalGetsNoMoreThanItDraws(t *testing.T) {
	t.Parallel()
	const note, iban, number = "she told me her secret", "NL91ABNA0417164300", "123456789"
	w := newWorld(t)
	m := start(t, w.options, 120, 36)
	m.press("n")
	m.see(onCard(1), "Anna Jansen")
	m.press("i")
	m.see("leave notes")
	m.press(note)
	m.see(note)
	m.press("esc")
	m.gone("leave notes")
	m.press("3")
	m.see("Opgegeven")
	m.press("enter")
	m.see("IBAN", "social security number") // Of the page alone; names are in the list, too.
	m.press("6")
	m.see("Fri 13 Nov")
	m.press("q")
	m.see("Quit?")
	m.press("y")
	m.ended()
	raw := m.after.String()
	for what, text := range map[string]string{"token": w.token, "IBAN": iban, "social security number": number, "name with a control character": "evil\x1b[31m"} {
		if strings.Contains(raw, text) {
			t.Errorf("the %s was sent to the terminal", what)
		}
	}
	commands := commandString.FindAllStringSubmatch(raw, -1)
	if !slices.ContainsFunc(commands, func(c []string) bool { return strings.HasSuffix(c[1], "fundesk test") }) {
		t.Errorf("got %q, want the title among them", commands)
	}
	link := regexp.MustCompile(`^8;;(tel:\+[0-9]+)?$`)
	for _, command := range commands {
		if link.MatchString(command[1]) { // The number to dial, which the screen shows.
			continue
		}
		for _, text := range []string{"Anna", "Jansen", "Opgegeven", note, iban[:8], "+31612345671", onCard(1), "a@example.org"} {
			if strings.Contains(command[1], text) {
				t.Errorf("the terminal was told %q in a command string, not on the screen", text)
			}
		}
	}
}

// Amounts, dates and numbers are shown as at home.
func TestLocaleIsForTheEye(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Locale = render.LocaleFrom(func(name string) string {
		return map[string]string{"LANG": "nl_NL.UTF-8"}[name]
	})
	d := newDriver(t, w.options)
	d.send(tea.WindowSizeMsg{Width: 160, Height: 50})
	see := func(texts ...string) {
		t.Helper()
		screen := strings.Join(d.app.screen(), "\n")
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				t.Errorf("screen: got no %q:\n%s", text, screen)
			}
		}
	}
	d.press("n")
	see("06 12 34 56 71", "€ 12,50 monthly", "17-05-1980")
	d.press("4")
	see("12,50")
	d.press("3")
	see("06 12 34 56 71")
}
