//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"fundesk/service/servicetest"
)

// hangAfter answers some requests with a page of two calls, and never the later ones. The first of those closes
// hanging.
func hangAfter(t *testing.T, answered int) (string, <-chan struct{}) {
	t.Helper()
	waits := make(chan struct{})
	requests := 0 // The client asks for one page after the other.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests > answered {
			_, _ = io.Copy(io.Discard, r.Body) // Else the server would not see that the client goes away.
			close(waits)
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		const page = `{"pageInfo":{"startCursor":"%[1]d-1","endCursor":"%[1]d-2","hasPreviousPage":false,"hasNextPage":true},"edges":[` +
			`{"cursor":"%[1]d-1","node":{"uuid":"5c1d0f0e-8f2f-4e0e-b3a5-%012[1]d"}},{"cursor":"%[1]d-2","node":{"uuid":"5c1d0f0e-8f2f-4e0e-b3a6-%012[1]d"}}]}`
		fmt.Fprintf(w, page, requests)
	}))
	t.Cleanup(server.Close)
	return server.URL, waits
}

// An interrupt ends a command at any request: exit code 130, one line of explanation, and valid output so far.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		answered int
		args     string
		want     int // Lines.
	}{
		{"one record", 0, "call get 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 -o json", 0},
		{"the first page", 0, "call list --all -o ndjson", 0},
		{"a later page", 2, "call list --all -o ndjson", 4},
		{"a change", 0, "call cancel 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 --yes -o json", 0},
		{"a pull", 1, "pull call --since 1d -o ndjson", 2},
	}
	for _, test := range tests {
		for _, with := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(test.name+" "+with.String(), func(t *testing.T) {
				t.Parallel()
				url, hanging := hangAfter(t, test.answered)
				h := newHome(t)
				command := exec.CommandContext(t.Context(), filepath.Join(programs, "fundesk"),
					strings.Fields(test.args)...)
				command.Env = append(h.env, "FUNDESK_BASE_URL="+url, "FUNDESK_TOKEN=token")
				var out, errs bytes.Buffer
				command.Stdout, command.Stderr = &out, &errs
				servicetest.Check(t, command.Start())
				ended := make(chan struct{})
				go func() {
					_ = command.Wait() // The exit code shows it.
					close(ended)
				}()
				select {
				case <-hanging:
				case <-ended:
					t.Fatalf("got %s before any signal: %s", command.ProcessState, errs.String())
				}
				servicetest.Check(t, command.Process.Signal(with))
				<-ended
				var told struct{ Error struct{ Kind string } }
				if err := json.Unmarshal(errs.Bytes(), &told); err != nil || command.ProcessState.ExitCode() == -1 {
					t.Fatalf("got %s and %q, want one line of JSON", command.ProcessState, errs.String())
				}
				if code := command.ProcessState.ExitCode(); code != 130 || told.Error.Kind != "interrupted" {
					t.Errorf("got exit code %d and %s, want 130 and interrupted", code, told.Error.Kind)
				}
				if lines := strings.Count(out.String(), "\n"); lines != test.want || !validLines(out.String()) {
					t.Errorf("got %q, want %d whole lines", out.String(), test.want)
				}
			})
		}
	}
}

// An interrupt while a program is asked for the token is one, too: here that program
// sends it.
func TestInterruptTokenCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.must(
		t,
		"fundesk profile add prod --base-url http://127.0.0.1:1 --set token_command=sh --set token_command=-c --set token_command='kill -INT $PPID; exec sleep 600'",
	)
	for _, line := range []string{
		"call list",
		"auth token",
		"auth status",
		"call cancel 5c1d0f0e-8f2f-4e0e-b3a5-2b8f0d9c7a10 --yes",
	} {
		out, errs, code := h.run(t, "fundesk "+line)
		if code != 130 || out != "" || strings.Contains(errs, "killed") {
			t.Errorf("%s: got exit code %d, %s%s, want 130", line, code, out, errs)
		}
	}
}

// validLines reports whether a text is lines of JSON, the last one whole.
func validLines(text string) bool {
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") || !json.Valid([]byte(line)) {
			return false
		}
	}
	return true
}
