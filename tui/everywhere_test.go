package tui

import (
	"net/http"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/tui/page"
)

// An action that the profile takes away from the Desk is gone from footer, help and palette,
// and its key does nothing.
func TestHiddenActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Hidden = []string{"cancel", "mark-processed"}
	d := newDriver(t, w.options)
	d.send(tea.WindowSizeMsg{Width: 200, Height: 60})
	d.press("n")
	footer := func() string { lines := strings.Split(d.text(), "\n"); return lines[len(lines)-1] }
	if got := footer(); strings.Contains(got, "X cancel") || !strings.Contains(got, "e expire") {
		t.Errorf("footer: got %q, want no cancel", got)
	}
	for _, list := range []string{"?", ":"} {
		d.press(list)
		if text := d.text(); strings.Contains(text, "cancel the call") || strings.Contains(text, "mark the call as processed") {
			t.Errorf("%s: got:\n%s\nwant neither of them", list, text)
		}
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
		callID(2).String(): page.CallsPage, personID(2).String(): page.PersonsPage, pledgeID(2).String(): page.PledgesPage, ids(1, 1).String(): page.DeskPage,
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
	click(20, 5) // Tabs, summary, head, and the third row.
	if calls.Cursor() != 2 {
		t.Errorf("click: got row %d, want 2", calls.Cursor())
	}
	d.send(tea.MouseWheelMsg{X: 20, Y: 5, Button: tea.MouseWheelDown})
	if calls.Cursor() != 5 {
		t.Errorf("wheel: got row %d, want 5", calls.Cursor())
	}
	click(20, 4)
	w.Clock.Advance(400 * time.Millisecond)
	if click(20, 4); calls.Front() != nil {
		t.Error("two clicks that are 0.4 s apart opened a record")
	}
	w.Clock.Advance(399 * time.Millisecond)
	click(20, 4)
	if ref, _ := calls.Target(); calls.Front() == nil || ref.ID != callID(5) {
		t.Errorf("double click: got %v, want call 5 open", ref)
	}
	click(strings.Index(strings.Split(d.text(), "\n")[0], "Pledges"), 0)
	if d.app.current != page.PledgesPage {
		t.Errorf("tab: got page %d, want the pledges", d.app.current)
	}
}

// While the service cannot be reached one sentence says which one, why, when it is tried again
// and what to do; it is gone with the next answer. The same holds for a login that has ended.
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
		{http.StatusUnauthorized, []string{"The login at " + w.URL + " has ended", "fundesk auth login --profile prod", "R tries now"}},
		{http.StatusServiceUnavailable, []string{"No connection to " + w.URL, "Next try in", "R tries now", "kept, and sent then"}},
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
		if text := d.text(); strings.Contains(text, "No connection") || strings.Contains(text, "The login at") {
			t.Errorf("after the next answer: got:\n%s\nwant it gone", text)
		}
	}
}

// A list that nothing says the end of is not shown as if it were whole.
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
	d.send(tea.WindowSizeMsg{Width: 200, Height: 40})
	d.press("4")
	d.sees("1 pledge, there may be more: the service does not tell")
}
