package tui

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	deskday "fundesk/tui/desk"
)

// A list is mostly calls that ended: the queue learns their results and keeps nothing
// else of them, also when they end while they wait.
func TestQueueKeepsNothingOfEndedCalls(t *testing.T) {
	t.Parallel()
	code := "confirmed"
	ended := func(n int) apitype.Call {
		c := apitype.Call{UUID: callID(n), Status: apitype.CallCompleted}
		c.Result = apitype.Embed(apitype.CallResult{ResultCode: &code})
		return c
	}
	codes := new(deskday.Codes)
	q := newQueue(time.Now(), codes)
	for n := range 100 {
		q.learn(ended(n))
	}
	q.learn(apitype.Call{UUID: callID(100), Status: apitype.CallRequested})
	if len(q.candidates) != 1 || len(q.known) != 1 || !slices.Equal(codes.All(), []string{code}) {
		t.Errorf("got %d candidates, %d known calls and %v, want one, one, and one result", len(q.candidates), len(q.known), codes.All())
	}
	q.learn(ended(100))
	if len(q.candidates) != 0 || len(q.known) != 0 {
		t.Errorf("got %d candidates and %d known calls, want none", len(q.candidates), len(q.known))
	}
}

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
	w.loadRequested(queuePage+50, w.Clock.Now().Add(-time.Hour))
	w.options.Client = w.clientOf(t, silent{w.Transport()}, w.Clock.Now)
	d := newDriver(t, w.options)
	for range 10 {
		d.run(d.app.desk.walk(), 0)
	}
	q := d.app.desk.queue
	if got, want := len(q.known), queuePage+50+5; got != want || !q.ended {
		t.Errorf("queue: got %d calls (ended %v), want all %d", got, q.ended, want)
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
			w.loadRequested(queuePage+50, w.Clock.Now().Add(-time.Hour))
			w.options.Client = w.clientOf(t, altered{w.Transport(), test.by}, w.Clock.Now)
			d := newDriver(t, w.options)
			d.press("n")
			q := d.app.desk.queue
			if got, want := len(q.known), queuePage+50+5; got != want || !q.ended {
				t.Errorf("queue: got %d calls (ended %v), want all %d; errors %v", got, q.ended, want, d.app.errors)
			}
			if call := d.app.desk.call; call == nil || call.UUID != callID(1) {
				t.Errorf("desk: got %+v, want the oldest call", call)
			}
		})
	}
}
