package tui

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
	"fundesk/tui/page"
)

// A list that does not fit shows the number of its chosen row. A list that fits shows none.
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
		d.size(size[0], size[1])
		d.enter("2", "g", "j")
		d.sees("2 of 56")
		d.press("5")
		d.lacks(" of ")
	}
}

// The state of a pledge stays on the band: if a donation began as another one, that goes below it.
func TestTheStateOfAPledgeIsNotCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.loadPerson(50, "Anna", "Adams")
	pledge := apitype.Pledge{
		UUID:                       pledgeID(50),
		Status:                     apitype.PledgeLead,
		StartsAt:                   w.ago(900 * time.Hour),
		CreatedAt:                  w.ago(950 * time.Hour),
		UpdatedAt:                  w.ago(940 * time.Hour),
		OwningOrganizationUUID:     organizationID,
		RecruitingOrganizationUUID: organizationID,
		RecruiterUserUUID:          ids(0xe0, 2),
		InitialDonationAmount:      apitype.Cents(1000),
		DonationAmount:             apitype.Cents(1750),
		InitialDonationInterval:    "quarterly",
		DonationInterval:           "quarterly",
		Person:                     apitype.Embed(apitype.Person{UUID: personID(50)}),
	}
	w.Load(service.LoadRecord{Kind: service.LoadPledge, Data: service.LoadedPledge{Pledge: pledge}})
	w.loadCall(50)
	d := newDriver(t, w.options)
	d.run(d.app.Perform(d.app.Day.Take(callID(50))), 0)
	d.size(120, 36)
	d.sees("€ 17.50 quarterly · not collected yet", "at first € 10.00 quarterly")
	d.size(120+80, 36)
	d.sees("€ 17.50 quarterly, at first € 10.00 quarterly · not collected yet")
}

// Help shows each line whole, at each width, and keeps its size under a filter, so the page behind it stays.
func TestHelpCutsNoLineAndKeepsItsSize(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := fixerOf(t, w)
	for _, width := range []int{60, 80, 120} {
		d.size(width, 60)
		d.press("?")
		_, lines := d.app.Dialog.View(d.app.Styles, width-8, 58)
		text := strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " ")
		for _, want := range []string{
			"tick the detail that you checked, or untick it; a digit after it chooses the detail",
			"write notes (esc leaves them)",
		} {
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

// frameOf returns the corners of the dialog.
func frameOf(d *driver) string {
	var corners string
	for y, line := range d.app.screen() {
		line = ansi.Strip(line)
		if strings.Contains(line, "╭─ Help") {
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
	w.options.Results = map[apitype.CallType][]apitype.ResultChoice{
		apitype.CallHappy: {{Code: "gives_more", Label: "raised the amount"}},
	}
	for n, kind := range []apitype.CallType{apitype.CallHappy, apitype.CallWinback, apitype.CallHappy} {
		c := apitype.Call{
			UUID:            callID(7 + n),
			Status:          apitype.CallRequested,
			RequestedAt:     w.ago(70 * 24 * time.Hour),
			LastUpdatedAt:   w.ago(5 * time.Hour),
			PersonUUID:      personID(1),
			RelatedCaseUUID: new(pledgeID(1)),
			Type:            kind,
		}
		if n < 2 {
			c.Status, c.CompletedAt = apitype.CallCompleted, new(w.ago(5*time.Hour))
			c.Result = apitype.Embed(apitype.CallResult{ResultCode: new([]string{"gives_more", "wants_to_stop"}[n])})
		} else {
			c.AttemptsCount = 1
			c.Attempts = apitype.Embed([]apitype.CallAttempt{
				{AttemptAt: w.ago(30 * time.Hour), CreatedAt: w.ago(30 * time.Hour)},
			})
		}
		w.Load(service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: c}})
	}
	d := newDriver(t, w.options)
	sawn := regexp.MustCompile(`[a-z]_[a-z]|winback|\b(veri|happ|winb|Age|Lang)\b|age try`)
	all := ""
	for _, keys := range []string{"", "n", "2", "2 G enter", "3", "3 G enter", "4", "4 G enter", "5", "6", "6 j j j"} {
		for _, width := range []int{80, 100, 120, 200} {
			d.size(width, 50)
			d.enter(append([]string{"esc"}, strings.Fields(keys)...)...)
			all += d.text()
			for line := range strings.Lines(d.text()) {
				if found := sawn.FindString(line); found != "" {
					t.Errorf("%s at %d cells: got %q in %q", fmt.Sprintf("%q", keys), width, found, line)
				}
			}
		}
	}
	for _, want := range []string{
		"HAPPY CALL · requested 70 days ago", "raised the amount", "wants to stop", "win-back",
		"Since", "Language", "Dutch",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("got no screen with %q", want)
		}
	}
}

// An action that the profile takes away from the Desk is gone from footer, help and palette,
// and its key does nothing.
func TestHiddenActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Hidden = []string{"cancel", "mark-processed"}
	d := newDriver(t, w.options)
	d.size(200, 60)
	d.press("n")
	footer := func() string { lines := strings.Split(d.text(), "\n"); return lines[len(lines)-1] }
	if got := footer(); strings.Contains(got, "X cancel") || !strings.Contains(got, "e expire") {
		t.Errorf("footer: got %q, want no cancel", got)
	}
	for _, list := range []string{"?", ":"} {
		d.press(list)
		d.lacks("cancel the call", "mark the call as processed")
		d.press("esc")
	}
	d.enter("X", "m")
	if d.app.Dialog != nil || len(w.entries(t)) != 0 {
		t.Errorf("keys: got %+v and %q, want nothing", d.app.Dialog, w.entries(t))
	}
}

// The palette opens a record by its UUID, whatever it is of.
func TestPaletteOpensARecord(t *testing.T) {
	t.Parallel()
	d := newDriver(t, newWorld(t).options)
	for id, want := range map[string]int{
		callID(2).String():   page.CallsPage,
		personID(2).String(): page.PersonsPage,
		pledgeID(2).String(): page.PledgesPage,
		ids(1, 1).String():   page.DeskPage,
	} {
		d.enter("1", ":")
		d.send(tea.PasteMsg{Content: id})
		d.press("enter")
		if d.app.current != want {
			t.Errorf("%s: got page %d, want %d:\n%s", id, d.app.current, want, d.text())
		}
	}
	d.enter(":")
	d.send(tea.PasteMsg{Content: ids(1, 1).String()})
	d.press("enter")
	d.sees("there is no call, person or pledge")
}

// The profile never touches the tabs, at any width, in any language.
func TestProfileStandsApartFromTheTabs(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"en", "nl", "de"} {
		w := newWorld(t)
		w.options.Language = language
		d := newDriver(t, w.options)
		for width := page.LeastWidth; width <= 130; width++ {
			d.size(width, page.LeastHeight)
			for name := "%"; len(name) <= 8; name += "%" { // No tab has it.
				d.app.profile = name
				tabs, _, _ := strings.Cut(ansi.Strip(d.app.tabs()), name)
				if !strings.HasSuffix(tabs, " ") {
					t.Errorf("%s, %d cells: got %q before %q, want a blank", language, width, tabs, name)
				}
			}
		}
	}
}

// The mouse is off; once it is on it turns to tabs, chooses rows, opens and scrolls.
func TestMouse(t *testing.T) {
	t.Parallel()
	w, d := opened(t)
	d.press("2")
	if d.app.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse is taken by default")
	}
	d.press(":")
	d.send(tea.PasteMsg{Content: "mouse on"})
	d.press("enter")
	if d.app.View().MouseMode == tea.MouseModeNone {
		t.Fatal("got no mouse after :mouse on")
	}
	d.press(":")
	d.send(tea.PasteMsg{Content: "mouse off"})
	d.press("enter")
	if d.app.View().MouseMode != tea.MouseModeNone {
		t.Error("got the mouse after :mouse off")
	}
	d.press(":")
	d.send(tea.PasteMsg{Content: "mouse on"})
	d.press("enter")
	calls := d.app.pages[page.CallsPage].(*page.Calls)
	click := func(x, y int) { d.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	click(20, 6) // Pages, tabs, summary, head, and the third row.
	servicetest.Same(t, "click", 2, calls.Cursor())
	d.send(tea.MouseWheelMsg{X: 20, Y: 5, Button: tea.MouseWheelDown})
	servicetest.Same(t, "wheel", 5, calls.Cursor())
	click(20, 5)
	w.Clock.Advance(400 * time.Millisecond)
	if click(20, 5); calls.Front() != nil {
		t.Error("two clicks that are 0.4 s apart opened a record")
	}
	w.Clock.Advance(399 * time.Millisecond)
	click(20, 5)
	if ref, _ := calls.Target(); calls.Front() == nil || ref.ID != callID(5) {
		t.Errorf("double click: got %v, want call 5 open", ref)
	}
	click(strings.Index(strings.Split(d.text(), "\n")[0], "Pledges"), 0)
	servicetest.Same(t, "tab", page.PledgesPage, d.app.current)
}

// While the service cannot be reached, one sentence names it, the reason, the next try and what to do. It goes with the
// next answer. The same holds for a login that has ended.
func TestStandingSentence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	status := 0
	w.options.Client = w.clientOf(t, altered{w.Transport(), func(r *http.Request) *http.Response {
		if status == 0 {
			return nil
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: r}
	}}, w.Clock.Now)
	w.options.Login = "Log in from another terminal: fundesk auth login --profile prod"
	d := newDriver(t, w.options)
	d.press("n")
	for _, test := range []struct {
		status int
		want   []string
	}{
		{
			status: http.StatusUnauthorized,
			want: []string{
				"The login at " + w.URL + " has ended",
				"fundesk auth login --profile prod",
				"R tries now",
			},
		},
		{
			status: http.StatusServiceUnavailable,
			want: []string{
				"The service at " + w.URL + " answers with an error",
				"Next try in",
				"R tries now",
				"kept and will be sent then",
			},
		},
	} {
		status = test.status
		d.press("R")
		text := strings.Join(strings.Fields(d.text()), " ")
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%d: got:\n%s\nwant %q", status, d.text(), want)
			}
		}
		d.check("standing")
		status = 0
		d.press("R")
		d.lacks("No connection", "The login at")
	}
}

// A list without a known end is not shown as complete.
func TestListThatMayBeCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pledge := w.Do(w.Token(), http.MethodGet, "/api/v1/pledges/"+pledgeID(1).String(), "")
	w.options.Client = w.clientOf(t, altered{w.Transport(), func(r *http.Request) *http.Response {
		if r.URL.Path != "/api/v1/pledges" {
			return nil
		}
		bare, _ := answer(http.StatusOK, "application/json", "["+string(pledge.Body)+"]")()
		return bare
	}}, w.Clock.Now)
	d := newDriver(t, w.options)
	d.size(200, 40)
	d.press("4")
	d.sees("1 pledge, there may be more: the service does not tell")
}

// A list that goes on without a way to read on is not shown as complete.
func TestListThatCannotGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pledge := w.Do(w.Token(), http.MethodGet, "/api/v1/pledges/"+pledgeID(1).String(), "")
	edge := `{"node":` + string(pledge.Body) + `}`
	for name, list := range map[string]string{
		"no cursor": `{"pageInfo":{"hasNextPage":true},"edges":[` + edge + `]}`,
		"a page as it was asked": `[` + strings.Repeat(string(pledge.Body)+",",
			page.ListPage-1) + string(pledge.Body) + `]`,
	} {
		w.options.Client = w.clientOf(t, altered{w.Transport(), func(r *http.Request) *http.Response {
			if r.URL.Path != "/api/v1/pledges" {
				return nil
			}
			cut, _ := answer(http.StatusOK, "application/json", list)()
			return cut
		}}, w.Clock.Now)
		d := newDriver(t, w.options)
		d.send(tea.WindowSizeMsg{Width: 200, Height: 40})
		d.press("4")
		if !strings.Contains(d.text(), "there may be more: the service does not tell") {
			t.Errorf("%s: got\n%s\nwant that there may be more", name, d.text())
		}
	}
}
