package tui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// A list that does not fit says which of its rows is chosen; one that fits says nothing.
func TestListSaysWhereYouAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := 10; n < 60; n++ {
		w.loadPerson(n, "Anna", fmt.Sprint("Jansen", n))
		w.loadPledge(n)
		w.loadCall(n)
	}
	d := newDriver(t, w.options)
	for _, size := range [][2]int{{80, 24}, {120, 36}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		d.enter("2", "g", "j")
		if text := d.text(); !strings.Contains(text, "2 of 56") {
			t.Errorf("%v: got\n%s\nwant the second row of 56", size, text)
		}
		if d.press("5"); strings.Contains(d.text(), " of ") {
			t.Errorf("%v: got\n%s\nwant no place in an outbox that fits", size, d.text())
		}
	}
}

// Help shows each line whole, at each width, and keeps its size while it is filtered: what is behind it is not drawn anew.
func TestHelpCutsNoLineAndKeepsItsSize(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := fixerOf(t, w)
	for _, width := range []int{60, 80, 120} {
		d.send(tea.WindowSizeMsg{Width: width, Height: 60})
		d.press("?")
		_, lines := d.app.Dialog.View(d.app.Styles, width-8, 58)
		text := strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " ")
		for _, want := range []string{"tick the fact that was checked, or take the tick back; a digit after it chooses the fact", "write notes (esc leaves them)"} {
			if !strings.Contains(text, want) {
				t.Errorf("%d columns: got\n%s\nwant %q whole", width, d.text(), want)
			}
		}
		before := frameOf(d)
		if d.enter("d", "i", "a", "l"); frameOf(d) != before {
			t.Errorf("%d columns: got the frame %s of the filtered help, want %s", width, frameOf(d), before)
		}
		d.press("esc")
	}
}

// frameOf returns where the corners of the dialog stand.
func frameOf(d *driver) (corners string) {
	for y, line := range d.app.screen() {
		if line = ansi.Strip(line); strings.Contains(line, "╭─ Help") {
			corners += fmt.Sprint(y, strings.Index(line, "╭─ Help"))
		}
	}
	for y, line := range d.app.screen() {
		if strings.Contains(line, "─╯") || strings.Contains(line, "╰─") {
			corners += fmt.Sprint(" ", y)
		}
	}
	return corners
}

// No page shows a code of the interface where people have words for it, nor a part of a word.
func TestScreensSpeakInWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Results = map[apitype.CallType][]apitype.ResultChoice{apitype.CallHappy: {{Code: "gives_more", Label: "raised the amount"}}}
	for n, kind := range []apitype.CallType{apitype.CallHappy, apitype.CallWinback, apitype.CallHappy} {
		c := apitype.Call{
			UUID: callID(7 + n), Status: apitype.CallRequested, RequestedAt: w.ago(70 * 24 * time.Hour), LastUpdatedAt: w.ago(5 * time.Hour),
			PersonUUID: personID(1), RelatedCaseUUID: new(pledgeID(1)), Type: kind,
		}
		if n < 2 {
			c.Status, c.CompletedAt = apitype.CallCompleted, new(w.ago(5*time.Hour))
			c.Result = apitype.Embed(apitype.CallResult{ResultCode: new([]string{"gives_more", "wants_to_stop"}[n])})
		} else {
			c.AttemptsCount = 1
			c.Attempts = apitype.Embed([]apitype.CallAttempt{{AttemptAt: w.ago(30 * time.Hour), CreatedAt: w.ago(30 * time.Hour)}})
		}
		w.Load(service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: c}})
	}
	d := newDriver(t, w.options)
	sawn := regexp.MustCompile(`[a-z]_[a-z]|winback|\b(veri|happ|winb|Age|Lang)\b|age try`)
	all := ""
	for _, keys := range []string{"", "n", "2", "2 G enter", "3", "3 G enter", "4", "4 G enter", "5", "6", "6 j j j"} {
		for _, width := range []int{80, 100, 120, 200} {
			d.send(tea.WindowSizeMsg{Width: width, Height: 50})
			d.enter(append([]string{"esc"}, strings.Fields(keys)...)...)
			all += d.text()
			for line := range strings.Lines(d.text()) {
				if found := sawn.FindString(line); found != "" {
					t.Errorf("%s at %d cells: got %q in %q", fmt.Sprintf("%q", keys), width, found, line)
				}
			}
		}
	}
	for _, want := range []string{"· happy ", "· happy call    70d", "HAPPY CALL · asked 70 days ago", "raised the amount", "wants to stop", "win-back", "Asked", "Language", "Dutch"} {
		if !strings.Contains(all, want) {
			t.Errorf("got no screen with %q", want)
		}
	}
}
