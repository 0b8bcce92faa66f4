package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// The whole of a trace: nothing of a person in it, and nothing of the token.
func TestTrace(t *testing.T) {
	t.Parallel()
	var trace bytes.Buffer
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	answers := []*http.Response{
		{StatusCode: 200, Header: http.Header{"X-Request-Id": {"r-1"}}, Body: io.NopCloser(strings.NewReader(
			`{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10","type":"happy_call","attemptsCount":2,"firstName":"Anna","dateOfBirth":"1980-05-17T00:00:00Z","createdAt":"2026-01-02T03:04:05Z","notes":null,"amount":["12.5",{"status":"two words"}],"errors":[{"pointer":"/iban"}]}`))},
		{
			StatusCode: 503,
			Header:     http.Header{"X-Request-Id": {"no id"}},
			Body:       io.NopCloser(strings.NewReader("sorry")),
		},
		{StatusCode: 204, Header: http.Header{}, Body: http.NoBody},
		{
			StatusCode: 200,
			Header:     http.Header{},
			Body:       io.NopCloser(strings.NewReader(`["` + strings.Repeat("x", 1<<20-4) + `"]`)),
		},
		{
			StatusCode: 200,
			Header:     http.Header{},
			Body:       io.NopCloser(strings.NewReader(`["` + strings.Repeat("x", 1<<20-3) + `"]`)),
		},
		{
			StatusCode: 200,
			Header:     http.Header{},
			Body:       io.NopCloser(strings.NewReader(`{"amount":[7` + strings.Repeat(",7", 4089) + `]}`)),
		},
		{
			StatusCode: 200,
			Header:     http.Header{},
			Body:       io.NopCloser(strings.NewReader(`["` + strings.Repeat(`x","`, 2500) + `"]`)),
		},
	}
	c, err := New(Options{
		BaseURL: "https://a.example/base",
		Trace:   &trace,
		Token:   func(context.Context) (string, error) { return "secret", nil },
		Transport: canned(func(*http.Request) (*http.Response, error) {
			next := answers[0]
			answers = answers[1:]
			return next, nil
		}),
		Now: func() time.Time { now = now.Add(7600 * time.Microsecond); return now },
	})
	servicetest.Check(t, err)
	for len(answers) > 0 {
		query := url.Values{"iban": {"NL91ABNA0417164300"}, "first": {"2", "3"}, "include": {"person"}}
		_, err := c.Do(t.Context(), http.MethodPut, "/api/v1/persons", query, []byte(`{"iban":"NL91"}`), nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	const request = "> PUT https://a.example/base/api/v1/persons?first=2&first=3&iban=***&include=person\n  {\"iban\":\"***\"}\n"
	want := request + "< 200 OK, 261 bytes in 8ms, request r-1\n" +
		`  {"amount":["12.5",{"status":"***"}],"attemptsCount":2,"createdAt":"2026-01-02T03:04:05Z","dateOfBirth":"***","errors":[{"pointer":"/iban"}],"firstName":"***","notes":null,"type":"happy_call","uuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"}` + "\n" +
		request + "< 503 Service Unavailable, 5 bytes in 8ms, request -\n  (5 bytes that are not JSON)\n" +
		request + "< 204 No Content, 0 bytes in 8ms, request -\n" +
		request + "< 200 OK, 1048576 bytes in 8ms, request -\n  [\"***\"]\n" +
		request + "< 200 OK, 1048577 bytes in 8ms, request -\n  (1048577 bytes)\n" +
		request + "< 200 OK, 8192 bytes in 8ms, request -\n  {\"amount\":[7" + strings.Repeat(",7", 4089) + "]}\n" +
		request + "< 200 OK, 10004 bytes in 8ms, request -\n  [" + strings.Repeat(`"***",`, 1365) + "\"…\n"
	servicetest.Same(t, "trace", want, trace.String())
}

// What looks like a word of an enumeration, a number or a list of them is shown in a trace.
func TestIsWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "azAZ09": true, "a_b.c,d:e-f": true, strings.Repeat("x", 128): true, strings.Repeat("x", 129): false,
		"`": false, "{": false, "@": false, "[": false, "/": false, ";": false, "a b": false, "é": false,
	} {
		if got := isWord(text); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}

// Commas in strings are not values, even beside quotes.
func TestValuesAreCountedOutsideOfStrings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{}`: 0, `{"a":1,"b":2}`: 1, `["a,b","c"]`: 1, `["a\",b","c,","d"]`: 2, `["a\\","b,c"]`: 1, `["\\\",",1,2]`: 2,
	} {
		if got := countValues([]byte(text)); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

// No text reaches a trace unless it is an identifier, a word of an enumeration, a time or
// an amount.
func FuzzMaskBody(f *testing.F) {
	f.Add("NL91ABNA0417164300")
	f.Add("1980-05-17")
	f.Add("requested")
	f.Fuzz(func(t *testing.T, text string) {
		quoted, err := json.Marshal(text)
		if err != nil || len(text) < 4 || isPlain("", text) || text == masked {
			t.Skip()
		}
		body := `{"notes":` + string(quoted) + `,"dateOfBirth":` + string(quoted) + `,"new":[{"type":{"field":` +
			string(quoted) + `}}]}`
		if got := maskBody([]byte(body)); strings.Contains(got, string(quoted)) {
			t.Errorf("got %s, want the text masked", got)
		}
	})
}
