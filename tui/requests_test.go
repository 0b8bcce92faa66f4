package tui

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient/apitype"
	"fundesk/service"
	"fundesk/service/servicetest"
)

// asked notes each request of a desk.
func asked(w *world, requests *[]string) altered {
	return altered{w.Transport(), func(r *http.Request) *http.Response {
		*requests = append(*requests, r.Method+" "+r.URL.Path)
		return nil
	}}
}

// A starting Desk has its first call on screen within five requests.
func TestRequestsOfADesk(t *testing.T) {
	t.Parallel()
	for _, codes := range [][]string{nil, {"reached"}} {
		w := newQueueWorld(t)
		var requests []string
		w.options.ResultCodes = codes
		w.options.Client = w.clientOf(t, asked(w, &requests), w.Clock.Now)
		d := newDriver(t, w.options)
		d.app.tick = nil // Ticks are sent by hand.
		_, cmd := d.app.Update(keyPress("n"))
		for range 5 {
			if d.app.Day.Call != nil || cmd == nil {
				break
			}
			_, cmd = d.app.Update(cmd())
		}
		if d.app.Day.Call == nil || len(requests) > 5 {
			t.Errorf("start: got call %v after %d requests %q, want one after 5 at most",
				d.app.Day.Call != nil, len(requests), requests)
		}
	}
}

// An idle Desk with a call asks once in 15 seconds who has the call, and for one thing more.
func TestIdleDeskAsksSeldom(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	var requests []string
	w.options.Client = w.clientOf(t, asked(w, &requests), w.Clock.Now)
	d := newDriver(t, w.options)
	d.press("n")
	if d.app.Day.Call == nil {
		t.Fatal("no call came")
	}
	last := -15
	for second := range 10 * 60 {
		before := len(requests)
		w.Clock.Advance(time.Second)
		d.send(ticked{})
		asked := requests[before:]
		if len(asked) == 0 {
			continue
		}
		isSettings := func(request string) bool { return request == "GET /fundesk/v1/settings" }
		isLeases := func(request string) bool { return request == "GET /fundesk/v1/queue/leases" }
		others := slices.DeleteFunc(slices.Clone(asked), func(request string) bool {
			return isSettings(request) || isLeases(request)
		})
		isGivenBack := strings.HasSuffix(asked[0], "/release")
		isTold := isGivenBack || slices.ContainsFunc(asked, isLeases)
		if !isTold || len(others) > 1 && !isGivenBack || second-last < 15 {
			t.Fatalf("second %d: got %q, %d s after the last, want whose the call is, and one thing more",
				second, asked, second-last)
		}
		last = second
	}
	if last < 0 {
		t.Error("the desk asked for nothing")
	}
}

// The record beside a list is read only if there is room to show it.
func TestNarrowListReadsNoRecords(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]bool{99: false, 100: true} {
		w := newWorld(t)
		var requests []string
		w.options.Client = w.clientOf(t, asked(w, &requests), w.Clock.Now)
		d := newDriver(t, w.options)
		d.size(width, 30)
		d.enter("3", "down")
		w.Clock.Advance(time.Second)
		d.press("down")
		if got := strings.Contains(strings.Join(requests, "\n"), "/api/v1/persons/"); got != want {
			t.Errorf("%d cells: a person was read %t, want %t; got %q", width, got, want, requests)
		}
	}
}

// A due callback is announced and shown, comes next, and leaves the call on screen and typed text alone.
func TestDueCallbackStealsNothing(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.press("n")
	put := d.app.Day.Call.UUID
	d.enter("b", "enter") // In 2 hours, for the agent.
	d.sendHeld(w)
	if d.app.Day.Call == nil || d.app.Day.Call.UUID == put {
		t.Fatalf("desk: got %+v, want another call than the one put off", d.app.Day.Call)
	}
	now := d.app.Day.Call.UUID
	d.enter("i", "x")
	for range 10 { // A quarter of an hour without a key would give the call back.
		w.Clock.Advance(13 * time.Minute)
		d.press("x")
		for range 60 {
			d.send(ticked{})
		}
	}
	if d.app.Day.Call == nil ||
		d.app.Day.Call.UUID != now ||
		!d.app.desk.Typing() ||
		!strings.HasPrefix(d.app.Day.Form().Notes, "xxx") {
		t.Fatalf("desk: got %+v with %q, want the call and the notes as they were",
			d.app.Day.Call, d.app.Day.Form().Notes)
	}
	if offers := d.app.Day.Offers(5); len(offers) == 0 || offers[0].ID != put || !offers[0].Due {
		t.Errorf("queue: got %+v, want the callback first", offers)
	}
	d.enter("esc", "s")
	if d.app.Day.Call == nil || d.app.Day.Call.UUID != put {
		t.Errorf("next: got %+v, want the callback", d.app.Day.Call)
	}
}

// A callback is noticed in the second in which it is due, not with the next poll.
func TestDueCallbackIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	d := newDriver(t, w.options)
	d.enter("n", "b", "enter") // In 2 hours.
	due := w.Clock.Now().Add(2 * time.Hour).Truncate(time.Minute)
	d.sendHeld(w)
	w.Clock.Set(due.Add(-time.Second))
	d.send(ticked{})
	if text := d.text(); strings.Contains(text, "a callback is due") {
		t.Fatalf("a second before: got:\n%s\nwant nothing said", text)
	}
	w.Clock.Advance(time.Second)
	d.send(ticked{})
	d.sees("a callback is due")
}

// The profile's types and languages narrow the agent's calls. They are shown, and changed on the Desk, with and without
// a queue.
func TestNarrowedDesk(t *testing.T) {
	t.Parallel()
	for _, hasQueue := range []bool{true, false} {
		w := newQueueWorld(t)
		var call service.LoadedCall
		call.UUID = ids(0xc0, 7)
		call.PersonUUID = personID(5)
		call.Status = apitype.CallRequested
		call.Type = apitype.CallWinback
		call.RequestedAt, call.LastUpdatedAt = w.ago(time.Hour), w.ago(time.Hour)
		w.Load(service.LoadRecord{Kind: service.LoadCall, Data: call})
		if !hasQueue {
			w.InterfaceOnly()
		}
		w.options.Filter.Types = []apitype.CallType{apitype.CallWinback}
		d := newDriver(t, w.options)
		d.press("n")
		if d.app.Day.Call == nil || d.app.Day.Call.UUID != call.UUID {
			t.Fatalf("with a queue %v: got %+v, want the only win-back call", hasQueue, d.app.Day.Call)
		}
		d.size(120, 36)
		screen := func(want string) {
			t.Helper()
			if got := strings.Join(d.app.screen(), "\n"); !strings.Contains(got, want) {
				t.Errorf("with a queue %v: got %s, want %q", hasQueue, got, want)
			}
		}
		screen("only win-back")
		d.enter("F", "3", "1", "4", "esc")
		screen("only verification · Dutch")
		d.press("s")
		if d.app.Day.Call == nil || d.app.Day.Call.UUID != callID(1) {
			t.Errorf("with a queue %v: got %+v, want the oldest verification", hasQueue, d.app.Day.Call)
		}
		d.enter("F", "enter", "F", "1", "enter") // Enter leaves the question, and ticks no row.
		screen("only Dutch")
		d.enter("F", "1", "up", "enter", "esc")
		screen("only Dutch")
		d.enter("F", "/", "z", "z", "enter")
		screen("ISO 639-1")
	}
}

// A service that can choose the calls of a person gives all of them in one request, the calls without a pledge too.
func TestPersonListsCallsInOneRequest(t *testing.T) {
	t.Parallel()
	w := newQueueWorld(t)
	w.Load(service.LoadRecord{Kind: service.LoadCall, Data: service.LoadedCall{Call: apitype.Call{
		UUID:          callID(8),
		Status:        apitype.CallRequested,
		RequestedAt:   w.ago(48 * time.Hour),
		LastUpdatedAt: w.ago(time.Hour),
		PersonUUID:    personID(5),
		Type:          apitype.CallWinback,
	}}})
	w.loadRequested(100, w.Clock.Now().Add(-time.Hour)) // Of person 1: more than are read at a time.
	var requests []string
	w.options.Client = w.clientOf(t, asked(w, &requests), w.Clock.Now)
	d := newDriver(t, w.options)
	d.size(80, 50)
	d.enter(":")
	d.send(tea.PasteMsg{Content: personID(5).String()})
	requests = nil
	d.enter("enter")
	d.sees("2 calls", "◷ win-back, requested")
	d.lacks("other calls")
	lists := slices.DeleteFunc(slices.Clone(requests), func(request string) bool {
		return request != "GET /api/v1/calls"
	})
	servicetest.Same(t, "requests for calls", 1, len(lists))
}

// silent is a service that does not report whether there is another page.
type silent struct{ http.RoundTripper }

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	text := strings.NewReplacer(`"hasNextPage"`, `"next"`, `"hasPreviousPage"`, `"previous"`).Replace(string(body))
	answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	answer.Header.Del("Content-Length")
	return answer, err
}

// The queue is read to its end even if the service does not mark it.
func TestQueueOfAServiceWithoutPageFlags(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	w := newWorld(t)
	w.InterfaceOnly()
	w.loadRequested(550, w.Clock.Now().Add(-time.Hour))
	w.options.Client = w.clientOf(t, silent{w.Transport()}, w.Clock.Now)
	d := newDriver(t, w.options)
	for range 600 {
		if _, all := d.app.Day.Waiting(); all {
			break
		}
		d.press("n")
	}
	if got, all := d.app.Day.Waiting(); got != 555 || !all {
		t.Errorf("queue: got %d calls (all %v), want 555 and no others", got, all)
	}
}

// altered is a service that does something else with some requests.
type altered struct {
	http.RoundTripper
	by func(r *http.Request) *http.Response // Its answer. Nil for the service's own answer at that time.
}

func (a altered) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if answer := a.by(r); answer != nil {
		return answer, nil
	}
	return a.RoundTripper.RoundTrip(r)
}
