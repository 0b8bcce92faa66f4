package commands

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// Calls are worked by questions and answers alone.
func TestLineDesk(t *testing.T) {
	t.Parallel()
	h := servicetest.New(t)
	c := &faultCase{T: t, service: h, token: h.Token(), owner: h.Organization("AID")}
	c.load()
	first := c.names.Replace("$CALL")
	c.load()
	second := c.names.Replace("$CALL")
	environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": h.URL, "FUNDESK_TOKEN": c.token, "ACCESSIBLE": "1"}
	desk := func(answers string) string {
		t.Helper()
		var said bytes.Buffer
		s := newSession(App{In: strings.NewReader(answers), Out: &bytes.Buffer{}, Err: &said, Now: time.Now, Getenv: func(name string) string { return environment[name] }}, nil)
		s.flags.timeout = time.Minute
		if err := s.lineDesk(t.Context()); err != nil {
			t.Fatalf("lineDesk: %v\n%s", err, said.String())
		}
		if strings.ContainsAny(said.String(), "\x1b\r") {
			t.Errorf("got %q, want nothing that moves a cursor", said.String())
		}
		return said.String()
	}
	// One is not reached; of the other the rating is wrong twice; nonsense is asked again.
	said := desk("nonsense\na\nc\nreached\nmany\n11\n8\nwas glad\n")
	if strings.Count(said, "done\n") != 2 || !strings.Contains(said, "there is no \"nonsense\"") || !strings.Contains(said, "the rating must be a number") {
		t.Errorf("got:\n%s", said)
	}
	attempts, completed := 0, 0
	for _, id := range []string{first, second} {
		call := h.Do(c.token, http.MethodGet, "/api/v1/calls/"+id, "").Object()
		attempts += len(call["attempts"].([]any))
		completed += is("status", "completed")(call)
	}
	if attempts != 1 || completed != 1 {
		t.Errorf("got %d attempts and %d completed calls, want one of each", attempts, completed)
	}
	c.load()
	for _, answers := range []string{"", "q\n", "c\nq\n"} {
		if said := desk(answers); !strings.Contains(said, "a not reached") || strings.Contains(said, "done") {
			t.Errorf("%q: got %q, want a question and an end", answers, said)
		}
	}
}

// What waits in the outbox is not asked for again: it would be made twice.
func TestLineDeskWithoutService(t *testing.T) {
	t.Parallel()
	other := "00000000-0000-4000-8000-000000000001"
	call := func(id string) string {
		return `{"uuid":"` + id + `","status":"requested","type":"winback","attempts":[]}`
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch id := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]; {
		case r.Method != http.MethodGet:
			reset(w, r)
		case id == "calls":
			status(200, "application/json", `{"pageInfo":{"hasNextPage":false},"edges":[{"node":`+call(testID)+`},{"node":`+call(other)+`}]}`)(w, r)
		default:
			status(200, "application/json", call(id))(w, r)
		}
	}))
	defer server.Close()
	environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "token", "ACCESSIBLE": "1"}
	var said bytes.Buffer
	s := newSession(App{
		In: strings.NewReader("a\na\n"), Out: &bytes.Buffer{}, Err: &said, Now: time.Now,
		Getenv: func(name string) string { return environment[name] },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}, nil)
	s.flags.timeout = time.Minute
	if err := s.lineDesk(t.Context()); err != nil {
		t.Fatalf("lineDesk: %v\n%s", err, said.String())
	}
	box, err := s.anyOutbox()
	if err != nil {
		t.Fatal(err)
	}
	entries, _, err := box.List()
	if err != nil || len(entries) != 2 || entries[0].UUID == entries[1].UUID || strings.Count(said.String(), "kept: ") != 2 {
		t.Errorf("got %d entries, %v and:\n%s\nwant one for each call", len(entries), err, said.String())
	}
}
