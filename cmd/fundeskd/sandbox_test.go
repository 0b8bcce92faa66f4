package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"fundesk/apiclient/apitype"
)

// sandbox is a running fundeskd serve --sandbox.
type sandboxed struct {
	t          *testing.T
	url, token string
}

// serveSandbox starts fundeskd serve --sandbox and reads its two lines.
func serveSandbox(t *testing.T) sandboxed {
	t.Helper()
	e := newEnvironment(t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	read, written := io.Pipe()
	ended := make(chan int, 1)
	var log lockedBuffer
	go func() {
		code := run(ctx, []string{"serve", "--sandbox", "--listen", "127.0.0.1:0"}, e.program("", written, &log))
		_ = written.Close()
		ended <- code
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitDone {
			t.Errorf("got code %d, log %s", code, log.String())
		}
	})
	lines := bufio.NewScanner(read)
	s := sandboxed{t: t}
	for _, line := range []*string{&s.url, &s.token} {
		if !lines.Scan() {
			t.Fatalf("no line; log: %s", log.String())
		}
		*line = lines.Text()
	}
	return s
}

// do sends a request, and decodes the answer of one that was done.
func (s sandboxed) do(method, path, body string, value any) (*http.Response, error) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if !strings.HasPrefix(path, "/sandbox/") {
		request.Header.Set("Authorization", "Bearer "+s.token)
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if value != nil && response.StatusCode < 300 {
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(value); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return response, nil
}

// must is do for what must succeed.
func (s sandboxed) must(method, path, body string, value any) {
	s.t.Helper()
	response, err := s.do(method, path, body, value)
	if err != nil {
		s.t.Fatal(err)
	}
	if response.StatusCode >= 300 {
		s.t.Fatalf("%s %s %s: got status %d", method, path, body, response.StatusCode)
	}
}

// aCall is a call of the sample data that waits.
func (s sandboxed) aCall() string {
	s.t.Helper()
	var page struct {
		Edges []struct{ Node struct{ UUID, Status string } }
	}
	s.must("GET", "/api/v1/calls?first=100", "", &page)
	for _, edge := range page.Edges {
		if edge.Node.Status == "requested" {
			return "/api/v1/calls/" + edge.Node.UUID
		}
	}
	s.t.Fatal("no call waits")
	return ""
}

func TestSandboxClock(t *testing.T) {
	t.Parallel()
	s := serveSandbox(t)
	for _, time := range []string{"2000-01-01T00:00:00Z", "2290-01-01T00:00:00Z"} {
		s.must("PUT", "/sandbox/clock", `{"time":"`+time+`"}`, nil)
		s.must("GET", "/api/v1/calls?first=1", "", nil) // The token is good then.
	}
	s.must("PUT", "/sandbox/clock", `{"time":"2031-05-06T07:08:09.100Z","stopped":true}`, nil)
	s.must("PUT", "/sandbox/clock", `{"move":"-1h30m"}`, nil)
	var clock struct {
		Time    string
		Stopped bool
	}
	s.must("GET", "/sandbox/clock", "", &clock)
	const want = "2031-05-06T05:38:09.100Z"
	if clock.Time != want || !clock.Stopped {
		t.Errorf("got %+v, want %s and stopped", clock, want)
	}
	var call struct{ CancelledAt string }
	s.must("PUT", s.aCall()+"/actions/cancel", "{}", &call)
	if call.CancelledAt != want {
		t.Errorf("got a call cancelled at %s, want the clock's %s", call.CancelledAt, want)
	}
	for _, wrong := range []string{`{}`, `{"time":"tomorrow"}`, `{"move":"a day"}`, `{"time":"2031-05-06T07:08:09.100Z","move":"1h"}`, `{"tmie":"x"}`, `nonsense`, ``, `{"move":"-2000000h"}`} {
		if response, err := s.do("PUT", "/sandbox/clock", wrong, nil); err != nil || response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: got %v, %v, want status 400", wrong, response, err)
		}
	}
	if s.must("GET", "/sandbox/clock", "", &clock); clock.Time != want {
		t.Errorf("a refused order moved the clock to %s", clock.Time)
	}
	if s.must("PUT", "/sandbox/clock", `{"stopped":false}`, &clock); clock.Stopped {
		t.Error("the clock still stands")
	}
	s.must("PUT", "/sandbox/clock", `{"time":"9998-12-31"}`, nil) // More than a duration holds from today.
	if s.must("GET", "/sandbox/clock", "", &clock); !strings.HasPrefix(clock.Time, "9998-12-31T00:") {
		t.Errorf("got %s, want the time that the clock was set to", clock.Time)
	}
	if response, err := s.do("PUT", "/sandbox/clock", `{"move":"20000h"}`, nil); err != nil || response.StatusCode != http.StatusBadRequest {
		t.Errorf("got %v, %v, want no clock after the year 9999", response, err)
	}
}

func TestSandboxFaults(t *testing.T) {
	t.Parallel()
	s := serveSandbox(t)
	for fault, status := range map[string]int{"429": http.StatusTooManyRequests, "503": http.StatusServiceUnavailable} {
		s.must("PUT", "/sandbox/fault", `{"fault":"`+fault+`","times":2}`, nil)
		for _, want := range []int{status, status, http.StatusOK} {
			response, err := s.do("GET", "/api/v1/persons?first=1", "", nil)
			if err != nil || response.StatusCode != want || (want == http.StatusOK) != (response.Header.Get("Retry-After") == "") {
				t.Errorf("%s: got %v, %v, want status %d", fault, response, err, want)
			}
		}
	}

	call := s.aCall()
	var before, after struct{ Attempts []struct{ UUID string } }
	s.must("GET", call, "", &before)
	s.must("PUT", "/sandbox/fault", `{"fault":"dropped-after-commit","method":"put","path":"/add-attempt"}`, nil)
	s.must("GET", call, "", nil) // Not a request that the fault fits.
	if response, err := s.do("PUT", call+"/actions/add-attempt", `{"userUuid":"5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"}`, nil); err == nil {
		t.Errorf("got status %d, want no answer", response.StatusCode)
	}
	if s.must("GET", call, "", &after); len(after.Attempts) != len(before.Attempts)+1 {
		t.Errorf("got %d attempts after %d, want the dropped one kept", len(after.Attempts), len(before.Attempts))
	}

	s.must("PUT", "/sandbox/fault", `{"fault":"slow","delay":"1ms","times":5}`, nil)
	s.must("GET", call, "", nil)
	var left struct {
		Fault string
		Times int
	}
	if s.must("GET", "/sandbox/fault", "", &left); left.Fault != "slow" || left.Times != 4 {
		t.Errorf("got %+v, want 4 slow answers left", left)
	}
	s.must("DELETE", "/sandbox/fault", "", nil)
	if s.must("GET", "/sandbox/fault", "", &left); left.Fault != "" || left.Times != 0 {
		t.Errorf("got %+v after the end", left)
	}
	for _, wrong := range []string{`{}`, `{"fault":"flood"}`, `{"fault":"503","times":-1}`, `{"fault":"503","times":0}`, `{"fault":"503","delay":"1s"}`, `{"fault":"slow"}`, `{"fault":"slow","delay":"1h"}`} {
		if response, err := s.do("PUT", "/sandbox/fault", wrong, nil); err != nil || response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: got %v, %v, want status 400", wrong, response, err)
		}
	}
}

// The database that the environment names may hold real records.
func TestSandboxLeavesTheDatabaseOfTheEnvironment(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var out, errs bytes.Buffer
	p := e.program("", &out, &errs)
	getenv := p.Getenv
	p.Getenv = func(name string) string {
		if name == "FUNDESKD_DATABASE" {
			return "sqlite:/nowhere/at/all.db"
		}
		return getenv(name)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p.Out = writerFunc(func(b []byte) (int, error) { cancel(); return out.Write(b) })
	if code := run(ctx, []string{"serve", "--sandbox", "--listen", "127.0.0.1:0"}, p); code != exitDone {
		t.Errorf("got code %d, %s", code, errs.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestSandboxMovesTheQueue shows that leases end and deferred calls come due by the sandbox's
// clock.
func TestSandboxMovesTheQueue(t *testing.T) {
	t.Parallel()
	s := serveSandbox(t)
	var state apitype.QueueState
	var taken apitype.Taken
	s.must("POST", "/fundesk/v1/queue/take", `{"requestUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c02","userUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c03"}`, &taken)
	s.must("GET", "/fundesk/v1/queue", "", &state)
	if len(taken.Leases) != 1 || state.Leased != 1 || state.Deferred == 0 {
		t.Fatalf("got %d leases and %+v", len(taken.Leases), state)
	}
	s.must("PUT", "/sandbox/clock", `{"move":"96h"}`, nil)
	deferred := state.Deferred
	s.must("GET", "/fundesk/v1/queue", "", &state)
	if state.Leased != 0 || state.Deferred != 0 || state.Due == 0 || state.Due > deferred {
		t.Errorf("got %+v four days later, want what was deferred due", state)
	}
}
