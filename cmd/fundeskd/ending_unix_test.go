//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// TestEndWaitsForNoBodies ends the program while many bodies have not arrived. It does not wait for them, and answers a
// request whose body is complete.
func TestEndWaitsForNoBodies(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	const shutdown = 40 * time.Second
	e.timeouts = timeouts{
		header:   time.Minute,
		body:     time.Minute,
		answer:   time.Minute,
		idle:     time.Minute,
		shutdown: shutdown,
	}
	account := e.account("a --all-organizations")
	s := e.serve()
	const begun = 300
	var clients sync.WaitGroup
	for range begun {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		servicetest.Check(t, err)
		clients.Go(func() {
			defer func() { _ = connection.Close() }()
			_, _ = io.WriteString(
				connection,
				"POST /api/v1/persons HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\nAuthorization: Bearer "+account.Token+"\r\n\r\n{",
			)
			_, _ = io.Copy(io.Discard, connection)
		})
	}
	for inFlight := 0; inFlight < begun; {
		_, page := s.get(t, "/metrics", "")
		_, after, _ := strings.Cut(page, "\nfundeskd_http_requests_in_flight ")
		if _, err := fmt.Sscan(after, &inFlight); err != nil {
			t.Fatalf("no requests in flight in %.2000s", page)
		}
	}
	ended := time.Now()
	if code := s.stop(); code != exitDone {
		t.Errorf("got exit %d, want 0; log: %s", code, s.log)
	}
	if took := time.Since(ended); took > shutdown/2 {
		t.Errorf("the end took %v", took)
	}
	clients.Wait()
}

// TestSecondServeIsSaid starts a second process on one SQLite file. It warns, and both serve.
func TestSecondServeIsSaid(t *testing.T) {
	t.Parallel()
	e := newFileEnvironment(t)
	account := e.account("a --all-organizations")
	first := e.child()
	second := e.serve()
	status, _ := get(t, http.DefaultClient, second.url+"/api/v1/persons", account.Token)
	if status != http.StatusOK ||
		!strings.Contains(second.log.String(), "another program has this database file open") {
		t.Errorf("got %d and %s, want it to serve and to say so", status, second.log)
	}
	second.stop()
	servicetest.Report(t, first.command.Process.Signal(syscall.SIGTERM))
	if err := first.command.Wait(); err != nil && context.Cause(t.Context()) == nil {
		t.Error(err)
	}
	if third := e.serve(); strings.Contains(third.log.String(), "another program has") {
		t.Errorf("got %s when nobody else serves it", third.log)
	}
}
