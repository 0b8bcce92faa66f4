package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// sandbox is a running fundeskd serve --sandbox.
type sandboxed struct {
	t          *testing.T
	url, token string
}

// serveSandbox starts fundeskd serve --sandbox and reads its two lines.
func serveSandbox(t *testing.T, flags ...string) sandboxed {
	t.Helper()
	e := newEnvironment(t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	read, written := io.Pipe()
	ended := make(chan int, 1)
	var log lockedBuffer
	go func() {
		code := run(ctx, append([]string{"serve", "--sandbox", "--listen", "127.0.0.1:0"}, flags...),
			e.program("", written, &log))
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

// onSandboxes runs a test on a sandbox with a temporary database, and on one with a PostgreSQL.
func onSandboxes(t *testing.T, test func(t *testing.T, s sandboxed)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, serveSandbox(t))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		servicetest.NeedPostgres(t)
		test(t, serveSandbox(t, "--database", servicetest.EmptyDatabase(t)))
	})
}

// do sends a request, and decodes the answer if it succeeded.
func (s sandboxed) do(method, path, body string, value any) (*http.Response, error) {
	s.t.Helper()
	response, text, err := s.send(method, path, body, nil)
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

// send sends a request with more headers. It returns the received part of a broken answer.
func (s sandboxed) send(method, path, body string, header map[string]string) (*http.Response, []byte, error) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	servicetest.Check(s.t, err)
	if !strings.HasPrefix(path, "/sandbox/") {
		request.Header.Set("Authorization", "Bearer "+s.token)
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, text, err
}

// must is do for what must succeed.
func (s sandboxed) must(method, path, body string, value any) {
	s.t.Helper()
	response, err := s.do(method, path, body, value)
	servicetest.Check(s.t, err)
	if response.StatusCode >= 300 {
		s.t.Fatalf("%s %s %s: got status %d", method, path, body, response.StatusCode)
	}
}

// aCall returns a call of the sample data that waits.
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
	onSandboxes(t, func(t *testing.T, s sandboxed) {
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
		for _, time := range []string{"2000-01-01T00:00:00Z", "2290-01-01T00:00:00Z"} {
			s.must("PUT", "/sandbox/clock", `{"time":"`+time+`"}`, nil)
			s.must("GET", "/api/v1/calls?first=1", "", nil) // The token is good then.
		}
	})
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

// nodes returns the records of lists at one time, without what a service makes of its own keys.
func (s sandboxed) nodes() []string {
	s.t.Helper()
	s.must("PUT", "/sandbox/clock", `{"time":"2027-03-04T12:00:00Z","stopped":true}`, nil)
	var nodes []string
	for _, path := range []string{"/api/v1/persons?first=500", "/api/v1/calls?first=500", "/api/v1/pledges?first=500"} {
		var page struct {
			Edges []struct{ Node map[string]any }
		}
		s.must("GET", path, "", &page)
		if len(page.Edges) == 0 {
			s.t.Fatalf("%s: got no records", path)
		}
		for _, edge := range page.Edges {
			delete(edge.Node, "signatureSignedUrl")
			text, err := json.Marshal(edge.Node)
			servicetest.Check(s.t, err)
			nodes = append(nodes, string(text))
		}
	}
	return nodes
}

// The same options make the same records, and a reset puts those back, with clock and faults.
func TestSandboxOptionsAndReset(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	options := []string{"--persons", "40", "--seed", "7", "--start-time", "2027-03-04T10:00:00+01:00"}
	s := serveSandbox(t, options...)
	const hour = "2027-03-04T09" // In UTC, as the clock shows it.
	var clock struct{ Time string }
	if s.must("GET", "/sandbox/clock", "", &clock); !strings.HasPrefix(clock.Time, hour) {
		t.Errorf("got a clock that shows %s, want the start time", clock.Time)
	}
	first := s.nodes()
	if again := serveSandbox(t, options...).nodes(); !slices.Equal(first, again) {
		t.Errorf("the same options made other records:\n%s\n%s", first[0], again[0])
	}
	for _, other := range []string{"--seed 8", "--start-time 2027-03-05", "--persons 41"} {
		changed := serveSandbox(t, append(slices.Clone(options), servicetest.Words(other)...)...)
		if slices.Equal(first, changed.nodes()) {
			t.Errorf("%v made the same records", other)
		}
	}

	call := s.aCall()
	for range 2 { // What a reset makes can be reset.
		var asked struct{ Token string }
		s.must("POST", "/sandbox/token", `{}`, &asked)
		s.must("PUT", call+"/actions/cancel", "{}", nil)
		s.must("PUT", "/sandbox/clock", `{"move":"1000h","stopped":true}`, nil)
		s.must("PUT", "/sandbox/fault", `{"fault":"503"}`, nil)
		s.must("POST", "/sandbox/reset", "", &clock)
		if !strings.HasPrefix(clock.Time, hour) {
			t.Errorf("got a clock that shows %s after the reset, want the start time", clock.Time)
		}
		if nodes := s.nodes(); !slices.Equal(first, nodes) {
			t.Error("got other records after the reset than at the start")
		}
		response, _, err := s.send("GET", "/api/v1/calls", "", map[string]string{
			"Authorization": "Bearer " + asked.Token,
		})
		if err != nil || response.StatusCode != http.StatusUnauthorized {
			t.Errorf("got %v, %v, want the token that was asked for refused after the reset", response, err)
		}
	}

	kept := serveSandbox(t, "--database", "sqlite:"+filepath.Join(t.TempDir(), "kept.db"))
	kept.must("PUT", kept.aCall()+"/actions/cancel", "{}", nil)
	before := kept.nodes()
	response, text, err := kept.send("POST", "/sandbox/reset", "", nil)
	if err != nil ||
		response.StatusCode != http.StatusConflict ||
		!strings.Contains(string(text), "--database") ||
		!slices.Equal(before, kept.nodes()) {
		t.Errorf("got %v, %s, %v, want the records of --database kept", response, text, err)
	}
}

func TestSandboxRefusesOptions(t *testing.T) {
	t.Parallel()
	for want, flags := range map[string]string{
		"--persons must be 1 at least":                         "--sandbox --persons 0",
		`--start-time "soon" is not an RFC 3339 time`:          "--sandbox --start-time soon",
		`--start-time "1999-12-31" is not a time from 2000 to`: "--sandbox --start-time 1999-12-31",
		"--seed is for fundeskd serve --sandbox only":          "--seed 3",
		"--persons is for fundeskd serve --sandbox only":       "--persons 3",
		"--start-time is for fundeskd serve --sandbox only":    "--start-time 2027-01-01",
		"--load is for fundeskd serve --sandbox only":          "--load -",
		"--load and --persons cannot be combined":              "--sandbox --load - --persons 3",
		"--load and --database cannot be combined":             "--sandbox --load - --database sqlite:a.db",
		"nowhere.ndjson": "--sandbox --load nowhere.ndjson",
	} {
		newEnvironment(t).try("serve --listen 127.0.0.1:0", servicetest.Words(flags)...).Ends(exitUsage, want)
	}
}

// TestSandboxOriginsOfThisMachine asks the interface like browsers with a page of this machine, in the sandbox and in
// another service.
func TestSandboxOriginsOfThisMachine(t *testing.T) {
	t.Parallel()
	const origin = "http://localhost:3000"
	s, plain := serveSandbox(t), newEnvironment(t).serve()
	for url, want := range map[string]string{s.url: origin, plain.url: ""} {
		at := s
		at.url = url
		response, _, err := at.send("OPTIONS", "/api/v1/calls/x/actions/complete", "", map[string]string{
			"Origin":                        origin,
			"Access-Control-Request-Method": "PUT",
		})
		servicetest.Check(t, err)
		got := response.Header.Get("Access-Control-Allow-Origin")
		if got != want || (response.StatusCode == http.StatusNoContent) != (want != "") {
			t.Errorf("%s: got %d for %q, want it for %q", url, response.StatusCode, got, want)
		}
		status, body := get(t, http.DefaultClient, url+"/", "")
		if isShown := status == http.StatusOK && strings.Contains(body, `"/openapi.json"`); isShown != (want != "") {
			t.Errorf("%s/: got %d %s, want the way to the interface in the sandbox, and nothing elsewhere",
				url, status, body)
		}
	}
}

// TestSandboxLoad serves records of a file, which are there again after a reset.
func TestSandboxLoad(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "own.ndjson")
	const owner = "6d7e8f90-1a2b-4c3d-9e4f-5a6b7c8d9e0f"
	records := `{"kind":"organization","data":{"uuid":"` + owner + `","name":"Sea Rescue","abbreviation":"SR"}}
{"kind":"person","data":{"uuid":"0b7c3a54-19f6-4a9d-8a43-5f0c1d2e3f40","owningOrganizationUuid":"` + owner +
		`","recruitingOrganizationUuid":"` + owner + `","createdAt":"2026-11-20T09:00:00Z","lastName":"Visser"}}
`
	write(t, file, records)
	s := serveSandbox(t, "--load", file)
	const path = "/api/v1/persons/0b7c3a54-19f6-4a9d-8a43-5f0c1d2e3f40"
	var person apitype.Person
	s.must("PUT", path+"/actions/update", `{"name":{"lastName":"Jansen"}}`, &person)
	s.must("POST", "/sandbox/reset", "", nil)
	s.must("GET", path, "", &person)
	var page apitype.Page[apitype.Person]
	s.must("GET", "/api/v1/persons", "", &page)
	if *person.LastName != "Visser" || len(page.Edges) != 1 {
		t.Errorf("got %v of %d, want the one person of the file", *person.LastName, len(page.Edges))
	}
	write(t, file, records[:200]+"\n{}")
	newEnvironment(t).try("serve --sandbox --listen 127.0.0.1:0 --load", file).Fails("line 2").PrintsOnly("")
}

// Tokens of accounts that may do less, or that have expired.
func TestSandboxTokens(t *testing.T) {
	t.Parallel()
	onSandboxes(t, func(t *testing.T, s sandboxed) {
		var page struct {
			Edges []struct {
				Node struct {
					OwningOrganization struct{ UUID string }
				}
			}
		}
		s.must("GET", "/api/v1/persons?first=500", "", &page)
		owners := map[string]bool{}
		for _, edge := range page.Edges {
			owners[edge.Node.OwningOrganization.UUID] = true
		}
		if len(owners) != 2 {
			t.Fatalf("got persons of %d organizations, want 2", len(owners))
		}
		one := page.Edges[0].Node.OwningOrganization.UUID
		status := func(token, path string, want int) {
			t.Helper()
			s.token = token
			response, text, err := s.send("GET", path, "", nil)
			if err != nil || response.StatusCode != want {
				t.Errorf("%s: got %v, %s, %v, want status %d", path, response, text, err, want)
			}
		}
		var asked struct {
			Token     string
			ExpiresAt apitype.Time
		}
		s.must("POST", "/sandbox/token", `{"permissions":["persons:read"],"organizations":["`+one+`"],"ttl":"1h"}`,
			&asked)
		status(asked.Token, "/api/v1/calls?first=1", http.StatusForbidden)
		s.must("GET", "/api/v1/persons?first=500", "", &page)
		for _, edge := range page.Edges {
			if edge.Node.OwningOrganization.UUID != one {
				t.Error("got a person of an organization that the token does not name")
			}
		}
		s.must("PUT", "/sandbox/clock", `{"move":"2h"}`, nil)
		status(asked.Token, "/api/v1/persons?first=1", http.StatusUnauthorized)

		s.must("POST", "/sandbox/token", `{}`, &asked)
		status(asked.Token, "/api/v1/calls?first=1", http.StatusOK)
		s.must("POST", "/sandbox/token", `{"permissions":[]}`, &asked)
		status(asked.Token, "/api/v1/calls?first=1", http.StatusForbidden)
		s.must("PUT", "/sandbox/clock", `{"time":"2031-05-06T07:08:09Z","stopped":true}`, nil)
		s.must("POST", "/sandbox/token", `{"ttl":"-1h"}`, &asked)
		if asked.ExpiresAt.String() != "2031-05-06T06:08:09.000Z" {
			t.Errorf("got a token that ended at %s, want an hour ago", asked.ExpiresAt)
		}
		status(asked.Token, "/api/v1/calls?first=1", http.StatusUnauthorized)
		for order, ends := range map[string]string{
			`{"ttl":"1s"}`:  "2031-05-06T07:08:10.000Z",
			`{"ttl":"-1m"}`: "2031-05-06T07:07:09.000Z",
			`{}`:            "2031-05-07T07:08:09.000Z",
		} {
			if s.must("POST", "/sandbox/token", order, &asked); asked.ExpiresAt.String() != ends {
				t.Errorf("%s: got a token that ends at %s, want %s", order, asked.ExpiresAt, ends)
			}
		}

		for wrong, want := range map[string]string{
			`{"ttl":"0s"}`:                                  `ttl \"0s\"`,
			`{"ttl":"999ms"}`:                               `ttl \"999ms\"`,
			`{"ttl":"-59.999s"}`:                            `ttl \"-59.999s\"`,
			`{"ttl":"tomorrow"}`:                            `ttl \"tomorrow\"`,
			`{"permissions":["persons:fly"]}`:               "persons:fly",
			`{"organizations":[]}`:                          "organizations",
			`{"organizations":["` + asked.Token[:8] + `"]}`: "organizations.0",
			`{"organizations":["5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10"]}`: "there is no organization",
		} {
			response, text, err := s.send("POST", "/sandbox/token", wrong, nil)
			if err != nil || response.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), want) {
				t.Errorf("%s: got %v, %s, %v, want status 400 and %s", wrong, response, text, err, want)
			}
		}
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestSandboxMovesTheQueue shows that leases end and deferred calls come due by the sandbox's
// clock.
func TestSandboxMovesTheQueue(t *testing.T) {
	t.Parallel()
	onSandboxes(t, func(t *testing.T, s sandboxed) {
		var state apitype.QueueState
		var taken apitype.Taken
		s.must(
			"POST",
			"/fundesk/v1/queue/take",
			`{"requestUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c02","userUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c03"}`,
			&taken,
		)
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
	})
}

// TestSandboxIsMaintainedAfterAReset lets a lease end after a reset. The work that no request asks for goes on: it logs
// the lease that no one came back for.
func TestSandboxIsMaintainedAfterAReset(t *testing.T) {
	t.Parallel()
	s := serveSandbox(t, "--persons", "50")
	for range 2 {
		s.must("POST", "/sandbox/reset", "", nil)
		s.must(
			"POST",
			"/fundesk/v1/queue/take",
			`{"requestUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c02","userUuid":"6f1f0a6e-7d0d-4f0c-9a55-0a4b8f6d1c03"}`,
			nil,
		)
		s.must("PUT", "/sandbox/clock", `{"move":"96h"}`, nil)
		const logged = `fundeskd_queue_leases_total{event="expired"} 1`
		page := ""
		for begun := time.Now(); !strings.Contains(page, logged) && time.Since(begun) < *takeover; {
			_, page = get(t, http.DefaultClient, s.url+"/metrics", "")
		}
		if !strings.Contains(page, logged) {
			t.Error("the lease that ended was not logged")
		}
	}
}
