package embedded

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"fundesk/apiclient/apitype"
)

// answerOf reads an answer of the embedded service as a client does.
func answerOf[T any](t *testing.T, s *Service, path string) (answer T) {
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
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %s, %v", path, response.Status, err)
	}
	return answer
}

// The demo has settings, and four named colleagues: each is in a call, ends it by the clock with an attempt or
// a result, and goes on. Another process leaves them to this one; at the end they hold nothing.
func TestColleaguesWorkTheDemo(t *testing.T) {
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
