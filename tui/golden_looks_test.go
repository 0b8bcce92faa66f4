package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fundesk/render"
)

// look is a way to see a page: a theme or a language, at a size.
type look struct {
	name             string
	theme, language  string
	noColor, colours bool
	size             [2]int
}

// looks are those beside the sizes in English, which other tests draw.
var looks = []look{
	{name: "colours", colours: true, size: [2]int{120, 36}},
	{name: "light", theme: "light", colours: true, size: [2]int{120, 36}},
	{name: "no-color", noColor: true, colours: true, size: [2]int{120, 36}},
	{name: "high-contrast", theme: "high-contrast", colours: true, size: [2]int{120, 36}},
	{name: "nl", language: "nl", size: [2]int{120, 36}},
	{name: "de", language: "de", size: [2]int{120, 36}},
	{name: "nl-80x24", language: "nl", size: [2]int{80, 24}},
	{name: "de-80x24", language: "de", size: [2]int{80, 24}},
}

// The pages and dialogs in each look that no other test draws. Pages of donors show no word of the interface.
func TestGoldenLooks(t *testing.T) {
	t.Parallel()
	pages := []struct {
		name  string
		looks string // Empty means all.
		keys  []string
	}{
		{"start", "", nil},
		{"cancel", "no-color high-contrast nl de nl-80x24 de-80x24", []string{"n", "X"}},
		{"later", "colours light no-color high-contrast nl de", []string{"n", "b"}},
		{"reason", "nl de nl-80x24 de-80x24", []string{"n", "A"}},
		{"fix", "nl de nl-80x24 de-80x24", []string{"n", "f"}},
		{"chosen", "nl de nl-80x24 de-80x24", []string{"n", "c", "2"}},
		{"persons", "colours light no-color high-contrast", []string{"3"}},
		{"pledges", "colours light no-color high-contrast", []string{"4"}},
		{"stats", "no-color high-contrast", []string{"6"}},
		{"floor", "no-color high-contrast", []string{"7"}},
	}
	for _, page := range pages {
		for _, l := range looks {
			if page.looks != "" && !strings.Contains(" "+page.looks+" ", " "+l.name+" ") {
				continue
			}
			t.Run(page.name+"-"+l.name, func(t *testing.T) {
				t.Parallel()
				screen := l.draw(t, page.name, page.keys)
				golden(t, page.name+"-"+l.name, screen)
				text := regexp.MustCompile("«[0-9;]*»").ReplaceAllString(screen, "")
				if found := wireWords.FindString(text); found != "" && page.name != "floor" && page.name != "stats" {
					t.Errorf("got %q, want no identifier and no word of the interface", found)
				}
			})
		}
	}
}

// draw returns a page after some keys, with its colours as «codes» if the look has them.
func (l look) draw(t *testing.T, name string, keys []string) string {
	t.Helper()
	w := newQueueWorld(t)
	if name == "floor" {
		w = floorWorld(t)
	}
	w.options.Theme, w.options.NoColor, w.options.Language = l.theme, l.noColor, l.language
	if l.language != "" {
		locale := map[string]string{"nl": "nl_NL.UTF-8", "de": "de_DE.UTF-8"}[l.language]
		w.options.Locale = render.LocaleFrom(func(string) string { return locale })
	}
	d := newDriver(t, w.options)
	d.size(l.size[0], l.size[1])
	for _, key := range keys {
		d.press(key)
		w.Clock.Advance(time.Second) // A key that ends a call counts once the call was seen.
	}
	d.check(fmt.Sprint(name, " ", l.name))
	if l.colours {
		return inCodes(d.app.screen())
	}
	return trailing.ReplaceAllString(ansi.Strip(strings.Join(d.app.screen(), "\n")), "")
}
