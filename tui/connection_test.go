package tui

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
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
			"a record that cannot be read", answer(http.StatusOK, "application/json", `{"edges":[{"node":{"uuid":"c0010000-0000-4000-8000-000000000001","attemptsCount":"three"}}],"pageInfo":{}}`),
			"wrong answers", "/attemptsCount",
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
			if err != nil {
				t.Fatal(err)
			}
			w.options.Client = client
			d := newDriver(t, w.options)
			d.press("2")
			if got := d.app.Offline; got != test.corner {
				t.Errorf("corner: got %q, want %q", got, test.corner)
			}
			if got := strings.Join(d.app.Errors, "\n"); (got != "") != (test.failed != "") || !strings.Contains(got, test.failed) {
				t.Errorf("errors: got %q, want %q", got, test.failed)
			}
			d.check(test.name)
		})
	}
}
