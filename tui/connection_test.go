package tui

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"fundesk/apiclient"
	"fundesk/service/servicetest"
)

// answering is a service that answers everything the same way.
type answering func() (*http.Response, error)

func (a answering) RoundTrip(*http.Request) (*http.Response, error) { return a() }

func answer(status int, kind, body string) answering {
	return func() (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// The corner says why nothing comes. What does not pass by itself is told as an error.
func TestCornerSaysWhyNothingComes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		service answering
		corner  string
		failed  string // Of the error that is told; "" for none.
	}{
		{"no connection", func() (*http.Response, error) { return nil, errors.New("connection refused") }, "offline", ""},
		{"an answer of somebody on the way", answer(http.StatusBadGateway, "text/html", "<h1>502</h1>"), "service 502", ""},
		{"too many requests", answer(http.StatusTooManyRequests, "application/json", "{}"), "service 429", ""},
		{"a page in place of data", answer(http.StatusOK, "text/html", "<h1>Log in</h1>"), "wrong answers", "not what the interface promises"},
		{"a redirect", answer(http.StatusFound, "text/html", ""), "wrong answers", "redirects"},
		{
			"a list of something else", answer(http.StatusOK, "application/json", `{"edges":[7],"pageInfo":{}}`),
			"wrong answers", "an element of the list is not a record",
		},
		{"no token", answer(http.StatusUnauthorized, "application/json", "{}"), "not logged in", "401"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			client, err := apiclient.New(apiclient.Options{
				BaseURL: w.URL, Token: staticToken(w.token), Transport: test.service, Now: w.Clock.Now,
				Sleep: func(context.Context, time.Duration) error { return nil },
			})
			servicetest.Check(t, err)
			w.options.Client = client
			d := newDriver(t, w.options)
			d.press("2")
			if got := d.app.Day.Offline; got != test.corner {
				t.Errorf("corner: got %q, want %q", got, test.corner)
			}
			if got := d.app.Messages.Errors; (len(got) > 0) != (test.failed != "") || len(got) > 0 && !strings.Contains(got[0].Text, test.failed) {
				t.Errorf("errors: got %q, want %q", got, test.failed)
			}
			d.check(test.name)
		})
	}
}

// Why nothing comes is said in the agent's language, with what the agent can do.
func TestConnectionIsSaidInTheAgentsLanguage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		language, want string
		service        http.RoundTripper // Nil: none is there.
	}{
		{"nl", "is niet te bereiken: verbinding geweigerd.", nil},
		{"de", "ist nicht zu erreichen: Verbindung abgelehnt.", nil},
		{"nl", "is afgelopen: niet aangemeld. De token_command van profiel werk moet een ander token geven.", answer(http.StatusUnauthorized, "application/json", "{}")},
		{"de", "passt nicht zur Schnittstelle: nicht alles in der Liste ist ein Datensatz", answer(http.StatusOK, "application/json", `{"edges":[7],"pageInfo":{}}`)},
	}
	for _, test := range tests {
		w := newWorld(t)
		address := w.URL
		if test.service == nil {
			address = "http://127.0.0.1:1"
		}
		client, err := apiclient.New(apiclient.Options{BaseURL: address, Token: staticToken(w.token), Transport: test.service, Now: w.Clock.Now, Sleep: func(context.Context, time.Duration) error { return nil }})
		servicetest.Check(t, err)
		w.options.Client, w.options.Language = client, test.language
		w.options.Login = "The token_command of profile werk must print another token"
		d := newDriver(t, w.options)
		d.send(tea.WindowSizeMsg{Width: 200, Height: 40})
		d.press("2")
		if text := strings.Join(strings.Fields(d.text()), " "); !strings.Contains(text, test.want) {
			t.Errorf("%s: got %q, want %q", test.language, text, test.want)
		}
	}
}

// A record that cannot be read is named, and hides no other: neither in a list, nor from the
// agent, nor from what is counted.
func TestOneRecordHidesNoOther(t *testing.T) {
	t.Parallel()
	const good = `{"uuid":"c0010000-0000-4000-8000-000000000001","personUuid":"a0010000-0000-4000-8000-000000000001","status":"requested","type":"winback","requestedAt":"2026-11-19T09:15:00Z"}`
	list := answer(http.StatusOK, "application/json", `{"edges":[{"cursor":"1","node":{"uuid":"c0010000-0000-4000-8000-000000000002","requestedAt":5}},{"cursor":"2","node":null},{"cursor":"3","node":`+good+`}],"pageInfo":{"hasNextPage":false}}`)
	w := newWorld(t)
	var told []string
	client, err := apiclient.New(apiclient.Options{
		BaseURL: w.URL, Token: staticToken(w.token), Now: w.Clock.Now, Sleep: func(context.Context, time.Duration) error { return nil },
		Omitted: func(record, _ string) { told = append(told, record) },
		Transport: byPath(func(path string) answering {
			switch {
			case strings.HasSuffix(path, "/fundesk/v1"):
				return answer(http.StatusNotFound, "application/json", "{}")
			case strings.HasSuffix(path, "000000000001"):
				return answer(http.StatusOK, "application/json", good)
			default:
				return list
			}
		}),
	})
	servicetest.Check(t, err)
	w.options.Client = client
	w.options.Omitted = func() (int, string) { return len(told), strings.Join(told, "; ") }
	d := newDriver(t, w.options)
	for _, test := range []struct{ keys, want string }{{"2", "1 call"}, {"6", "counted 1 call "}, {"1n", "WIN-BACK"}} {
		d.enter(strings.Split(test.keys, "")...)
		if got := d.text(); !strings.Contains(got, test.want) {
			t.Errorf("%s: got\n%s\nwant %q", test.keys, got, test.want)
		}
		if d.app.Day.Offline != "" {
			t.Errorf("%s: got the corner %q, want nothing amiss", test.keys, d.app.Day.Offline)
		}
	}
	for _, want := range []string{"c0010000-0000-4000-8000-000000000002", `the element at the cursor "2" is not a record`} {
		if !strings.Contains(strings.Join(told, "\n"), want) {
			t.Errorf("got %q told, want %q", told, want)
		}
	}
}

// byPath is a service that answers by the path.
type byPath func(path string) answering

func (b byPath) RoundTrip(r *http.Request) (*http.Response, error) { return b(r.URL.Path)() }
