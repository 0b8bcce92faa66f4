package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/apiclient/outbox"
	"fundesk/render"
	"fundesk/service/servicetest"
	"fundesk/tui/desk"
	"fundesk/tui/desk/say"
)

// wireWords finds identifiers and words of the interface.
var wireWords = regexp.MustCompile(`\b[a-z]+(_[a-z]+|[A-Z][a-z]+)+\b|[0-9a-f]{8}-[0-9a-f]{4}-`)

// The screens as an agent sees them, at the least size that is promised and a large
// one. Read them as code.
func TestGoldenScreens(t *testing.T) {
	t.Parallel()
	previews := map[string]string{"calls": "donates", "persons": "1 pledge", "pledges": "to "}
	identifiers := regexp.MustCompile(`\b[0-9a-f]{8}\b`)
	for _, size := range [][2]int{{80, 24}, {100, 30}, {120, 36}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.refusedEntry(t)
			if size[0] >= 200 { // With a script, the contacts are on the card.
				w.options.ConfigDir = t.TempDir()
				script := []byte("Goedendag **{{.Person.Name}}**, u geeft {{.Pledge.Amount}} {{.Pledge.Interval}}.")
				folder := filepath.Join(w.options.ConfigDir, "scripts")
				err := errors.Join(os.Mkdir(folder, 0o700),
					os.WriteFile(filepath.Join(folder, "verification.md"), script, 0o600))
				if err != nil {
					t.Fatal(err)
				}
			}
			m := start(t, w.options, size[0], size[1])
			shot := func(name string, texts ...string) {
				t.Helper()
				if preview, ok := previews[name]; ok && size[0] >= 100 {
					texts = append(texts, preview)
				}
				screen := m.until(func(screen string) bool {
					return !slices.ContainsFunc(texts, func(text string) bool {
						return !strings.Contains(screen, text)
					}) &&
						!strings.Contains(screen, "reading…") &&
						!strings.Contains(screen, "checking…") &&
						!strings.Contains(screen, "calls so far")
				}, texts)
				golden(t, fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), screen)
				if !slices.Contains([]string{"start", "result", "desk", "cancel", "calls", "pledges", "persons"}, name) {
					return
				}
				servicetest.Same(t, name, "", wireWords.FindString(screen))
				if found := identifiers.FindString(screen); found != "" && size[0] < 160 {
					t.Errorf("%s: got the identifier %q, want none below 160 columns", name, found)
				}
			}
			if size[0] >= 100 {
				m.see("Zoë van der", "Anna Jansen")
			}
			shot("start", "take the next call", "1 change was refused", "5 requested calls")
			m.press("n")
			m.see("Anna Jansen", onCard(1))
			m.gone("checking")
			m.press("c")
			shot("result", "to 3 the result", "/ another")
			m.press("1", "r", "7", "i", "Called back at noon.")
			shot("desk", "Called back at noon.", "[7]", "leave notes")
			m.press("esc")
			m.gone("leave notes")
			m.press("X")
			shot("cancel", "Cancel the call to Anna Jansen")
			m.press("n")
			m.gone("Cancel the call")
			m.press("2")
			shot("calls", "6 calls", "Fia Klaar", "reached")
			m.press("G", "enter")
			m.gone("6 calls") // The list and its preview.
			shot("call", "Ask for the new address.")
			m.press("4")
			shot("pledges", "6 pledges", "12.50", "Anna Jansen")
			m.press("3")
			shot("persons", "6 persons", "Utrecht")
			m.press("5")
			shot("outbox", "rejected", "the call is", "1 draft", "draft ")
			m.press("6")
			shot("stats", "counted 6 calls and 6 pledges of all time, at 09:15, R")
			m.press("?")
			shot("help", "type to filter")
		})
	}
}

// trailing finds the blanks at the end of lines.
var trailing = regexp.MustCompile("(?m) +$")

// A full card in each of its colours and languages: a warning, a corrected number, a result,
// notes, and a change that is held. Colours are written as «codes»: the sixteen of the terminal,
// so that a light and a dark one get the same.
func TestGoldenCard(t *testing.T) {
	t.Parallel()
	in := func(locale string) render.Locale { return render.LocaleFrom(func(string) string { return locale }) }
	dutch := Options{Options: desk.Options{Texts: say.Texts{Locale: in("nl_NL.UTF-8"), Language: "nl"}}}
	german := Options{Options: desk.Options{Texts: say.Texts{Locale: in("de_DE.UTF-8"), Language: "de"}}}
	tests := []struct {
		name    string
		colours bool
		size    [2]int
		options Options
		turn    string // The page that is turned to at last. Empty stays on the card.
	}{
		{"card-colours", true, [2]int{120, 36}, Options{}, ""},
		{"card-light", true, [2]int{120, 36}, Options{Theme: "light"}, ""},
		{"card-no-color", true, [2]int{120, 36}, Options{NoColor: true}, ""},
		{"card-high-contrast", true, [2]int{120, 36}, Options{Theme: "high-contrast"}, ""},
		{"card-nl", false, [2]int{120, 36}, dutch, ""},
		{"card-de", false, [2]int{120, 36}, german, ""},
		{"card-nl-80x24", false, [2]int{80, 24}, dutch, ""},
		{"card-de-80x24", false, [2]int{80, 24}, german, ""},
		{"card-60x16", false, [2]int{60, 16}, Options{}, ""},
		{"card-80x24", false, [2]int{80, 24}, Options{}, ""},
		{"card-100x30", false, [2]int{100, 30}, Options{}, ""},
		{"card-200x50", false, [2]int{200, 50}, Options{}, ""},
		{"calls-colours", true, [2]int{120, 36}, Options{}, "2"},
		{"calls-light", true, [2]int{120, 36}, Options{Theme: "light"}, "2"},
		{"calls-no-color", true, [2]int{120, 36}, Options{NoColor: true}, "2"},
		{"calls-high-contrast", true, [2]int{120, 36}, Options{Theme: "high-contrast"}, "2"},
	}
	codes := regexp.MustCompile("\x1b\\[([0-9;]*)m")
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.options.NoColor, w.options.Theme = test.options.NoColor, test.options.Theme
			w.options.Locale, w.options.Language = test.options.Locale, test.options.Language
			d := fixerOf(t, w)
			d.size(test.size[0], test.size[1])
			d.press("n")
			w.seen()
			d.enter("a", "f", "1")
			d.send(tea.PasteMsg{Content: "06 27 08 40 34"})
			d.enter("enter", "esc", "c", "2", "8", "i")
			d.send(tea.PasteMsg{Content: "Moved in May, the new number is right."})
			d.check("card")
			if test.turn != "" {
				d.enter("esc", test.turn)
				d.check(test.turn)
			}
			screen := strings.Join(d.app.screen(), "\n")
			if test.colours {
				screen = codes.ReplaceAllString(screen, "«$1»")
			}
			golden(t, test.name, trailing.ReplaceAllString(ansi.Strip(screen), ""))
		})
	}
}

// Pages 2 to 7 speak the agent's language: what a frame shares with the English one is data, or a word of that
// language.
func TestGoldenLanguages(t *testing.T) {
	t.Parallel()
	data := regexp.MustCompile(`(?i)^(eevil|test|anna|jansen|bert|opgegeven|carla|gebeld|dmitri|evil|zoë|van|der|straaten|fia|klaar|utrecht|dorpsstraat|helder|water|example|org|ask|for|the|new|address|all|well|was|not|reachable|number|reached|esc|uuid|iban|min|wants|stop)$`)
	word := regexp.MustCompile(`\p{L}{3,}`)
	frames := map[string][]string{}
	for _, language := range []string{"", "nl", "de"} {
		w := newWorld(t)
		w.refusedEntry(t)
		w.options.Language = language
		w.options.Locale = render.LocaleFrom(func(string) string {
			return map[string]string{"nl": "nl_NL.UTF-8", "de": "de_DE.UTF-8"}[language]
		})
		table, err := os.ReadFile("desk/say/" + language + ".txt")
		if err != nil && language != "" {
			t.Fatal(err)
		}
		own := map[string]bool{}
		for line := range strings.Lines(string(table)) {
			_, said, _ := strings.Cut(line, "\t")
			for _, of := range word.FindAllString(said, -1) {
				own[of] = true
			}
		}
		d := newDriver(t, w.options)
		floor := floorWorld(t)
		floor.options.Locale, floor.options.Language = w.options.Locale, language
		for i, name := range []string{"calls", "persons", "pledges", "outbox", "stats", "floor"} {
			if name == "floor" {
				d = newDriver(t, floor.options)
			}
			d.size(120, 36)
			d.press(fmt.Sprint(i + 2))
			drawn := func() string {
				return trailing.ReplaceAllString(ansi.Strip(strings.Join(d.app.screen(), "\n")), "")
			}
			screen := drawn()
			if language == "" {
				frames[name] = word.FindAllString(screen, -1)
				continue
			}
			golden(t, name+"-"+language, screen)
			d.size(80, 24)
			golden(t, name+"-"+language+"-80x24", drawn())
			for _, of := range word.FindAllString(screen, -1) {
				if slices.Contains(frames[name], of) && !own[of] && !data.MatchString(of) {
					t.Errorf("%s, %s: got the English word %q, want its row in desk/say/%s.txt:\n%s",
						language, name, of, language, screen)
				}
			}
		}
	}
}

// refusedEntry leaves a change in the outbox that the service has refused.
func (w *world) refusedEntry(t *testing.T) {
	t.Helper()
	change, err := apiclient.CancelCallChange(callID(6), apitype.CancelCallRequest{
		CancelledAt: new(w.ago(time.Minute)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.box.Add(outbox.Entry{Change: change}); err != nil {
		t.Fatal(err)
	}
	report, err := w.box.Sender(w.options.Client, outbox.SenderOptions{}).SendDue(t.Context())
	if err != nil || report.Rejected != 1 {
		t.Fatalf("send: got %+v %v, want one refused", report, err)
	}
}

func TestTooSmallSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := start(t, w.options, 50, 12)
	m.see("fundesk needs 60 by 16 cells; this terminal has 50")
}

func TestASCIIMeansASCII(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"", "de"} {
		w := newWorld(t)
		w.options.ASCII, w.options.Language = true, language
		d := newDriver(t, w.options)
		for _, size := range [][2]int{{120, 36}, {60, 16}} {
			d.size(size[0], size[1])
			for _, key := range []string{
				"1", "n", "f", "9", "esc", "c", "esc", "X", "n", "2", "enter", "esc", "3", "enter",
				"esc", "4", "enter", "esc", "5", "6", "7", "?", "esc",
			} {
				d.press(key)
				d.check(key)
				// The names of the fixture are not ours.
				text := strings.NewReplacer("世", "", "界", "", "␛", "").Replace(d.text())
				if strings.ContainsFunc(text, func(r rune) bool { return r > 0x7e }) {
					t.Errorf("after %s: %q is not ASCII", key, text)
				}
			}
		}
	}
}

// Only the screen has other letters: what was typed is saved as it was.
func TestASCIIKeepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.ASCII = true
	d := fixerOf(t, w)
	d.enter("f", "6")
	d.send(tea.PasteMsg{Content: "Müßige Straße"})
	d.enter("enter", "esc")
	d.sees("Muessige Strasse")
	servicetest.Same(t, "Corrections", "Müßige Straße", d.app.Day.Form().Corrections["address/street"])
}
