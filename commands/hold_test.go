package commands

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"fundesk/commands/cli"
)

// A change that is held is taken back by ctrl+c, and never sent.
func TestInterruptWhileHeld(t *testing.T) {
	t.Parallel()
	service := newCounted(t)
	environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": service.URL, "FUNDESK_TOKEN": "token"}
	run := func(args string, sleep func(context.Context, time.Duration) error) (out, errs string, code int) {
		var stdout, stderr bytes.Buffer
		code = Run(t.Context(), strings.Fields(args), cli.App{
			In: strings.NewReader(""), Out: &stdout, Err: &stderr, Now: time.Now, Sleep: sleep,
			Getenv: func(name string) string { return environment[name] },
		})
		return stdout.String(), stderr.String(), code
	}
	interrupted := func(_ context.Context, held time.Duration) error {
		if held != 30*time.Second {
			t.Errorf("got a hold of %s, want 30s", held)
		}
		return context.Canceled
	}
	_, errs, code := run("call attempt "+testID+" 6c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 --yes --hold 30s", interrupted)
	if code != 130 || !strings.Contains(errs, "2 of 2 changes taken back, and not sent") {
		t.Errorf("got exit code %d and %q, want both taken back", code, errs)
	}
	if service.requests.Load() != 0 {
		t.Errorf("got %d requests, want none", service.requests.Load())
	}
	if out, _, _ := run("outbox list -o id", nil); out != "" {
		t.Errorf("got %q in the outbox, want nothing", out)
	}
}

// The question before a change names donors to who is asked, and to nobody else.
func TestQuestionNamesPersons(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	handler := func(w http.ResponseWriter, r *http.Request) {
		reads.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"uuid":"`+testID+`","status":"requested","person":{"uuid":"`+testID+`","firstName":"Zoë","lastName":"Jansen"}}`)
	}
	said, code := askedOnTerminal(t, handler, "call cancel "+testID, "n\n")
	if code != 1 || !strings.Contains(said, ": Zoë Jansen "+testID+"? [y/N]") {
		t.Errorf("got exit code %d and %q, want the donor's name in the question", code, said)
	}
	asked := reads.Load()
	_, errs, code := against(t, handler, "call", "cancel", testID)
	if code != 2 || strings.Contains(errs, "Jansen") || reads.Load() != asked {
		t.Errorf("got exit code %d, %q and %d reads, want an error without a name", code, errs, reads.Load()-asked)
	}
}

// askedOnTerminal answers the question of a command line on a terminal, and tells what was
// said there.
func askedOnTerminal(t *testing.T, handler http.HandlerFunc, args, answer string) (said string, code int) {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	environment := map[string]string{"HOME": t.TempDir(), "FUNDESK_BASE_URL": server.URL, "FUNDESK_TOKEN": "token"}
	ended := make(chan int, 1)
	go func() {
		ended <- Run(t.Context(), strings.Fields(args), appOf(environment, terminal, io.Discard, terminal))
		terminal.Close() // The master reads to the end of it.
	}()
	var text []byte
	buffer := make([]byte, 256)
	for answered := false; ; {
		n, err := master.Read(buffer)
		text = append(text, buffer[:n]...)
		if !answered && strings.Contains(string(text), "[y/N] ") {
			answered = true
			if _, err := io.WriteString(master, answer); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			return string(text), <-ended
		}
	}
}
