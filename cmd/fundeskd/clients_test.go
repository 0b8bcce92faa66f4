package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fundesk/service/servicetest"
)

// slowestHundredth is wanted of a machine that has nothing else to do.
var slowestHundredth = flag.Duration("p99", 0, "what the slowest hundredth of TestSlowClients may take; 0: any time")

// TestSlowClients holds 500 connections open by sending next to nothing. The server closes each, and serves a working
// client in between.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.timeouts = timeouts{
		header:   2 * time.Second,
		body:     2 * time.Second,
		answer:   time.Minute,
		idle:     2 * time.Second,
		shutdown: time.Minute,
	}
	account := e.account("a --all-organizations")
	s := e.serve()
	const body = "POST /api/v1/persons HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\nAuthorization: Bearer "
	beginnings := map[string]string{
		"nothing":         "",
		"half a header":   "GET /api/v1/persons HTTP/1.1\r\nHost: x\r\nX-",
		"half a body":     body + account.Token + "\r\n\r\n{",
		"one request":     "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
		"an endless line": "GET /" + strings.Repeat("a", 1000),
	}
	var slow sync.WaitGroup
	for name, beginning := range beginnings {
		for range 100 {
			connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
			servicetest.Check(t, err)
			slow.Go(func() {
				defer func() { _ = connection.Close() }()
				if _, err := io.WriteString(connection, beginning); err != nil {
					return // The server ended it before.
				}
				// The server ends it: reading comes to an end, while nothing is sent any more.
				_, err := io.Copy(io.Discard, connection)
				if err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
					t.Errorf("%s: got %v", name, err)
				}
			})
		}
	}
	ended := make(chan struct{})
	go func() {
		slow.Wait()
		close(ended)
	}()
	var took []time.Duration
	for running := true; running; {
		start := time.Now()
		s.replies(t, "/api/v1/persons", account.Token, http.StatusOK)
		took = append(took, time.Since(start))
		select {
		case <-ended:
			running = false
		default:
		}
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("%d requests were answered meanwhile, the slowest hundredth in %v", len(took), p99)
	if *slowestHundredth > 0 && p99 > *slowestHundredth {
		t.Errorf("got %v for the slowest hundredth, want %v", p99, *slowestHundredth)
	}
}

// TestAbortedRequests goes away in the middle of ten thousand requests: nothing of them
// is left. It runs alone, because it counts the goroutines of the process.
func TestAbortedRequests(t *testing.T) {
	servicetest.Slow(t)
	if testing.Short() {
		t.Skip("ten thousand requests")
	}
	h := servicetest.New(t)
	token, organization := h.Token(), h.Organization("A").String()
	server := httptest.NewServer(h.Handler)
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	requests := []string{
		"GET /api/v1/calls?first=500&include=person,pledge HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
			"\r\n\r\n",
		"POST /api/v1/persons HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\nAuthorization: Bearer " + token + "\r\n\r\n{\"owningOrganizationUuid\":\"" + organization,
		"POST /api/v1/persons HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer " + token + "\r\n\r\nff\r\n{",
		"PUT /api/v1/calls/" + organization + "/actions/cancel HTTP/1.1\r\nHost: x\r\nAuth",
	}
	before, sockets := goroutinesOf("service/httpapi."), openSockets(t)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 1250 {
				if err := abort(t.Context(), address, requests[(worker+i)%len(requests)]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	server.Close() // Waits until every request that it took is over.
	pool := h.Store.Pool()
	if pool.InUse != 0 {
		t.Errorf("%d connections to the database are still in use", pool.InUse)
	}
	if strings.HasPrefix(h.Database, "postgres") {
		sockets += pool.Most // The pool keeps the connections that it opened.
	}
	if left := goroutinesOf("service/httpapi.") - before; left > 0 {
		t.Errorf("%d goroutines still answer", left)
	}
	if left := openSockets(t) - sockets; left > 0 {
		t.Errorf("%d sockets are still open", left)
	}
	if got := h.Do(token, "GET", "/api/v1/persons", "").Object(); len(got["edges"].([]any)) != 0 {
		t.Errorf("got %v, want nothing saved of a request that was cut", got)
	}
}

// abort sends the beginning of a request and goes away without reading.
func abort(ctx context.Context, address, beginning string) error {
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	_, err = io.WriteString(connection, beginning)
	_ = connection.(*net.TCPConn).SetLinger(0) // A reset, as of a program that was killed.
	return errors.Join(err, connection.Close())
}

// openSockets returns the number of sockets of the process, 0 if the system does not show it.
func openSockets(t *testing.T) int {
	t.Helper()
	const folder = "/proc/self/fd"
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	servicetest.Check(t, err)
	var n int
	for _, file := range files {
		target, err := os.Readlink(filepath.Join(folder, file.Name()))
		if err == nil && strings.HasPrefix(target, "socket:") {
			n++
		}
	}
	return n
}

// goroutinesOf returns how many goroutines of the process are in a function.
func goroutinesOf(function string) int {
	stacks := make([]byte, 64<<20)
	lines := bufio.NewScanner(strings.NewReader(string(stacks[:runtime.Stack(stacks, true)])))
	found := false
	var n int
	for lines.Scan() {
		switch text := lines.Text(); {
		case text == "":
			found = false
		case !found && strings.Contains(text, function):
			found = true
			n++
		}
	}
	return n
}
