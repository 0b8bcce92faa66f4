package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fundesk/service"
	"fundesk/service/servicetest"
)

// TestServeWaitsForItsDatabase starts before the server of the database does.
// Promise S50: before its database is open everything but /healthz is 503.
func TestServeWaitsForItsDatabase(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	servicetest.NeedPostgres(t)
	database := servicetest.NewServer(t)
	e := environment{t: t, folder: t.TempDir(), database: servicetest.Clusters("", database)}
	account := e.account("a --all-organizations")
	database.Stop()
	s := e.serve()
	for path, want := range map[string]int{
		"/healthz":        200,
		"/readyz":         503,
		"/api/v1/persons": 503,
		"/fundesk/v1":     503,
		"/metrics":        200,
	} {
		status, body := s.get(t, path, account.Token)
		if status != want || want == 503 && !strings.Contains(body, "urn:fundesk:problem:unavailable") {
			t.Errorf("%s without a database: got %d %s, want %d", path, status, body, want)
		}
	}
	database.Start(t)
	for begun := time.Now(); ; {
		status, _ := s.get(t, "/readyz", "")
		if status == http.StatusOK {
			break
		}
		if time.Since(begun) > *takeover {
			t.Fatalf("got %d from /readyz with the database, want 200; log: %s", status, s.log)
		}
	}
	s.replies(t, "/api/v1/persons", account.Token, http.StatusOK)
	if code := s.stop(); code != exitDone {
		t.Errorf("got code %d at the end", code)
	}
	database.Stop()
	if code := e.serve().stop(); code != exitDone {
		t.Errorf("got code %d from one that was ended while it waited", code)
	}
}

// TestServeTellsMistakesAtOnce names databases that no patience makes right.
func TestServeTellsMistakesAtOnce(t *testing.T) {
	t.Parallel()
	servicetest.NeedPostgres(t)
	name := servicetest.PostgresDatabase(t)
	pooler := servicetest.NewPooler(t, servicetest.NewServer(t), "session", 0)
	for _, database := range map[string]string{
		"no such database": regexp.MustCompile(`/test_\w+`).ReplaceAllString(name, "/nobody"),
		"no such role":     strings.Replace(name, "user=fundesk", "user=nobody", 1),
		"a parameter that PostgreSQL never takes": name + "&nobody=1",
		"a parameter that PgBouncer never takes":  pooler + "&nobody=1",
	} {
		e := environment{t: t, folder: t.TempDir(), database: database}
		e.try("serve --listen 127.0.0.1:0").Ends(exitFailure, "nobody").PrintsOnly("")
	}
}

// TestDrain shows that a program which ends gets no new requests, but answers those that arrive.
func TestDrain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	slept, wake := make(chan time.Duration), make(chan struct{})
	e.sleep = func(d time.Duration) {
		slept <- d
		<-wake
	}
	s := e.serve("--drain", "5s")
	s.replies(t, "/readyz", "", http.StatusOK)
	code := make(chan int, 1)
	go func() { code <- s.stop() }()
	select {
	case got := <-slept:
		servicetest.Same(t, "got", 5*time.Second, got)
	case got := <-code:
		t.Fatalf("got code %d at once, want 5s before it", got)
	}
	for path, want := range map[string]int{
		"/readyz":           503,
		"/readyz?for=reads": 503,
		"/healthz":          200,
		"/api/v1/persons":   401,
	} {
		s.replies(t, path, "", want)
	}
	close(wake)
	if got := <-code; got != exitDone {
		t.Errorf("got code %d", got)
	}
}

// TestMetricsListen keeps the operators' routes away from users of the interface.
func TestMetricsListen(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.serve("--metrics-listen", "127.0.0.1:0")
	s.get(t, "/api/v1/persons", "") // It listens, and its log names the address.
	apart := regexp.MustCompile(`serving metrics" url=(\S+)`).FindStringSubmatch(s.log.String())
	if apart == nil {
		t.Fatalf("the log does not say where: %s", s.log)
	}
	for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
		replies(t, apart[1]+path, "", http.StatusOK)
		s.replies(t, path, "", http.StatusNotFound)
	}
	for _, path := range []string{"/api/v1/persons", "/openapi.json", "/"} {
		replies(t, apart[1]+path, "", http.StatusNotFound)
	}
	e.try("serve --listen 127.0.0.1:0 --metrics-listen 256.0.0.1:1").Ends(exitFailure, "--metrics-listen")
}

// The log warns of a token that ends within 14 days, with its account and no part of the token.
func TestLogOfATokenThatEndsSoon(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var soon, later struct{ UUID, Token string }
	e.must(&soon, "account add 'Anna Jansen' --all-organizations --ttl 240h")
	e.must(&later, "account add b --all-organizations")
	s := e.serve("--log-format", "json")
	for _, token := range []string{soon.Token, later.Token, soon.Token} {
		s.replies(t, "/api/v1/persons", token, http.StatusOK)
	}
	s.stop()
	log := s.log.String()
	if strings.Count(log, "a token ends soon") != 1 || !strings.Contains(log, `"account":"`+soon.UUID+`","ends":"20`) {
		t.Errorf("got %s, want the token of 10 days told of once", log)
	}
	if strings.Contains(log, soon.Token) || strings.Contains(log, "Anna") {
		t.Error("the log shows the token, or whose it is")
	}
}

// TestLog reads the log of requests and probes, and the metrics of the program.
func TestLog(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	all, failed := e.serve("--log-format", "json"), e.serve("--log-level", "error")
	for _, s := range []serving{all, failed} {
		for _, path := range []string{"/healthz", "/readyz", "/api/v1/persons"} {
			s.get(t, path, "")
		}
		if _, body := s.get(
			t, "/metrics", "",
		); !regexp.MustCompile(`fundeskd_build_info\{go="go[^"]+",version="\d+\.\d+\.\d+"\} 1`).MatchString(body) {
			t.Errorf("got no version in %s", body)
		}
		for _, parent := range []string{
			"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
			"00-4bf92f3577b34da6a3ce929d0e0e473Z-00f067aa0ba902b7-01",
			"Kanarievogel",
		} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/calls", http.NoBody)
			servicetest.Check(t, err)
			request.Header.Set("Traceparent", parent)
			response, err := http.DefaultClient.Do(request)
			servicetest.Check(t, err)
			_ = response.Body.Close()
		}
		s.stop()
	}
	if log := all.log.String(); !regexp.MustCompile(`"GET /api/v1/persons".*"duration_ms":[0-9.]+`).MatchString(log) ||
		strings.Contains(log, "healthz") ||
		strings.Contains(log, "readyz") {
		t.Errorf("got %s, want the request with its time, and no probes", log)
	} else if strings.Count(log, `"trace":"4bf92f3577b34da6a3ce929d0e0e4736"`) != 1 ||
		strings.Count(log, `"trace"`) != 1 {
		t.Errorf("got %s, want the trace of the request that names one", log)
	}
	servicetest.Same(t, "failed.log.String()", "", failed.log.String())
	e.try("serve --log-level loud").Ends(exitUsage, "loud")
}

// TestWhatIsNeverAcceptedEndsTheStart separates faults that pass from those that an operator has to mend.
func TestWhatIsNeverAcceptedEndsTheStart(t *testing.T) {
	t.Parallel()
	for code, later := range map[string]bool{
		"42704": false,
		"22023": false,
		"42501": false,
		"28P01": false,
		"3D000": false,
		"57P03": true,
		"53300": true,
	} {
		err := &service.Error{Kind: service.Unavailable, Cause: &pgconn.PgError{Code: code}}
		servicetest.Same(t, code, later, mayComeLater(err))
	}
}
