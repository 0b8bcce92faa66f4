package tui

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"fundesk/apiclient"
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
			if text := ansi.Strip(d.app.status()); !strings.Contains(text, "confirmed: Anna Jansen, sent when the service answers, u takes it back") {
				t.Errorf("status: got %q, want what can be taken back", text)
			}
			if d.press("u"); !d.app.IsOn(callID(1)) || d.app.Form.Code != "confirmed" || len(w.entries(t)) != 0 {
				t.Errorf("after u: got %+v and %q, want the call and its form", d.app.Form, w.entries(t))
			}
		})
	}
}
