package outbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/apiclient"
	"fundesk/apiclient/apitype"
	"fundesk/service/servicetest"
)

// fault names the failure of the next change.
type fault string

const (
	faultResetBefore fault = "reset before processing"
	faultResetAfter  fault = "reset after processing"
	faultCut         fault = "answer cut"
	fault502After    fault = "502 after processing"
	fault503         fault = "503 with Retry-After"
	fault429         fault = "429"
	faultHTML        fault = "HTML with 200 after processing"
	faultRedirect    fault = "redirect"
	faultGarbage     fault = "garbage"
	fault401         fault = "401"
	faultRefused     fault = "409"
)

// fakeService keeps calls in memory, counts what it applied, and fails as it is asked to.
type fakeService struct {
	mu       sync.Mutex
	faults   []fault
	flapping []fault // One of them now and then, by random.
	random   *rand.Rand
	attempts map[string][]map[string]any
	result   map[string]map[string]any
	applied  []string
	inFlight int
	most     int
	*httptest.Server
}

func newService(t *testing.T, faults ...fault) *fakeService {
	t.Helper()
	s := &fakeService{
		faults:   faults,
		random:   rand.New(rand.NewPCG(2, 9)),
		attempts: map[string][]map[string]any{},
		result:   map[string]map[string]any{},
	}
	s.Server = httptest.NewUnstartedServer(s)
	servicetest.InOrder(s.Config)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *fakeService) client(t *testing.T) *apiclient.Client {
	t.Helper()
	client, err := newClient(s.URL)
	servicetest.Check(t, err)
	return client
}

// newClient returns a client of a fake service that answers every request. Each request has its own connection, so the
// order is known.
func newClient(base string) (*apiclient.Client, error) {
	return apiclient.New(apiclient.Options{
		BaseURL:   base,
		Timeout:   time.Minute,
		Transport: &http.Transport{DisableKeepAlives: true},
	})
}

func (s *fakeService) next() fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.flapping) > 0 && s.random.IntN(3) == 0 {
		return s.flapping[s.random.IntN(len(s.flapping))]
	}
	if len(s.faults) == 0 {
		return ""
	}
	f := s.faults[0]
	s.faults = s.faults[1:]
	return f
}

func (s *fakeService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.enter(1)
	defer s.enter(-1)
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/calls/"), "/")
	if r.Method == http.MethodGet {
		s.answer(w, parts[0])
		return
	}
	body, _ := io.ReadAll(r.Body)
	switch f := s.next(); f {
	case faultResetBefore:
		hijack(w, "")
		return
	case fault503:
		w.Header().Set("Retry-After", "0")
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	case fault429:
		w.Header().Set("Retry-After", "0")
		http.Error(w, "slow down", http.StatusTooManyRequests)
		return
	case faultRedirect:
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
		return
	case fault401:
		http.Error(w, "who are you", http.StatusUnauthorized)
		return
	case faultRefused:
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"title":"conflict","detail":"the call is cancelled"}`)
		return
	default:
		s.apply(parts[0], parts[len(parts)-1], body)
		s.afterwards(w, f, parts[0])
	}
}

func (s *fakeService) enter(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight += by
	s.most = max(s.most, s.inFlight)
}

// afterwards answers a change that was applied.
func (s *fakeService) afterwards(w http.ResponseWriter, f fault, id string) {
	switch f {
	case faultResetAfter:
		hijack(w, "")
	case faultCut:
		hijack(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"uuid\":")
	case faultGarbage:
		hijack(w, "\x00\x01nonsense\r\n\r\n")
	case fault502After:
		http.Error(w, "<html>bad gateway</html>", http.StatusBadGateway)
	case faultHTML:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>hello</html>")
	default:
		s.answer(w, id)
	}
}

func hijack(w http.ResponseWriter, text string) {
	conn, buffer, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = bufio.NewWriter(buffer).WriteString("")
	_, _ = io.WriteString(conn, text)
	_ = conn.Close()
}

func (s *fakeService) apply(id, verb string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sent map[string]any
	_ = json.Unmarshal(body, &sent)
	s.applied = append(s.applied, id+" "+verb)
	if verb == "add-attempt" {
		s.attempts[id] = append(s.attempts[id], sent)
		return
	}
	s.result[id], _ = sent["result"].(map[string]any)
}

func (s *fakeService) answer(w http.ResponseWriter, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	status, completedAt := "requested", any(nil)
	if s.result[id] != nil {
		status, completedAt = "completed", s.result[id]["completedAt"]
	}
	attempts := s.attempts[id]
	if attempts == nil {
		attempts = []map[string]any{}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"uuid":          id,
		"status":        status,
		"completedAt":   completedAt,
		"attempts":      attempts,
		"result":        s.result[id],
		"attemptsCount": len(attempts),
	})
}

// count returns how often a change of a call was applied.
func (s *fakeService) count(id apitype.UUID, verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, line := range s.applied {
		if line == fmt.Sprintf("%s %s", id, verb) {
			n++
		}
	}
	return n
}
