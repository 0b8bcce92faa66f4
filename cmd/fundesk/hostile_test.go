//go:build linux

package main

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

var hostileLong = flag.Bool("hostile", false,
	"every command against every hostile service, instead of one against each")

// What a service may do to the client at most.
const (
	maxResident = 150 << 20 // Bytes; the race detector takes several times as much.
	maxPatience = time.Minute
)

// repeat writes a text again and again, up to some bytes or until the reader goes away.
func repeat(w io.Writer, text string, size int) {
	block := strings.Repeat(text, max(1, 64<<10/len(text)))
	for written := 0; size < 0 || written < size; written += len(block) {
		if _, err := io.WriteString(w, block); err != nil {
			return
		}
	}
}

const (
	endless = -1
	large   = 15 << 20 // Just below what the client takes.
)

// body answers with JSON: a beginning, something repeated, and an end.
func body(begin, text string, size int, end string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, begin)
		repeat(w, text, size)
		_, _ = io.WriteString(w, end)
	}
}

func refuse(status int, inner http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		inner(w, r)
	}
}

// drip writes a byte from time to time, for ever.
func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

const hostileID = "11111111-1111-4111-8111-111111111111"

// hostiles returns malicious services. list and record are their answers.
func hostiles() map[string]struct{ list, record http.HandlerFunc } {
	type pair = struct{ list, record http.HandlerFunc }
	both := func(h http.HandlerFunc) pair { return pair{h, h} }
	const page, id = `{"pageInfo":{"hasNextPage":false},"edges":[`, `{"uuid":"` + hostileID + `","a":0`
	node := `{"cursor":"c","node":{"uuid":"` + hostileID + `"}},`
	return map[string]pair{
		"a body without end": {body(page, node, endless, ""), body(id, `,"notes":"x"`, endless, "")},
		"blanks without end": both(body("{}", " ", endless, "")),
		"a text without end": {
			list:   body(page+`{"node":{"notes":"`, "x", endless, ""),
			record: body(id+`,"notes":"`, "x", endless, ""),
		},
		"a drip":                  both(drip),
		"a million empty records": {body(page+"{}", ",{}", large, "]}"), body(id+`,"calls":[{}`, ",{}", large, "]}")},
		"a million columns":       {body(page+`{"node":`+id, `,"k":1`, large, "}}]}"), body(id, `,"k":1`, large, "}")},
		"a million lists": {
			list:   body(page+`{"node":`+id+`,"attempts":[[]`, ",[]", large, "]}}]}"),
			record: body(id+`,"attempts":[[]`, ",[]", large, "]}"),
		},
		"a large text": {
			list:   body(page+`{"node":`+id+`,"notes":"`, "x", large, `"}}]}`),
			record: body(id+`,"notes":"`, "x", large, `"}`),
		},
		"a long number": {
			list:   body(page+`{"node":`+id+`,"attemptsCount":1`, "0", large, "}}]}"),
			record: body(id+`,"attemptsCount":1`, "0", large, "}"),
		},
		"deep arrays": both(body("", "[", large, "")),
		"deep objects": {
			list:   body(page+`{"node":`+id+`,"a":`, `{"a":`, large, ""),
			record: body(id+`,"a":`, `{"a":`, large, ""),
		},
		"a refusal without end":   both(refuse(400, body(`{"detail":"`, "x", endless, ""))),
		"a refusal of many parts": both(refuse(400, body(`{"errors":["a"`, `,"a"`, large, "]}"))),
		"a refusal of many lists": both(refuse(409, body(`[[]`, `,[]`, large, "]"))),
		"a bomb": both(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "application/json")
			packed := gzip.NewWriter(w)
			repeat(packed, " ", endless)
		}),
		"headers without end": both(func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(connection, "HTTP/1.1 200 OK\r\n")
				repeat(connection, "X-More: and more\r\n", endless)
				_ = connection.Close()
			}
		}),
		"pages without end": {func(w http.ResponseWriter, r *http.Request) {
			next := r.URL.Query().Get("after") + "x"
			fmt.Fprintf(w, `{"pageInfo":{"hasNextPage":true,"endCursor":%q},"edges":[]}`, next)
		}, http.NotFound},
	}
}

// Whatever a service answers, the client takes bounded memory and time, and reports the mistake.
func TestHostileService(t *testing.T) {
	servicetest.Slow(t)
	t.Parallel()
	seat := make(chan struct{}, 2)
	all := hostiles()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		hostile := all[name]
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, hostileID) {
				hostile.record(w, r)
			} else {
				hostile.list(w, r)
			}
		}))
		t.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		for j, line := range []string{
			"call list --all -o ndjson",
			"call list --all -o table",
			"call list --jq . --limit 3",
			"call stats",
			"pull call",
			"call get " + hostileID,
			"call get " + hostileID + " --jq .uuid",
			"call get " + hostileID + " --debug -o json",
			"call attempt " + hostileID,
			"api GET /api/v1/calls --jq .",
		} {
			if !*hostileLong && (i+j)%10 != 0 {
				continue
			}
			t.Run(name+"/"+line, func(t *testing.T) {
				t.Parallel()
				seat <- struct{}{}
				defer func() { <-seat }()
				suffer(t, server.URL, line)
			})
		}
	}
}

// peak returns the most memory that a process had until its end, in bytes. The system's figure of an ended child begins
// with the memory of the test itself.
func peak(pid int, stop <-chan struct{}) int64 {
	var most int64
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return most
		}
		_, after, _ := strings.Cut(string(status), "VmHWM:")
		var kilobytes int64
		if _, err := fmt.Sscanf(after, "%d kB", &kilobytes); err == nil {
			most = max(most, kilobytes<<10)
		}
		select {
		case <-stop:
			return most
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// suffer runs one command and holds it to its bounds.
func suffer(t *testing.T, url, line string) {
	t.Helper()
	h := newHome(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*maxPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, programs+"/fundesk",
		append([]string{"--timeout", "1s"}, strings.Fields(line)...)...)
	cmd.Env = append(h.env, "FUNDESK_BASE_URL="+url, "FUNDESK_TOKEN=token")
	var problem strings.Builder
	cmd.Stderr = &problem
	started := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int64, 1)
	stop := make(chan struct{})
	go func() { ended <- peak(cmd.Process.Pid, stop) }()
	err := cmd.Wait()
	took := time.Since(started)
	close(stop)
	resident := <-ended
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	t.Logf("exit %d, %d MB, %s: %.120q", code, resident>>20, took.Round(time.Millisecond), problem.String())
	if resident > maxResident && !servicetest.IsRaced {
		t.Errorf("memory: got %d MB, want at most %d", resident>>20, maxResident>>20)
	}
	if took > maxPatience && *hostileLong { // A machine that runs all tests at once keeps no promise of time.
		t.Errorf("time: got %s, want at most %s", took, maxPatience)
	}
	if code < 0 || code != 0 && problem.Len() == 0 || strings.Contains(problem.String(), "goroutine ") {
		t.Errorf("got exit code %d and %.2000q, want a clear error", code, problem.String())
	}
}
