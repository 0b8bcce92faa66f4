package httpapi

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"fundesk/service"
)

// TestHeadersAreRead lists the effect of each header, and of values close to a good one.
func TestHeadersAreRead(t *testing.T) {
	t.Parallel()
	request := func(name string, values ...string) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header[http.CanonicalHeaderKey(name)] = values
		return r
	}
	const trace = "0af7651916cd43dd8448eb211c80319c"
	parent := "00-" + trace + "-b7ad6b7169203331-01"
	for value, want := range map[string]string{
		parent:                                   trace,
		parent + "0":                             "",
		parent[1:]:                               "",
		"01" + parent[2:]:                        "",
		strings.ToUpper(parent):                  "",
		strings.Replace(parent, "0af", "0ag", 1): "",
		strings.Replace(parent, "0af", "0a`", 1): "",
		strings.Replace(parent, "0af", "0a:", 1): "",
		strings.Replace(parent, "0af", "0a/", 1): "",
		strings.Replace(parent, "-b", "0b", 1):   "",
		strings.ReplaceAll(parent, "0", "9"):     "",
		"00-" + strings.ReplaceAll(trace, "0", "9") + "-b7ad6b7169203331-01": strings.ReplaceAll(trace, "0", "9"),
	} {
		if got := traceOf(value); got != want {
			t.Errorf("Traceparent %s: got %q, want %q", value, got, want)
		}
	}
	for value, isOwn := range map[string]bool{
		"":                       false,
		"a b~":                   true,
		"a\x1fb":                 false,
		"a\x7f":                  false,
		"é":                      false,
		strings.Repeat("x", 128): true,
		strings.Repeat("x", 129): false,
	} {
		if got := requestID(request("X-Request-Id", value)); (got == value) != isOwn || got == "" {
			t.Errorf("X-Request-Id %q: got %q, want it kept: %t", value, got, isOwn)
		}
	}
	for _, test := range []struct {
		values []string
		token  string
	}{
		{[]string{"Bearer a.b"}, "a.b"},
		{[]string{"bearer  a.b "}, "a.b"},
		{nil, ""},
		{[]string{"Bearer a", "Bearer a"}, ""},
		{[]string{"Basic a"}, ""},
		{[]string{"Bearer"}, ""},
		{[]string{"Bearer "}, ""},
		{[]string{"a"}, ""},
	} {
		token, ok := bearer(request("Authorization", test.values...))
		if ok != (test.token != "") || ok && token != test.token {
			t.Errorf("Authorization %q: got %q %t, want %q", test.values, token, ok, test.token)
		}
	}
	for value, want := range map[string]bool{
		"gzip":           true,
		"x-gzip":         true,
		"GZIP":           true,
		"br":             false,
		"":               false,
		"*":              true,
		"*;q=0":          false,
		"gzip;q=0":       false,
		"gzip;q=0.001":   true,
		"gzip; Q = 1":    true,
		"gzip;q=a":       false,
		"*, gzip;q=0":    false,
		"*;q=0, gzip":    true,
		"br, gzip;q=0.5": true,
		"gzip;level=1":   true,
	} {
		if got := acceptsGzip(request("Accept-Encoding", value).Header); got != want {
			t.Errorf("Accept-Encoding %s: got %t, want %t", value, got, want)
		}
	}
	for _, test := range []struct {
		values []string
		want   service.Match
	}{
		{nil, nil},
		{[]string{"*"}, nil},
		{[]string{`"7"`}, service.Match{7}},
		{[]string{`"7", "8"`, `"9"`}, service.Match{7, 8, 9}},
		{[]string{`"7", *`}, nil},
		{[]string{`W/"7"`}, service.Match{}},
		{[]string{`"07"`}, service.Match{}},
		{[]string{`7`}, service.Match{}},
		{[]string{`"7`}, service.Match{}},
		{[]string{`7"`}, service.Match{}},
		{[]string{`"+7"`}, service.Match{}},
		{[]string{`"a"`}, service.Match{}},
		{[]string{""}, service.Match{}},
	} {
		got := match(request("If-Match", test.values...))
		if !slices.Equal(got, test.want) || (got == nil) != (test.want == nil) {
			t.Errorf("If-Match %q: got %v, want %v", test.values, got, test.want)
		}
	}
}

// TestBodiesOfJSON accepts bodies with one content type of JSON in UTF-8, and without an encoding.
func TestBodiesOfJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind     []string
		encoding string
		want     bool
	}{
		{[]string{"application/json"}, "", true},
		{[]string{"Application/JSON; charset=UTF-8"}, "", true},
		{[]string{"application/json; a=b"}, "identity", true},
		{nil, "", false},
		{[]string{"text/plain"}, "", false},
		{[]string{"application/json; charset=latin1"}, "", false},
		{[]string{"application/json"}, "gzip", false},
		{[]string{"application/json", "application/json"}, "", false},
		{[]string{"application/json;"}, "Identity", true},
		{[]string{"application/json; ="}, "", false},
	} {
		header := http.Header{"Content-Type": test.kind}
		if test.encoding != "" {
			header.Set("Content-Encoding", test.encoding)
		}
		if got := isJSON(header); got != test.want {
			t.Errorf("%q, encoded %q: got %t, want %t", test.kind, test.encoding, got, test.want)
		}
	}
	for size, want := range map[int64]string{-1: "abc", 0: "abc", 3: "abc", 2: "ab"} {
		if got, err := readAll(strings.NewReader("abc"), size); string(got) != want || err != nil {
			t.Errorf("a body of %d bytes: got %q, %v, want %q", size, got, err, want)
		}
	}
	got, err := readAll(strings.NewReader("abc"), 4)
	if string(got) != "abc" || err != io.ErrUnexpectedEOF { //nolint:errorlint // As it is.
		t.Errorf("a body that ends early: got %q, %v", got, err)
	}
}

// TestPlacesOfTheService lists clean paths, and where links begin.
func TestPlacesOfTheService(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"/":       "/",
		"/a/":     "/a/",
		"/a//b":   "/a/b",
		"/a/../b": "/b",
		"":        "/",
		"a":       "/a",
		"/..":     "/",
		"//":      "/",
	} {
		if got := cleanPath(p); got != want {
			t.Errorf("%q: got %q, want %q", p, got, want)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://a.example/x", http.NoBody)
	if got := (&api{}).base(r); got != "http://a.example" {
		t.Errorf("got %s", got)
	}
	if got := (&api{baseURL: "https://b.example"}).base(r); got != "https://b.example" {
		t.Errorf("got %s, want what the operator said", got)
	}
	r.TLS = &tls.ConnectionState{}
	if got := (&api{}).base(r); got != "https://a.example" {
		t.Errorf("got %s of a request over TLS", got)
	}
	header := http.Header{}
	for p, want := range map[string]bool{
		"/api/v1/calls":     true,
		"/api/v1":           false,
		"/fundesk/v1":       true,
		"/fundesk/v1/queue": true,
		"/fundesk/v10":      false,
		"/healthz":          false,
	} {
		clear(header)
		announce(header, p)
		if got := header.Get("Fundesk-Extensions"); (got == extensionHeader[0]) != want || (got == "") == want {
			t.Errorf("%s: got %q announced, want some: %t", p, got, want)
		}
	}
}
