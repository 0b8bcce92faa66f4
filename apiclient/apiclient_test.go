package apiclient_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// basePath is the path of the services in these tests. A request that forgets the base URL fails loudly.
const basePath = "/some/base"

// serve starts a service under a base path and a client of it that does not sleep.
func serve(t *testing.T, handler http.HandlerFunc, change ...func(*apiclient.Options)) *apiclient.Client {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(basePath+"/", http.StripPrefix(basePath, handler))
	mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("got a request outside the base path: %s", r.URL.Path)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	options := apiclient.Options{
		BaseURL: server.URL + basePath + "/",
		Token:   func(context.Context) (string, error) { return "secret-token", nil },
		Sleep:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	for _, f := range change {
		f(&options)
	}
	client, err := apiclient.New(options)
	servicetest.Check(t, err)
	return client
}

// answer writes a JSON answer.
func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", "request-1")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// asClientError returns the client's error in a chain.
func asClientError(t *testing.T, err error) *apiclient.Error {
	t.Helper()
	var known *apiclient.Error
	if !errors.As(err, &known) {
		t.Fatalf("got %T %v, want *apiclient.Error", err, err)
	}
	return known
}

var someID = apitype.MustParseUUID("5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10")

// Promise P6: plain http is for this machine alone.
func TestBaseURL(t *testing.T) {
	t.Parallel()
	const plain = ", is plain http"
	tests := []struct {
		name, url string
		message   string // Empty if the address is taken.
	}{
		{"https", "https://api.example.org", ""},
		{"a path", "https://api.example.org/v/", ""},
		{"plain http elsewhere", "http://api.example.org", plain},
		{"plain http that only looks local", "http://localhost.example.org", plain},
		{"plain http that a resolver may send elsewhere", "http://api.localhost:8080", plain},
		{"plain http here", "http://localhost:8080", ""},
		{"plain http here, in capitals", "http://LOCALHOST:8080", ""},
		{"plain http here by number", "http://127.0.0.1:8080", ""},
		{"plain http here by IPv6", "http://[::1]:8080", ""},
		{"nothing", "", "no base URL"},
		{"another scheme", "ftp://api.example.org", "the base URL must begin with https://"},
		{"no host", "https://", "the base URL is not of the form https://host/path"},
		{"a user", "https://me:secret@api.example.org", "the base URL must not carry a user, a query or a fragment"},
		{"a query", "https://api.example.org?a=b", "the base URL must not carry a user, a query or a fragment"},
		{"a fragment", "https://api.example.org#a", "the base URL must not carry a user, a query or a fragment"},
		{"a bare name", "api.example.org", "the base URL is not of the form https://host/path"},
		{"no URL", "https://api.example.org/%zz", "the base URL is not of the form https://host/path"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client, err := apiclient.New(apiclient.Options{BaseURL: test.url})
			want := test.message
			if want == plain {
				want = "the base URL " + test.url + " is plain http, which is allowed for this machine only; use https"
			}
			switch {
			case want != "":
				if apiclient.KindOf(err) != apiclient.KindUsage || err.Error() != want {
					t.Errorf("got %v of kind %s, want %q", err, apiclient.KindOf(err), want)
				}
			case err != nil || !strings.EqualFold(client.BaseURL(), strings.TrimRight(test.url, "/")):
				t.Errorf("got %v, want it taken", err)
			}
		})
	}
	for address, want := range map[string]string{
		"https://a.example/b%2Fc//": "https://a.example/b%2Fc",
		"http://a.example":          "http://a.example",
	} {
		client, err := apiclient.New(apiclient.Options{BaseURL: address, Transport: http.DefaultTransport})
		if err != nil || client.BaseURL() != want {
			t.Errorf("%s, with a transport of the caller's: got %v, want it taken", address, err)
		}
	}
}

// A service of this machine is found under its name whichever protocol it listens on.
// Promise P6: plain http is dialled on this machine, whatever localhost resolves to.
func TestServiceAtLocalhost(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", address)
			if err != nil {
				t.Skipf("this machine has no %s: %v", address, err)
			}
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"uuid":"` + someID.String() + `"}`))
			}))
			_ = server.Listener.Close()
			server.Listener = listener
			server.Start()
			t.Cleanup(server.Close)
			_, port, err := net.SplitHostPort(listener.Addr().String())
			servicetest.Check(t, err)
			client, err := apiclient.New(apiclient.Options{BaseURL: "http://localhost:" + port})
			if err == nil {
				_, err = client.Calls.Get(t.Context(), someID)
			}
			if err != nil {
				t.Errorf("got %v, want an answer", err)
			}
		})
	}
}

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	var got http.Header
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		answer(w, 200, "{}")
	})
	_, err := client.Do(t.Context(), http.MethodPut, "/api/v1/x", nil, []byte("{}"), http.Header{
		"Idempotency-Key":   {"1"},
		"X-Idempotency-Key": {"2"},
	})
	servicetest.Check(t, err)
	got.Del("Accept-Encoding") // Of Go's transport.
	want := http.Header{
		"Accept": {"application/json, application/problem+json"}, "Authorization": {"Bearer secret-token"},
		"Content-Length": {"2"}, "Content-Type": {"application/json"}, "User-Agent": {"fundesk"},
	}
	servicetest.Same(t, "headers, without the idempotency keys", want, got)
	_, err = client.Do(t.Context(), http.MethodPut, "/api/v1/x", nil, []byte("a,b"), http.Header{
		"content-type": {"text/csv"},
		"Accept":       {"*/*"},
	})
	if err != nil || got.Get("Content-Type") != "text/csv" || got.Get("Accept") != "*/*" {
		t.Errorf("got headers %v, %v, want those of the caller", got, err)
	}
	_, err = client.Do(t.Context(), http.MethodGet, "/api/v1/x", nil, nil, nil)
	if err != nil || got.Get("Content-Type") != "" {
		t.Errorf("got headers %v, %v, want no type of no body", got, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		status      int
		contentType string
		body        string
		kind        apiclient.Kind
		message     string
		detail      []string
	}{
		{
			"a problem with places", 400, "application/problem+json",
			`{"title":"Bad request","detail":"the request is not valid","errors":[{"pointer":"/name/firstName","message":"is too long"},{"parameter":"first","message":"is negative"}]}`,
			apiclient.KindRejected, "the request is not valid",
			[]string{"name.firstName: is too long", "first: is negative"},
		},
		{
			name:        "a message",
			status:      422,
			contentType: "application/json",
			body:        `{"message":"no such person"}`,
			kind:        apiclient.KindRejected,
			message:     "no such person",
		},
		{
			name:        "a list of messages",
			status:      400,
			contentType: "application/json",
			body:        `{"message":["a is wrong","b is wrong"],"error":"Bad Request"}`,
			kind:        apiclient.KindRejected,
			message:     "Bad Request",
			detail:      []string{"a is wrong", "b is wrong"},
		},
		{
			name:        "a nested error",
			status:      400,
			contentType: "application/json",
			body:        `{"error":{"message":"inside"}}`,
			kind:        apiclient.KindRejected,
			message:     "inside",
		},
		{
			name:        "fields with messages",
			status:      400,
			contentType: "application/json",
			body:        `{"errors":{"b":["x","y"],"a":"z"}}`,
			kind:        apiclient.KindRejected,
			message:     "a: z",
			detail:      []string{"a: z", "b: x", "b: y"},
		},
		{
			name:        "HTML",
			status:      403,
			contentType: "text/html",
			body:        "<html><head><title>Blocked</title></head><body><h1>Access&nbsp;denied</h1></body></html>",
			kind:        apiclient.KindForbidden,
			message:     "Access denied",
		},
		{"plain text", 404, "text/plain", "not here\nor there", apiclient.KindNotFound, "not here", nil},
		{"nothing", 401, "", "", apiclient.KindUnauthenticated, "unauthorized", nil},
		{"a JSON string", 409, "application/json", `"taken"`, apiclient.KindConflict, "taken", nil},
		{"JSON of another kind", 412, "application/json", `[1,2]`, apiclient.KindConflict, "precondition failed", nil},
		{"broken JSON", 405, "application/json", `{"message":`, apiclient.KindRejected, `{"message":`, nil},
		{"a status nobody knows", 499, "", "", apiclient.KindRejected, "the service refused the request", nil},
		{
			name:        "a redirect",
			status:      302,
			contentType: "text/html",
			body:        "<a>elsewhere</a>",
			kind:        apiclient.KindUnavailable,
			message:     "the service redirects elsewhere, and redirects are never followed; check the base URL",
		},
		{
			name:        "a proxy's failure with its status",
			status:      502,
			contentType: "text/html",
			body:        "<h1>502 Bad gateway</h1>",
			kind:        apiclient.KindUnavailable,
			message:     "Bad gateway",
		},
		{"a proxy's failure", 502, "text/html", "<h1>Bad gateway</h1>", apiclient.KindUnavailable, "Bad gateway", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.contentType)
				w.Header().Set("Location", "http://elsewhere.example/")
				w.Header().Set("X-Request-Id", "request-1")
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			})
			_, err := client.Calls.Get(t.Context(), someID)
			got := asClientError(t, err)
			if got.Kind != test.kind ||
				got.Status != test.status ||
				got.Message != test.message ||
				got.RequestID != "request-1" {
				t.Errorf("got %+v, want kind %s, status %d, message %q", got, test.kind, test.status, test.message)
			}
			servicetest.Same(t, "detail", test.detail, got.Detail)
		})
	}
}

func TestReadRetries(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		status     int
		retryAfter string
		requests   int
		kind       apiclient.Kind
	}{
		{"a server error", 500, "", 4, apiclient.KindUnavailable},
		{"too many requests", 429, "1", 4, apiclient.KindUnavailable},
		{"a long wait", 429, "61", 1, apiclient.KindUnavailable},
		{"the longest wait", 429, "60", 4, apiclient.KindUnavailable},
		{"a request time-out", 408, "", 4, apiclient.KindUnavailable},
		{"not found", 404, "", 1, apiclient.KindNotFound},
		{"a redirect", 307, "", 1, apiclient.KindUnavailable},
		{"another success than JSON", 200, "", 1, apiclient.KindUnavailable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			requests := 0
			client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				requests++
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Retry-After", test.retryAfter)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.status)
				io.WriteString(w, "<h1>sorry</h1>")
			})
			_, err := client.Persons.Get(t.Context(), someID)
			if got := apiclient.KindOf(err); got != test.kind || requests != test.requests {
				t.Errorf("got %s after %d requests, want %s after %d", got, requests, test.kind, test.requests)
			}
		})
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	var waits []time.Duration
	requests := 0
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests++; requests == 1 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(503)
			return
		}
		answer(w, 200, `{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"}`)
	}, func(o *apiclient.Options) {
		o.Sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
	})
	if _, err := client.Persons.Get(t.Context(), someID); err != nil {
		t.Fatalf("Get: %v", err)
	}
	servicetest.Same(t, "waits", []time.Duration{7 * time.Second}, waits)
}

// The waits between tries begin at a quarter of a second, double, and differ from client to
// client, so that a floor of them does not come back at one moment.
func TestWaitsBetweenTries(t *testing.T) {
	t.Parallel()
	first := map[time.Duration]bool{}
	for range 8 {
		var waits []time.Duration
		client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
		}, func(o *apiclient.Options) {
			o.Tries = 4
			o.Sleep = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
		})
		if _, err := client.Persons.Get(t.Context(), someID); err == nil || len(waits) != 3 {
			t.Fatalf("got %v and waits %v, want 4 tries", err, waits)
		}
		first[waits[0]] = true
		for i, middle := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second} {
			if waits[i] < middle/2 || waits[i] >= middle*3/2 {
				t.Errorf("wait %d: got %v, want %v and up to half of it more or less", i+1, waits[i], middle)
			}
		}
	}
	if len(first) == 1 {
		t.Errorf("got the same wait %v from 8 clients", first)
	}
}

// A service that speaks no TLS since 1.2 gets no token.
func TestOldTLSIsRefused(t *testing.T) {
	t.Parallel()
	for version, works := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 200, `{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"}`)
		}))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: version}
		server.StartTLS()
		t.Cleanup(server.Close)
		certificate := filepath.Join(t.TempDir(), "ca.pem")
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		servicetest.Check(t, os.WriteFile(certificate, text, 0o600))
		client, err := apiclient.New(apiclient.Options{
			BaseURL: server.URL, Network: apiclient.Network{CACert: certificate}, Tries: 1,
			Token: func(context.Context) (string, error) { return "secret-token", nil },
		})
		servicetest.Check(t, err)
		if _, err := client.Persons.Get(t.Context(), someID); (err == nil) != works {
			t.Errorf("TLS %x: got %v, want answered %v", version, err, works)
		}
	}
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	client, err := apiclient.New(apiclient.Options{
		BaseURL: "http://127.0.0.1:1", // Nothing listens there.
		Token:   func(context.Context) (string, error) { return "secret-token", nil },
		Sleep:   func(context.Context, time.Duration) error { return nil },
	})
	servicetest.Check(t, err)
	_, err = client.Persons.List(t.Context(), apitype.PersonListOptions{IBAN: "NL91ABNA0417164300"})
	if err == nil || strings.Contains(err.Error(), "NL91") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want an error without the query and the token", err)
	}
	if known := asClientError(t, err); known.Kind != apiclient.KindUnavailable || known.Sent {
		t.Errorf("got %+v, want unavailable and not sent", known)
	}
}

// Promise P11: what --debug shows of an address is masked.
func TestTraceIsMasked(t *testing.T) {
	t.Parallel()
	var trace bytes.Buffer
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(
			w,
			200,
			`{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10","status":"requested","notes":"Secret illness","dateOfBirth":"1980-05-17","createdAt":"2026-01-02T03:04:05.000Z","amount":12.5,"edges":[]}`,
		)
	}, func(o *apiclient.Options) { o.Trace = &trace })
	if _, err := client.Persons.List(t.Context(), apitype.PersonListOptions{IBAN: "NL91ABNA0417164300"}); err != nil {
		t.Fatalf("List: %v", err)
	}
	for _, secret := range []string{"secret-token", "NL91", "illness", "1980"} {
		if strings.Contains(trace.String(), secret) {
			t.Errorf("got %q in the trace:\n%s", secret, trace.String())
		}
	}
	for _, plain := range []string{"GET", "5c1d0f0e", "requested", "2026-01-02T03:04:05.000Z", "12.5", "iban=***"} {
		if !strings.Contains(trace.String(), plain) {
			t.Errorf("want %q in the trace:\n%s", plain, trace.String())
		}
	}
}

func TestTokenIsForgottenAfterRefusal(t *testing.T) {
	t.Parallel()
	asked := 0
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer token-1" {
			answer(w, 401, `{"detail":"expired"}`)
			return
		}
		answer(w, 200, `{"uuid":"`+someID.String()+`"}`)
	}, func(o *apiclient.Options) {
		o.Token = func(context.Context) (string, error) { asked++; return fmt.Sprintf("token-%d", asked), nil }
	})
	if _, err := client.Calls.Get(t.Context(), someID); apiclient.KindOf(err) != apiclient.KindUnauthenticated {
		t.Errorf("got %v, want unauthenticated", err)
	}
	if _, err := client.Calls.Get(t.Context(), someID); err != nil || asked != 2 {
		t.Errorf("got %v after asking %d times, want the new token to be used", err, asked)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, token, account, want string }{
		{"a JWT", "e30.eyJzdWIiOiJhY2NvdW50LTEifQ.c2ln", "profile-p", "account-1"},
		{"an opaque token", "abc", "", "token-ba7816bf8f01cfea"},
		{"an opaque token of a profile", "abc", "profile-p", "profile-p"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client, err := apiclient.New(apiclient.Options{
				BaseURL: "https://a.example",
				Account: test.account,
				Token:   func(context.Context) (string, error) { return test.token, nil },
			})
			servicetest.Check(t, err)
			if got, err := client.Identity(t.Context()); err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestRecordKeepsBytes(t *testing.T) {
	t.Parallel()
	const body = `{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10","zzz":{"b":1,"a":12.3450},"big":9007199254740993}`
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"7"`)
		answer(w, 200, body+"\n")
	})
	record, err := client.Calls.Get(t.Context(), someID)
	servicetest.Check(t, err)
	if string(record.Raw) != body || record.ETag != `"7"` {
		t.Errorf("got %s with %s, want the bytes as they were sent", record.Raw, record.ETag)
	}
	broken := apiclient.Record[apitype.Call]{Raw: json.RawMessage(`{"uuid":5}`)}
	if _, err := broken.Decode(); apiclient.KindOf(err) != apiclient.KindUnavailable {
		t.Errorf("got %v, want unavailable", err)
	}
}

func decode(t *testing.T, r io.Reader, into any) {
	t.Helper()
	if err := json.NewDecoder(r).Decode(into); err != nil {
		t.Errorf("decode: %v", err)
	}
}

func join(parts []string) string { return strings.Join(parts, ",") }
