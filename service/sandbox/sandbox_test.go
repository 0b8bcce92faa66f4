package sandbox

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fundesk/apiclient/apitype"
	"fundesk/service"
)

// order is a request to a sandbox, with what is answered.
type order struct {
	method, path, body string
	status             int
	want               string // The body; of a refusal its detail.
}

// box is a sandbox with a clock that began at 2026-11-20T09:00:00Z, on a system with a time that tests move.
type box struct {
	t       *testing.T
	system  time.Time
	handler http.Handler
	reset   error // That a reset is refused with.
	ended   bool  // Whether the last connection was.
}

func newBox(t *testing.T) *box {
	b := &box{t: t, system: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	serve := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"a":"12345"}`) }
	b.handler = New(func() time.Time { return b.system }, time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)).Wrap(Service{
		Handler: http.HandlerFunc(serve),
		Reset:   func(context.Context) (http.Handler, error) { return http.HandlerFunc(serve), b.reset },
		Token: func(_ context.Context, o TokenOrder) (Token, error) {
			return Token{Token: "T" + o.TTL, Account: apitype.UUID{1}}, nil
		},
	})
	return b
}

// do sends a request; a connection that is ended has the status 0.
func (b *box) do(method, path, body string, header ...string) (answer *httptest.ResponseRecorder) {
	answer = httptest.NewRecorder()
	request := httptest.NewRequestWithContext(b.t.Context(), method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	b.ended = false
	defer func() {
		if thrown := recover(); thrown != nil {
			b.ended = errors.Is(thrown.(error), http.ErrAbortHandler)
		}
	}()
	b.handler.ServeHTTP(answer, request)
	return answer
}

func (b *box) orders(orders ...order) {
	b.t.Helper()
	for _, o := range orders {
		answer := b.do(o.method, o.path, o.body)
		got := answer.Body.String()
		if _, detail, refused := strings.Cut(got, `"detail":"`); refused {
			got, _, _ = strings.Cut(detail, `","`)
			got = strings.TrimSuffix(got, `"}`)
		}
		if answer.Code != o.status || got != o.want {
			b.t.Errorf("%s %s %s: got %d %s, want %d %s", o.method, o.path, o.body, answer.Code, got, o.status, o.want)
		}
	}
}

// TestClockOrders sets the clock, moves it, stops it, and lets it go.
func TestClockOrders(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	const clock = "/sandbox/clock"
	at := func(text string, stopped string) string {
		return `{"time":"2026-11-` + text + `Z","stopped":` + stopped + `}`
	}
	b.orders(order{"GET", clock, "", 200, at("20T09:00:00.000", "false")})
	b.system = b.system.Add(time.Minute)
	b.orders(
		order{"GET", clock, "", 200, at("20T09:01:00.000", "false")},
		order{"PUT", clock, `{"move":"36h"}`, 200, at("21T21:01:00.000", "false")},
		order{"PUT", clock, `{"move":"-1h"}`, 200, at("21T20:01:00.000", "false")},
		order{"PUT", clock, `{"stopped":true}`, 200, at("21T20:01:00.000", "true")},
	)
	b.system = b.system.Add(time.Minute)
	b.orders(
		order{"PUT", clock, `{"move":"1m"}`, 200, at("21T20:02:00.000", "true")},
		order{"PUT", clock, `{"time":"2026-11-22T08:00:00Z"}`, 200, at("22T08:00:00.000", "true")},
		order{"PUT", clock, `{"stopped":false}`, 200, at("22T08:00:00.000", "false")},
	)
	b.system = b.system.Add(time.Second)
	b.orders(
		order{"GET", clock, "", 200, at("22T08:00:01.000", "false")},
		order{"PUT", clock, `{"time":"2026-11-22T08:00:00Z","move":"1h"}`, 400, "time and move cannot be combined: a clock is set or moved"},
		order{"PUT", clock, `{}`, 400, "name a time, a duration to move by, or whether the clock is stopped"},
		order{"PUT", clock, `{"speed":2}`, 400, "the body: speed is not a known field"},
		order{"PUT", clock, `{"move":"a day"}`, 400, `move \"a day\" is not a duration such as 36h or -10m`},
		order{"PUT", clock, `{"move":"-2000000h"}`, 400, `move \"-2000000h\" leads out of the years that the service knows, 1900 to 9999`},
		order{"GET", clock, "", 200, at("22T08:00:01.000", "false")},
		order{"POST", "/sandbox/token", `{"ttl":"1h"}`, 200, `{"token":"T1h","account":"01000000-0000-0000-0000-000000000000","expiresAt":null}`},
		// More than a duration holds from today.
		order{"PUT", clock, `{"time":"9998-12-31T00:00:00Z","stopped":true}`, 200, `{"time":"9998-12-31T00:00:00.000Z","stopped":true}`},
		order{
			method: "PUT",
			path:   clock,
			body:   `{"time":"2027-01-01T00:00:00Z","stopped":true}`,
			status: 200,
			want:   `{"time":"2027-01-01T00:00:00.000Z","stopped":true}`,
		},
	)
	b.reset = &service.Error{Kind: service.Conflict, Detail: "not here"}
	b.orders(order{"POST", "/sandbox/reset", "", 409, "not here"}, order{
		method: "GET",
		path:   clock,
		status: 200,
		want:   `{"time":"2027-01-01T00:00:00.000Z","stopped":true}`,
	})
	b.reset = nil
	b.orders(order{"POST", "/sandbox/reset", "", 200, at("20T09:00:00.000", "false")})
}

// TestFaultOrders lists orders of faults that are refused, and close ones that are accepted.
func TestFaultOrders(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	const (
		fault   = "/sandbox/fault"
		noDelay = "a delay such as 2s belongs to the faults slow and slow-body, and to no other"
	)
	b.orders(
		order{"GET", fault, "", 200, `{"faults":[]}`},
		order{"PUT", fault, `{"fault":"418"}`, 400, `there is no fault \"418\"; there are 401, 403, 429, 500, 502, 503, slow, slow-body, truncated, not-json, dropped-before-commit, dropped-after-commit`},
		order{"PUT", fault, `{"fault":"503","times":0}`, 400, "times is 0; it must be 1 at least"},
		order{"PUT", fault, `{"fault":"503","percent":-1}`, 400, "percent is -1; it must be from 1 to 100"},
		order{"PUT", fault, `{"fault":"503","percent":101}`, 400, "percent is 101; it must be from 1 to 100"},
		order{"PUT", fault, `{"fault":"503","delay":"1s"}`, 400, noDelay},
		order{"PUT", fault, `{"fault":"slow"}`, 400, noDelay},
		order{"PUT", fault, `{"fault":"slow-body"}`, 400, noDelay},
		order{"PUT", fault, `{"fault":"slow","delay":"soon"}`, 400, `delay \"soon\" is not a duration up to 1m30s`},
		order{"PUT", fault, `{"fault":"slow","delay":"0s"}`, 400, `delay \"0s\" is not a duration up to 1m30s`},
		order{"PUT", fault, `{"fault":"slow","delay":"90.001s"}`, 400, `delay \"90.001s\" is not a duration up to 1m30s`},
		order{"PUT", fault, `{"fault":"slow","delay":"90s"}`, 200, `{"faults":[{"fault":"slow","times":1,"delay":"90s"}]}`},
		order{"PUT", fault, `{"fault":"slow-body","delay":"1ns"}`, 200, `{"faults":[{"fault":"slow-body","times":1,"delay":"1ns"}]}`},
		order{"PUT", fault, `{"fault":"503","percent":100}`, 200, `{"faults":[{"fault":"503","times":1,"percent":100}]}`},
		order{"POST", fault, `{"fault":"500","times":2,"method":"put","path":"/a"}`, 200, `{"faults":[{"fault":"503","times":1,"percent":100},{"fault":"500","times":2,"method":"PUT","path":"/a"}]}`},
		order{"PUT", fault, `{"fault":"500","a":"` + strings.Repeat("x", 4<<10) +
			`"}`, 400, "the body could not be read"},
		order{"PUT", fault, strings.Repeat(" ",
			4<<10-len(`{"fault":"500"}`)) + `{"fault":"500"}`, 200, `{"faults":[{"fault":"500","times":1}]}`},
		order{"DELETE", fault, "", 204, ""},
		order{"GET", fault, "", 200, `{"faults":[]}`},
		order{"PUT", fault, `{"fault":"500"}`, 200, `{"faults":[{"fault":"500","times":1}]}`},
		order{"POST", "/sandbox/reset", "", 200, `{"time":"2026-11-20T09:00:00.000Z","stopped":false}`},
		order{"GET", fault, "", 200, `{"faults":[]}`},
	)
}

// TestFaultsHappen asks for faults, and sends requests until they are used up.
func TestFaultsHappen(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	const whole, refused = `{"a":"12345"}`, "the sandbox was asked for this answer"
	fault := func(body string) {
		t.Helper()
		if answer := b.do("PUT", "/sandbox/fault", body); answer.Code != 200 {
			t.Fatalf("%s: got %d %s", body, answer.Code, answer.Body)
		}
	}
	good := order{"GET", "/x", "", 200, whole}
	bad := order{"GET", "/x", "", 503, refused}
	fault(`{"fault":"503","times":2}`)
	b.orders(bad, bad, good)
	fault(`{"fault":"503","method":"PUT","path":"/b"}`)
	b.orders(good, order{"GET", "/b", "", 200, whole}, order{"PUT", "/a", "", 200, whole},
		order{"PUT", "/a/b", "", 503, refused}, order{"PUT", "/a/b", "", 200, whole})
	fault(`{"fault":"503","percent":40,"times":3}`)
	b.orders(good, good, bad, good, bad, good, good, bad, good, good, good)
	fault(`{"fault":"503","percent":100,"times":2}`)
	b.orders(bad, bad, good)
	fault(`{"fault":"500"}`) // The next one takes its place, and the one after that is there with it.
	fault(`{"fault":"503","percent":25,"times":2}`)
	b.orders(order{
		method: "POST",
		path:   "/sandbox/fault",
		body:   `{"fault":"429","percent":50,"times":2}`,
		status: 200,
		want:   `{"faults":[{"fault":"503","times":2,"percent":25},{"fault":"429","times":2,"percent":50}]}`,
	})
	other := order{"GET", "/x", "", 429, refused}
	b.orders(good, other, good, bad, other, good, good, bad, good)
	fault(`{"fault":"502"}`)
	b.orders(order{"GET", "/x", "", 502, "<html><body><h1>502 Bad Gateway</h1></body></html>\n"})
	fault(`{"fault":"not-json"}`)
	b.orders(order{"GET", "/x", "", 200, "<html><body><h1>200 OK</h1></body></html>\n"})
	fault(`{"fault":"slow","delay":"1ns"}`)
	b.orders(good)
	fault(`{"fault":"slow-body","delay":"1ns"}`)
	b.orders(good)
	for name, want := range map[string]string{
		"truncated":             `{"a":"`,
		"dropped-before-commit": "",
		"dropped-after-commit":  "",
	} {
		fault(`{"fault":"` + name + `"}`)
		if answer := b.do("GET", "/x", ""); !b.ended || answer.Body.String() != want {
			t.Errorf("%s: got %q, and the connection ended: %t, want %q", name, answer.Body, b.ended, want)
		}
		b.orders(good)
	}
}

// TestOriginsThatMayAsk compares whole origins: only pages of this machine get an answer.
func TestOriginsThatMayAsk(t *testing.T) {
	t.Parallel()
	const here = "http://localhost:3000"
	asked := http.Header{
		"Access-Control-Allow-Origin":   {here},
		"Access-Control-Expose-Headers": {"ETag, Retry-After, X-Request-Id, X-RateLimit-Limit, Fundesk-Extensions"},
	}
	before := asked.Clone()
	before.Set("Access-Control-Allow-Methods", "GET, POST, PUT")
	before.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, If-Match, If-None-Match, Traceparent, X-Request-Id")
	before.Set("Access-Control-Max-Age", "600")
	b := newBox(t)
	for _, test := range []struct {
		method, path, origin string
		isBefore             bool // Browsers ask this first.
		status               int
		want                 http.Header
	}{
		{"GET", "/x", here, false, 200, asked},
		{"OPTIONS", "/x", here, true, 204, before},
		{"OPTIONS", "/x", here, false, 200, asked},
		{"GET", "/x", here, true, 200, asked},
		{"OPTIONS", "/sandbox/clock", here, true, 200, nil},
		{"PUT", "/sandbox/clock", "http://a.example", false, 403, nil},
		{"PUT", "/sandbox/clock", "null", false, 403, nil},
		{"PUT", "/sandbox/fault", here, false, 403, nil},
		{"POST", "/sandbox/reset", "http://a.example", false, 403, nil},
		{"POST", "/sandbox/token", "http://a.example", false, 403, nil},
		{"GET", "/x", "http://a.example", false, 200, nil},
		{"OPTIONS", "/x", "http://a.example", true, 200, nil},
	} {
		header := []string{"Origin", test.origin}
		if test.isBefore {
			header = append(header, "Access-Control-Request-Method", "PUT")
		}
		answer := b.do(test.method, test.path, `{}`, header...)
		got := http.Header{}
		for name, values := range answer.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				got[name] = values
			}
		}
		if test.want == nil {
			test.want = http.Header{}
		}
		if diff := cmp.Diff(test.want, got); diff != "" || answer.Code != test.status {
			t.Errorf("%s %s of %s: got %d %s, want %d; headers: %s", test.method, test.path, test.origin, answer.Code,
				answer.Body, test.status, diff)
		}
	}
	for origin, want := range map[string]bool{
		here:                         true,
		"https://localhost":          true,
		"http://127.0.0.1:8080":      true,
		"http://[::1]:8080":          true,
		"":                           false,
		"null":                       false,
		"http://localhost.a.example": false,
		"ftp://localhost":            false,
		"http://localhost/a":         false,
		"http://%zz":                 false,
		"http://a@localhost":         false,
	} {
		if got := fromHere(origin); got != want {
			t.Errorf("%q: got it of this machine: %t, want %t", origin, got, want)
		}
	}
}
