package apiclient_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// A redirect of any kind is an error. Neither token, body nor query goes to its target.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var followed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { followed.Add(1) }))
	t.Cleanup(elsewhere.Close)
	secure := httptest.NewTLSServer(elsewhere.Config.Handler)
	t.Cleanup(secure.Close)
	at, err := url.Parse(elsewhere.URL)
	servicetest.Check(t, err)
	places := map[string]string{
		"another port":           elsewhere.URL + "/api/v1/calls",
		"another host":           "http://localhost:" + at.Port() + "/",
		"a sub-domain":           "http://sub.localhost:" + at.Port() + "/",
		"another scheme":         secure.URL + "/",
		"without a scheme":       "//" + at.Host + "/",
		"the same host":          "/elsewhere",
		"with a user":            "http://user:word@" + at.Host + "/",
		"a script":               "javascript:alert(1)",
		"a file":                 "file:///etc/passwd",
		"nowhere":                "",
		"what is not an address": "http://[::1",
		"in words of a shell":    "--help;reboot",
	}
	requests := map[string]func(context.Context, *apiclient.Client) error{
		"a list": func(ctx context.Context, c *apiclient.Client) error {
			_, err := c.Persons.List(ctx, apitype.PersonListOptions{IBAN: "NL91ABNA0417164300"})
			return err
		},
		"an update": func(ctx context.Context, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.UpdatePersonChange(apitype.NewUUID(), apitype.UpdatePersonRequest{
				IBAN: apitype.Set("NL91ABNA0417164300"),
			})))
			return err
		},
		"a creation": func(ctx context.Context, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.CreatePersonChange(apitype.CreatePersonRequest{
				OwningOrganizationUUID:     apitype.NewUUID(),
				RecruitingOrganizationUUID: apitype.NewUUID(),
			})))
			return err
		},
	}
	for place, location := range places {
		for name, send := range requests {
			for _, status := range []int{301, 302, 303, 307, 308} {
				t.Run(place+"/"+name+"/"+strconv.Itoa(status), func(t *testing.T) {
					t.Parallel()
					var hops atomic.Int64
					server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						hops.Add(1)
						_, _ = io.Copy(io.Discard, r.Body)
						w.Header()["Location"] = []string{location}
						w.WriteHeader(status)
					}))
					defer server.Close()
					client, err := apiclient.New(apiclient.Options{
						BaseURL: server.URL,
						Token:   func(context.Context) (string, error) { return "secret-token", nil },
					})
					servicetest.Check(t, err)
					err = send(t.Context(), client)
					if kind := apiclient.KindOf(err); kind != apiclient.KindUnavailable {
						t.Errorf("got %v of kind %q, want unavailable", err, kind)
					}
					text := err.Error()
					if strings.Contains(text, "secret-token") ||
						strings.Contains(text, "NL91") ||
						strings.ContainsAny(text, "\x1b\x07") {
						t.Errorf("got %q, want nothing secret", text)
					}
					if got := hops.Load(); got > 2 { // An update reads the record first.
						t.Errorf("got %d requests, want no second try", got)
					}
				})
			}
		}
	}
	t.Cleanup(func() {
		if got := followed.Load(); got != 0 {
			t.Errorf("got %d requests elsewhere, want none", got)
		}
	})
}

// A service on this machine is not asked to compress its answers.
func TestNoCompressionOnLoopback(t *testing.T) {
	t.Parallel()
	accepts := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accepts <- r.Header.Get("Accept-Encoding")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	}))
	t.Cleanup(server.Close)
	client, err := apiclient.New(apiclient.Options{
		BaseURL: server.URL,
		Token:   func(context.Context) (string, error) { return "t", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = client.Calls.Get(t.Context(), [16]byte{6: 0x40, 8: 0x80})
	if got := <-accepts; got != "" {
		t.Errorf("got Accept-Encoding %q, want none", got)
	}
}
