package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// get asks an embedded service for a path.
func get(t *testing.T, s *Service, path string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://embedded.localhost"+path,
		http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.Token())
	response, err := (&http.Client{Transport: s}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}

func open(t *testing.T, path string) *Service {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: path, Sample: true, Now: func() time.Time { return sampleNow }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestRacingForTheSample opens one new database many times at once: it is filled once.
func TestRacingForTheSample(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes more than two seconds")
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "demo.db")
	var services [3]*Service
	var group sync.WaitGroup
	for i := range services {
		group.Go(func() { services[i] = open(t, path) })
	}
	group.Wait()
	if t.Failed() {
		return
	}
	persons := 0
	for cursor := ""; ; {
		status, body := get(t, services[1], "/api/v1/persons?first=500"+cursor)
		var page apitype.Page[apitype.Person]
		if err := json.Unmarshal(body, &page); err != nil || status != http.StatusOK {
			t.Fatalf("got %d %v", status, err)
		}
		persons += len(page.Edges)
		if !page.PageInfo.HasNextPage {
			break
		}
		cursor = "&after=" + *page.PageInfo.EndCursor
	}
	if persons != 2000 {
		t.Errorf("got %d persons, want 2000", persons)
	}
	for i, s := range services {
		if status, _ := get(t, s, "/api/v1/calls?first=1"); status != http.StatusOK {
			t.Errorf("service %d: got %d", i, status)
		}
	}
	again := open(t, path)
	if status, _ := get(t, again, "/api/v1/calls?first=1"); status != http.StatusOK {
		t.Errorf("opened again: got %d", status)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	calls, last := 0, 0
	s, err := Open(t.Context(), Options{
		Path: filepath.Join(t.TempDir(), "demo.db"), Sample: true,
		Progress: func(done, total int) {
			calls++
			last = done
			if total != 2000 {
				t.Errorf("got a total of %d", total)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if calls != 2000 || last != 2000 {
		t.Errorf("got %d calls, the last with %d", calls, last)
	}
}

// waiting is a body that ends when it is closed.
type waiting struct {
	once   sync.Once
	closed chan struct{}
}

// Read waits for Close.
func (w *waiting) Read([]byte) (int, error) {
	<-w.closed
	return 0, io.ErrUnexpectedEOF
}

// Close ends Read.
func (w *waiting) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// TestContext shows that a request with an ended context does not wait for its answer.
func TestContext(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "empty.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	body := &waiting{closed: make(chan struct{})}
	defer func() { _ = body.Close() }()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://embedded.localhost/api/v1/persons", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.Token())
	request.Header.Set("Content-Type", "application/json")
	answered := make(chan error, 1)
	go func() {
		response, err := s.RoundTrip(request)
		if err == nil {
			err = errors.Join(errors.New("it was answered"), response.Body.Close())
		}
		answered <- err
	}()
	cancel()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	if _, err := s.RoundTrip(request); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v for a context that had ended, want canceled", err)
	}
}

// TestPanicBecomesAnError shows that a handler's panic does not reach the caller.
func TestPanicBecomesAnError(t *testing.T) {
	t.Parallel()
	transport := Transport(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(request)
	if err == nil {
		t.Errorf("got %d; close: %v", response.StatusCode, response.Body.Close())
	}
}

// answerOf reads an answer of the embedded service as a client does.
func answerOf[T any](t *testing.T, s *Service, path string) T {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://embedded"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.Token())
	response, err := s.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer T
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %s, %v", path, response.Status, err)
	}
	return answer
}

// The demo has settings, and four named colleagues: each is in a call, ends it by the clock with an attempt or
// a result, and goes on. Another process leaves them to this one; at the end they hold nothing.
func TestColleaguesWorkTheDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes more than two seconds")
	}
	t.Parallel()
	now := time.Date(2026, 6, 17, 13, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "demo.db")
	open := func() *Service {
		s, err := Open(t.Context(), Options{Path: path, Sample: true, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s := open()
	settings := answerOf[apitype.Settings](t, s, "/fundesk/v1/settings")
	for _, of := range settings.Organizations {
		if len(of.Results) != 3 || len(of.Scripts) != 9 || len(of.CallingHours) != 2 || of.MaxCallAttempts == nil {
			t.Errorf("got settings %+v, want results, scripts, hours and a maximum", of)
		}
	}
	names := map[apitype.UUID]string{}
	for _, user := range settings.Users {
		names[user.UUID] = user.Name
	}
	if names[s.Agent()] == "" {
		t.Errorf("the agent of the demo is %s, want a user of the settings", s.Agent())
	}
	s.colleagues.step(t.Context())
	first := answerOf[apitype.Leases](t, s, "/fundesk/v1/queue/leases").Leases
	if len(first) != colleagueCount {
		t.Fatalf("got %d leases, want one of each of %d colleagues", len(first), colleagueCount)
	}
	for _, lease := range first {
		if names[lease.UserUUID] == "" || lease.UserUUID == s.Agent() {
			t.Errorf("lease of %s, want a named colleague", lease.UserUUID)
		}
	}
	open().colleagues.step(t.Context())
	if n := len(answerOf[apitype.Leases](t, s, "/fundesk/v1/queue/leases").Leases); n != colleagueCount {
		t.Errorf("got %d leases beside another process, want %d", n, colleagueCount)
	}
	for range 400 { // Two hours, 18 seconds at a time.
		now = now.Add(18 * time.Second)
		s.colleagues.step(t.Context())
	}
	reached, attempts := 0, 0
	for _, agent := range answerOf[apitype.QueueAgents](t, s, "/fundesk/v1/queue/agents").Agents {
		if agent.UserUUID == s.Agent() {
			continue
		}
		if agent.Name == nil {
			t.Errorf("agent %s has no name", agent.UserUUID)
		}
		if agent.Completed == 0 || agent.Attempts == 0 {
			t.Errorf("got %+v after two hours, want results and attempts", agent)
		}
		reached, attempts = reached+agent.Completed, attempts+agent.Attempts
	}
	if reached < 10 || attempts < 10 || reached+attempts > 120 {
		t.Errorf("got %d reached and %d attempts in two hours of four colleagues", reached, attempts)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s.Work(ctx)
	if held := answerOf[apitype.Leases](t, s, "/fundesk/v1/queue/leases").Leases; len(held) > 0 {
		t.Errorf("the colleagues hold %+v at the end", held)
	}
}

// Each script of the sample names the caller and the charity first, asks whether it suits, and offers to object.
func TestSampleScriptsAreFair(t *testing.T) {
	t.Parallel()
	scripts := sampleSettings().Scripts
	for name, text := range scripts {
		first, rest, _ := strings.Cut(text, "\n")
		for _, wanted := range []string{
			"{{.Call.Greeting}}",
			"{{.Agent.Name}}",
			"{{.Pledge.Charity}}",
			"{{.Person.Name}}",
		} {
			if !strings.Contains(first, wanted) {
				t.Errorf("%s begins %q, want %s there", name, first, wanted)
			}
		}
		says := map[string][]string{
			".nl": {"Schikt het u nu", "bezwaar maken|niet meer gebeld worden"},
			".de": {"Passt es Ihnen gerade", "widersprechen|Widerspruch"},
			"":    {"Is this a good moment", "object to our calls|rather not be called again"},
		}[filepath.Ext(name)]
		for _, wanted := range says {
			if !regexp.MustCompile(wanted).MatchString(rest) {
				t.Errorf("%s does not say %q", name, wanted)
			}
		}
	}
	if required := sampleSettings().RequiredChecks; len(required) > 0 {
		t.Errorf("the sample requires %v, want nothing", required)
	}
	if len(scripts) != 9 {
		t.Errorf("got %d scripts, want those of three types in three languages", len(scripts))
	}
}
