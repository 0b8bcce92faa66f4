package tui

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// silent is a service that does not say whether there is another page.
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

// The queue is read to its end also where the service does not say where that is.
func TestQueueOfAServiceWithoutPageFlags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
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
	by func(r *http.Request) *http.Response // Its answer; nil: as the service answers the request as it is then.
}

func (a altered) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if answer := a.by(r); answer != nil {
		return answer, nil
	}
	return a.RoundTripper.RoundTrip(r)
}

// The oldest call is the next one also where the service cannot begin at that end.
func TestQueueOfAServiceThatBeginsAtTheNewest(t *testing.T) {
	t.Parallel()
	fromTheEnd := func(r *http.Request) bool { return r.URL.Query().Has("last") && !r.URL.Query().Has("before") }
	tests := []struct {
		name string
		by   func(r *http.Request) *http.Response
	}{
		{"and refuses anything else", func(r *http.Request) *http.Response {
			if !fromTheEnd(r) {
				return nil
			}
			refused, _ := answer(http.StatusBadRequest, "application/json", `{"message":"last needs before"}`)()
			return refused
		}},
		{"whatever it is asked for", func(r *http.Request) *http.Response {
			if fromTheEnd(r) {
				query := r.URL.Query()
				query.Set("first", query.Get("last"))
				query.Del("last")
				r.URL.RawQuery = query.Encode()
			}
			return nil
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.loadRequested(550, w.Clock.Now().Add(-time.Hour))
			w.options.Client = w.clientOf(t, altered{w.Transport(), test.by}, w.Clock.Now)
			d := newDriver(t, w.options)
			d.press("n")
			if got, all := d.app.Day.Waiting(); got != 555 || !all {
				t.Errorf("queue: got %d calls (all %v), want 555 and no others; errors %v", got, all, d.app.Messages.Errors)
			}
			if call := d.app.Day.Call; call == nil || call.RequestedAt.After(w.Clock.Now().Add(-time.Hour+50*time.Second)) {
				t.Errorf("desk: got %+v, want one of the fifty oldest calls", call)
			}
		})
	}
}
