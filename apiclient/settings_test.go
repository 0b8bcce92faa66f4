package apiclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The settings are read once, asked for again by their ETag, and written where they are still those that
// were read.
func TestSettings(t *testing.T) {
	t.Parallel()
	organization := apitype.NewUUID()
	etag, sent := `"1"`, ""
	client := queueOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Fundesk-Extensions", "settings")
		w.Header().Set("ETag", etag)
		switch {
		case r.Method == http.MethodPut && r.URL.Path == "/fundesk/v1/settings/"+organization.String():
			if r.Header.Get("If-Match") != etag {
				w.WriteHeader(http.StatusPreconditionFailed)
				fmt.Fprint(w, `{"title":"changed meanwhile"}`)
				return
			}
			body, _ := io.ReadAll(r.Body)
			sent, etag = string(body), `"2"`
			fmt.Fprint(w, sent)
		case r.URL.Path == "/fundesk/v1/settings" && r.Header.Get("If-None-Match") == etag:
			w.WriteHeader(http.StatusNotModified)
		case r.URL.Path == "/fundesk/v1/settings":
			fmt.Fprintf(w, `{"organizations":[{"uuid":%q,"results":{"winback":[{"code":"back","label":"","effect":null,"asksNotes":false}]}}],"users":[]}`, organization)
		default:
			fmt.Fprint(w, `{"extensions":["settings"]}`)
		}
	})
	read, isSame, err := client.Settings(t.Context(), "")
	settings, wrong := read.Decode()
	if err != nil || wrong != nil || isSame || read.ETag != `"1"` || settings.Organizations[0].Results["winback"][0].Code != "back" {
		t.Fatalf("got %+v %t %v %v, want the settings and their ETag", read, isSame, err, wrong)
	}
	if _, isSame, err := client.Settings(t.Context(), read.ETag); err != nil || !isSame {
		t.Errorf("got %t %v, want that they still hold", isSame, err)
	}
	if err := client.SetSettings(t.Context(), settings.Organizations[0], read.ETag); err != nil || sent == "" {
		t.Errorf("got %q %v, want them written", sent, err)
	}
	err = client.SetSettings(t.Context(), settings.Organizations[0], read.ETag)
	if failure, ok := errors.AsType[*apiclient.Error](err); !ok || failure.Kind != apiclient.KindConflict {
		t.Errorf("got %v, want a conflict with what was written meanwhile", err)
	}
}

// A service without settings is told apart from one that does not answer.
func TestNoSettings(t *testing.T) {
	t.Parallel()
	client := queueOf(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	_, _, err := client.Settings(t.Context(), "")
	if failure, ok := errors.AsType[*apiclient.Error](err); !ok || failure.Kind != apiclient.KindRejected || failure.Message != "the service has no settings" {
		t.Errorf("got %v, want that there are none", err)
	}
}

// Settings whose answer was lost are told as set where the service has them, although the repeat is refused
// for the revision that the first request has changed; otherwise it is not known, or they were refused.
func TestLostSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		applies, cut bool
		status       int // Of what is not cut.
		kind         apiclient.Kind
	}{
		{"applied, and the answer cut", true, true, 0, ""},
		{"applied, and answered with 500", true, false, 500, ""},
		{"applied, and answered with 408", true, false, 408, ""},
		{"applied, and answered with half of them", true, false, 200, ""},
		{"answered with half of them, and not applied", false, false, 200, apiclient.KindUnknownOutcome},
		{"applied, and interrupted", true, false, 0, apiclient.KindInterrupted},
		{"not applied, and the answer cut", false, true, 0, apiclient.KindUnknownOutcome},
		{"changed by another", false, false, 412, apiclient.KindConflict},
		{"refused", false, false, 403, apiclient.KindForbidden},
	} {
		organization := apitype.NewUUID()
		var mu sync.Mutex // Each connection asks by itself.
		is, etag := `{"uuid":"`+organization.String()+`"}`, `"1"`
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		client := queueOf(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			shown, revision := is, etag
			isMet := r.Header.Get("If-Match") == etag
			if r.Method == http.MethodPut && isMet && test.applies {
				is, etag = string(body), `"2"`
			}
			mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Fundesk-Extensions", "settings")
			w.Header().Set("ETag", revision)
			if r.URL.Path == "/fundesk/v1" {
				fmt.Fprint(w, `{"extensions":["settings"]}`)
				return
			}
			if r.Method != http.MethodPut {
				fmt.Fprintf(w, `{"organizations":[%s],"users":[]}`, shown)
				return
			}
			if !isMet {
				w.WriteHeader(http.StatusPreconditionFailed)
				return
			}
			if test.cut {
				panic(http.ErrAbortHandler)
			}
			if test.status == 0 {
				cancel()
				<-r.Context().Done()
				return
			}
			w.WriteHeader(test.status)
			fmt.Fprint(w, `{"uuid":`)
		})
		choice := map[apitype.CallType][]apitype.ResultChoice{apitype.CallWinback: {{Code: "back"}}}
		err := client.SetSettings(ctx, apitype.OrganizationSettings{UUID: organization, Results: choice}, `"1"`)
		if apiclient.KindOf(err) != test.kind || (err == nil) != (test.kind == "") {
			t.Errorf("%s: got %v of kind %q, want %q", test.name, err, apiclient.KindOf(err), test.kind)
		}
	}
}

// Whatever a service does with the good entries beside a bad one, in the end the good
// ones were accepted by a request without it.
func TestMarksUnderPersonalities(t *testing.T) {
	t.Parallel()
	for _, p := range servicetest.Personalities() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			handler := s.h.As(p)
			var accepted apitype.MarkProcessedRequest
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				recorder := httptest.NewRecorder()
				handler.ServeHTTP(recorder, r)
				if recorder.Code == http.StatusNoContent {
					decode(t, bytes.NewReader(body), &accepted)
				}
				copyAnswer(w, recorder)
			}))
			defer server.Close()
			token := s.h.Token()
			client, err := apiclient.New(apiclient.Options{BaseURL: server.URL, Token: func(context.Context) (string, error) { return token, nil }})
			servicetest.Check(t, err)
			unknown := apitype.NewUUID()
			entries := []apitype.ProcessedEntry{
				{EntityName: apitype.EntityCall, EntityUUID: s.call, ProcessedAt: *s.at()},
				{EntityName: apitype.EntityCall, EntityUUID: unknown, ProcessedAt: *s.at()},
				{EntityName: apitype.EntityPerson, EntityUUID: s.person, ProcessedAt: *s.at()},
			}
			err = client.EntityAccess.MarkProcessed(t.Context(), entries)
			refused, named := errors.AsType[*apiclient.MarkError](err)
			switch {
			case !named || len(refused.Failed) != 1 || refused.Failed[0].EntityUUID != unknown.String():
				t.Errorf("got %v, want the unknown call refused", err)
			case len(accepted.Entries) != 2 || accepted.Entries[0].EntityUUID != s.call || accepted.Entries[1].EntityUUID != s.person:
				t.Errorf("got %v accepted, want the two good entries", accepted.Entries)
			}
		})
	}
}

// A redirect of any kind is an error, and nothing goes where it points: no token, no
// body, no query.
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
		"another port":        elsewhere.URL + "/api/v1/calls",
		"another host":        "http://localhost:" + at.Port() + "/",
		"a sub-domain":        "http://sub.localhost:" + at.Port() + "/",
		"another scheme":      secure.URL + "/",
		"without a scheme":    "//" + at.Host + "/",
		"the same host":       "/elsewhere",
		"with a user":         "http://user:word@" + at.Host + "/",
		"a script":            "javascript:alert(1)",
		"a file":              "file:///etc/passwd",
		"nowhere":             "",
		"what is no address":  "http://[::1",
		"in words of a shell": "--help;reboot",
	}
	requests := map[string]func(context.Context, *apiclient.Client) error{
		"a list": func(ctx context.Context, c *apiclient.Client) error {
			_, err := c.Persons.List(ctx, apitype.PersonListOptions{IBAN: "NL91ABNA0417164300"})
			return err
		},
		"an update": func(ctx context.Context, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.UpdatePersonChange(apitype.NewUUID(), apitype.UpdatePersonRequest{IBAN: apitype.Set("NL91ABNA0417164300")})))
			return err
		},
		"a creation": func(ctx context.Context, c *apiclient.Client) error {
			_, err := c.Send(ctx, must(apiclient.CreatePersonChange(apitype.CreatePersonRequest{OwningOrganizationUUID: apitype.NewUUID(), RecruitingOrganizationUUID: apitype.NewUUID()})))
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
						BaseURL: server.URL, Token: func(context.Context) (string, error) { return "secret-token", nil },
					})
					servicetest.Check(t, err)
					err = send(t.Context(), client)
					if kind := apiclient.KindOf(err); kind != apiclient.KindUnavailable {
						t.Errorf("got %v of kind %q, want unavailable", err, kind)
					}
					if text := err.Error(); strings.Contains(text, "secret-token") || strings.Contains(text, "NL91") || strings.ContainsAny(text, "\x1b\x07") {
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
	client, err := apiclient.New(apiclient.Options{BaseURL: server.URL, Token: func(context.Context) (string, error) { return "t", nil }})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = client.Calls.Get(t.Context(), [16]byte{6: 0x40, 8: 0x80})
	if got := <-accepts; got != "" {
		t.Errorf("got Accept-Encoding %q, want none", got)
	}
}
