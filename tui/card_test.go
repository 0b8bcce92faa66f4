package tui

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/service/servicetest"
	"fundesk/tui/desk"
)

// sampleWorld has the sample's donors, as the demo does.
func sampleWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Harness: servicetest.New(t)}
	clocks.Store(t.Name(), w.Clock)
	t.Cleanup(func() { clocks.Delete(t.Name()) })
	w.Sample(80)
	w.connect(t, t.TempDir())
	w.options.Languages = []string{"nl", "de", "en"}
	return w
}

// At 80 by 24 cells nine of ten donors of the sample have all facts of a verification in sight before any key, with the
// name and the number; no frame of the first page has an identifier or a word of the interface.
func TestFactsAreInSight(t *testing.T) {
	t.Parallel()
	d := newDriver(t, sampleWorld(t).options)
	wire := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}|[a-z]+_[a-z]+|requestedAt|winback|optIn`)
	facts := []string{"1 mobile", "2 home", "3 e-mail", "6 address", "7 born", "8 IBAN", "9 contact", "0 amount"}
	whole, all := 0, 0
	for range 40 {
		d.size(80, 24)
		d.enter("n")
		if d.app.Day.Call == nil {
			break
		}
		for _, size := range [][2]int{{120, 36}, {200, 50}, {80, 24}} {
			d.size(size[0], size[1])
			if found := wire.FindString(d.text()); found != "" {
				t.Errorf("got %q on the desk of %dx%d:\n%s", found, size[0], size[1], d.text())
			}
		}
		if d.app.Day.Call.Type != apitype.CallVerification {
			continue
		}
		all++
		missing := ""
		for _, fact := range append(facts, d.app.Day.Name()) {
			if !strings.Contains(d.text(), fact) {
				missing = fact
			}
		}
		if missing == "" {
			whole++
		} else {
			t.Logf("no %q in:\n%s", missing, d.text())
		}
	}
	if all < 10 || whole*10 < all*9 {
		t.Errorf("got all facts of %d of %d verifications, want 9 of 10", whole, all)
	}
}

// A large screen shows more, not more blank: at most five rows of the middle pane are blank above the result. The first
// page has one card and five keys: at 120x36 it may leave a third blank.
func TestLargeScreenIsNotBlank(t *testing.T) {
	t.Parallel()
	d := newDriver(t, sampleWorld(t).options)
	for _, size := range [][2]int{{120, 36}, {200, 50}} {
		d.size(size[0], size[1])
		for _, key := range []string{"esc", "n"} {
			d.press(key)
			blank, middle := 0, ""
			for line := range strings.Lines(d.text()) {
				if panes := strings.Split(line, "││"); len(panes) == 3 {
					if middle += panes[1] + "\n"; strings.TrimSpace(panes[1]) == "" {
						blank++
					}
				}
				if strings.Contains(line, "─ Result ─") {
					break
				}
			}
			most := 5
			if key == "esc" && size[0] == 120 {
				most = size[1] / 3
			}
			if blank > most || middle == "" {
				t.Errorf("%q at %dx%d: got %d blank rows:\n%s", key, size[0], size[1], blank, d.text())
			}
		}
	}
}

// The head of the card is never cut: it has shorter words on a narrow pane.
func TestHeadOfTheCardIsWhole(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "nl", "de"} {
		w := newQueueWorld(t)
		w.options.Language = language
		w.Clock.Advance(8 * 24 * time.Hour)
		d := newDriver(t, w.options)
		d.press("n")
		for _, width := range []int{80, 100, 120, 160, 200} {
			d.size(width, 36)
			head := ""
			for line := range strings.Lines(d.text()) {
				if head == "" && strings.Contains(line, "◷") {
					head = line
				}
			}
			if head == "" || strings.Contains(head, "…") {
				t.Errorf("%s, %d columns: got the head %q, want it whole", language, width, head)
			}
		}
	}
}

// Space ticks the fact at the pointer and goes on. The line of ctrl+s counts the ticks, no question asks for them, and
// the draft keeps them.
func TestTicksAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := fixerOf(t, w)
	d.enter("space", "j", "space", "c", "1", "8")
	d.sees("✓  1 mobile", "✓  3 e-mail", "sends confirmed, rating 8, 2 of 8 checked")
	d.enter("r", "esc", "space", "6", "space", "5")
	d.sees("✓  6 address", "4 of 8 checked", "no detail on the card has the key 5")
	servicetest.Same(t, "page", 0, d.app.current)
	d.enter("k", "space", "space", "6")
	d.sees("2 of 8 checked")
	servicetest.Check(t, d.app.Day.Changes.Drafts.Flush())
	draft, _, err := w.box.Draft(d.app.Day.Call.UUID)
	servicetest.Check(t, err)
	w = newWorld(t)
	servicetest.Check(t, w.box.SaveDraft(callID(5), outbox.Draft{Notes: draft.Notes, Checked: draft.Checked}))
	again := newDriver(t, w.options)
	again.press("D")
	again.sees("✓  3 e-mail", "2 of 8 checked")
	again.enter("k", "k", "space")
	again.sees("1 of 8 checked")
}

// dialRole makes the test program one that notes its arguments.
const dialRole = "note-arguments"

// noteArguments writes what a dialling program is given to the file that its first argument names.
func noteArguments(args []string) {
	text, err := json.Marshal(args[1:])
	if err == nil {
		err = os.WriteFile(args[0], text, 0o600)
	}
	if err != nil {
		os.Exit(3)
	}
}

// d hands the number to the program of the profile in one argument, which no shell reads; the clock of the call runs
// from then on, and the attempt has the time of dialling.
func TestDial(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	servicetest.Check(t, err)
	w := newWorld(t)
	noted := filepath.Join(t.TempDir(), "arguments")
	w.options.Dial = []string{program, dialRole, noted, "--to=" + desk.NumberPlace + "; $(exit) `x`", "b c"}
	d := newDriver(t, w.options)
	d.enter("n", "d")
	dialled := w.Clock.Now()
	text, err := os.ReadFile(noted)
	if got, want := string(text), `["--to=+31612345671; $(exit) `+"`x`"+`","b c"]`; err != nil || got != want {
		t.Errorf("the program got %s, %v, want %s", got, err, want)
	}
	for range 7 {
		w.Clock.Advance(23 * time.Second)
		d.send(ticked{})
	}
	d.sees("◷ 2:41")
	d.press("a")
	entries, _, err := w.box.List()
	want := dialled.UTC().Format("2006-01-02T15:04:05")
	if err != nil || len(entries) != 1 || !strings.Contains(string(entries[0].Body), want) {
		t.Errorf("got %v, %v, want an attempt at %s", entries, err, want)
	}
}

// The clock of the call runs on from the dialling, and the attempt has its time, even if the call is read again in
// between.
func TestDialledCallIsReadAgain(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.enter("n", "d")
	dialled := w.Clock.Now()
	for range 4 {
		d.untilPoll(w)
	}
	if at := d.app.Day.Card().Dialled(); !at.Equal(dialled) {
		t.Errorf("got the call dialled at %s, want %s", at, dialled)
	}
	d.sees("◷ 1:00")
	d.enter("a", "u")
	if at := d.app.Day.Card().Dialled(); !at.Equal(dialled) {
		t.Errorf("undone: got the call dialled at %s, want %s", at, dialled)
	}
	d.press("a")
	entries, _, err := w.box.List()
	want := dialled.UTC().Format("2006-01-02T15:04:05")
	if err != nil || len(entries) != 1 || !strings.Contains(string(entries[0].Body), want) {
		t.Errorf("got %v, %v, want an attempt at %s", entries, err, want)
	}
	if w.Clock.Advance(time.Second); !d.app.Day.Card().Dialled().IsZero() {
		t.Error("got the next call dialled, too")
	}
}

// click clicks on a text that is seen.
func (d *driver) click(text string) {
	for y, line := range strings.Split(d.text(), "\n") {
		if before, _, found := strings.Cut(line, text); found {
			d.send(tea.MouseClickMsg{X: render.Width(before) + 2, Y: y, Button: tea.MouseLeft})
			return
		}
	}
}

// A click on the number dials it, too.
func TestClickDials(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Mouse = true
	d := newDriver(t, w.options)
	d.size(120, 36)
	d.press("n")
	if d.click(onCard(1)); d.app.Day.Card().Dialled().IsZero() {
		t.Errorf("got no clock in:\n%s", d.text())
	}
}

// The first click after the computer slept dials nothing before the call was read again: another agent may have it.
func TestFirstClickAfterSleep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Mouse = true
	d := newDriver(t, w.options)
	d.size(120, 36)
	d.press("n")
	d.send(ticked{})
	w.Clock.Advance(time.Hour)
	if d.click(onCard(1)); !d.app.Day.Card().Dialled().IsZero() || !strings.Contains(d.text(), "press it again") {
		t.Errorf("got it dialled at %s:\n%s\nwant nothing done, and that said", d.app.Day.Card().Dialled(), d.text())
	}
	w.Clock.Advance(2 * time.Second)
	if d.click(onCard(1)); d.app.Day.Card().Dialled().IsZero() {
		t.Errorf("clicked again: got no clock in:\n%s", d.text())
	}
}

// The message about a program that cannot dial has the setting, and never the number. Without a program the agent
// dials.
func TestDialWithoutProgram(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		dial []string
		want string
	}{
		{
			dial: []string{"no-such-program", desk.NumberPlace},
			want: "cannot dial with no-such-program: there is no such program; the setting is dial of the profile",
		},
		{nil, "Dial the mobile number by hand"},
	} {
		w := newWorld(t)
		w.options.Dial = test.dial
		d := newDriver(t, w.options)
		d.size(140, 36)
		d.enter("n", "d")
		d.sees(test.want)
		for _, message := range d.app.Messages.Past {
			if strings.Contains(message.Text, "12345671") {
				t.Errorf("got the number in %q", message.Text)
			}
		}
	}
}

// The number on the card is a link that a terminal may open.
func TestNumberIsALink(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newWorld(t).options)
	d.press("n")
	if screen := strings.Join(d.app.screen(), "\n"); !strings.Contains(screen, ansi.SetHyperlink("tel:+31612345671")) {
		t.Errorf("got no link in %q", screen)
	}
}

// The Desk speaks the agent's language; what it has no words for stays English.
func TestDeskSpeaksTheLanguage(t *testing.T) {
	t.Parallel()
	for language, want := range map[string][]string{
		"nl": {
			"VERIFICATIE · aangevraagd 4 dagen geleden · poging 1",
			"geboren",
			"kies eerst een resultaat",
			"niet bereikt",
		},
		"de": {
			"VERIFIZIERUNG · angefragt vor 4 Tagen · Versuch 1",
			"Adresse",
			"erst Ergebnis wählen",
			"nicht erreicht",
		},
		"fr": {"VERIFICATION · requested 4 days ago · attempt 1", "address", "needs a result first", "not reached"},
	} {
		w := newWorld(t)
		w.options.Language = language
		d := newDriver(t, w.options)
		d.size(160, 40)
		d.press("n")
		d.sees(want...)
	}
	servicetest.Same(
		t,
		"TextLanguage",
		"de",
		render.TextLanguage(func(name string) string { return map[string]string{"LANG": "de_AT.UTF-8"}[name] }),
	)
}

// A key that bounces or is held down dials one number, and so does a double click. After a pause the key dials the next
// number.
func TestDialsOnceAtATime(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	w.options.Mouse = true
	d := newDriver(t, w.options)
	d.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	d.enter("n")
	w.seen()
	dials := func(want int, after string) {
		t.Helper()
		if got := len(d.app.Day.Dials); got != want {
			t.Errorf("after %s: got %d dials, want %d", after, got, want)
		}
	}
	for range 20 {
		d.send(keyPress("d"))
		w.Clock.Advance(40 * time.Millisecond)
	}
	dials(1, "a key that was held down")
	d.sees("d: press it again")
	w.Clock.Advance(time.Second)
	d.press("d")
	dials(2, "another key")
	w.Clock.Advance(time.Second)
	for range 2 {
		d.click("+31 6 12 34 56 71")
		w.Clock.Advance(100 * time.Millisecond)
	}
	dials(3, "a double click")
}
