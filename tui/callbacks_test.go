package tui

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// Two agents of one service have a callback each. Each pane lists the agent's own alone, and each bell rings for that.
func TestCallbacksOfTwoAgents(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	due := apitype.NewTime(w.Clock.Now().Add(5 * time.Minute))
	reasons := []string{"after work", "before lunch"}
	desks, logs := make([]*driver, len(reasons)), make([]bytes.Buffer, len(reasons))
	for i, reason := range reasons {
		agent := ids(0xe1, i+1)
		request := apitype.DeferRequest{NotBefore: &due, UserUUID: &agent, Reason: &reason}
		servicetest.Check(t, w.client.Queue.Later(t.Context(), callID(4+i), request))
		w.connect(t, t.TempDir())
		w.options.Agent, w.options.Log = &agent, &logs[i]
		desks[i] = newDriver(t, w.options)
		desks[i].send(tea.WindowSizeMsg{Width: 200, Height: 50})
	}
	for range 4 * 60 {
		w.Clock.Advance(time.Second)
		for _, d := range desks {
			d.send(ticked{})
		}
	}
	for i, d := range desks {
		d.sees("My callbacks · 1", reasons[i])
		d.lacks(reasons[1-i])
		if n := strings.Count(logs[i].String(), "message: tea.RawMsg"); n != 1 {
			t.Errorf("desk %d: the bell rang %d times, want once", i, n)
		}
		d.sees("callback: ") // For a minute already: it stands until a key.
		d.press("x")
		d.lacks("callback: ")
	}
}

// The pane shows a long reason whole if the queue leaves room for it.
func TestCallbackWithALongReason(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	due := apitype.NewTime(w.Clock.Now().Add(5 * time.Minute))
	reason := "after the " + strings.Repeat("move to a new flat, ", 8) + "ask her sister"
	agent := ids(0xe1, 1)
	request := apitype.DeferRequest{NotBefore: &due, UserUUID: &agent, Reason: &reason}
	servicetest.Check(t, w.client.Queue.Later(t.Context(), callID(4), request))
	w.connect(t, t.TempDir())
	w.options.Agent = &agent
	d := newDriver(t, w.options)
	for range 2 * 60 {
		w.Clock.Advance(time.Second)
		d.send(ticked{})
	}
	for height, isWhole := range map[int]bool{36: true, 16: false} {
		d.size(120, height)
		d.sees("My callbacks · 1", "after the")
		if got := strings.Contains(d.text(), "sister"); got != isWhole {
			t.Errorf("height %d: got the whole reason %t, want %t:\n%s", height, got, isWhole, d.text())
		}
	}
}

// An offered time has its whole name in each language.
func TestOfferedTimesAreWhole(t *testing.T) {
	t.Parallel()
	for language, name := range map[string]string{
		"nl": "volgende werkdag om 10 uur",
		"de": "nächster Werktag um 10 Uhr",
	} {
		w := newQueueWorld(t)
		w.options.Language = language
		d := newDriver(t, w.options)
		d.size(80, 24)
		d.press("n")
		w.Clock.Advance(time.Second)
		d.press("b")
		d.sees(name)
	}
}

// The list of callbacks names its end, if the agent has more than it shows.
func TestCallbacksThatAreNotAllListed(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	due := apitype.NewTime(w.Clock.Now().Add(time.Hour))
	agent := ids(0xe1, 1)
	request := apitype.DeferRequest{NotBefore: &due, UserUUID: &agent}
	servicetest.Check(t, w.client.Queue.Later(t.Context(), callID(4), request))
	w.connect(t, t.TempDir())
	w.options.Agent = &agent
	w.options.Client = w.clientOf(t, altered{w.Transport(), func(r *http.Request) *http.Response {
		if r.URL.Path != "/fundesk/v1/queue/deferrals" {
			return nil
		}
		whole := w.Do(w.token, http.MethodGet, r.URL.RequestURI(), "")
		goesOn := strings.Replace(string(whole.Body), `"hasNextPage":false`, `"hasNextPage":true`, 1)
		cut, _ := answer(http.StatusOK, "application/json", goesOn)()
		return cut
	}}, w.Clock.Now)
	d := newDriver(t, w.options)
	d.enter("n")
	d.untilPoll(w)
	d.press("C")
	d.sees("the first 1; all of them: fundesk queue callbacks --all")
}
