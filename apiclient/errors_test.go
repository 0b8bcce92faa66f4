package apiclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// The status decides what an answer means: whether a repeat is allowed, and whether the change may have taken effect.
func TestStatuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]*Error{
		199: {Kind: KindUnavailable},
		200: nil,
		204: nil,
		299: nil,
		300: {Kind: KindUnavailable},
		399: {Kind: KindUnavailable},
		400: {Kind: KindRejected},
		401: {Kind: KindUnauthenticated},
		403: {Kind: KindForbidden},
		404: {Kind: KindNotFound},
		408: {Kind: KindUnavailable, Retryable: true, Sent: true},
		425: {Kind: KindUnavailable, Retryable: true},
		409: {Kind: KindConflict},
		412: {Kind: KindConflict},
		422: {Kind: KindRejected},
		429: {Kind: KindUnavailable, Retryable: true},
		499: {Kind: KindRejected},
		500: {Kind: KindUnavailable, Retryable: true, Sent: true},
		503: {Kind: KindUnavailable, Retryable: true, Sent: true},
		599: {Kind: KindUnavailable, Retryable: true, Sent: true},
	} {
		err := (&Response{Status: status}).Err()
		if want == nil {
			if err != nil {
				t.Errorf("%d: got %v, want no error", status, err)
			}
			continue
		}
		got := asError(err)
		if got == nil || got.Kind != want.Kind || got.Retryable != want.Retryable || got.Sent != want.Sent ||
			got.Status != status {
			t.Errorf("%d: got %+v, want %+v", status, got, want)
		}
	}
	for status, want := range map[int]bool{500: true, 502: false, 503: true, 504: false} {
		if got := (&Error{Status: status}).IsOwnFailure(); got != want {
			t.Errorf("%d: got the service's own failure %t, want %t", status, got, want)
		}
	}
	for err, want := range map[error]Kind{
		nil: "", context.Canceled: KindInterrupted, io.EOF: KindFailure, &Error{Kind: KindUsage}: KindUsage,
	} {
		if got := KindOf(err); got != want {
			t.Errorf("%v: got kind %q, want %q", err, got, want)
		}
	}
	for want, e := range map[string]*Error{"404 gone": {Status: 404, Message: "gone"}, "gone": {Message: "gone"}} {
		if e.Error() != want {
			t.Errorf("got %q, want %q", e, want)
		}
	}
}

// The readable sentence and the details of a refusal are found wherever frameworks put them.
func TestRefusalTexts(t *testing.T) {
	t.Parallel()
	details := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("d%d", i))
		}
		return all
	}
	tests := []struct {
		name, contentType, body string
		message                 string
		detail                  []string
		request                 string
	}{
		{"the more exact sentence", "", `{"title":"T","error":"E","message":"M","detail":"D"}`, "D", nil, ""},
		{"an error inside is less than a sentence", "", `{"detail":"D","error":{"message":"inside"}}`, "D", nil, ""},
		{"a request by its instance", "", `{"detail":"D","instance":"i-1"}`, "D", nil, "i-1"},
		{"an array of sentences", "", `["a","b"]`, "a", []string{"a", "b"}, ""},
		{
			name:    "sentences without a place, places without one",
			body:    `{"errors":[{"code":"C"},{"field":"f"},{},7,{"path":"/a/b","title":"x"},{"path":"a/b","title":"y"}]}`,
			message: "C",
			detail:  []string{"C", "f", "a.b: x", "a/b: y"},
		},
		{"fields that are none", "", `{"errors":{"a":7,"b":[7,"x"]}}`, "b: x", []string{"b: x"}, ""},
		{"a hundred details", "", `["` + strings.Join(details(100), `","`) + `"]`, "d0", details(100), ""},
		{"more details", "", `["` + strings.Join(details(101), `","`) + `"]`, "d0", details(100), ""},
		{"the longest sentence", "", strings.Repeat("é", 300), strings.Repeat("é", 300), nil, ""},
		{"a longer one", "", strings.Repeat("é", 301), strings.Repeat("é", 300) + "…", nil, ""},
		{"white space", "", "  a\t b  \nc", "a b", nil, ""},
		{"bytes that are not text", "", "a\xffb", "a\ufffdb", nil, ""},
		{"HTML by its type", "text/html; charset=utf-8", "sorry <b>not</b>&nbsp;here", "sorry not here", nil, ""},
		{"HTML by its look", "", " \n<p>sorry</p>", "sorry", nil, ""},
		{"an angle in a text", "text/plain", "a < b", "a < b", nil, ""},
		{"a heading in capitals", "text/html", "<TITLE>t</TITLE><H1 class=x>Sorry</H1>", "Sorry", nil, ""},
		{"an empty heading", "text/html", "<title>Blocked</title><h1></h1>more", "Blocked", nil, ""},
		{"a heading that does not begin", "text/html", "text <h1", "text", nil, ""},
		{"letters that grow in lower case", "text/html", "<h1>\u023a</h1>", "\u023a", nil, ""},
		{"nothing to read", "text/html", "<br>", "method not allowed", nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := &Response{
				Status: 405,
				Header: http.Header{"Content-Type": {test.contentType}},
				Body:   []byte(test.body),
			}
			got := r.failure(time.Time{})
			if got.Message != test.message || got.RequestID != test.request {
				t.Errorf("got %q of request %q, want %q of %q", got.Message, got.RequestID, test.message, test.request)
			}
			if diff := cmp.Diff(test.detail, got.Detail, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("detail (-want +got):\n%s", diff)
			}
		})
	}
	named := &Response{Status: 400, Header: http.Header{"X-Request-Id": {"r-1"}}, Body: []byte(`{"instance":"i-1"}`)}
	if got := named.failure(time.Time{}); got.RequestID != "r-1" {
		t.Errorf("got request %q, want that of the header", got.RequestID)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-1": 0, "soon": 0, "99999999999": (1 << 30) * time.Second,
		"Fri, 20 Nov 2026 09:15:30 GMT": 30 * time.Second, "Fri, 20 Nov 2026 09:14:30 GMT": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	if got := retryAfter("Fri, 20 Nov 2026 09:15:30 GMT", time.Time{}); got != 0 {
		t.Errorf("at a time that is not known: got %v, want 0", got)
	}
}

// slow is an error of a connection that has waited too long.
type slow struct{}

func (slow) Error() string   { return "i/o timeout" }
func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }

// The reason for a broken answer does not contain the address of the request.
func TestFaults(t *testing.T) {
	t.Parallel()
	c, err := New(Options{BaseURL: "https://a.example/base", Timeout: 7 * time.Second})
	servicetest.Check(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelLate()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errors.New("refused"))}
	tests := []struct {
		name      string
		parent    context.Context
		err       error
		connected bool
		want      Error
	}{
		{"interrupted", ended, io.EOF, true, Error{Kind: KindInterrupted, Message: "interrupted", Sent: true}},
		{"interrupted before", ended, io.EOF, false, Error{Kind: KindInterrupted, Message: "interrupted"}},
		{
			name:      "the caller has no more time",
			parent:    late,
			err:       io.EOF,
			connected: true,
			want: Error{
				Kind:      KindUnavailable,
				Retryable: true,
				Sent:      true,
				Message:   "no whole answer from a.example within 7s",
			},
		},
		{
			name:      "too long",
			parent:    t.Context(),
			err:       context.DeadlineExceeded,
			connected: true,
			want: Error{
				Kind:      KindUnavailable,
				Retryable: true,
				Sent:      true,
				Message:   "no whole answer from a.example within 7s",
			},
		},
		{
			name:   "a slow connection",
			parent: t.Context(),
			err:    &url.Error{Op: "Get", URL: "https://a.example/?iban=NL91", Err: slow{}},
			want:   Error{Kind: KindUnavailable, Retryable: true, Message: "no whole answer from a.example within 7s"},
		},
		{
			name:   "not reached",
			parent: t.Context(),
			err:    &url.Error{Op: "Get", URL: "https://a.example/?iban=NL91", Err: refused},
			want:   Error{Kind: KindUnavailable, Retryable: true, Message: "cannot reach a.example: connect: refused"},
		},
		{
			name:   "not reached otherwise",
			parent: t.Context(),
			err:    &net.OpError{Op: "proxyconnect", Err: errors.New("no")},
			want:   Error{Kind: KindUnavailable, Retryable: true, Message: "cannot reach a.example: proxyconnect: no"},
		},
		{
			name:   "refused by TLS",
			parent: t.Context(),
			err: fmt.Errorf("readLoopPeekFailLocked: %w", &net.OpError{
				Op:  "remote error",
				Err: errors.New("tls: certificate required"),
			}),
			connected: true,
			want: Error{
				Kind:      KindUnavailable,
				Retryable: true,
				Sent:      true,
				Message:   "the connection to a.example broke: remote error: tls: certificate required",
			},
		},
		{
			name:      "broken",
			parent:    t.Context(),
			err:       io.ErrUnexpectedEOF,
			connected: true,
			want: Error{
				Kind:      KindUnavailable,
				Retryable: true,
				Sent:      true,
				Message:   "the connection to a.example broke: unexpected EOF",
			},
		},
		{"known", t.Context(), &Error{Kind: KindUsage, Message: "m"}, true, Error{Kind: KindUsage, Message: "m"}},
	}
	for _, test := range tests {
		got := *c.fault(test.parent, test.err, test.connected)
		got.Err = nil
		if diff := cmp.Diff(test.want, got, cmpopts.IgnoreUnexported(Error{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// An answer without a type is taken for what it looks like.
func TestIsJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		contentType, body string
		want              bool
	}{
		{"application/json; charset=utf-8", "", true},
		{"text/json", "", true},
		{"application/problem+json", "", true},
		{"text/html", "{}", false},
		{"application/jsonp", "{}", false},
		{"json;;", "{}", false},
		{"", " \r\n\t{}", true},
		{"", "[]", true},
		{"", "", false},
		{"", " ", false},
		{"", "7", false},
	} {
		r := &Response{Header: http.Header{"Content-Type": {test.contentType}}, Body: []byte(test.body)}
		if got := r.isJSON(); got != test.want {
			t.Errorf("%q %q: got %t, want %t", test.contentType, test.body, got, test.want)
		}
	}
}

// canned is a transport that answers without a network.
type canned func(*http.Request) (*http.Response, error)

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// answered returns an answer of some bytes, with or without its length.
func answered(status int, body string, tellsLength bool) *http.Response {
	r := &http.Response{
		StatusCode:    status,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: -1,
	}
	if tellsLength {
		r.ContentLength = int64(len(body))
	}
	return r
}

// The memory that an answer takes is bounded: a record alone may be larger than what may hold many.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	const id = "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"
	sized := func(n int) string {
		head := `{"uuid":"` + id + `","notes":"`
		return head + strings.Repeat("x", n-len(head)-2) + `"}`
	}
	for _, tellsLength := range []bool{true, false} {
		for _, test := range []struct {
			name   string
			method string
			path   string
			status int
			size   int
			want   string // Beginning of the error. Empty if there is none.
		}{
			{"the largest record", http.MethodGet, "", 200, 20_000, ""},
			{"a larger one", http.MethodGet, "", 200, 20_001, "the answer is larger than 0 MiB"},
			{"the largest answer to a change", http.MethodPut, "", 200, 20_000, ""},
			{"a larger one to a change", http.MethodPut, "", 200, 20_001, "the answer is larger than 0 MiB"},
			{"the largest refusal", http.MethodGet, "", 404, 10_000, "404 not found"},
			{"a larger refusal", http.MethodGet, "", 404, 10_001, "the answer is larger than 0 MiB"},
		} {
			c, err := New(Options{
				BaseURL: "https://a.example",
				Tries:   1,
				Transport: canned(func(*http.Request) (*http.Response, error) {
					return answered(test.status, sized(test.size), tellsLength), nil
				}),
			})
			servicetest.Check(t, err)
			c.maxPage, c.maxRecord = 10_000, 20_000
			_, err = c.repeat(t.Context(), request{method: test.method, path: "/api/v1/calls/" + id})
			got := fmt.Sprint(err)
			if err == nil && test.want != "" || err != nil && (test.want == "" || !strings.HasPrefix(got, test.want)) {
				t.Errorf("%s, length told %t: got %v, want %q", test.name, tellsLength, err, test.want)
			}
		}
	}
}

// An export is longer than any record.
func TestLongExport(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	text := `{"calls":["` + strings.Repeat("x", apitype.MaxRecordBytes) + `"]}`
	c, err := New(Options{
		BaseURL:   "https://a.example",
		Tries:     1,
		Transport: canned(func(*http.Request) (*http.Response, error) { return answered(200, text, false), nil }),
	})
	servicetest.Check(t, err)
	if answer, err := c.Export(t.Context(), apitype.NewUUID()); err != nil || string(answer.Body) != text {
		t.Errorf("got %v, want all of it", err)
	}
}

// The client accepts the largest answers that a service may send: the most calls with the most attempts, and the
// largest record. A change with a larger answer has taken effect.
func TestLargestRecord(t *testing.T) {
	t.Parallel()
	const id = "5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"
	attempts := `"attempts":[` + strings.Repeat(`{"userUuid":null,"attemptAt":null,"createdAt":null},`,
		apitype.MaxCallAttempts-1) + `{}],` + strings.Repeat(`"x":0,`, 30)
	call := `{` + attempts + `"uuid":"` + id + `"},`
	head := `{"uuid":"` + id + `","calls":[` + strings.Repeat(call, apitype.MaxPledgeCalls) + `{}],"notes":"`
	record := func(size int) string { return head + strings.Repeat("x", size-len(head)-2) + `"}` }
	change := Change{
		Op:     OpAddAttempt,
		UUID:   apitype.MustParseUUID(id),
		Method: http.MethodPut,
		Path:   "/x",
		Body:   []byte("{}"),
	}
	for _, test := range []struct {
		size int // Bytes.
		kind Kind
	}{{apitype.MaxRecordBytes, ""}, {apitype.MaxRecordBytes + 1, KindUnavailable}} {
		text := record(test.size)
		c, err := New(Options{
			BaseURL:   "https://a.example",
			Tries:     1,
			Transport: canned(func(*http.Request) (*http.Response, error) { return answered(200, text, true), nil }),
		})
		servicetest.Check(t, err)
		if _, err := c.Pledges.Get(t.Context(), change.UUID); KindOf(err) != test.kind {
			t.Errorf("a record of %d bytes: got %v, want kind %q", test.size, err, test.kind)
		}
		if _, err := c.Send(t.Context(), change); err != nil {
			t.Errorf("a change that is answered with %d bytes: got %v", test.size, err)
		}
	}
}

// However an account asks, a header can hold its token.
func TestBearer(t *testing.T) {
	t.Parallel()
	locked := &Error{Kind: KindUsage, Message: "the keyring is locked"}
	for _, test := range []struct {
		token string
		err   error
		want  string
		kind  Kind
	}{
		{token: "!~"},
		{token: "a b", want: "the token holds characters that no token has", kind: KindUnauthenticated},
		{token: "a\x7f", want: "the token holds characters that no token has", kind: KindUnauthenticated},
		{token: "a\n", want: "the token holds characters that no token has", kind: KindUnauthenticated},
		{err: errors.New("no keyring"), want: "no keyring", kind: KindUnauthenticated},
		{err: fmt.Errorf("read the token: %w", locked), want: "the keyring is locked", kind: KindUsage},
	} {
		c, err := New(Options{
			BaseURL: "https://a.example",
			Token:   func(context.Context) (string, error) { return test.token, test.err },
		})
		servicetest.Check(t, err)
		_, err = c.Identity(t.Context())
		if KindOf(err) != test.kind ||
			err != nil && err.Error() != test.want ||
			test.err != nil && !errors.Is(err, test.err) {
			t.Errorf("%q, %v: got %v of kind %s, want %q of kind %s",
				test.token, test.err, err, KindOf(err), test.want, test.kind)
		}
	}
	c, err := New(Options{BaseURL: "https://a.example"})
	servicetest.Check(t, err)
	if name, err := c.TokenIdentity(t.Context()); name != "embedded" || err != nil {
		t.Errorf("without a token: got %q, %v, want embedded", name, err)
	}
}

// A path that is not below the base URL is refused before anything is sent.
func TestPathsOfRequests(t *testing.T) {
	t.Parallel()
	var asked []string
	c, err := New(Options{
		BaseURL: "https://a.example/base",
		Transport: canned(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.String())
			return answered(200, "{}", true), nil
		}),
	})
	servicetest.Check(t, err)
	for _, path := range []string{"https://b.example/x", "//b.example/x", "/a?b=c", "/a#b", "/%zz"} {
		_, err := c.Do(t.Context(), http.MethodGet, path, nil, nil, nil)
		if KindOf(err) != KindUsage || err.Error() != "the path is not of the form /api/v1/…" {
			t.Errorf("%s: got %v, want it refused", path, err)
		}
	}
	if _, err := c.Do(t.Context(), "G T", "/a", nil, nil, nil); KindOf(err) != KindUsage ||
		!strings.HasPrefix(err.Error(), "the request cannot be written: ") {
		t.Errorf("a method that is none: got %v, want it refused", err)
	}
	if _, err := c.Do(t.Context(), http.MethodGet, "/a%2Fb", url.Values{"c": {"d"}}, nil, nil); err != nil {
		t.Error(err)
	}
	servicetest.Same(t, "requests", []string{"https://a.example/base/a%2Fb?c=d"}, asked)
}
