package tui

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/tui/page"
)

// fault is what becomes of a request in place of the service's answer; neither: the service answers.
type fault func(r *http.Request) (*http.Response, error)

// faultyWay is the way to a service with a fault on it.
type faultyWay struct {
	http.RoundTripper
	now *fault
}

func (f faultyWay) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if f.now != nil && *f.now != nil {
		if answer, err := (*f.now)(r); answer != nil || err != nil {
			return answer, err
		}
	}
	return f.RoundTripper.RoundTrip(r)
}

// faulty puts a fault, which may change, on the agent's way to the service.
func (w *world) faulty(t *testing.T, now *fault) {
	w.options.Client = w.clientOf(t, faultyWay{w.Transport(), now}, w.Clock.Now)
}

// withStatus is a fault that answers with a status.
func withStatus(status int) fault {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {"application/problem+json"}}, Request: r,
			Body: io.NopCloser(strings.NewReader(`{"title":"as the test wants it"}`)),
		}, nil
	}
}

// overNetwork puts a server of its own before the world's service; end closes it.
func (w *world) overNetwork(t *testing.T) (end func()) {
	t.Helper()
	server := httptest.NewServer(w.Handler)
	w.URL = server.URL
	w.connect(t, t.TempDir())
	var err error
	if w.options.Client, err = apiclient.New(apiclient.Options{BaseURL: w.URL, Token: staticToken(w.token), Now: w.Clock.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server.Close
}

// ofPath is a fault of the requests whose path ends in one way.
func ofPath(end string, f fault) fault {
	return func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, end) {
			return nil, nil
		}
		return f(r)
	}
}

// What was done while the service is away can be taken back for as long as it has not gone out, also
// after it was tried.
func TestUndoWhileTheServiceIsAway(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"no connection", "login refused"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, now := newWorld(t), fault(nil)
			end := func() { now = withStatus(http.StatusUnauthorized) }
			if name == "no connection" {
				end = w.overNetwork(t)
			} else {
				w.faulty(t, &now)
			}
			d := fixerOf(t, w)
			end()
			d.enter("c", "1", "8", "ctrl+s")
			w.Clock.Advance(6 * time.Second)
			d.deliverOutbox(w)
			d.send(ticked{})
			if !slices.Contains(footerKeys(d), "u") || !strings.Contains(d.app.Day.Changes.HeldText("u"), "confirmed: Anna Jansen, sent when the service answers, u takes it back") {
				t.Errorf("got %q and %q, want what can be taken back", footerKeys(d), d.app.Day.Changes.HeldText("u"))
			}
			if d.press("u"); !d.app.Day.IsOn(callID(1)) || d.app.Day.Form.Code != "confirmed" || len(w.entries(t)) != 0 {
				t.Errorf("after u: got %+v and %q, want the call and its form", d.app.Day.Form, w.entries(t))
			}
		})
	}
}

// lost is a fault whose answer does not come whole.
func lost(err error) fault {
	return func(r *http.Request) (*http.Response, error) {
		if err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, ContentLength: 100, Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"uuid":`), errorReader{}))}, nil
	}
}

// errorReader is a body that breaks.
type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// Whatever went wrong before, the line shows the send that can be taken back, whole, with its time and
// its key. Read the frames as code.
func TestHeldSendIsSeenAfterEveryFault(t *testing.T) {
	t.Parallel()
	faults := []struct {
		name string
		of   fault // Of the completion before.
		do   func(w *world, d *driver, now *fault)
	}{
		{name: "401", of: withStatus(401)},
		{name: "403", of: withStatus(403)},
		{name: "404", of: withStatus(404)},
		{name: "409", of: withStatus(409)},
		{name: "412", of: withStatus(412)},
		{name: "422", of: withStatus(422)},
		{name: "429", of: withStatus(429)},
		{name: "500", of: withStatus(500)},
		{name: "503", of: withStatus(503)},
		{name: "no connection", of: lost(syscall.ECONNREFUSED)},
		{name: "a time-out", of: lost(context.DeadlineExceeded)},
		{name: "a cut body", of: lost(nil)},
		{name: "completed by another agent", do: func(w *world, d *driver, _ *fault) {
			d.enter("i", "h", "i", "esc")
			w.change(t, "/api/v1/calls/"+d.app.Day.Call.UUID.String()+"/actions/complete")
			d.enter("R", "n")
		}},
		{name: "a lease that ended", do: func(w *world, d *driver, _ *fault) {
			d.enter("i", "h", "i", "esc")
			w.Clock.Advance(16 * time.Minute) // The lease ends, and another agent takes the call.
			if a := w.Do(w.Token(), http.MethodPost, "/fundesk/v1/queue/take", `{"requestUuid":"`+apitype.NewUUID().String()+`","userUuid":"`+apitype.NewUUID().String()+`","count":10}`); a.Status != http.StatusOK {
				t.Fatalf("take: got %d %s", a.Status, a.Body)
			}
			d.send(ticked{})
			d.run(d.app.Perform(d.app.Day.Poll()), 0)
			d.run(d.app.Perform(d.app.Day.KeepLeases()), 0)
		}},
		{name: "a refused correction", do: func(w *world, d *driver, now *fault) {
			*now = ofPath("/actions/update", withStatus(422))
			d.enter("f", "9", "ctrl+s")
			w.Clock.Advance(6 * time.Second)
			d.deliverOutbox(w)
		}},
	}
	var frames strings.Builder
	blanks := regexp.MustCompile("(?m) +$")
	for _, f := range faults {
		w, now := newQueueWorld(t), fault(nil)
		w.faulty(t, &now)
		d := fixerOf(t, w)
		d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		if f.do != nil {
			f.do(w, d, &now)
		} else {
			now = ofPath("/actions/complete", f.of)
			d.enter("c", "1", "8", "ctrl+s")
			w.Clock.Advance(6 * time.Second)
			d.deliverOutbox(w)
		}
		d.send(ticked{})
		onCard := strings.Contains(d.text(), "another agent has this donor")
		if len(d.app.Messages.Past) == 0 && d.app.Day.Offline == "" && len(w.entries(t)) == 0 && !onCard {
			t.Errorf("%s: got no trace of it:\n%s", f.name, d.text())
		}
		now = nil
		d.enter("R", "c")
		if _, asks := d.app.Dialog.(*page.Confirm); asks { // Another agent has the donor.
			d.press("y")
		}
		d.enter("1", "8", "ctrl+s")
		if status := ansi.Strip(d.app.status()); !strings.Contains(status, ", sent in 5 s, u takes it back") || !strings.HasPrefix(status, "◷ confirmed: ") {
			t.Errorf("%s: got %q, want the send that is held", f.name, status)
		}
		frame := strings.ReplaceAll(d.text(), w.URL, "https://service.example")
		frames.WriteString("== " + f.name + "\n" + blanks.ReplaceAllString(frame, "") + "\n")
	}
	golden(t, "held-after-faults", strings.TrimRight(frames.String(), "\n"))
}

// A long name does not push the key that takes a send back off the line, in any language.
func TestHeldSendFitsItsLine(t *testing.T) {
	t.Parallel()
	for language, want := range map[string]string{"": "…, 5 s, u undo", "nl": "…, 5 s, u terug", "de": "…, 5 s, u zurück"} {
		w := newWorld(t)
		w.options.Language = language
		d := fixerOf(t, w)
		p := d.app.Day.Call.Person.Value()
		p.LastName = new(strings.Repeat("van der Straaten-", 6) + "Jansen")
		d.app.Day.Call.Person = apitype.Embed(p)
		d.send(tea.WindowSizeMsg{Width: 60, Height: 20})
		d.enter("c", "1", "8", "ctrl+s")
		if status := ansi.Strip(d.app.status()); !strings.HasSuffix(status, want) || !strings.Contains(status, ": Anna") {
			t.Errorf("%q: got %q, want the name cut and %q whole", language, status, want)
		}
	}
}
